// An arena: the shared memory of one process for the data of operations that outlive their call. It
// grows when needed, and other processes of the node map it when they first read from it.
//
// A sender takes a block, writes its data, and tells the readers the block's place (ArenaPlace).
// The block is the sender's until it gives it back, which it does when all readers are done with
// it (sequence.h). Free blocks are used again, the last one first, because it is likely to be in
// the caches. An arena never moves or unmaps memory while it lives. It gives the pages of large
// free blocks, of sizes that are no longer used, back to the system when many are free.
//
// A process has one arena, which outlives all sequences that use it. Any thread may call its
// functions; they lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "shm/ledger.h"
#include "shm/segment.h"

namespace tutti::records {

class Arena {
 public:
  struct Settings {
    shm::Segment::Kind kind = shm::Segment::Kind::memfd;
    // The segment from which an arena of the kind posix takes memory, because other processes
    // cannot open a new one; all of them have attached to it. An arena of memfds takes memory from
    // it if the system refuses a new memfd (RLIMIT_FSIZE). It outlives the arena.
    shm::Segment* shared = nullptr;
    // If blocks of more bytes are taken at one time, the arena warns once. It does not refuse them,
    // because a start may not wait, and the host MPI would run the program.
    size_t usual_most = SIZE_MAX;
  };
  explicit Arena(const Settings& settings) : settings_(settings) {}
  ~Arena();
  Arena(const Arena&) = delete;

  struct Block {
    std::byte* data = nullptr;
    size_t bytes = 0;  // at least as many as asked for
    uint32_t size_class = 0;
    shm::ArenaPlace place{};  // where other processes find it
  };
  // A block that starts on a cache line. Throws Error(unavailable) with the reason and the remedy
  // if the system has no memory; the arena is then as before.
  Block take(size_t bytes);
  void give_back(const Block& block) noexcept;

  // Returns the address of a place in this process. Maps its segment if this process has not mapped
  // it yet. Throws Error(unavailable) with the reason if it cannot. Valid as long as the arena.
  const std::byte* address(const shm::ArenaPlace& place);

  // Bytes of the blocks that are taken: now, and the most so far.
  size_t held() const;
  size_t most_held() const;

 private:
  struct Piece {
    shm::Segment* segment;
    uint32_t page;
    std::byte* start;
    size_t bytes;
  };
  struct Free {
    Block block;
    bool resident = true;  // it may have pages; false: they were given back to the system
  };
  // Block sizes are 64, 128, 192, 256, 384, 512, ... bytes.
  static constexpr uint32_t size_classes = 84;
  static uint32_t class_of(size_t bytes);
  static size_t bytes_of(uint32_t size_class);
  Block carve(uint32_t size_class);
  void open_piece(size_t least);
  Block block_at(uint32_t piece, size_t at, uint32_t size_class) const;
  uint32_t add_piece(size_t bytes);
  // Gives the pages of one free block back to the system, of the size that has not been used for
  // longest. False: none has pages, or the system refuses.
  bool release_oldest() noexcept;
  bool release_pages(Free& free) noexcept;

  const Settings settings_;
  mutable std::mutex mutex_;  // guards all below
  std::deque<shm::Segment> made_, attached_;
  std::vector<Piece> pieces_;
  uint32_t open_piece_ = 0;  // from which small blocks are carved
  size_t open_at_ = 0, open_bytes_ = 0;
  std::vector<Free> free_[size_classes];
  size_t carved_[size_classes] = {};  // how many blocks there are; free_ has capacity for all
  uint64_t used_at_[size_classes] = {}, uses_ = 0;  // when a block was last given back, in uses
  size_t resident_bytes_ = 0;                       // resident bytes of free blocks
  size_t held_ = 0, most_held_ = 0;
};

}  // namespace tutti::records
