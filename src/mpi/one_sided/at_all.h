// Parts of a collective call that may fail at one rank alone, because memory runs out there. All
// ranks learn of it and fail together, so that none waits in the call's next collective for ever.
// Others may wait for this rank's part in transfers between nodes before they enter, so the waits
// drive these. No state.
#pragma once

#include <cstdint>
#include <exception>
#include <utility>

#include "base/error.h"
#include "exec/waiter.h"
#include "mpi/host/host.h"
#include "mpi/host/inside.h"
#include "mpi/job/drive_host.h"

namespace tutti::mpi {

// Waits until the host has completed a collective that it has begun with this code, and returns the
// host's error code. look(waiter) is called while it waits.
template <class Look>
int complete_collective(int code, Request request, Look look) {
  int done = 0;
  exec::Waiter waiter(exec::pace_of_messages(exec::WaitStyle::yield));
  waiter.until(
      [&] {
        drive_transfers();
        if (code == success) code = host().Test(&request, &done, abi.status_ignore);
        return code != success || done != 0;
      },
      [&] {
        look(waiter);
        return Code::ok;
      });
  return code;
}

// Collective: true if `own` is true at all ranks of the communicator. Throws nothing.
inline bool true_at_all(Comm communicator, bool own) noexcept {
  const Inside inside;
  const uint64_t here = own ? 1 : 0;
  uint64_t least = 0;
  Request request{};
  const int code = host().Iallreduce(&here, &least, 1, host().type_uint64, host().op_min,
                                     communicator, &request);
  return complete_collective(code, request, [](exec::Waiter&) {}) == success && least == 1;
}

// Collective: runs `part` at this rank. If it throws at some rank, throws at all of them: the same
// there, and Error(unavailable) elsewhere.
template <class Part>
void at_all(Comm communicator, Part&& part) {
  std::exception_ptr failure;
  try {
    std::forward<Part>(part)();
  } catch (...) {
    failure = std::current_exception();
  }
  if (true_at_all(communicator, failure == nullptr)) return;
  if (failure != nullptr) std::rethrow_exception(failure);
  throw Error(Code::unavailable, "a rank of the communicator could not make its group");
}

}  // namespace tutti::mpi
