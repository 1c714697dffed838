// A sequence: the operations that the ranks of a communicator start and complete in separate calls,
// in the order in which they are started, as one rank sees them.
//
// Every rank publishes a record for each operation, with the data that others need of it. Short
// data is in the record's line, longer data in a block of the rank's arena. The operations have
// numbers 0, 1, 2, ..., the same at all ranks, because MPI requires that all ranks start the
// collectives of a communicator in one order. A rank reads the records of the others when it
// completes an operation, in any order of operations, and then says that it is done with it. When
// all ranks are done with all operations up to a number, the memory of these records is used again.
//
// Publishing never waits for another rank: if all lines of the ring are in use, a longer ring is
// made, and data goes into new memory of the arena. So a rank owes the others nothing between its
// calls (docs/decisions/records.md).
//
// A rank may lend long data instead of copying it: its record then says where the others reach the
// buffer. They borrow the buffer while they read it. At its own completion the rank gets it back:
// when all have read it, or, after it has copied the data into the arena and withdrawn the buffer,
// as soon as no rank reads it. So a rank that lends waits only for ranks that are reading.
//
// Each rank has a ledger in shared memory (shm/ledger.h), from which the others learn where its
// records are and what it is done with. The ranks that read a rank's records are its readers, with
// the rank itself. Usually all ranks are; in a neighbourhood they are few, and a rank's memory
// depends on them alone.
//
// One thread at a time issues (prepare, publish). Any thread may read records and say that an
// operation is done with, also while another thread issues. The sequence belongs to what serves the
// communicator; the ledgers and the arena outlive it. It must not end before may_end() is true,
// because other ranks read its memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "records/arena.h"
#include "exec/reach.h"
#include "shm/layout.h"
#include "shm/order.h"

namespace tutti::records {

// Finds the ledgers of other ranks, which may not be known when a sequence is made.
class LedgerSource {
 public:
  // Null if the rank has not told where its ledger is. ended_ledger() if the rank has ended and its
  // ledger cannot be mapped. Throws Error(unavailable) if this process cannot map it. Called by one
  // thread at a time.
  virtual shm::Ledger* find_ledger(int rank) = 0;
  // True if the rank has ended: it needs no record any more, no rank needs its records, and its
  // arena may be gone. Any thread.
  virtual bool has_ended(int rank) = 0;

 protected:
  ~LedgerSource() = default;
};

// The ledger of any rank that has ended: it has issued and is done with all operations.
shm::Ledger* ended_ledger();

class Sequence {
 public:
  struct Settings {
    int rank = 0;
    std::vector<shm::Ledger*> ledgers;  // indexed by rank; null: `source` will find it
    // Null if all ledgers are there and no rank ends before the sequence; it outlives the sequence.
    LedgerSource* source = nullptr;
    std::optional<std::vector<int>> readers;  // nothing: all ranks
    Arena* arena = nullptr;
    // How ranks reach each other's buffers; null: no buffer is lent. It outlives the sequence.
    const exec::Reach* reach = nullptr;
    bool concurrent = false;  // several threads may use the sequence at once
  };
  explicit Sequence(const Settings& settings);
  ~Sequence();
  Sequence(const Sequence&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(peers_.size()); }
  const std::vector<int>& readers() const { return readers_; }  // with this rank

  // The memory for the data of the next operation's record. Throws Error(unavailable), or
  // bad_alloc, if there is none; nothing has changed then, and the caller may try again. The caller
  // fills the memory, then publishes.
  std::byte* prepare(size_t bytes) {
    if (next_ < limit_ && bytes <= shm::RecordLine::most_bytes) [[likely]]
      return reinterpret_cast<std::byte*>(line_of(next_).payload);
    return prepare_slowly(bytes);
  }
  // Publishes the record that was prepared, and returns the operation's
  // number. `call`: exec::call_signature of the collective, root, and the bytes of the data, which
  // is in a line exactly if what was prepared is. Throws nothing.
  uint64_t publish(uint64_t call) { return publish(call, LongData{}); }
  // The data of a record that is longer than a line.
  struct LongData {
    // A buffer that others reach, which stands for the memory that was prepared; null: none.
    const std::byte* lent = nullptr;
    bool is_filled = true;  // false: note_filled() will tell how far the memory is filled
    size_t tile_bytes = 0;  // not 0: results of tiles follow the data
  };
  uint64_t publish(uint64_t call, LongData data);
  // So many bytes of the data of this rank's record are there; all_filled: all.
  static constexpr uint64_t all_filled = UINT64_MAX;
  void note_filled(uint64_t number, uint64_t bytes) {
    shm::publish(find(rank_, number)->filled, bytes);
  }
  // True if all ranks reach the buffer, so that it may be lent.
  bool reaches(const std::byte* buffer) const { return place_of(buffer) != 0; }

