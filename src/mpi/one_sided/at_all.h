// Parts of a collective call that may fail at one rank alone, because memory runs out there. All
// ranks learn of it and fail together, so that none waits in the call's next collective for ever.
// No state.
#pragma once

#include <exception>
#include <utility>

#include "base/error.h"
#include "mpi/host/host.h"

namespace tutti::mpi {

// Collective: true if `own` is true at all ranks of the communicator. Others may wait for this
// rank's part in transfers between nodes before they enter, so the wait drives them. Throws
// nothing.
bool true_at_all(Comm communicator, bool own) noexcept;

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
