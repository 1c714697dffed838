#include "fft_grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fft_exchange.h"

enum { along_x, along_y, along_z };

Range grid_part(int count, int parts, int index) {
  const int first = (int)((long long)count * index / parts);
  const int after = (int)((long long)count * (index + 1) / parts);
  return (Range){first, after - first};
}

static size_t product(int a, int b, int c) { return (size_t)a * (size_t)b * (size_t)c; }

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* The transforms of lines of `count` elements that are `distance` apart, for two loops around them.
 * FFTW_ESTIMATE makes the same plan in each run, and so the same bits. */
static fftw_plan lines_plan(double complex* at, int sign, int count, int distance, int inner,
                            int inner_distance, int outer, int outer_distance) {
  if (inner == 0 || outer == 0) return NULL;
  const fftw_iodim line = {count, distance, distance};
  const fftw_iodim loops[2] = {{outer, outer_distance, outer_distance},
                               {inner, inner_distance, inner_distance}};
  return fftw_plan_guru_dft(1, &line, 2, loops, at, at, sign, FFTW_ESTIMATE);
}

/* x and y lines are divided into slices by z, z lines by y. */
static void make_plans(Grid* g, int backward) {
  const Shape* s = &g->shape;
  const int sign = backward ? FFTW_BACKWARD : FFTW_FORWARD;
  const int x = g->x_of_pencil.count, y = g->y_of_pencil.count;
  for (int direction = 0; direction < 3; ++direction)
    g->plans[direction][backward] = calloc((size_t)s->slices, sizeof(fftw_plan));
  for (int slice = 0; slice < s->slices; ++slice) {
    const Range z_part = grid_part(g->z.count, s->slices, slice);
    const Range y_part = grid_part(y, s->slices, slice);
    g->plans[along_x][backward][slice] =
        lines_plan(g->array + product(z_part.first, g->y.count, s->nx), sign, s->nx, 1, g->y.count,
                   s->nx, z_part.count, g->y.count * s->nx);
    g->plans[along_y][backward][slice] = lines_plan(g->array + product(z_part.first, s->ny, x),
                                                    sign, s->ny, x, x, 1, z_part.count, s->ny * x);
    g->plans[along_z][backward][slice] = lines_plan(g->array + product(1, y_part.first, x), sign,
                                                    s->nz, y * x, x, 1, y_part.count, x);
  }
}

/* With slabs the only column has all ranks, so it needs no communicator of its own. */
static void make_rows_and_columns(Grid* g, MPI_Comm comm, int place[2]) {
  const Shape* s = &g->shape;
  MPI_Comm cartesian;
  int rank;
  MPI_Cart_create(comm, 2, (int[]){s->py, s->px}, (int[]){0, 0}, 0, &cartesian);
  MPI_Comm_rank(cartesian, &rank);
  MPI_Cart_coords(cartesian, rank, 2, place);
  g->row = MPI_COMM_NULL;
  g->column = comm;
  if (s->px > 1) {
    MPI_Cart_sub(cartesian, (int[]){0, 1}, &g->row);
    MPI_Cart_sub(cartesian, (int[]){1, 0}, &g->column);
  }
  MPI_Comm_free(&cartesian);
}

