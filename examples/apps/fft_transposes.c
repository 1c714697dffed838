/* The blocks of a grid's array that travel in its exchanges (fft_exchange.h), and their places
 * there. */
#include "fft_exchange.h"
#include "fft_grid.h"

/* The elements of an array of so many rows in each plane, and `across` elements in a row, that lie
 * within these planes, rows and columns. Whole rows follow one another. */
static Block box(Range planes, Range rows, int all_rows, Range columns, int across) {
  const int whole = columns.count == across;
  const size_t row = (size_t)across, plane = (size_t)all_rows * row;
  return (Block){
      .first = (size_t)planes.first * plane + (size_t)rows.first * row + (size_t)columns.first,
      .planes = planes.count,
      .plane_distance = plane,
      .lines = whole ? 1 : rows.count,
      .line_distance = row,
      .length = (size_t)columns.count * (size_t)(whole ? rows.count : 1)};
}

static Range all_of(int count) { return (Range){0, count}; }

/* The slice of a range. */
static Range slice_of(Range range, const Exchange* e, int slice) {
  const Range part = grid_part(range.count, e->slices, slice);
  return (Range){range.first + part.first, part.count};
}

/* A part of z planes of x lines goes as y lines to the ranks of the row that have those x. */
static void fill_x_to_y(const Grid* g, Exchange* e, int slice, int peer) {
  const Shape* s = &g->shape;
  const int at = slice * e->ranks + peer, x = g->x_of_pencil.count;
  const Range z = grid_part(g->z.count, e->slices, slice);
  const Range their_x = grid_part(s->nx, s->px, peer), their_y = grid_part(s->ny, s->px, peer);
  e->leaving[at] = box(z, all_of(g->y.count), g->y.count, their_x, s->nx);
  e->arriving[at] = box(z, their_y, s->ny, all_of(x), x);
}

/* A part of z planes of y lines goes to the ranks of the column that have those y in z lines. */
static void fill_y_to_z(const Grid* g, Exchange* e, int slice, int peer) {
  const Shape* s = &g->shape;
  const int at = slice * e->ranks + peer, x = g->x_of_pencil.count, y = g->y_of_pencil.count;
  const Range their_y = grid_part(s->ny, s->py, peer), their_z = grid_part(s->nz, s->py, peer);
  e->leaving[at] = box(grid_part(g->z.count, e->slices, slice), their_y, s->ny, all_of(x), x);
  e->arriving[at] = box(slice_of(their_z, e, slice), all_of(y), y, all_of(x), x);
}

/* A part of y of z lines goes to the ranks of the column that have those z in y lines. */
static void fill_z_to_y(const Grid* g, Exchange* e, int slice, int peer) {
  const Shape* s = &g->shape;
  const int at = slice * e->ranks + peer, x = g->x_of_pencil.count, y = g->y_of_pencil.count;
  const Range their_y = grid_part(s->ny, s->py, peer), their_z = grid_part(s->nz, s->py, peer);
  e->leaving[at] = box(their_z, grid_part(y, e->slices, slice), y, all_of(x), x);
  e->arriving[at] = box(all_of(g->z.count), slice_of(their_y, e, slice), s->ny, all_of(x), x);
}

typedef void Fill(const Grid* g, Exchange* e, int slice, int peer);

static Exchange* exchange_of(const Grid* g, MPI_Comm comm, int equal, Fill* fill) {
  Exchange* const e = exchange_make(comm, g->shape.slices, equal);
  for (int slice = 0; slice < e->slices; ++slice)
    for (int peer = 0; peer < e->ranks; ++peer) fill(g, e, slice, peer);
  return e;
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
  g->y_to_z = exchange_of(g, g->column, equal, fill_y_to_z);
  g->z_to_y = exchange_of(g, g->column, equal, fill_z_to_y);
  exchange_ready(g->y_to_z, g->elements);
  exchange_ready(g->z_to_y, g->elements);
  if (s->px == 1) return;
  g->x_to_y = exchange_of(g, g->row, s->nx % s->px == 0 && s->ny % s->px == 0, fill_x_to_y);
  g->y_to_x = reversed(g->x_to_y);
  exchange_ready(g->x_to_y, g->elements);
  exchange_ready(g->y_to_x, g->elements);
}
