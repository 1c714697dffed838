#include "shm/heap_fork.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tutti::shm {
namespace {

std::array<std::atomic<Heap*>, Heap::most_heaps> heaps;

// A thread holds it while it forks: two forks at once would mix up their sockets.
pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;
// Sockets and not a pipe: if the parent has ended, a write to a pipe would raise a signal.
int ends[2] = {-1, -1};

// Also called in a child of fork, where only a bare write is safe.
void say(const char* message) {
  char line[256];
  size_t length = 0;
  for (const char* part : {"tutti: error: ", message, "\n"})
    for (const char* c = part; *c != '\0' && length < sizeof line; ++c) line[length++] = *c;
  if (write(STDERR_FILENO, line, length) < 0) {
  }
}

bool any_holds(const void* address) {
  return std::any_of(heaps.begin(), heaps.end(), [&](const std::atomic<Heap*>& heap) {
    const Heap* const here = heap;
    return here != nullptr && here->shared() && here->holds(address);
  });
}

bool any_shared() {
  return std::any_of(heaps.begin(), heaps.end(), [](const std::atomic<Heap*>& heap) {
    const Heap* const here = heap;
    return here != nullptr && here->shared();
  });
}

void close_end(int which) {
  if (ends[which] >= 0) close(ends[which]);
  ends[which] = -1;
}

// Libraries of fast networks put hooks into mmap and similar functions, and the hooks use memory of
// the heap, which the child does not have yet. So this calls the system without the C library.
bool map_private(std::byte* address, size_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return syscall(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != -1;
}

bool read_at(int file, std::byte* to, size_t bytes, size_t from) {
  while (bytes > 0) {
    const ssize_t length =
        pread(file, to, std::min(bytes, size_t{1} << 30), static_cast<off_t>(from));
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return false;
    to += length;
    from += static_cast<size_t>(length);
    bytes -= static_cast<size_t>(length);
  }
  return true;
}

}  // namespace

bool HeapFork::enter(Heap* heap) {
  // This registers before any memory of the heap is used. An allocator on top registers its own
  // handlers later, so in a child they run when the heap is private already.
  static const int registered = pthread_atfork(prepare, parent, child);
  if (registered != 0) return false;
  for (std::atomic<Heap*>& entry : heaps) {
    Heap* expected = nullptr;
    if (entry.compare_exchange_strong(expected, heap)) return true;
  }
  return false;
}

void HeapFork::leave(Heap* heap) {
  for (std::atomic<Heap*>& entry : heaps) {
    Heap* expected = heap;
    if (entry.compare_exchange_strong(expected, nullptr)) return;
  }
}

void HeapFork::prepare() {
  const char on_stack = 0;
  if (any_holds(&on_stack)) {
    say("fork on a stack that lies in the shared heap would give parent and child one stack; run "
        "without --shared-heap");
    abort();
  }
  pthread_mutex_lock(&forking);
  // If no sockets can be made, the parent does not wait: the child still gets its copy, but writes
  // of the parent during the copy may be in it or not.
  if (any_shared() && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    ends[0] = ends[1] = -1;
}

// Also runs if fork has failed; then no process holds the other end, and recv returns at once.
void HeapFork::parent() {
  close_end(1);
  char done;
  if (ends[0] >= 0)
    while (recv(ends[0], &done, 1, 0) < 0 && errno == EINTR) {
    }
  close_end(0);
  pthread_mutex_unlock(&forking);
}

void HeapFork::child() {
  for (const std::atomic<Heap*>& entry : heaps) {
    Heap* const heap = entry;
    if (heap != nullptr && heap->shared()) heap->become_private();
  }
  const char done = 1;
  if (ends[1] >= 0 && send(ends[1], &done, 1, MSG_NOSIGNAL) < 0) {
  }
  close_end(0);
  close_end(1);
  new (&forking) pthread_mutex_t PTHREAD_MUTEX_INITIALIZER;
}

void Heap::become_private() {
  const size_t used = std::min<size_t>(bytes_, load_relaxed(used_));
  const bool readable = has_file();
  const bool copied = readable ? copy_in_place(used) : copy_aside(used);
  if (!copied) {
    say("a child of fork could not copy the shared heap for want of memory, and ends; run without "
        "--shared-heap");
    _exit(127);
  }
  store_relaxed(shared_, 0);
  if (readable) close(descriptor_);
  descriptor_ = -1;
}

// Reads only pages that hold data, from the file, which the parent still maps and this process does
// not.
bool Heap::copy_in_place(size_t used) {
  if (!map_private(base_, bytes_)) return false;
  for (off_t from = 0; from < static_cast<off_t>(used);) {
    const off_t begin = lseek(descriptor_, from, SEEK_DATA);
    if (begin < 0) return errno == ENXIO;  // no data after `from`
    const off_t end = lseek(descriptor_, begin, SEEK_HOLE);
    if (end < 0) return false;
    if (!read_at(descriptor_, base_ + begin, static_cast<size_t>(end - begin),
                 static_cast<size_t>(begin)))
      return false;
    from = end;
  }
  return true;
}

// Copies to memory at other addresses, which then replaces the range.
bool Heap::copy_aside(size_t used) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  const long copy = syscall(SYS_mmap, nullptr, used, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (copy == -1) return false;
  std::memcpy(reinterpret_cast<void*>(copy), base_, used);
  return syscall(SYS_mremap, copy, used, used, MREMAP_MAYMOVE | MREMAP_FIXED, base_) != -1 &&
         (used == bytes_ || map_private(base_ + used, bytes_ - used));
}

}  // namespace tutti::shm