static Grid* reserve_grid(const Shape* shape) {
  Grid* g = calloc(1, sizeof *g);
  if (g == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  g->shape = *shape;
  return g;
}

static void make_phases(Grid* g) {
  const Phase phases[grid_phases] = {
      [grid_transpose] = {"transpose", PHASE_COMMUNICATION, 0, 0},
      [grid_start] = {"start", PHASE_COMMUNICATION, 0, 0},
      [grid_wait] = {"wait", PHASE_COMMUNICATION, 0, 0},
      [grid_transform] = {"transform", PHASE_COMPUTATION, 0, 0},
      [grid_pack] = {"pack", PHASE_COMPUTATION, 0, 0},
  };
  g->phases = malloc(sizeof phases);
  if (g->phases == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  memcpy(g->phases, phases, sizeof phases);
}

/* The array, the exchanges and the plans of a grid whose ranges are known. */
static void make_memory(Grid* g) {
  const Shape* s = &g->shape;
  g->elements = larger(product(g->z.count, g->y.count, s->nx),
                       product(g->z.count, s->ny, g->x_of_pencil.count));
  g->elements = larger(g->elements, product(s->nz, g->y_of_pencil.count, g->x_of_pencil.count));
  g->array = fftw_malloc(g->elements * sizeof(double complex));
  if (g->array == NULL) {
    fprintf(stderr, "fft: no memory for %zu elements on a rank; use more ranks\n", g->elements);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  grid_make_exchanges(g);
  make_plans(g, 0);
  make_plans(g, 1);
}

Grid* grid_make(const Shape* shape, MPI_Comm comm) {
  Grid* g = reserve_grid(shape);
  int place[2];
  g->first = 1;
  make_phases(g);
  make_rows_and_columns(g, comm, place);
  g->y = grid_part(shape->ny, shape->px, place[1]);
  g->z = grid_part(shape->nz, shape->py, place[0]);
  g->x_of_pencil = grid_part(shape->nx, shape->px, place[1]);
  g->y_of_pencil = grid_part(shape->ny, shape->py, place[0]);
  make_memory(g);
  return g;
}

Grid* grid_make_beside(const Grid* first) {
  Grid* g = reserve_grid(&first->shape);
  g->y = first->y, g->z = first->z;
  g->x_of_pencil = first->x_of_pencil, g->y_of_pencil = first->y_of_pencil;
  g->phases = first->phases;
  g->row = first->row, g->column = first->column;
  make_memory(g);
  return g;
}

void grid_free(Grid* g) {
  exchange_free(g->x_to_y);
  exchange_free(g->y_to_x);
  exchange_free(g->y_to_z);
  exchange_free(g->z_to_y);
  for (int direction = 0; direction < 3; ++direction)
    for (int backward = 0; backward < 2; ++backward) {
      for (int slice = 0; slice < g->shape.slices; ++slice)
        if (g->plans[direction][backward][slice] != NULL)
          fftw_destroy_plan(g->plans[direction][backward][slice]);
      free(g->plans[direction][backward]);
    }
  fftw_free(g->array);
  if (g->first) free(g->phases);
  if (g->first && g->row != MPI_COMM_NULL) {
    MPI_Comm_free(&g->row);
    MPI_Comm_free(&g->column);
  }
  free(g);
}

static void transform(Grid* g, int direction, int backward, int slice) {
  const fftw_plan plan = g->plans[direction][backward][slice];
  phase_begin(&g->phases[grid_transform]);
  if (plan != NULL) fftw_execute(plan);
  phase_end(&g->phases[grid_transform]);
}

/* Sends a slice on its way or, if nothing is to overlap, moves it. */
static void depart(Grid* g, Exchange* e, int slice) {
  phase_begin(&g->phases[grid_pack]);
  exchange_pack(e, slice, g->array);
  phase_end(&g->phases[grid_pack]);
  Phase* const moving = &g->phases[g->shape.overlapped ? grid_start : grid_transpose];
  phase_begin(moving);
  if (g->shape.overlapped) {
    exchange_start(e, slice);
    exchange_progress(e, slice);
  } else {
    exchange_blocking(e, slice);
  }
  phase_end(moving);
}

static void arrive(Grid* g, Exchange* e, int slice) {
  if (g->shape.overlapped) {
    phase_begin(&g->phases[grid_wait]);
    exchange_wait(e, slice);
    phase_end(&g->phases[grid_wait]);
  }
  phase_begin(&g->phases[grid_pack]);
  exchange_unpack(e, slice, g->array);
  phase_end(&g->phases[grid_pack]);
}

void grid_forward(Grid* g) {
  const int slices = g->shape.slices;
  for (int slice = 0; slice < slices; ++slice) {
    transform(g, along_x, 0, slice);
    if (g->x_to_y != NULL) depart(g, g->x_to_y, slice);
  }
  for (int slice = 0; slice < slices; ++slice) {
    if (g->x_to_y != NULL) arrive(g, g->x_to_y, slice);
    transform(g, along_y, 0, slice);
    depart(g, g->y_to_z, slice);
  }
  for (int slice = 0; slice < slices; ++slice) arrive(g, g->y_to_z, slice);
  for (int slice = 0; slice < slices; ++slice) transform(g, along_z, 0, slice);
}

void grid_backward_start(Grid* g) {
  for (int slice = 0; slice < g->shape.slices; ++slice) {
    transform(g, along_z, 1, slice);
    depart(g, g->z_to_y, slice);
  }
}

void grid_backward_finish(Grid* g) {
  const int slices = g->shape.slices;
  for (int slice = 0; slice < slices; ++slice) arrive(g, g->z_to_y, slice);
  for (int slice = 0; slice < slices; ++slice) {
    transform(g, along_y, 1, slice);
    if (g->y_to_x != NULL) depart(g, g->y_to_x, slice);
  }
  for (int slice = 0; slice < slices; ++slice) {
    if (g->y_to_x != NULL) arrive(g, g->y_to_x, slice);
    transform(g, along_x, 1, slice);
  }
}

void grid_backward(Grid* g) {
  grid_backward_start(g);
  grid_backward_finish(g);
}
