// A segment: shared memory that several processes of one node map, and the allocator of pieces of
// it.
//
// One process creates a segment and tells the others its Location (plain bytes, sent by any
// transport); they attach to it. A segment leaves nothing behind if its job is killed: a memfd has
// no name, and a POSIX object is unlinked as soon as all have mapped it (forget_name). Each process
// owns its mapping, which ends with the Segment object; the memory is freed with the last mapping.
// The limit on the size of files (RLIMIT_FSIZE) also limits segments.
//
// Pieces are runs of pages. The creator of a communicator takes one piece for all its members;
// every member leaves it once, and the last one to leave frees it. The page table of pieces is in
// the segment, under a lock that survives the death of its owner. Any thread of any attached
// process may take and leave pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tutti::shm {

inline constexpr size_t page_size = 4096;

class Segment {
 public:
  enum class Kind : uint32_t { memfd, posix };

  struct Location {
    uint64_t identity[2];  // random: proves that the attached segment is the right one
    uint64_t bytes;
    int32_t process;
    int32_t descriptor;
    Kind kind;
    char name[36];  // a POSIX object's name while it has one
  };

  struct Piece {
    uint32_t first_page;
    uint32_t pages;
    bool fresh;  // never used before, so all zero
  };

  // Both throw Error(unavailable) with the reason. `usable_bytes` is rounded up to pages.
  static Segment create(Kind kind, size_t usable_bytes);
  static Segment attach(const Location& location);
  // False if RLIMIT_FSIZE forbids a segment of so many usable bytes.
  static bool fits_file_limit(size_t usable_bytes);
  // Unlinks a POSIX object. The creator calls it when all have attached, or when they cannot.
  void forget_name();

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&&) = delete;
  Segment(const Segment&) = delete;
  ~Segment();

  const Location& location() const { return location_; }
  bool is(const Location& other) const {
    return location_.identity[0] == other.identity[0] && location_.identity[1] == other.identity[1];
  }

  // A piece of at most `wanted` and at least `least` bytes for this many members, from the first
  // run of pages that is large enough. Nothing if there is no such run or the system has no memory
  // for it.
  std::optional<Piece> take(size_t least, size_t wanted, uint32_t members);
  // One member no longer uses the piece that starts at this page.
  void leave(uint32_t first_page);

  std::byte* address(uint32_t page) const { return base_ + page * page_size; }
  size_t free_bytes() const;    // now; others may take at the same time
  size_t usable_bytes() const;  // all of it

 private:
  struct Header;
  struct Run;
  Segment(int descriptor, const Location& location);
  void map();
  static uint32_t table_pages_for(uint32_t usable);
  Header& header() const { return *reinterpret_cast<Header*>(base_); }
  Run* runs() const;
  bool reserve(uint32_t first_page, uint32_t pages);

  int descriptor_ = -1;
  std::byte* base_ = nullptr;
  Location location_{};
};

}  // namespace tutti::shm
