// Functions of newer versions of glibc that compiled code asks for, made of older ones. They are
// linked into all programs and libraries that are installed, which so run with every glibc from
// 2.28 on (cmake/TuttiOldGlibc.cmake). They hold no state, and any thread may call them.
//
// The code that asks for them is GCC's (its C++ library and its unwinder, which are linked
// statically and were compiled for this machine's glibc), and code that glibc's own headers
// redirect. The names therefore cannot be others. They are hidden, so that no program sees them.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.32. Code that reads it takes atomic operations if it is 0, which is always right.
HIDDEN char __libc_single_threaded = 0;

// glibc 2.33; before, headers called functions that took the version of the structure. On 64-bit
// machines the kernel's structure is glibc's.
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one structure on 64-bit machines");

static int status(int directory, const char* path, void* found, int flags) {
  return (int)syscall(SYS_newfstatat, directory, path, found, flags);
}

HIDDEN int fstatat(int directory, const char* path, struct stat* found, int flags) {
  return status(directory, path, found, flags);
}
HIDDEN int stat(const char* path, struct stat* found) { return status(AT_FDCWD, path, found, 0); }
HIDDEN int lstat(const char* path, struct stat* found) {
  return status(AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}
HIDDEN int fstat(int file, struct stat* found) { return (int)syscall(SYS_fstat, file, found); }
HIDDEN int fstatat64(int directory, const char* path, struct stat64* found, int flags) {
  return status(directory, path, found, flags);
}
HIDDEN int stat64(const char* path, struct stat64* found) {
  return status(AT_FDCWD, path, found, 0);
}
HIDDEN int lstat64(const char* path, struct stat64* found) {
  return status(AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}
HIDDEN int fstat64(int file, struct stat64* found) { return (int)syscall(SYS_fstat, file, found); }

// glibc 2.36, for std::random_device.
HIDDEN uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

// glibc 2.30. A condition variable waits by the real-time clock; whoever waits for another clock
// asks it again when the wait ends, because it may end early.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* changed, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* until) {
  const int64_t second = 1000000000;
  struct timespec now, real;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &real) != 0) return errno;
  const int64_t more = (until->tv_sec - now.tv_sec) * second + until->tv_nsec - now.tv_nsec;
  const int64_t end = real.tv_sec * second + real.tv_nsec + (more > 0 ? more : 0);
  const struct timespec deadline = {end / second, end % second};
  return pthread_cond_timedwait(changed, mutex, &deadline);
}

// glibc 2.34 has these in libc.so.6. Before, they were in librt.so.1, which would be one more
// library to load in every program.
static int shared_memory_path(const char* name, char* path, size_t bytes) {
  while (*name == '/') ++name;
  const int length = snprintf(path, bytes, "/dev/shm/%s", name);
  if (*name != '\0' && strchr(name, '/') == NULL && (size_t)length < bytes) return 1;
  errno = EINVAL;
  return 0;
}

HIDDEN int shm_open(const char* name, int flags, mode_t mode) {
  char path[sizeof "/dev/shm/" + 255];
  if (!shared_memory_path(name, path, sizeof path)) return -1;
  return open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
}

HIDDEN int shm_unlink(const char* name) {
  char path[sizeof "/dev/shm/" + 255];
  return shared_memory_path(name, path, sizeof path) ? unlink(path) : -1;
}

// glibc 2.35: where the unwinder finds an address's table of exceptions.
struct Wanted {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_in(struct dl_phdr_info* object, size_t bytes, void* data) {
  (void)bytes;
  const struct Wanted* const wanted = data;
  uintptr_t first = UINTPTR_MAX, end = 0;
  void* table = NULL;
  int inside = 0;
  for (const ElfW(Phdr)* part = object->dlpi_phdr; part < object->dlpi_phdr + object->dlpi_phnum;
       ++part) {
    const uintptr_t start = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) table = (void*)start;
    if (part->p_type != PT_LOAD) continue;
    if (start < first) first = start;
    if (start + part->p_memsz > end) end = start + part->p_memsz;
    inside |= wanted->address >= start && wanted->address < start + part->p_memsz;
  }
  if (!inside || table == NULL) return 0;
  *wanted->found = (struct dl_find_object){
      .dlfo_map_start = (void*)first, .dlfo_map_end = (void*)end, .dlfo_eh_frame = table};
  return 1;
}

HIDDEN int _dl_find_object(void* address, struct dl_find_object* found) {
  struct Wanted wanted = {(uintptr_t)address, found};
  return dl_iterate_phdr(look_in, &wanted) == 1 ? 0 : -1;
}
