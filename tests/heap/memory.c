/* malloc and related functions behave as specified, with memory of the heap; freed memory goes back
 * to the system. */
#include <errno.h>
#include <malloc.h>
#include <unistd.h>

#include "heap.h"

static volatile size_t huge = SIZE_MAX / 2; /* volatile, so that the compiler does not warn */

static long resident_kib(void) {
  char line[256];
  long kib = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status) != NULL) sscanf(line, "RssShmem: %ld kB", &kib);
  fclose(status);
  return kib;
}

static void sizes(void) {
  for (size_t bytes = 1; bytes <= (size_t)64 << 20; bytes = bytes * 3 + 1) {
    unsigned char* memory = malloc(bytes);
    CHECK(in_heap(memory) && malloc_usable_size(memory) >= bytes);
    memset(memory, 0xa5, bytes);
    free(memory);
    unsigned char* zero = calloc(bytes, 1);
    CHECK(in_heap(zero));
    for (size_t i = 0; i < bytes; ++i) CHECK(zero[i] == 0);
    free(zero);
  }
  CHECK(malloc(0) != NULL);
  void* volatile too_much = malloc(huge);
  CHECK(too_much == NULL && errno == ENOMEM);
  errno = 0;
  too_much = calloc(huge, 4);
  CHECK(too_much == NULL && errno == ENOMEM);
  free(NULL);
}

static void growth(void) {
  size_t bytes = 1;
  unsigned char* memory = realloc(NULL, bytes);
  memory[0] = 1;
  while (bytes < (size_t)64 << 20) {
    const size_t more = bytes * 2 + 5;
    memory = realloc(memory, more);
    CHECK(in_heap(memory));
    for (size_t i = 0; i < bytes; i += 97) CHECK(memory[i] == (unsigned char)(i + 1));
    for (size_t i = 0; i < more; ++i) memory[i] = (unsigned char)(i + 1);
    bytes = more;
  }
  memory = realloc(memory, 100);
  for (size_t i = 0; i < 100; ++i) CHECK(memory[i] == (unsigned char)(i + 1));
  memory = reallocarray(memory, 50, 10);
  CHECK(in_heap(memory) && memory[99] == 100);
  errno = 0;
  void* volatile too_much = reallocarray(NULL, huge, 4);
  CHECK(too_much == NULL && errno == ENOMEM);
  CHECK(realloc(memory, 0) == NULL);
}

static void alignments(void) {
  for (size_t alignment = sizeof(void*); alignment <= (size_t)4 << 20; alignment *= 2) {
    void* memory = NULL;
    CHECK(posix_memalign(&memory, alignment, 100) == 0 && in_heap(memory) &&
          (uintptr_t)memory % alignment == 0);
    free(memory);
    memory = aligned_alloc(alignment, 3 * alignment);
    CHECK(in_heap(memory) && (uintptr_t)memory % alignment == 0);
    free(memory);
    memory = memalign(alignment, 7);
    CHECK(in_heap(memory) && (uintptr_t)memory % alignment == 0);
    free(memory);
  }
  void* memory = NULL;
  CHECK(posix_memalign(&memory, 24, 8) == EINVAL && posix_memalign(&memory, 2, 8) == EINVAL &&
        memory == NULL);
  memory = valloc(10);
  CHECK(in_heap(memory) && (uintptr_t)memory % 4096 == 0);
  free(memory);
}

/* The test sets MALLOC_CONF so that jemalloc returns freed memory at once. */
static void giving_back(void) {
  const long before = resident_kib();
  const size_t bytes = (size_t)192 << 20;
  volatile char* memory = malloc(bytes);
  for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
  CHECK(resident_kib() - before > 180 * 1024);
  free((void*)memory);
  CHECK(resident_kib() - before < 20 * 1024);
  memory = calloc(bytes, 1);
  CHECK(memory[bytes - 1] == 0 && resident_kib() - before < 20 * 1024);
  free((void*)memory);
}

/* Our functions free and resize the C library's own blocks, and the C library frees and resizes
 * ours. */
static void mixed(void) {
  char* text = strdup("the C library's");
  text = realloc(text, 100000);
  CHECK(strcmp(text, "the C library's") == 0);
  free(text);
  size_t bytes = 4;
  char* line = malloc(bytes);
  FILE* file = tmpfile();
  for (int i = 0; i < 5000; ++i) fputc('x', file);
  rewind(file);
  CHECK(getline(&line, &bytes, file) == 5000 && line[4999] == 'x');
  /* Children of fork write to a stream's lock before they have their copy of the heap. */
  CHECK(!in_heap(file));
  fclose(file);
  free(line);
}

int main(void) {
  sizes();
  growth();
  alignments();
  mixed();
  giving_back();
  puts("ok");
  return 0;
}
