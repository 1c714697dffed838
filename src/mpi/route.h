// What the general paths of all collectives share: from entry to return of a call that the inline
// ones (moves.h, reductions.h) did not serve, by the communicator's group or by the host. Internal
// to calls.cpp, moves.cpp and reductions.cpp.
//
// Decisions are made by what all ranks share (communicator, collective, bytes of the signature,
// operation); only wrong arguments are judged by one rank alone, and those are the host's.
#pragma once

#include <chrono>
#include <climits>
#include <cstdint>

#include "base/error.h"
#include "mpi/book.h"
#include "mpi/packing.h"
#include "mpi/report.h"
#include "mpi/thrown.h"
#include "mpi/tracing.h"

namespace tutti::mpi {

using plan::Collective;

// How a group served a call: the code to return, or why the host must.
struct Served {
  Reason reason = Reason::none;
  int code = MPI_SUCCESS;
  Served(Reason why) : reason(why) {}
  Served(int result) : code(result) {}
};
inline Served first_error(int one, int other) { return Served(one != MPI_SUCCESS ? one : other); }

// What a call is to the report: its bytes are those of a part where the collective has parts.
struct Subject {
  Collective collective;
  size_t bytes;
  int root;
  bool v_form = false;  // its parts differ in length
};

std::string_view algorithm_of(Communicator& communicator, const Subject& subject);

// The most that one buffer may have; beyond it a call is the host's.
constexpr size_t most_bytes = PTRDIFF_MAX;

// Of the signature; SIZE_MAX where no number holds them.
inline size_t bytes_of(MPI_Count count, const TypeShape& shape) {
  size_t bytes = 0;
  if (count <= 0) return 0;
  return __builtin_mul_overflow(static_cast<size_t>(count), shape.bytes, &bytes) ? SIZE_MAX : bytes;
}
inline size_t bytes_of(MPI_Count count, MPI_Datatype type) {
  return bytes_of(count, TypeShape{signature_bytes(type)});
}

// For the report and traces alone; asking the host for the size of a wrong type would raise an
// error too early.
inline size_t bytes_to_report(MPI_Count count, MPI_Datatype type) {
  return (recording() || tracer() != nullptr) && type != host().type_null ? bytes_of(count, type)
                                                                          : 0;
}

// True where this host raises an error for one address as input and output where MPI asks for
// MPI_IN_PLACE. Where it does not, it works, as if in place, and so must Tutti: such a rank alone
// on the host would wait for ever. Open MPI judges it of a reduce only.
bool host_judges_aliases(Collective collective);

int too_many(MPI_Comm communicator);

// An Error was thrown while making a program: by all ranks, before any arrived.
Served refused(Communicator& communicator, const Error& error) noexcept;
// For the report.
void note_call(Communicator& communicator, const Subject& subject, Reason reason,
               std::chrono::nanoseconds time) noexcept;

template <class ByGroup>
Served try_group(Communicator& communicator, ByGroup&& by_group) {
  if (communicator.group() == nullptr) {
    // Other ranks may still be in the set-up, or have a group: the host must not be asked by this
    // rank alone.
    if (communicator.reason() == Reason::set_up_broken)
      return raise(communicator.handle(), MPI_ERR_OTHER);
    return communicator.reason();
  }
  try {
    return by_group(communicator);
  } catch (const Error& error) {
    return refused(communicator, error);
  } catch (...) {
    return raise_thrown(communicator.handle());
  }
}

// What Tutti knows of a call's communicator.
struct Found {
  Communicator* communicator = nullptr;  // null: the call is none of Tutti's
  int code = MPI_SUCCESS;                // of an error that was raised meanwhile
};

inline Found find(MPI_Comm handle) {
  if (const Remembered& known = place_of(handle); is_ready(known, handle))
    return {known.communicator};
  Found found;
  if (host().foreign) return found;
  found.code = guarded(handle, [&]() -> int {
    found.communicator = find_communicator(handle);
    return MPI_SUCCESS;
  });
  return found;
}

// After a call that the host has made: its code, or an error of the set-up that came with it.
inline int counted(Communicator& communicator, int code) {
  if (code == MPI_SUCCESS && communicator.count_only()) [[likely]]
    return code;
  const int set_up = guarded(communicator.handle(), [&]() -> int {
    count_call(communicator, code);
    return MPI_SUCCESS;
  });
  return code != MPI_SUCCESS ? code : set_up;
}

// This rank and the ranks of a communicator; false where the host raises an error, and between the
// groups of an intercommunicator, whose arguments mean something else.
bool ranks_of(MPI_Comm communicator, int* rank, int* ranks);

// A root that no rank is.
inline bool no_such_root(MPI_Comm communicator, int root) {
  int rank = 0, ranks = 0;
  return root != 0 && ranks_of(communicator, &rank, &ranks) && (root < 0 || root >= ranks);
}

// One call from entry to return. `by_group` is asked where the communicator has a group, `by_host`
// does the rest. `refused` is asked whether this rank's arguments are such that no host makes the
// call, while calls are counted. A host's code need not tell: MPICH returns success where an error
// handler of the program's own has returned.
template <class ByGroup, class ByHost, class Refused>
int route(MPI_Comm handle, const Subject& subject, ByGroup&& by_group, ByHost&& by_host,
          Refused&& refused) {
  using Clock = std::chrono::steady_clock;
  const Found found = find(handle);
  if (found.code != MPI_SUCCESS) return found.code;
  if (found.communicator == nullptr) return by_host();
  Communicator& communicator = *found.communicator;
  const auto begin = recording() ? Clock::now() : Clock::time_point{};
  Served served = try_group(communicator, by_group);
  if (served.reason != Reason::none) {
    const uint64_t entry = tracer() != nullptr ? trace::ticks() : 0;
    {
      const Inside inside;  // some hosts call MPI_* themselves
      served.code = by_host();
    }
    if (tracer() != nullptr)
      trace_host_call(entry, subject.collective, served.reason, subject.bytes, subject.root);
    if (!communicator.is_decided() && !(served.code == MPI_SUCCESS && refused()))
      served.code = counted(communicator, served.code);
  }
  if (recording()) note_call(communicator, subject, served.reason, Clock::now() - begin);
  return served.code;
}

}  // namespace tutti::mpi