  // A record of a rank.
  struct Record {
    uint64_t call = 0;
    const std::byte* data = nullptr;
    bool is_long = false;  // the data may be lent, or be filled at this moment
  };
  // True if the rank has published its record of this operation. A rank that is done with an
  // operation must not ask for its records.
  bool has(int rank, uint64_t number) {
    const shm::RecordLine* const line = find(rank, number);
    return line != nullptr && shm::observe(line->stamp) == number + 1;
  }
  // The record, which must be there. Throws Error(unavailable) if this process cannot map its data.
  Record record(int rank, uint64_t number);

  // Longer records may be lent, or filled after they are published.
  static constexpr size_t most_whole = 4096;
  // The record, if the rank has published it and it has at most so many bytes; else no data. Throws
  // as record().
  Record find_whole(int rank, uint64_t number) {
    const shm::RecordLine* const line = find(rank, number);
    if (line == nullptr || shm::observe(line->stamp) != number + 1) return {};
    const uint64_t call = shm::load_relaxed(line->call), bytes = call & bytes_mask;
    if (bytes <= shm::RecordLine::most_bytes) [[likely]]
      return {call, reinterpret_cast<const std::byte*>(line->payload), false};
    return bytes <= most_whole ? record(rank, number) : Record{};
  }

  // The bytes of the record that the rank has filled, as note_filled() publishes them. Valid as
  // long as the record.
  const shm::Word& filled(int rank, uint64_t number) { return find(rank, number)->filled; }

  size_t tile_bytes(int rank, uint64_t number) {
    return shm::load_relaxed(find(rank, number)->tile_bytes);
  }

  // The buffer that a rank has lent for its long record, as it is mapped here. Null if it has lent
  // none, or has withdrawn it: then the data is in the record. A buffer must be given back.
  const std::byte* borrow(int rank, uint64_t number);
  void give_back(int rank, uint64_t number);
  // For a buffer that this rank has lent: true if no rank reads it, and none will, because so many
  // have read it or because it is withdrawn.
  bool is_returned(uint64_t number, int readers);
  // Call it when the memory is filled. No rank borrows the buffer any more.
  void withdraw(uint64_t number);

  // True if the rank has ended (LedgerSource).
  bool has_ended(int rank) { return source_ != nullptr && source_->has_ended(rank); }
  // Returns the address of a place in a rank's arena; null if the rank has ended and the place
  // cannot be mapped any more. Throws Error(unavailable) if this process cannot map it.
  const std::byte* address(int rank, const shm::ArenaPlace& place);

  // This rank has read all that it needs of the operation.
  void done(uint64_t number);

  // This rank will complete no operation any more, so nobody needs to wait for it.
  void abandon();

  // For reports and waits: the operations that a rank has issued. Looks for its ledger if that is
  // not known, so that a rank that waits for nothing but this number learns of it; 0 if it is not
  // there. Throws Error(unavailable) if this process cannot map it.
  uint64_t issued(int rank);
  // The fewest operations that a reader has issued.
  uint64_t least_issued();
  // True if a reader has issued fewer operations than this rank, by more than `operations`. Looks
  // at the readers only if that may be so.
  bool leads_by_more_than(uint64_t operations) {
    const uint64_t own = shm::load_relaxed(own_ledger().issued);
    if (own - shm::load_relaxed(least_issued_) <= operations) return false;
    const uint64_t least = least_issued();
    shm::store_relaxed(least_issued_, least);
    return own - least > operations;
  }
  // The operations that a rank is done with; 0 for a rank whose ledger is not known.
  uint64_t taken(int rank) const;
  // True if every reader is done with all operations that this rank has issued, so that nobody
  // reads this rank's records any more. Looks for ledgers that are not known yet.
  bool may_end();
  const exec::Reach* reach() const { return reach_; }
  // Bytes of the arena that this rank's records hold. May be out of date.
  size_t held() const { return shm::load_relaxed(held_); }

