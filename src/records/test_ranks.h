// The ranks of one communicator in one process, for tests: areas, an arena and the sequences of
// each.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "records/operation.h"
#include "records/sequence.h"

namespace tutti::records {

// Threads that wait for each other.
struct YieldingWaits final : Waits {
  Code wait(int, const shm::Word& word, uint64_t value) override {
    while (shm::observe(word) < value) std::this_thread::yield();
    return Code::ok;
  }
};

// Gets a buffer back that the operation may have lent: waits `patience` yields for the other
// threads to read it, then withdraws it.
inline void get_back(Sequence& sequence, const Operation& operation, unsigned patience) {
  if (!operation.lent) return;
  for (; patience > 0 && !is_returned(sequence, operation); --patience) std::this_thread::yield();
  if (!is_returned(sequence, operation)) withdraw(sequence, operation);
  while (!is_returned(sequence, operation)) std::this_thread::yield();
}

class TestRanks {
 public:
  struct Settings {
    int ranks = 2;
    bool one_arena = false;  // all ranks share an arena, so that they see the same addresses
    bool concurrent = false;
    bool lends = false;  // ranks reach each other's buffers
    size_t memory = 0;   // bytes of each arena; 0: it grows
  };
  explicit TestRanks(const Settings& settings)
      : layout_(shm::Layout::fit(settings.ranks, shm::smallest_area)),
        areas_(static_cast<std::byte*>(std::aligned_alloc(64, (layout_.bytes() + 63) / 64 * 64))) {
    if (settings.lends) {
      reach_.own_bytes = SIZE_MAX;
      reach_.mapped.resize(static_cast<size_t>(settings.ranks));
    }
    std::fill_n(areas_.get(), layout_.bytes(), std::byte{0});
    endings_.ended.resize(static_cast<size_t>(settings.ranks));
    for (int rank = 0; rank < settings.ranks; ++rank) {
      if (rank == 0 || !settings.one_arena) add_arena(settings.memory);
      Sequence::Settings own;
      own.rank = rank;
      for (int other = 0; other < settings.ranks; ++other) own.ledgers.push_back(&ledger(other));
      own.source = &endings_;
      own.arena = arenas_.back().get();
      own.concurrent = settings.concurrent;
      own.reach = &reach_;
      sequences_.push_back(std::make_unique<Sequence>(own));
      for (int other = 0; other < settings.ranks; ++other)
        own.ledgers[static_cast<size_t>(other)] = &ledger(other, shm::LedgerOf::openings);
      openings_.push_back(std::make_unique<Sequence>(own));
    }
  }

  Sequence& operator[](int rank) { return *sequences_[static_cast<size_t>(rank)]; }
  Sequence& openings(int rank) { return *openings_[static_cast<size_t>(rank)]; }
  shm::Ledger& ledger(int rank, shm::LedgerOf which = shm::LedgerOf::operations) {
    return *reinterpret_cast<shm::Ledger*>(areas_.get() +
                                           static_cast<size_t>(rank) * layout_.stride() +
                                           shm::Layout::ledger_offset(which));
  }
  Arena& arena(int rank) { return *arenas_[static_cast<size_t>(rank) % arenas_.size()]; }
  int ranks() const { return layout_.ranks; }
  // The rank ends MPI: its arena goes, and nothing of it may be used any more.
  void end(int rank) {
    const auto which = static_cast<size_t>(rank);
    endings_.ended[which] = true;
    sequences_[which].reset();
    openings_[which].reset();
    arenas_[which].reset();
  }

 private:
  void add_arena(size_t memory) {
    Arena::Settings settings;
    if (memory != 0) {
      settings.kind = shm::Segment::Kind::posix;  // it does not grow beyond the segment
      settings.shared =
          &segments_.emplace_back(shm::Segment::create(shm::Segment::Kind::memfd, memory));
    }
    arenas_.push_back(std::make_unique<Arena>(settings));
  }

  struct Endings final : LedgerSource {
    shm::Ledger* find_ledger(int) override { return nullptr; }
    bool has_ended(int rank) override { return ended[static_cast<size_t>(rank)]; }
    std::vector<bool> ended;
  };
  Endings endings_;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  shm::Layout layout_;
  exec::Reach reach_;  // the reach of threads: all addresses
  std::unique_ptr<std::byte, Free> areas_;
  std::deque<shm::Segment> segments_;
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::vector<std::unique_ptr<Sequence>> sequences_, openings_;
};

}  // namespace tutti::records
