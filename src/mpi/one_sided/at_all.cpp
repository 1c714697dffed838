#include "mpi/one_sided/at_all.h"

#include <cstdint>

#include "exec/waiter.h"
#include "mpi/host/inside.h"
#include "mpi/job/drive_host.h"

namespace tutti::mpi {
bool true_at_all(Comm communicator, bool own) noexcept {
  const Inside inside;
  const uint64_t here = own ? 1 : 0;
  uint64_t least = 0;
  Request request{};
  int done = 0;
  int code = host().Iallreduce(&here, &least, 1, host().type_uint64, host().op_min, communicator,
                               &request);
  exec::Waiter waiter(exec::pace_of_messages(exec::WaitStyle::yield));
  waiter.until(
      [&] {
        drive_transfers();
        if (code == success) code = host().Test(&request, &done, abi.status_ignore);
        return code != success || done != 0;
      },
      [] { return Code::ok; });
  return code == success && least == 1;
}

}  // namespace tutti::mpi
