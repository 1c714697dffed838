/* Memory of a rank that it streams over between operations, as a computing program does, so that
 * the MPI's code and data leave the caches. Each rank has one Stream, used by one thread. */
#ifndef TUTTI_BENCH_STREAM_H
#define TUTTI_BENCH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint64_t* words;
  size_t count;
} Stream;

/* False without memory. With 0 bytes there is nothing to stream over. */
bool stream_open(Stream* stream, size_t bytes);
void stream_close(Stream* stream);

/* Reads and writes every word. */
void stream_over(const Stream* stream);

#endif