 private:
  // The bytes in exec::call_signature.
  static constexpr uint64_t bytes_mask = (uint64_t{1} << 40) - 1;

  // A ring of a rank's records, as it is mapped here. Constant once made.
  struct Ring {
    uint64_t first = 0;  // the number of the first operation whose record is in it
    uint64_t mask = 0;
    shm::RecordLine* lines = nullptr;
    int index = -1;
    const Ring* before = nullptr;
  };
  struct Peer {
    shm::Word ledger{0};  // its address; 0: not known
    shm::Word newest{0};  // the address of the newest Ring that this process knows; 0: none
    // The segments of the rank's data that were seen last: identity and where it is mapped.
    struct Seen {
      uint64_t identity = 0;
      const std::byte* start = nullptr;
    };
    std::array<Seen, 4> seen;
    uint32_t next_seen = 0;
  };
  struct Held {
    uint64_t number;
    Arena::Block block;
  };
  // A lock that costs nothing where one thread uses the sequence.
  class Guard {
   public:
    explicit Guard(Sequence& sequence) : mutex_(sequence.concurrent_ ? &sequence.mutex_ : nullptr) {
      if (mutex_ != nullptr) mutex_->lock();
    }
    ~Guard() {
      if (mutex_ != nullptr) mutex_->unlock();
    }
    Guard(const Guard&) = delete;

   private:
    std::mutex* mutex_;
  };

  // Null if it is not known. The second also asks the source; the caller holds the guard.
  shm::Ledger* ledger(int rank) const {
    return reinterpret_cast<shm::Ledger*>(shm::observe(peers_[static_cast<size_t>(rank)].ledger));
  }
  shm::Ledger* look_for_ledger(int rank);
  shm::Ledger& own_ledger() const { return *ledger(rank_); }
  uint64_t least_taken();
  shm::RecordLine& line_of(uint64_t number) { return own_->lines[number & own_->mask]; }
  // The line of a rank's record, or null if the rank has not made its ring yet. The line may hold
  // the record of an older operation.
  shm::RecordLine* find(int rank, uint64_t number) {
    const auto* ring =
        reinterpret_cast<const Ring*>(shm::observe(peers_[static_cast<size_t>(rank)].newest));
    if (ring == nullptr || number < ring->first ||
        shm::observe(ring->lines[number & ring->mask].stamp) != number + 1) [[unlikely]]
      return find_slowly(rank, number);
    return &ring->lines[number & ring->mask];
  }
  shm::RecordLine* find_slowly(int rank, uint64_t number);
  std::byte* prepare_slowly(size_t bytes);
  uint64_t place_of(const std::byte* buffer) const;
  void know_taken();
  void add_ring();
  const Ring* map_ring(int rank, int index, const Ring* before);
  const std::byte* data_at(int rank, const shm::ArenaPlace& place);

  const int rank_;
  LedgerSource* const source_;
  std::vector<int> readers_;
  Arena& arena_;
  const exec::Reach* const reach_;
  const bool concurrent_;

  // The issuing thread's:
  uint64_t next_ = 0;  // the number of the next operation
  // Operations below it may use their line in the ring, which nobody reads any more.
  uint64_t limit_ = 0;
  uint64_t safe_ = 0;  // all ranks were done with all operations below it
  const Ring* own_ = nullptr;
  Arena::Block prepared_;    // for data that is longer than a line; no data: none
  std::deque<Held> blocks_;  // the memory of records that may still be read
  // Each ring with the number of its first operation.
  std::vector<std::pair<uint64_t, Arena::Block>> own_rings_;
  shm::Word held_{0};

  shm::Word least_issued_{0};  // each reader has issued so many operations, or more

  std::vector<Peer> peers_;

  std::mutex mutex_;  // guards all below, and the slow paths of peers_
  std::deque<Ring> rings_;
  // True if this rank is done with an operation, for those from taken_ to counted_ - 1. The size is
  // a power of 2.
  std::vector<uint8_t> done_;
  uint64_t taken_ = 0, counted_ = 0;
};

}  // namespace tutti::records
