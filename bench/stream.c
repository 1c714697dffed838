#define _GNU_SOURCE
#include "stream.h"

#include <stdlib.h>
#include <string.h>

bool stream_open(Stream* stream, size_t bytes) {
  *stream = (Stream){.count = bytes / sizeof(uint64_t)};
  if (bytes == 0) return true;
  void* memory;
  if (posix_memalign(&memory, 4096, bytes) != 0) return false;
  stream->words = memset(memory, 0, bytes);
  return true;
}

void stream_close(Stream* stream) { free(stream->words); }

void stream_over(const Stream* stream) {
  for (size_t i = 0; i < stream->count; ++i) ++stream->words[i];
  __asm__ volatile(
      "" ::"r"(stream->words)
      : "memory"); /* else the compiler could remove the loop: nothing reads the words */
}
