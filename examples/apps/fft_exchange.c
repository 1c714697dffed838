#include "fft_exchange.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static void* reserve(size_t count, size_t size) {
  return options_memory("fft", count, size, "use more ranks");
}

Exchange* exchange_make(MPI_Comm comm, int slices, int equal) {
  Exchange* e = reserve(1, sizeof *e);
  e->comm = comm;
  MPI_Comm_size(comm, &e->ranks);
  e->slices = slices;
  e->equal = equal;
  const size_t blocks = (size_t)slices * (size_t)e->ranks;
  e->leaving = reserve(blocks, sizeof(Block));
  e->arriving = reserve(blocks, sizeof(Block));
  e->send_counts = reserve(4 * blocks, sizeof(int));
  e->send_places = e->send_counts + blocks;
  e->receive_counts = e->send_places + blocks;
  e->receive_places = e->receive_counts + blocks;
  e->requests = reserve((size_t)slices, sizeof(MPI_Request));
  for (int slice = 0; slice < slices; ++slice) e->requests[slice] = MPI_REQUEST_NULL;
  return e;
}

static size_t elements_of(const Block* block) {
  return (size_t)block->planes * (size_t)block->lines * block->length;
}

/* Packed blocks follow one another. */
static void place(const Block* blocks, int count, int* counts, int* places) {
  size_t place = 0;
  for (int i = 0; i < count; ++i) {
    const size_t elements = elements_of(&blocks[i]);
    if (place + elements > INT_MAX) {
      fprintf(stderr, "fft: a rank has more than %d elements; use more ranks\n", INT_MAX);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    counts[i] = (int)elements;
    places[i] = (int)place;
    place += elements;
  }
}

void exchange_ready(Exchange* e, size_t elements) {
  place(e->leaving, e->slices * e->ranks, e->send_counts, e->send_places);
  place(e->arriving, e->slices * e->ranks, e->receive_counts, e->receive_places);
  e->packed = reserve(elements, sizeof(double complex));
  e->received = reserve(elements, sizeof(double complex));
}

void exchange_free(Exchange* e) {
  if (e == NULL) return;
  free(e->leaving);
  free(e->arriving);
  free(e->send_counts);
  free(e->packed);
  free(e->received);
  free(e->requests);
  free(e);
}

void exchange_pack(Exchange* e, int slice, const double complex* array) {
  for (int i = slice * e->ranks; i < (slice + 1) * e->ranks; ++i) {
    const Block* b = &e->leaving[i];
    double complex* to = e->packed + e->send_places[i];
    for (int plane = 0; plane < b->planes; ++plane)
      for (int line = 0; line < b->lines; ++line, to += b->length)
        memcpy(
            to,
            array + b->first + (size_t)plane * b->plane_distance + (size_t)line * b->line_distance,
            b->length * sizeof *to);
  }
}

void exchange_unpack(const Exchange* e, int slice, double complex* array) {
  for (int i = slice * e->ranks; i < (slice + 1) * e->ranks; ++i) {
    const Block* b = &e->arriving[i];
    const double complex* from = e->received + e->receive_places[i];
    for (int plane = 0; plane < b->planes; ++plane)
      for (int line = 0; line < b->lines; ++line, from += b->length)
        memcpy(
            array + b->first + (size_t)plane * b->plane_distance + (size_t)line * b->line_distance,
            from, b->length * sizeof *from);
  }
}

/* The displacements of MPI_Alltoallv count from the start of the buffer, those of MPI_Alltoall
 * follow from its count; so the latter gets the address of the slice's first part. */
void exchange_blocking(Exchange* e, int slice) {
  const int i = slice * e->ranks;
  if (e->equal)
    MPI_Alltoall(e->packed + e->send_places[i], e->send_counts[i], MPI_C_DOUBLE_COMPLEX,
                 e->received + e->receive_places[i], e->receive_counts[i], MPI_C_DOUBLE_COMPLEX,
                 e->comm);
  else
    MPI_Alltoallv(e->packed, &e->send_counts[i], &e->send_places[i], MPI_C_DOUBLE_COMPLEX,
                  e->received, &e->receive_counts[i], &e->receive_places[i], MPI_C_DOUBLE_COMPLEX,
                  e->comm);
}

void exchange_start(Exchange* e, int slice) {
  const int i = slice * e->ranks;
  if (e->equal)
    MPI_Ialltoall(e->packed + e->send_places[i], e->send_counts[i], MPI_C_DOUBLE_COMPLEX,
                  e->received + e->receive_places[i], e->receive_counts[i], MPI_C_DOUBLE_COMPLEX,
                  e->comm, &e->requests[slice]);
  else
    MPI_Ialltoallv(e->packed, &e->send_counts[i], &e->send_places[i], MPI_C_DOUBLE_COMPLEX,
                   e->received, &e->receive_counts[i], &e->receive_places[i], MPI_C_DOUBLE_COMPLEX,
                   e->comm, &e->requests[slice]);
}

void exchange_progress(Exchange* e, int started) {
  int all;
  MPI_Testall(started, e->requests, &all, MPI_STATUSES_IGNORE);
}

void exchange_wait(Exchange* e, int slice) { MPI_Wait(&e->requests[slice], MPI_STATUS_IGNORE); }
