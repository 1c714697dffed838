/* An exchange of parts of a three-dimensional array between the ranks of a communicator.
 *
 * Each rank has a block of its array for each rank, and gets a block from each. A block need not be
 * contiguous, so it is packed before the exchange and unpacked after it. The exchange may be made
 * in slices that are under way together: all slices are started before the first one is finished,
 * because the parts that arrive overwrite those that leave. A rank owns its Exchange. */
#ifndef FFT_EXCHANGE_H
#define FFT_EXCHANGE_H

#include <complex.h>
#include <mpi.h>
#include <stddef.h>

/* `planes` times `lines` runs of `length` elements; distances and `first` are in elements. */
typedef struct {
  size_t first, plane_distance, line_distance, length;
  int planes, lines;
} Block;

/* Blocks and counts stand in the order [slice][rank]. */
typedef struct Exchange {
  MPI_Comm comm;
  int ranks, slices, equal; /* equal: all ranks have parts of one length for all */
  Block *leaving, *arriving;
  int *send_counts, *send_places, *receive_counts, *receive_places; /* in elements */
  double complex *packed, *received;
  MPI_Request* requests; /* [slice] */
} Exchange;

/* Blocks are to be filled in, followed by exchange_ready(), which reserves memory for
 * `elements` packed and as many received ones. Both end the job if memory does not suffice. */
Exchange* exchange_make(MPI_Comm comm, int slices, int equal);
void exchange_ready(Exchange* exchange, size_t elements);
void exchange_free(Exchange* exchange);

void exchange_pack(Exchange* exchange, int slice, const double complex* array);
void exchange_unpack(const Exchange* exchange, int slice, double complex* array);

/* Moves the packed parts of a slice; collective. The second one must be completed by
 * exchange_wait(). exchange_progress() gives the MPI a chance to move those that are under way. */
void exchange_blocking(Exchange* exchange, int slice);
void exchange_start(Exchange* exchange, int slice);
void exchange_progress(Exchange* exchange, int started);
void exchange_wait(Exchange* exchange, int slice);

#endif
