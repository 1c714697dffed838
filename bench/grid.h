/* One rank's part of a three-dimensional grid of 7-point stencils: a cube of cells within a layer
 * of ghost cells, which hold copies of the neighbours' outermost cells.
 *
 * The ranks form a periodic Cartesian communicator. Directions are numbered as its neighbours are:
 * 2d is the negative one of dimension d, 2d + 1 the positive one. A face is the layer of n x n
 * cells towards a direction. Each rank has one Grid at a time, used by one thread; its memory and
 * types live until it is closed. */
#ifndef TUTTI_BENCH_GRID_H
#define TUTTI_BENCH_GRID_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRID_DIMENSIONS = 3, GRID_DIRECTIONS = 6 };

typedef struct {
  MPI_Comm communicator; /* the caller's */
  int rank, neighbours[GRID_DIRECTIONS];
  int edge;        /* cells of an edge, n, without ghost cells */
  uint32_t* cells; /* (n + 2)^3, the last dimension contiguous */
  MPI_Datatype faces[GRID_DIRECTIONS], ghosts[GRID_DIRECTIONS]; /* subarrays of `cells` */
  uint32_t *packed_faces, *packed_ghosts;                       /* all six, one after the other */
  /* True for a dimension in which both neighbours are one rank, and an exchange matches that rank's
   * faces in order, the negative one with the negative ghost layer. (Dimensions of one or two ranks
   * are such. The ghost layer needs the opposite face.) */
  bool in_order[GRID_DIMENSIONS];
} Grid;

/* Bytes of a face whose edge has so many cells, and the edge of such a face; 0 if no square has so
 * many bytes. */
size_t grid_face_bytes(int edge);
int grid_edge(size_t face_bytes);

/* False without memory. All ranks of the communicator call both. */
bool grid_open(Grid* grid, MPI_Comm communicator, int edge);
void grid_close(Grid* grid);

/* Rewrites all cells but the ghost cells, for operation `number`. */
void grid_fill(const Grid* grid, uint32_t number);

/* Copies all faces to `packed_faces`, or `packed_ghosts` to all ghost layers. */
void grid_pack(const Grid* grid);
void grid_unpack(const Grid* grid);

/* True if the ghost cells of a dimension hold what the neighbours wrote for operation `number`;
 * else false, and a line that says what is wrong. */
bool grid_verify(const Grid* grid, int dimension, uint32_t number, char line[256]);

#endif
