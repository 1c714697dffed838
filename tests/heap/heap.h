/* Shared by the programs of this directory: checks, and a test whether an address is in the shared
 * heap. */
#ifndef HEAP_H
#define HEAP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      _Exit(1);                                                                     \
    }                                                                               \
  } while (0)

/* The inode of this process's own heap, found by its descriptor; 0 if there is none. */
static unsigned long own_heap(void) {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    char name[64], target[64] = "";
    struct stat status;
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    if (readlink(name, target, sizeof target - 1) > 0 &&
        strstr(target, "memfd:tutti-heap") != NULL && fstat(descriptor, &status) == 0)
      return status.st_ino;
  }
  return 0;
}

/* True if the address is in the heap, by the system's list of mappings (not by Tutti's word). */
static int in_heap(const void* address) {
  static uintptr_t begin, end;
  const unsigned long heap = end == 0 ? own_heap() : 0;
  if (heap != 0) {
    char line[512];
    FILE* maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL) {
      unsigned long from, to, inode;
      if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &from, &to, &inode) == 3 && inode == heap &&
          strstr(line, "-s ") != NULL) { /* readable or not yet handed out */
        begin = end == 0 ? from : begin; /* a library's madvise may have split the mapping */
        end = to;
      }
    }
    fclose(maps);
  }
  return (uintptr_t)address >= begin && (uintptr_t)address < end;
}

#endif
