/* The blocks of a grid's array that travel in its exchanges (fft_exchange.h), and their places
 * there. */
#include "fft_exchange.h"
#include "fft_grid.h"

static size_t product(int a, int b, int c) { return (size_t)a * (size_t)b * (size_t)c; }

/* A part of z planes of x lines goes as y lines to the ranks of the row that have those x. */
static void fill_x_to_y(const Grid* g, Exchange* e) {
  const Shape* s = &g->shape;
  const int x = g->x_of_pencil.count;
  for (int slice = 0; slice < e->slices; ++slice) {
    const Range z = grid_part(g->z.count, e->slices, slice);
    for (int peer = 0; peer < e->ranks; ++peer) {
      const Range their_x = grid_part(s->nx, s->px, peer), their_y = grid_part(s->ny, s->px, peer);
      e->leaving[slice * e->ranks + peer] = (Block){
          .first = product(z.first, g->y.count, s->nx) + (size_t)their_x.first,
          .planes = z.count,
          .plane_distance = product(1, g->y.count, s->nx),
          .lines = g->y.count,
          .line_distance = (size_t)s->nx,
          .length = (size_t)their_x.count,
      };
      e->arriving[slice * e->ranks + peer] = (Block){
          .first = product(z.first, s->ny, x) + product(1, their_y.first, x),
          .planes = z.count,
          .plane_distance = product(1, s->ny, x),
          .lines = 1,
          .length = product(1, their_y.count, x),
      };
    }
  }
}

/* A part of z planes of y lines goes to the ranks of the column that have those y in z lines. */
static void fill_y_to_z(const Grid* g, Exchange* e) {
  const Shape* s = &g->shape;
  const int x = g->x_of_pencil.count, y = g->y_of_pencil.count;
  for (int slice = 0; slice < e->slices; ++slice) {
    const Range z = grid_part(g->z.count, e->slices, slice);
    for (int peer = 0; peer < e->ranks; ++peer) {
      const Range their_y = grid_part(s->ny, s->py, peer), their_z = grid_part(s->nz, s->py, peer);
      const Range slice_of_z = grid_part(their_z.count, e->slices, slice);
      e->leaving[slice * e->ranks + peer] = (Block){
          .first = product(z.first, s->ny, x) + product(1, their_y.first, x),
          .planes = z.count,
          .plane_distance = product(1, s->ny, x),
          .lines = 1,
          .length = product(1, their_y.count, x),
      };
      e->arriving[slice * e->ranks + peer] = (Block){
          .first = product(their_z.first + slice_of_z.first, y, x),
          .planes = slice_of_z.count,
          .plane_distance = product(1, y, x),
          .lines = 1,
          .length = product(1, y, x),
      };
    }
  }
}

/* A part of y of z lines goes to the ranks of the column that have those z in y lines. */
static void fill_z_to_y(const Grid* g, Exchange* e) {
  const Shape* s = &g->shape;
  const int x = g->x_of_pencil.count, y = g->y_of_pencil.count;
  for (int slice = 0; slice < e->slices; ++slice) {
    const Range part = grid_part(y, e->slices, slice);
    for (int peer = 0; peer < e->ranks; ++peer) {
      const Range their_y = grid_part(s->ny, s->py, peer), their_z = grid_part(s->nz, s->py, peer);
      const Range slice_of_y = grid_part(their_y.count, e->slices, slice);
      e->leaving[slice * e->ranks + peer] = (Block){
          .first = product(their_z.first, y, x) + product(1, part.first, x),
          .planes = their_z.count,
          .plane_distance = product(1, y, x),
          .lines = 1,
          .length = product(1, part.count, x),
      };
      e->arriving[slice * e->ranks + peer] = (Block){
          .first = product(1, their_y.first + slice_of_y.first, x),
          .planes = g->z.count,
          .plane_distance = product(1, s->ny, x),
          .lines = 1,
          .length = product(1, slice_of_y.count, x),
      };
    }
  }
}

static Exchange* reversed(const Exchange* other) {
  Exchange* e = exchange_make(other->comm, other->slices, other->equal);
  for (int i = 0; i < e->slices * e->ranks; ++i) {
    e->leaving[i] = other->arriving[i];
    e->arriving[i] = other->leaving[i];
  }
  return e;
}

void grid_make_exchanges(Grid* g) {
  const Shape* s = &g->shape;
  const int equal = s->nz % s->py == 0 && s->ny % s->py == 0;
  g->y_to_z = exchange_make(g->column, s->slices, equal);
  fill_y_to_z(g, g->y_to_z);
  exchange_ready(g->y_to_z, g->elements);
  g->z_to_y = exchange_make(g->column, s->slices, equal);
  fill_z_to_y(g, g->z_to_y);
  exchange_ready(g->z_to_y, g->elements);
  if (s->px == 1) return;
  g->x_to_y = exchange_make(g->row, s->slices, s->nx % s->px == 0 && s->ny % s->px == 0);
  fill_x_to_y(g, g->x_to_y);
  g->y_to_x = reversed(g->x_to_y);
  exchange_ready(g->x_to_y, g->elements);
  exchange_ready(g->y_to_x, g->elements);
}
