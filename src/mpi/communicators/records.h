// Records are all that a service has for the collectives of its ranks that outlive their call: the
// sequences of the ranks' records, and the programs by which these collectives run.
//
// Made at a rank's first such collective. All ranks of the service make their own, without
// communication, and start and open in the same order, as MPI requires. The ledgers are in the
// areas of the ranks, or, if the communicator has none, the ranks find them by its key
// (records/ledgers_by_key.h). Numbers go on when a parked service gets another communicator.
//
// The threads of a program may start one non-blocking collective, or open one private sequence, at
// a time. Any thread may complete any of them at the same time (records/sequence.h), and close a
// private sequence. The service owns the object. It must not end before may_end() is true.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "records/ledgers_by_key.h"
#include "records/private_sequence.h"
#include "records/sequence.h"
#include "exec/slot_stores.h"
#include "plan/record_program.h"
#include "shm/layout.h"

namespace tutti::mpi {

class Records {
 public:
  struct Settings {
    // The ledgers: in the areas of the service's ranks, or found by a key.
    std::byte* areas = nullptr;
    shm::Layout layout;
    records::LedgersByKey* by_key = nullptr;  // outlives the records
    int rank = 0;
    records::Arena* arena = nullptr;
    exec::Reach reach;        // how the ranks reach each other's buffers
    bool concurrent = false;  // several threads may call at once
    exec::SlotStores::Policy stores{};
  };
  explicit Records(const Settings& settings);

  // The sequence of the non-blocking collectives, in their order.
  records::Sequence& sequence() { return sequence_; }
  // Copies long data into records of sequence(); for the thread that starts.
  exec::SlotStores& stores() { return stores_; }
  // This rank's program, which lives as long as the process. Throws bad_alloc. For the thread that
  // starts or opens.
  const plan::RecordProgram& program(plan::Collective collective, int root);

  // Opens a private sequence (records/private_sequence.h), which lives until all ranks have closed
  // it. May throw, and has then opened nothing.
  records::PrivateSequence& open(records::PrivateSequence::Settings settings);
  // This rank uses the private sequence no more.
  void close(records::PrivateSequence& opened) noexcept;

  // The operations that this rank has started and not completed.
  void note_start() { shm::count_in(under_way_); }
  void note_end() { shm::count_out(under_way_); }
  uint64_t under_way() const { return shm::observe(under_way_); }
  // True if this rank has completed all of its operations, and no rank reads its records any more.
  bool may_end() noexcept;

  // For the end of MPI: this rank completes none of its operations any more, and uses no private
  // sequence.
  void abandon() noexcept;
  // Then true if all ranks are done with all operations that this rank has started.
  bool is_settled() noexcept;
  // Call it when all records of this process are settled: its arena may go from now on. Ranks that
  // make a communicator or open a private sequence later need nothing of this rank, and learn from
  // this that they need not look for it.
  void leave() noexcept;
  // The first rank that is not; -1 if there is none. The second names only a rank whose process has
  // ended, and asks the system.
  int late_rank();
  int missing_rank();
  // The process of a rank.
  uint64_t process(int rank) const;

 private:
  // The ledgers in the areas are known from the start.
  class InAreas final : public records::LedgerSource {
   public:
    explicit InAreas(Records& all) : all_(all) {}
    shm::Ledger* find_ledger(int) override { return nullptr; }
    bool has_ended(int rank) override { return shm::observe(all_.control(rank).ended) != 0; }

   private:
    Records& all_;
  };
  shm::Control& control(int rank) const;
  records::Sequence::Settings settings_of(const Settings& settings, shm::LedgerOf which);
  bool is_late(int rank);
  void end_closed() noexcept;

  std::byte* const areas_;
  const shm::Layout layout_;
  records::LedgersByKey* const by_key_;  // null: the ledgers are in the areas
  const int ranks_;
  records::Arena* const arena_;
  const exec::Reach reach_;
  const bool concurrent_;
  InAreas in_areas_{*this};
  records::Sequence sequence_, openings_;
  exec::SlotStores stores_;
  // Indexed by root.
  std::map<std::pair<plan::Collective, int>, const plan::RecordProgram*> programs_;
  shm::Word under_way_{0};
  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<records::PrivateSequence>> opened_;
  bool closing_ = false;  // ledgers of other ranks may be gone, so they are read no more
};

}  // namespace tutti::mpi
