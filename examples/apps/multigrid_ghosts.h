/* The exchange of ghost cells between the boxes of all ranks, in seven ways.
 *
 * Space is a periodic block of boxes. A rank has boxes^3 adjacent boxes of side^3 cells, and around
 * each box a layer of ghost cells, copies of the adjacent cells of the six boxes beside it. Boxes
 * of one rank copy from each other. Cells of boxes at a rank's border travel to the rank beside it,
 * all faces of all boxes for one neighbour in one message: six messages for each rank and exchange,
 * or fewer where the rank is its own neighbour.
 *
 *   messages     MPI_Irecv and MPI_Isend, local copies, MPI_Waitall
 *   get          MPI_Get out of the neighbours' packed faces, after a message without data from
 *                each that says that they are there
 *   tutti_get    the same by tutti_get, whose servers move the faces if there are some
 *   tutti_put    tutti_put_signal of the packed faces into the neighbours' memory: nobody is asked
 *                or told, and a rank waits until its signal counts the bytes of all its faces
 *   neighbours   MPI_Neighbor_alltoallv
 *   started      MPI_Ineighbor_alltoallv, local copies, MPI_Wait
 *   persistent   MPI_Neighbor_alltoallv_init once; MPI_Start, local copies, MPI_Wait
 *
 * All of them move the same bits. An exchange has two parts, between which a program may compute:
 * ghosts_start() packs the faces and sends them on their way, ghosts_finish() waits for those of
 * the neighbours and unpacks them. (MPI_Neighbor_alltoallv is over when the first part is.)
 * Exchanges of several Ghosts may be under way at once; all ranks start and finish them in the same
 * order.
 *
 * A rank owns its Ghosts, one for each size of boxes; one thread uses them. */
#ifndef MULTIGRID_GHOSTS_H
#define MULTIGRID_GHOSTS_H

#include <mpi.h>
#include <stddef.h>

#include "phases.h"
#include "tutti/tutti.h"

typedef enum {
  ways_messages,
  ways_get,
  ways_tutti_get,
  ways_tutti_put,
  ways_neighbours,
  ways_started,
  ways_persistent
} Way;
enum { ways = 7 };
extern const char* const way_names[ways];

/* Directions are numbered -x, +x, -y, +y, -z, +z: direction ^ 1 is the opposite one. */
enum { directions = 6 };

/* The ranks around this one. */
typedef struct {
  Way way;
  int neighbour[directions]; /* MPI_PROC_NULL where this rank is its own neighbour */
  MPI_Comm grid;             /* cartesian, periodic */
  MPI_Comm graph;            /* the edges to other ranks: one for each neighbour that is not NULL */
  int edges;
  int sends[directions], receives[directions]; /* the direction of each edge in, and out */
  tutti_group* group;                          /* the ranks of `grid`, in the ways by Tutti */
} Neighbourhood;

typedef struct {
  const Neighbourhood* around;
  int boxes, side;  /* in each direction: boxes of this rank, and cells of a box */
  int count;        /* numbers in a message */
  double *out, *in; /* [direction][count]; `out` has two such halves with gets, both with puts */
  int counts[directions], send_places[directions], receive_places[directions]; /* indexed by edge */
  MPI_Win window;                       /* ways_get: over `out` */
  double* theirs[directions];           /* `out` of each neighbour with tutti_get, `in` with put */
  tutti_handle gets[directions];        /* ways_tutti_get */
  tutti_handle puts[2][directions];     /* ways_tutti_put, by half */
  uint64_t arrived[2];                  /* the same: the bytes that the signal of a half counts */
  int asked;                            /* ways_tutti_get: the gets of the exchange have started */
  int half;                             /* with gets and puts: which half is packed next */
  MPI_Request request;                  /* ways_started and ways_persistent */
  MPI_Request messages[2 * directions]; /* ways_messages, and with gets: receives, sends */
  long exchanges;
  Phase moving, packing; /* times of this rank */
} Ghosts;

/* Collective over MPI_COMM_WORLD. `dims` ranks stand in each direction. Returns NULL, or a message
 * if this MPI lacks the way. */
const char* neighbourhood_make(Neighbourhood* around, Way way, const int dims[3]);
void neighbourhood_free(Neighbourhood* around);

/* Collective; `around` stays where it is. Ends the job if memory does not suffice. */
void ghosts_make(Ghosts* ghosts, const Neighbourhood* around, int boxes, int side);
void ghosts_free(Ghosts* ghosts);

/* Fill the ghost cells of cells[box z][box y][box x][side + 2][side + 2][side + 2]. Collective.
 * Between the two nobody touches the cells. */
void ghosts_start(Ghosts* ghosts, double* cells);
void ghosts_finish(Ghosts* ghosts, double* cells);
/* Between the two, as often as the program likes: starts gets by Tutti whose faces are there. */
void ghosts_look(Ghosts* ghosts);
/* Waits for a request of MPI's on which other ranks' exchanges may depend. */
void ghosts_wait(const Ghosts* ghosts, MPI_Request* request);

#endif
