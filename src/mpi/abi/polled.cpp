#include "mpi/abi/polled.h"

namespace tutti::mpi {

int complete(MPI_Request* request) {
  return complete(request, [](exec::Waiter&) {});
}

int broadcast(void* data, size_t bytes, MPI_Comm communicator) {
  const Host& mpi = host();
  MPI_Request request;
  const int code =
      mpi.Ibcast(data, static_cast<int>(bytes), mpi.type_byte, 0, communicator, &request);
  return code == MPI_SUCCESS ? complete(&request) : code;
}

int tell_least(uint64_t own, uint64_t* least, MPI_Comm communicator) {
  const Host& mpi = host();
  MPI_Request request;
  const int code =
      mpi.Ireduce(&own, least, 1, mpi.type_uint64, mpi.op_min, 0, communicator, &request);
  return code == MPI_SUCCESS ? complete(&request) : code;
}

}  // namespace tutti::mpi
