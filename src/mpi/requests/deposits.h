// Deposits: the shared memory of one persistent collective.
//
// Every rank has an area: a word that says how often it has started the operation, a table of the
// blocks that it gives, and two buffers for them, used in turn. To start is to copy what one gives
// into the buffer of the round and to publish the round's number; it waits for nobody. Once all
// ranks have started a round, each takes its results from the others' buffers by itself, so a rank
// owes the others nothing after its start. Two buffers are enough: whoever starts round n + 2 has
// completed n + 1, so all have started n + 1, so all had completed n and read its buffers.
//
// A rank owns its mapping of the memory for as long as its Deposits live; the last of them to go
// frees the piece. One thread at a time. Why there is no other way:
// docs/decisions/persistent-collectives.md.
#pragma once

#include <memory>
#include <vector>

#include "mpi/communicators/communicator.h"
#include "shm/order.h"
#include "shm/segment.h"

namespace tutti::mpi {

class Deposits {
 public:
  // What a rank says of itself when the operation is made. Plain bytes.
  struct Announced {
    uint64_t call = 0;     // collective and root: of a matching call the same at all ranks
    uint64_t blocks = 0;   // that the rank gives
    uint64_t bytes = 0;    // of all of them
    uint64_t longest = 0;  // of them
    uint64_t process = 0;
    uint64_t number =
        0;  // how many the process has made; rank 0's tells those of a communicator apart
    uint64_t refuses = 0;  // a Reason: this rank cannot make it
  };
  struct Block {
    uint64_t at = 0;
    uint64_t bytes = 0;
  };

  // Collective over the communicator, which has a group, with what all have announced; null at all
  // ranks where there is no memory for it.
  static std::unique_ptr<Deposits> make(Communicator& communicator,
                                        const std::vector<Announced>& all);
  // Bytes of the whole; the same at all ranks.
  static size_t needed(const std::vector<Announced>& all);
  ~Deposits();
  Deposits(const Deposits&) = delete;

  // This rank's table, filled before its first round is published, and its buffer of a round.
  Block* table() { return table_of(rank_); }
  std::byte* buffer(uint64_t round) { return buffer_of(rank_, round); }
  void publish(uint64_t round) { shm::publish(started_by(rank_), round); }

  bool has_started(int rank, uint64_t round) const {
    return shm::observe(started_by(rank)) >= round;
  }
  uint64_t process(int rank) const { return all_[static_cast<size_t>(rank)].process; }

  // What a rank gives in a round that it has started.
  const std::byte* block(int rank, size_t block, uint64_t round) const {
    return buffer_of(rank, round) + table_of(rank)[block].at;
  }
  size_t bytes(int rank, size_t block) const { return table_of(rank)[block].bytes; }

 private:
  Deposits(const std::vector<Announced>& all, int rank) : all_(all), rank_(rank) {}
  bool share(Communicator& communicator);
  shm::Word& started_by(int rank) const { return *reinterpret_cast<shm::Word*>(area(rank)); }
  std::byte* area(int rank) const { return memory_ + at_[static_cast<size_t>(rank)]; }
  Block* table_of(int rank) const;
  std::byte* buffer_of(int rank, uint64_t round) const;

  const std::vector<Announced> all_;
  const int rank_;
  std::vector<size_t> at_;  // of the ranks' areas in the piece
  std::shared_ptr<shm::Segment> segment_;
  uint32_t page_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace tutti::mpi
