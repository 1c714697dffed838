// What a service needs for the collectives of its ranks that outlive their call: the sequence of
// their records, and the programs by which they run.
//
// Made at a rank's first such collective. All ranks of the service make their own, without
// communication, and start these collectives in the same order, as MPI requires. Numbers go on when
// a parked service gets another communicator.
//
// The threads of a program may start one collective at a time, and complete any of them at the same
// time (eager/sequence.h). The service owns it. It must not end before may_end() is true.
#pragma once

#include <map>
#include <utility>

#include "eager/sequence.h"
#include "exec/slot_stores.h"
#include "plan/eager.h"
#include "shm/layout.h"

namespace tutti::mpi {

class Records {
 public:
  // `settings` are of the service's areas.
  explicit Records(const eager::Sequence::Settings& settings, exec::SlotStores::Policy stores);

  eager::Sequence& sequence() { return sequence_; }
  // Copies long data into records; for the thread that starts.
  exec::SlotStores& stores() { return stores_; }
  // This rank's program, which lives as long as the object. Throws bad_alloc. For the thread that
  // starts.
  const plan::EagerProgram& program(plan::Collective collective, int root);

  // The operations that this rank has started and not completed.
  void note_start() { shm::count_in(under_way_); }
  void note_end() { shm::count_out(under_way_); }
  uint64_t under_way() const { return shm::observe(under_way_); }
  // True if this rank has completed all of its operations, and no rank reads its records any more.
  bool may_end() const { return under_way() == 0 && sequence_.may_end(); }
  // The first rank that is not done with all that this rank has started; -1 if there is none.
  int late_rank() const;
  // The first of those whose process has ended; -1 if there is none. Asks the system.
  int missing_rank() const;
  // The process of a rank (shm::Control::process).
  uint64_t process(int rank) const;

 private:
  std::byte* const areas_;
  const shm::Layout layout_;
  eager::Sequence sequence_;
  exec::SlotStores stores_;
  std::map<std::pair<plan::Collective, int>, plan::EagerProgram> programs_;  // by root
  shm::Word under_way_{0};
};

}  // namespace tutti::mpi
