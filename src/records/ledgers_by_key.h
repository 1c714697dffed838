// The ledgers of a communicator whose ranks have not met: each rank makes its own in its arena and
// enters them into its directory under the communicator's key. It finds those of the others when it
// first needs them, and until then takes the others for ranks that have started nothing. So nobody
// waits, and nothing is sent.
//
// A rank closes when it uses no ledger of others any more and knows that all ranks are done with
// its own records. Each rank keeps its ledgers until it has seen that all have closed. A rank whose
// entry is missing then has seen it before, and has removed its entry: it had an entry once,
// because it was done with records of this rank. Or it has left the team, and with that closed.
//
// The object belongs to the records of one rank (communicators/records.h in src/mpi). The directory
// and the arena outlive it. Any thread may call its functions; they lock.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "records/directory.h"
#include "records/sequence.h"

namespace tutti::records {

class LedgersByKey {
 public:
  struct Settings {
    Directory* directory = nullptr;
    Arena* arena = nullptr;
    Key key;                   // no communicator before or after this one has it
    std::vector<int> members;  // the ranks in their team, in the communicator's order
    int rank = 0;
  };
  // Throws Error(unavailable) or bad_alloc if there is no memory; nothing has been entered then.
  explicit LedgersByKey(Settings settings);
  // Before all ranks have closed, as at the end of MPI, the ledgers and the entry stay: other ranks
  // may still read them.
  ~LedgersByKey();
  LedgersByKey(const LedgersByKey&) = delete;

  int ranks() const { return static_cast<int>(settings_.members.size()); }
  shm::Ledger* own(shm::LedgerOf which) const { return own_ + static_cast<int>(which); }
  LedgerSource& source(shm::LedgerOf which) { return sources_[static_cast<size_t>(which)]; }
  // The process of a rank.
  uint64_t process(int rank) const;
  bool has_ended(int rank) const;

  // Closes. True once all ranks have closed. May throw as Directory::find.
  bool try_end();

 private:
  class Source final : public LedgerSource {
   public:
    shm::Ledger* find_ledger(int rank) override;
    bool has_ended(int rank) override { return all->has_ended(rank); }
    LedgersByKey* all = nullptr;
    shm::LedgerOf which{};
  };
  shm::Ledger* find(int rank, shm::LedgerOf which);

  const Settings settings_;
  Arena::Block memory_;
  shm::Ledger* own_ = nullptr;  // one for each LedgerOf
  Directory::Entry* entry_ = nullptr;
  std::array<Source, static_cast<size_t>(shm::LedgerOf::count_)> sources_;

  std::mutex mutex_;   // guards what follows
  size_t closed_ = 0;  // the number of ranks, counted from the first, that have closed
  bool ended_ = false;
};

}  // namespace tutti::records
