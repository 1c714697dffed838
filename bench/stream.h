/* Memory of a rank's own that it streams over between operations, as a program does that computes:
 * what the caches held of the MPI's code and data goes. One Stream a rank, used by one thread. */
#ifndef TUTTI_BENCH_STREAM_H
#define TUTTI_BENCH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint64_t* words;
  size_t count;
} Stream;

/* False without memory. No bytes: nothing to stream over. */
bool stream_open(Stream* stream, size_t bytes);
void stream_close(Stream* stream);

/* Reads and writes every word. */
void stream_over(const Stream* stream);

#endif
