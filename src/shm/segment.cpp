#include "shm/segment.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "base/descriptors.h"
#include "base/error.h"

namespace tutti::shm {

// Page table: one entry for each page; only the first entry of each run is valid. Runs follow each
// other without gaps, so a walk from page `first` sees them all. take() merges neighbouring free
// runs that it walks past.
struct Segment::Run {
  uint32_t pages;
  uint32_t members;  // the number of members that still use it; 0: free
};

struct Segment::Header {
  uint64_t identity[2];
  uint32_t first;      // the first page after the page table
  uint32_t end;        // one past the last page
  uint32_t untouched;  // pages from here on were never handed out
  pthread_mutex_t mutex;
};

namespace {

// Holds the lock of the page table. An owner that died may have left a run half taken; this loses
// the run's pages but does no other harm.
class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) {
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
  }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

void make_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

// Beyond this limit the system would send a signal.
bool is_within_file_limit(size_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

void check_file_limit(size_t bytes) {
  if (is_within_file_limit(bytes)) return;
  throw Error(Code::unavailable, "shared memory of " + std::to_string(bytes) +
                                     " bytes is more than RLIMIT_FSIZE allows; " +
                                     "raise it (ulimit -f)");
}

uint32_t pages_for(size_t bytes) {
  return static_cast<uint32_t>((bytes + page_size - 1) / page_size);
}

int open_new(Segment::Location& location) {
  if (location.kind == Segment::Kind::memfd) {
    const int descriptor = memfd_create("tutti", MFD_CLOEXEC);
    if (descriptor < 0) throw_errno("memfd_create");
    return descriptor;
  }
  snprintf(location.name, sizeof location.name, "/tutti-%016llx",
           static_cast<unsigned long long>(location.identity[0]));
  const int descriptor =
      shm_open(location.name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) throw_errno("shm_open in /dev/shm");
  return descriptor;
}

// Opens by name while there is one, else by the creator's descriptor.
int open_existing(const Segment::Location& location) {
  if (location.name[0] != '\0') {
    const int descriptor = shm_open(location.name, O_RDWR | O_CLOEXEC, 0);
    if (descriptor >= 0) return descriptor;
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", location.process, location.descriptor);
  const int descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) throw_errno(std::string("open ") + path);
  return descriptor;
}

}  // namespace

Segment::Segment(int descriptor, const Location& location)
    : descriptor_(descriptor), location_(location) {}

Segment::Segment(Segment&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      base_(std::exchange(other.base_, nullptr)),
      location_(other.location_) {}

Segment::~Segment() {
  if (base_ != nullptr) munmap(base_, location_.bytes);
  if (descriptor_ >= 0) close(descriptor_);
}

void Segment::map() {
  void* address =
      mmap(nullptr, location_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (address == MAP_FAILED) throw_errno("mmap of shared memory");
  base_ = static_cast<std::byte*>(address);
  // A core file would take memory for all pages, and each rank's would have those of all ranks.
  madvise(base_, location_.bytes, MADV_DONTDUMP);
}

Segment::Run* Segment::runs() const { return reinterpret_cast<Run*>(base_ + sizeof(Header)); }

uint32_t Segment::table_pages_for(uint32_t usable) {
  uint32_t table_pages = 1;
  while (pages_for(sizeof(Header) + (table_pages + usable) * sizeof(Run)) > table_pages)
    ++table_pages;
  return table_pages;
}

bool Segment::fits_file_limit(size_t usable_bytes) {
  const uint32_t usable = pages_for(usable_bytes);
  return is_within_file_limit((size_t{usable} + table_pages_for(usable)) * page_size);
}

Segment Segment::create(Kind kind, size_t usable_bytes) {
  static_assert(std::is_trivially_copyable_v<Location>, "locations travel as bytes");
  Location location{};
  location.kind = kind;
  location.process = getpid();
  if (getrandom(location.identity, sizeof location.identity, 0) != sizeof location.identity)
    throw_errno("getrandom");
  const uint32_t usable = std::max<uint32_t>(1, pages_for(usable_bytes));
  const uint32_t table_pages = table_pages_for(usable);
  location.bytes = static_cast<uint64_t>(table_pages + usable) * page_size;

  check_file_limit(location.bytes);

  Segment segment(move_high(open_new(location)), location);
  segment.location_.descriptor = segment.descriptor_;
  try {
    if (ftruncate(segment.descriptor_, static_cast<off_t>(location.bytes)) != 0)
      throw_errno("ftruncate of shared memory");
    // Without the reservation a full /dev/shm would kill the process at its first store.
    if (!segment.reserve(0, table_pages)) throw_errno("no room in /dev/shm");
    segment.map();
  } catch (...) {
    segment.forget_name();
    throw;
  }
  Header& header = *new (segment.base_) Header{};
  std::copy_n(location.identity, 2, header.identity);
  header.first = header.untouched = table_pages;
  header.end = table_pages + usable;
  make_mutex(header.mutex);
  segment.runs()[table_pages] = {usable, 0};
  return segment;
}

Segment Segment::attach(const Location& location) {
  Segment segment(move_high(open_existing(location)), location);
  struct stat status;
  if (fstat(segment.descriptor_, &status) != 0) throw_errno("fstat of shared memory");
  const bool large_enough = static_cast<uint64_t>(status.st_size) == location.bytes;
  if (large_enough) segment.map();
  if (!large_enough ||
      !std::equal(location.identity, location.identity + 2, segment.header().identity))
    throw Error(Code::unavailable,
                "process " + std::to_string(location.process) +
                    " is another one here than where the shared memory was made");
  if (location.kind == Kind::memfd) {  // only reservations of POSIX objects need the descriptor
    close(segment.descriptor_);
    segment.descriptor_ = -1;
  }
  return segment;
}

void Segment::forget_name() {
  if (location_.name[0] != '\0') shm_unlink(location_.name);
  location_.name[0] = '\0';
}

// A memfd is not limited by a file system's size, and its untouched pages must cost nothing.
// In /dev/shm at most half of what is free is taken. The rest is for others, such as the host MPI,
// whose files there get their pages when they are touched, and which would die of a signal then.
bool Segment::reserve(uint32_t first_page, uint32_t pages) {
  if (location_.kind == Kind::memfd) return true;
  struct statvfs room;
  if (fstatvfs(descriptor_, &room) == 0 && room.f_blocks > 0 &&
      size_t{pages} * page_size > room.f_bavail * room.f_frsize / 2) {
    errno = ENOSPC;
    return false;
  }
  const int error = posix_fallocate(descriptor_, static_cast<off_t>(first_page * page_size),
                                    static_cast<off_t>(pages * page_size));
  errno = error;
  return error == 0;
}

std::optional<Segment::Piece> Segment::take(size_t least, size_t wanted, uint32_t members) {
  const uint32_t least_pages = std::max<uint32_t>(1, pages_for(least));
  const uint32_t wanted_pages = std::max(least_pages, pages_for(wanted));
  Header& header = this->header();
  const Lock lock(header.mutex);
  Run* const table = runs();
  for (uint32_t page = header.first; page < header.end; page += table[page].pages) {
    Run& run = table[page];
    if (run.members > 0) continue;
    for (uint32_t next = page + run.pages; next < header.end && table[next].members == 0;
         next = page + run.pages)
      run.pages += table[next].pages;
    if (run.pages < least_pages) continue;
    const uint32_t pages = std::min(run.pages, wanted_pages);
    if (!reserve(page, pages)) return std::nullopt;
    if (pages < run.pages) table[page + pages] = {run.pages - pages, 0};
    run = {pages, members};
    const bool fresh = page >= header.untouched;
    header.untouched = std::max(header.untouched, page + pages);
    return Piece{page, pages, fresh};
  }
  return std::nullopt;
}

void Segment::leave(uint32_t first_page) {
  const Lock lock(header().mutex);
  Run& run = runs()[first_page];
  if (run.members > 0) --run.members;
}

size_t Segment::free_bytes() const {
  Header& header = this->header();
  const Lock lock(header.mutex);
  size_t pages = 0;
  for (uint32_t page = header.first; page < header.end; page += runs()[page].pages)
    if (runs()[page].members == 0) pages += runs()[page].pages;
  return pages * page_size;
}

size_t Segment::usable_bytes() const {
  return static_cast<size_t>(header().end - header().first) * page_size;
}

}  // namespace tutti::shm
