#include "shm/heap.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/line.h"
#include "shm/heap_fork.h"

namespace tutti::shm {
namespace {

constexpr size_t page = 4096;
// Alignment to this does no harm on systems whose huge pages have another size.
constexpr size_t huge_page = size_t{2} << 20;

// The file grows by at least so many bytes, and by at most the second number more than are needed.
constexpr size_t least_growth = size_t{4} << 20, most_growth = size_t{256} << 20;

// Bytes of addresses in use. It is read without stdio, because malloc may be waiting for this heap.
size_t addresses_in_use() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[64] = {};
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  size_t pages = 0;
  for (ssize_t i = 0; i < length && text[i] >= '0' && text[i] <= '9'; ++i)
    pages = pages * 10 + static_cast<size_t>(text[i] - '0');
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Bytes of addresses that RLIMIT_AS leaves.
size_t addresses_left() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur - std::min<size_t>(limit.rlim_cur, addresses_in_use());
}

// The largest heap that the process's limits allow. A file beyond RLIMIT_FSIZE causes a signal, so
// this limit is checked first. Under RLIMIT_AS the heap takes a quarter of the addresses; the rest
// is for the program and the peers' heaps.
size_t within_limits(size_t bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min<size_t>(bytes, limit.rlim_cur);
  return std::min(bytes, addresses_left() / 4);
}

}  // namespace

Heap::Heap(size_t most_bytes) : process_(getpid()) {
  reserve(within_limits(most_bytes) / huge_page * huge_page);
  if (!HeapFork::enter(this)) {
    munmap(base_, bytes_);
    close(descriptor_);
    throw Error(Code::unavailable,
                "a process has at most " + std::to_string(most_heaps) + " shared heaps");
  }
}

