// A heap: a range of this process's addresses whose memory other processes of the node can map, so
// that they load and store what lies in it (HMPI's shared heap, HMPI 2.1).
//
// It is one large reservation, backed by a memfd without pages: memory comes page by page where it
// is first touched, on the numa region of the thread that touches it, and goes back where it is
// forgotten. The range is handed out from its start on, once; who frees and reuses (an allocator,
// HeapPieces) sits on top. Peers learn where it is from Location, plain bytes that any transport
// can carry, and attach with PeerHeap.
//
// The object belongs to whoever made it and must outlive all use of the memory. take and forget may
// be called by any thread, allocate nothing and take no lock, so that they may serve malloc itself.
//
// fork: a child must not share its parent's heap. Handlers of pthread_atfork give it a private copy
// of the used part at the same addresses while the forking thread of the parent waits; the copy is
// complete before any handler that was registered later runs in the child. A child is not shared()
// and has no peers. Where it cannot copy, it ends with exit code 127 and one line, as if exec had
// failed, rather than write into its parent. vfork and posix_spawn run no handlers and need none.
// Two things stay forbidden: to fork past the C library (a bare clone, _Fork), and on a stack that
// lies in a heap (pthread_attr_setstack, makecontext), which parent and child would both run on:
// that aborts with one line. What other threads of the parent write while the child copies may be
// in the copy in part.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shm/order.h"

namespace tutti::shm {

class Heap {
 public:
  struct Location {
    uint64_t identity[2];  // random, and at the start of the range: proves what was attached to
    uint64_t bytes;        // 0: no heap
    int32_t process;
    int32_t descriptor;
  };

  static constexpr size_t usual_bytes = size_t{64} << 30;
  static constexpr size_t least_bytes = size_t{16} << 20;

  // At most so many bytes, halved until the limits of the process (RLIMIT_AS, RLIMIT_FSIZE) and the
  // system allow it. Throws Error(unavailable) with the reason; there are never more than
  // most_heaps in a process.
  explicit Heap(size_t most_bytes = usual_bytes);
  Heap(const Heap&) = delete;
  ~Heap();
  static constexpr size_t most_heaps = 4;

  // False in a child of fork: the memory is its own there.
  bool shared() const { return load_relaxed(shared_) != 0; }
  // bytes is 0 where it is not shared.
  Location location() const;
  std::byte* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  bool holds(const void* address) const {
    return static_cast<size_t>(static_cast<const std::byte*>(address) - base_) < bytes_;
  }

  // The next part of the range, zero, whole pages; null where the range is used up. `alignment` is
  // a power of two.
  std::byte* take(size_t bytes, size_t alignment);
  // Whole pages of it: their memory goes back to the system and they are zero again. False where
  // that cannot be done.
  bool forget(std::byte* address, size_t bytes);

 private:
  friend struct HeapFork;
  void reserve(size_t most_bytes);
  bool make(size_t bytes);
  void become_private();
  bool copy_in_place(size_t used);
  bool copy_aside(size_t used);

  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  int descriptor_ = -1;
  uint64_t file_[2] = {};  // device and inode: programs close descriptors that they do not know
  int32_t process_ = 0;
  Word shared_{1};
  Word used_{0};  // bytes of the range that were taken
};

// Another process's heap, mapped here. Its children of fork do not inherit the mapping, nor do core
// files hold it.
class PeerHeap {
 public:
  // Throws Error(unavailable) with the reason, which may be that RLIMIT_AS would leave too little
  // for the program.
  explicit PeerHeap(const Heap::Location& location);
  PeerHeap(PeerHeap&& other) noexcept;
  PeerHeap& operator=(PeerHeap&&) = delete;
  PeerHeap(const PeerHeap&) = delete;
  ~PeerHeap();

  std::byte* base() const { return base_; }

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace tutti::shm
