// A heap: a range of this process's addresses whose memory other processes of the node can map, so
// that they can load and store data in it (HMPI's shared heap, HMPI 2.1).
//
// It is one large reservation of addresses, backed by a memfd that grows with what is handed out.
// Nobody can touch memory beyond the end of the file: neither a peer, nor a tool that reads or
// locks all of a process (a core dump, valgrind, mlockall). Beyond it this process may not access
// the range, and core files leave the range out. A page of memory is allocated when it is first
// touched, on the numa region of the thread that touches it, and freed by `forget`. `take` hands
// out the range from its start on, each part once; reuse is the task of an allocator on top
// (HeapPieces, or jemalloc in src/heap). Other processes learn the heap's place from a Location
// (plain bytes, sent by any transport) and map it with PeerHeap.
//
// The object belongs to its creator and must outlive all use of the memory. Any thread may call
// take and forget; they allocate nothing, so that malloc itself can be built on them. take holds a
// lock while the file grows, which is seldom; a child of fork does not wait for it.
//
// fork: a child must not share its parent's heap. Handlers of pthread_atfork give the child a
// private copy of the used part at the same addresses, while the forking thread of the parent
// waits. The copy is complete before any handler that was registered later runs in the child. In a
// child the heap is not shared() and has no peers. If the copy fails, the child ends with exit code
// 127 and one line, as if exec had failed, rather than write to its parent's memory. vfork and
// posix_spawn run no handlers and need none. Two things stay forbidden: to fork without the C
// library (a bare clone, _Fork), and to fork on a stack that lies in a heap (pthread_attr_setstack,
// makecontext), which parent and child would both use; this aborts with one line. Writes by other
// threads of the parent during the copy may be missing from it, in part or in whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shm/order.h"

namespace tutti::shm {

class Heap {
 public:
  struct Location {
    uint64_t identity[2];  // random; it is also at the start of the range, to check what was mapped
    uint64_t bytes;        // 0: no heap
    int32_t process;
    int32_t descriptor;
  };

  static constexpr size_t usual_bytes = size_t{64} << 30;
  static constexpr size_t least_bytes = size_t{16} << 20;

  // Reserves at most `most_bytes`, halved until the limits of the process (RLIMIT_AS, RLIMIT_FSIZE)
  // and the system allow it. Throws Error(unavailable) with the reason. A process has at most
  // most_heaps heaps.
  explicit Heap(size_t most_bytes = usual_bytes);
  Heap(const Heap&) = delete;
  ~Heap();
  static constexpr size_t most_heaps = 4;

  // False in a child of fork, whose memory is private.
  bool shared() const { return load_relaxed(shared_) != 0; }
  // Its `bytes` is 0 if the heap is not shared.
  Location location() const;
  std::byte* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  bool holds(const void* address) const {
    return static_cast<size_t>(static_cast<const std::byte*>(address) - base_) < bytes_;
  }

  // The next part of the range, in whole pages, all zero; null if the range is used up, or if the
  // file cannot grow (RLIMIT_FSIZE, or the program has closed it). `alignment` is a power of two.
  std::byte* take(size_t bytes, size_t alignment);
  // Returns the memory of whole pages to the system; they are zero again. False if the system
  // refuses.
  bool forget(std::byte* address, size_t bytes);

 private:
  friend struct HeapFork;
  void reserve(size_t most_bytes);
  bool make(size_t bytes);
  bool grow(size_t bytes);
  bool has_file() const;
  void become_private();
  bool copy_in_place(size_t used);
  bool copy_aside(size_t used);

  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  int descriptor_ = -1;
  uint64_t file_[2] = {};  // device and inode, because a program may have closed the descriptor
  int32_t process_ = 0;
  Word shared_{1};
  Word used_{0};  // bytes of the range that were taken
  // Bytes of the file, which this process may access. Only the thread that has changed growing_
  // from 0 to 1 changes it.
  Word grown_{0}, growing_{0};
};

// Another process's heap, mapped here as long as the object lives. Children of fork do not inherit
// the mapping, and core files do not contain it. Any thread may use the memory.
class PeerHeap {
 public:
  // Throws Error(unavailable) with the reason; one is that RLIMIT_AS would leave the program too
  // few addresses.
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
