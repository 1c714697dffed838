#include "mpi/host/polled.h"

namespace tutti::mpi {

int complete(Request* request) {
  return complete(request, [](exec::Waiter&) {});
}

int broadcast(void* data, size_t bytes, Comm communicator, int root) {
  const Host& mpi = host();
  Request request;
  const int code =
      mpi.Ibcast(data, static_cast<int>(bytes), mpi.type_byte, root, communicator, &request);
  return code == success ? complete(&request) : code;
}

int tell_least(uint64_t own, uint64_t* least, Comm communicator) {
  const Host& mpi = host();
  Request request;
  const int code =
      mpi.Ireduce(&own, least, 1, mpi.type_uint64, mpi.op_min, 0, communicator, &request);
  return code == success ? complete(&request) : code;
}

}  // namespace tutti::mpi
