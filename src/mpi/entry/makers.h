// The bodies of the entry points that make and free communicators. The host's function does the
// work, and Tutti notes it in the registry of communicators. So a communicator that lives for a
// few calls needs no attribute, and has a lineage (communicators/registry.h, lineage.h). Any thread
// may call.
//
// MPI_* and PMPI_* have entry points of their own, because only MPI_* calls a tool that comes after
// Tutti and does not come back (mpi/host/tools.h).
#pragma once

#include <cstdint>
#include <utility>

#include "exec/idle.h"
#include "mpi/abi/abi_host.h"
#include "mpi/host/inside.h"
#include "mpi/host/private_group.h"
#include "mpi/communicators/registry.h"
#include "mpi/job/thrown.h"
#include "mpi/progress/host_waits.h"
#include "mpi/requests/idle_ranks.h"

namespace tutti::mpi {

// Marks the thread as in a function that makes a communicator. The host, or a tool, may call
// another such function there, which must not be counted again.
class InMaking {
 public:
  InMaking() { is_inside = true; }
  ~InMaking() { is_inside = false; }
  InMaking(const InMaking&) = delete;
  static inline constinit TUTTI_PER_THREAD bool is_inside = false;
};

inline bool never() { return false; }

// True if this process is not in the group.
inline bool is_outside(Group group) {
  const Host& mpi = host();
  const int own = 0;
  int place = abi.undefined;
  if (group == mpi.group_null) return false;
  const PrivateGroup self = PrivateGroup::of(mpi.comm_self);
  if (!self) return false;
  mpi.Group_translate_ranks(self.get(), 1, &own, group, &place);
  return place == abi.undefined;
}

// True if this process is not among the first ranks of a communicator, whose number is the product
// of the lengths.
inline bool is_beyond(Comm communicator, int dimensions, const int lengths[]) {
  int rank = 0;
  int64_t ranks = 1;
  for (int i = 0; i < dimensions; ++i) ranks *= lengths[i];
  return dimensions >= 0 && ranks >= 0 && host().Comm_rank(communicator, &rank) == success &&
         rank >= ranks;
}
inline bool is_beyond(Comm communicator, int ranks) { return is_beyond(communicator, 1, &ranks); }

// `call` makes *communicator and returns an error code, which is returned. The new communicator may
// set up. is_absent() is true if this rank's arguments say that it gets no communicator.
//
// All ranks of a parent must count the same makings. If the host has refused this rank's arguments,
// no other rank knows of the call. The host has then not written the communicator, or has written
// MPI_COMM_NULL; the code does not always tell, because after a program's own error handler MPICH
// returns success.
template <class Theirs, class Call, class IsAbsent = bool (*)()>
int made(const Making& making, Theirs* communicator, Call&& call, IsAbsent&& is_absent = never) {
  if (!registry_is_open() || Inside::depth != 0 || InMaking::is_inside || communicator == nullptr)
    return sleeping(call);
  const Theirs before = std::exchange(*communicator, theirs<Theirs>(host().comm_world));
  int code = success;
  {
    const InMaking in_making;
    code = sleeping(call);
  }
  const Comm made = house<Comm>(*communicator);
  if (made == host().comm_world) {
    *communicator = before;
    return code;
  }
  if (made == host().comm_null && (code == success ? !is_absent() : refused_for_arguments(code)))
    return code;
  const Newborn newborn = communicator_made(making, code == success ? made : host().comm_null);
  if (newborn == Newborn::nothing) [[likely]]
    return code;
  if (newborn == Newborn::no_memory)
    return raise(making.by == Making::By::session ? host().comm_self : making.parent,
                 abi.err_no_mem);
  return guarded(made, [&] {
    set_up_if_due(made);
    return success;
  });
}

// `call` frees *communicator and returns an error code, which is returned. The registry comes
// first, because once the host has freed the handle, another thread may get it.
template <class Theirs, class Call>
int freed(const Theirs* communicator, Call&& call) {
  if (communicator != nullptr) {
    communicator_ends(house<Comm>(*communicator));
    if (exec::sleeps_when_idle()) forget_places(house<Comm>(*communicator));
  }
  return sleeping(call);
}

// `by_host` gives a communicator its name, which tables of the roll call have then.
template <class ByHost>
int named(MPI_Comm communicator, const char* name, ByHost by_host) {
  const int code = by_host();
  if (code == success && Inside::depth == 0) communicator_named(house<Comm>(communicator), name);
  return code;
}

}  // namespace tutti::mpi
