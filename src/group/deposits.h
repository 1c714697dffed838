// Deposits: the shared memory of one persistent collective.
//
// Every rank has an area: a word with the number of its last round, a table of the blocks that it
// gives, and two buffers for them, which it uses in turn. To start a round, a rank copies its
// blocks into the round's buffer and publishes the round's number; it waits for no other rank. Once
// all ranks have started a round, each rank copies its results from the others' buffers by itself,
// so a rank owes the others nothing after its start. Two buffers are enough: a rank that starts
// round n + 2 has completed round n + 1, so all ranks have started n + 1, so all have completed n
// and have read the buffers of n. docs/decisions/persistent-collectives.md says why there is no
// other way.
//
// A persistent collective owns one object at each rank, which one thread uses at a time. The object
// keeps its rank's mapping of the memory; the last rank that destroys its object frees the memory.
// If the collective ends at a rank while a round is pending, that rank never destroys its object,
// because other ranks may still read its blocks; the memory is then never freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "group/group.h"
#include "shm/order.h"
#include "shm/segment.h"

namespace tutti::group {

class Deposits {
 public:
  // The facts about one rank that it sends to all others when the operation is made. It is sent as
  // plain bytes.
  struct Announced {
    uint64_t call = 0;     // collective and root; the same at all ranks if their calls match
    uint64_t blocks = 0;   // the number of blocks that the rank gives
    uint64_t bytes = 0;    // the bytes of these blocks together, in the buffer
    uint64_t longest = 0;  // the bytes of the longest block
    uint64_t process = 0;  // the rank's pid, by which the others notice that the rank has died
    // How many operations the rank's process has made, with this one. In traces, rank 0's number
    // identifies the operation among those of its communicator.
    uint64_t number = 0;
    uint64_t refuses = 0;  // 0, or the reason why this rank cannot make the operation
  };
  // Where one block of a rank is in the rank's buffers. It is in shared memory.
  struct Block {
    uint64_t at = 0;  // bytes from the start of the buffer
    uint64_t bytes = 0;
  };
  // The segments from which the operations of one communicator take memory. Rank 0 has made them,
  // and the other ranks have attached to them. The group's owner keeps them.
  using Segments = std::vector<std::shared_ptr<shm::Segment>>;

  // Collective over the group, whose ranks pass the same announcements. If no segment has room for
  // the deposits, rank 0 makes one of this kind. Null at all ranks if rank 0 gets no memory or if
  // another rank cannot attach to it.
  static std::unique_ptr<Deposits> make(Group& group, Segments& segments, shm::Segment::Kind kind,
                                        const std::vector<Announced>& all);
  // Bytes of the areas of all ranks; the same at all ranks.
  static size_t needed(const std::vector<Announced>& all);
  ~Deposits();
  Deposits(const Deposits&) = delete;

  // This rank's table, which it fills before it publishes its first round, and its buffer of a
  // round.
  Block* table() { return table_of(rank_); }
  std::byte* buffer(uint64_t round) { return buffer_of(rank_, round); }
  void publish(uint64_t round) { shm::publish(started_by(rank_), round); }

  bool has_started(int rank, uint64_t round) const {
    return shm::observe(started_by(rank)) >= round;
  }
  uint64_t process(int rank) const { return all_[static_cast<size_t>(rank)].process; }

  // A rank's block in a round that the rank has started.
  const std::byte* block(int rank, size_t block, uint64_t round) const {
    return buffer_of(rank, round) + table_of(rank)[block].at;
  }
  size_t bytes(int rank, size_t block) const { return table_of(rank)[block].bytes; }

 private:
  Deposits(const std::vector<Announced>& all, int rank);
  bool share(Group& group, Segments& segments, shm::Segment::Kind kind);
  shm::Word& started_by(int rank) const { return *reinterpret_cast<shm::Word*>(area(rank)); }
  std::byte* area(int rank) const { return memory_ + at_[static_cast<size_t>(rank)]; }
  Block* table_of(int rank) const;
  std::byte* buffer_of(int rank, uint64_t round) const;

  const std::vector<Announced> all_;
  const int rank_;
  std::vector<size_t> at_;  // by rank: bytes from memory_ to its area
  std::shared_ptr<shm::Segment> segment_;
  uint32_t page_ = 0;  // of the segment, where memory_ begins
  std::byte* memory_ = nullptr;
};

}  // namespace tutti::group