Heap::~Heap() {
  HeapFork::leave(this);
  munmap(base_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

void Heap::reserve(size_t most_bytes) {
  if (most_bytes < least_bytes)
    throw Error(
        Code::unavailable,
        "RLIMIT_AS or RLIMIT_FSIZE (ulimit -v, ulimit -f) leaves no room for a shared heap");
  const int low = memfd_create("tutti-heap", MFD_CLOEXEC);
  if (low < 0) throw_errno("memfd_create for a shared heap");
  descriptor_ = move_high(low);
  struct stat status;
  uint64_t identity[2];
  for (size_t bytes = most_bytes; base_ == nullptr && bytes >= least_bytes;
       bytes = bytes / 2 / huge_page * huge_page)
    if (!make(bytes) && errno != ENOMEM && errno != EFBIG && errno != EINVAL) break;
  if (base_ == nullptr || fstat(descriptor_, &status) != 0 ||
      getrandom(identity, sizeof identity, 0) != sizeof identity) {
    const int error = errno;
    if (base_ != nullptr) munmap(base_, bytes_);
    close(descriptor_);
    errno = error;
    throw_errno("a shared heap");
  }
  file_[0] = status.st_dev;
  file_[1] = status.st_ino;
  madvise(base_, bytes_, MADV_HUGEPAGE);  // the system may ignore it
  madvise(base_, bytes_, MADV_DONTDUMP);
  if (!grow(page)) {
    munmap(base_, bytes_);
    close(descriptor_);
    throw Error(Code::unavailable, "the system gives a shared heap no memory");
  }
  std::memcpy(base_, identity, sizeof identity);
  const uint64_t length = bytes_;
  std::memcpy(base_ + sizeof identity, &length, sizeof length);
  store_relaxed(used_, page);
}

// Maps the heap at an address that is aligned to huge pages.
bool Heap::make(size_t bytes) {
  void* const room = mmap(nullptr, bytes + huge_page, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  std::byte* const begin = static_cast<std::byte*>(room);
  const auto start = reinterpret_cast<uintptr_t>(begin);
  std::byte* const aligned = begin + (round_up(start, huge_page) - start);
  void* const mapped =
      mmap(aligned, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    munmap(room, bytes + huge_page);
    errno = error;
    return false;
  }
  if (aligned > begin) munmap(begin, static_cast<size_t>(aligned - begin));
  const size_t behind = huge_page - static_cast<size_t>(aligned - begin);
  if (behind > 0) munmap(aligned + bytes, behind);
  base_ = aligned;
  bytes_ = bytes;
  return true;
}

// False if the program has closed the descriptor, which may then be another file.
bool Heap::has_file() const {
  struct stat status;
  return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 &&
         static_cast<uint64_t>(status.st_dev) == file_[0] &&
         static_cast<uint64_t>(status.st_ino) == file_[1];
}

// Makes the file so long that the first `bytes` of the range may be accessed. False if it cannot.
// In a child of fork all of the range is memory of its own.
bool Heap::grow(size_t bytes) {
  while (observe(grown_) < bytes) {
    if (!shared()) return true;
    if (!shm::take(growing_, 0, 1)) {
      sched_yield();
      continue;
    }
    const size_t from = load_relaxed(grown_);
    const size_t more = std::clamp(bytes / 4, least_growth, most_growth);
    size_t to = std::min(bytes_, round_up(bytes + more, huge_page));
    rlimit limit;  // beyond it the system would send a signal
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < to)
      to = limit.rlim_cur / page * page;
    const bool grows =
        from >= bytes ||
        (to >= bytes && has_file() && ftruncate(descriptor_, static_cast<off_t>(to)) == 0 &&
         mprotect(base_ + from, to - from, PROT_READ | PROT_WRITE) == 0);
    if (grows && from < bytes) {
      madvise(base_ + from, to - from, MADV_DODUMP);
      publish(grown_, to);
    }
    publish(growing_, 0);
    if (!grows) return false;
  }
  return true;
}

Heap::Location Heap::location() const {
  Location location{};
  if (!shared()) return location;
  std::memcpy(location.identity, base_, sizeof location.identity);
  location.bytes = bytes_;
  location.process = process_;
  location.descriptor = descriptor_;
  return location;
}

std::byte* Heap::take(size_t bytes, size_t alignment) {
  if (bytes > bytes_) return nullptr;
  const size_t length = round_up(std::max<size_t>(bytes, 1), page);
  const size_t unit = std::max(alignment, page);
  const uintptr_t start = reinterpret_cast<uintptr_t>(base_);
  uint64_t used = load_relaxed(used_);
  for (;;) {
    const size_t offset = round_up(start + used, unit) - start;
    if (offset > bytes_ || bytes_ - offset < length) return nullptr;
    // Before the part is taken, because a part that was taken is never given back.
    if (!grow(offset + length)) return nullptr;
    // A caller hands its part to other threads by its own synchronisation; the counter orders
    // nothing.
    if (advance(used_, used, offset + length)) return base_ + offset;
  }
}

bool Heap::forget(std::byte* address, size_t bytes) {
  // MADV_DONTNEED on a shared mapping would free nothing, because the pages belong to the file.
  return madvise(address, bytes, shared() ? MADV_REMOVE : MADV_DONTNEED) == 0;
}

PeerHeap::PeerHeap(const Heap::Location& location) : bytes_(location.bytes) {
  if (bytes_ == 0) throw Error(Code::unavailable, "a rank has no shared heap");
  if (bytes_ > addresses_left() / 2)  // the program needs addresses too
    throw Error(Code::unavailable,
                "RLIMIT_AS (ulimit -v) leaves too few addresses for the other ranks' shared heaps");
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", location.process, location.descriptor);
  const int descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) throw_errno(std::string("open ") + path);
  struct {
    uint64_t identity[2], bytes;
  } found{};
  // The file is read before it is mapped, because a page that is touched costs as much as the
  // mapping, twice.
  const bool fits = pread(descriptor, &found, sizeof found, 0) == sizeof found &&
                    std::equal(found.identity, found.identity + 2, location.identity) &&
                    found.bytes == bytes_;
  void* const address = fits ? mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_NORESERVE, descriptor, 0)
                             : MAP_FAILED;
  close(descriptor);
  if (!fits)
    throw Error(Code::unavailable, "process " + std::to_string(location.process) +
                                       " is another one here than where its shared heap was made");
  if (address == MAP_FAILED) throw_errno("mmap of a rank's shared heap");
  base_ = static_cast<std::byte*>(address);
  madvise(base_, bytes_, MADV_DONTFORK);
  madvise(base_, bytes_, MADV_DONTDUMP);
}

PeerHeap::PeerHeap(PeerHeap&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_) {}

PeerHeap::~PeerHeap() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

}  // namespace tutti::shm
