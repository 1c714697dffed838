#define _GNU_SOURCE
#include "grid.h"

#include <stdio.h>
#include <stdlib.h>

size_t grid_face_bytes(int edge) { return (size_t)edge * (size_t)edge * sizeof(uint32_t); }

int grid_edge(size_t face_bytes) {
  int edge = 1;
  while (grid_face_bytes(edge) < face_bytes) ++edge;
  return grid_face_bytes(edge) == face_bytes ? edge : 0;
}

static size_t stride(const Grid* grid, int dimension) {
  const size_t width = (size_t)grid->edge + 2;
  if (dimension == 2) return 1;
  return dimension == 1 ? width : width * width;
}

/* A layer across dimension `across`, at `layer` cells from the first ghost layer: where its first
 * cell is, and how far its rows and the cells of a row are apart. */
typedef struct {
  size_t first, row, cell;
} Layer;

static Layer layer_of(const Grid* grid, int across, int layer) {
  const int rows = across == 0 ? 1 : 0, cells = across == 2 ? 1 : 2;
  const size_t row = stride(grid, rows), cell = stride(grid, cells);
  return (Layer){(size_t)layer * stride(grid, across) + row + cell, row, cell};
}

static Layer face(const Grid* grid, int direction) {
  return layer_of(grid, direction / 2, direction % 2 == 0 ? 1 : grid->edge);
}

static Layer ghost(const Grid* grid, int direction) {
  return layer_of(grid, direction / 2, direction % 2 == 0 ? 0 : grid->edge + 1);
}

/* Sums of products with odd numbers, so that no two cells of a rank have the same value, and the
 * value of a cell differs between ranks and between operations. */
static uint32_t value(uint32_t number, int rank, size_t index) {
  return number * 2654435761U + (uint32_t)rank * 2246822519U + (uint32_t)index * 3266489917U;
}

static MPI_Datatype subarray(const Grid* grid, int across, int layer) {
  int sizes[GRID_DIMENSIONS], parts[GRID_DIMENSIONS], starts[GRID_DIMENSIONS];
  for (int d = 0; d < GRID_DIMENSIONS; ++d) {
    sizes[d] = grid->edge + 2;
    parts[d] = d == across ? 1 : grid->edge;
    starts[d] = d == across ? layer : 1;
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(GRID_DIMENSIONS, sizes, parts, starts, MPI_ORDER_C, MPI_UINT32_T, &type);
  MPI_Type_commit(&type);
  return type;
}

bool grid_open(Grid* grid, MPI_Comm communicator, int edge) {
  *grid = (Grid){.communicator = communicator, .edge = edge};
  MPI_Comm_rank(communicator, &grid->rank);
  const size_t width = (size_t)edge + 2, cells = (size_t)edge * (size_t)edge;
  grid->cells = calloc(width * width * width, sizeof *grid->cells);
  grid->packed_faces = calloc(GRID_DIRECTIONS * cells, sizeof *grid->packed_faces);
  grid->packed_ghosts = calloc(GRID_DIRECTIONS * cells, sizeof *grid->packed_ghosts);
  for (int d = 0; d < GRID_DIMENSIONS; ++d) {
    int* const both = &grid->neighbours[2 * d];
    MPI_Cart_shift(communicator, d, 1, &both[0], &both[1]);
    grid->faces[2 * d] = subarray(grid, d, 1);
    grid->faces[2 * d + 1] = subarray(grid, d, edge);
    grid->ghosts[2 * d] = subarray(grid, d, 0);
    grid->ghosts[2 * d + 1] = subarray(grid, d, edge + 1);
  }
  return grid->cells != NULL && grid->packed_faces != NULL && grid->packed_ghosts != NULL;
}

void grid_close(Grid* grid) {
  for (int direction = 0; direction < GRID_DIRECTIONS; ++direction) {
    MPI_Type_free(&grid->faces[direction]);
    MPI_Type_free(&grid->ghosts[direction]);
  }
  free(grid->cells);
  free(grid->packed_faces);
  free(grid->packed_ghosts);
}

void grid_fill(const Grid* grid, uint32_t number) {
  const size_t edge = (size_t)grid->edge;
  for (size_t x = 1; x <= edge; ++x) {
    for (size_t y = 1; y <= edge; ++y) {
      const size_t row = x * stride(grid, 0) + y * stride(grid, 1);
      for (size_t z = 1; z <= edge; ++z) grid->cells[row + z] = value(number, grid->rank, row + z);
    }
  }
}

/* Returns the address of a layer's first cell in a packed buffer. */
static uint32_t* packed_at(const Grid* grid, uint32_t* packed, int direction) {
  return packed + (size_t)direction * (size_t)grid->edge * (size_t)grid->edge;
}

void grid_pack(const Grid* grid) {
  for (int direction = 0; direction < GRID_DIRECTIONS; ++direction) {
    const Layer layer = face(grid, direction);
    uint32_t* to = packed_at(grid, grid->packed_faces, direction);
    for (int row = 0; row < grid->edge; ++row) {
      const uint32_t* const from = grid->cells + layer.first + (size_t)row * layer.row;
      for (int cell = 0; cell < grid->edge; ++cell) *to++ = from[(size_t)cell * layer.cell];
    }
  }
}

void grid_unpack(const Grid* grid) {
  for (int direction = 0; direction < GRID_DIRECTIONS; ++direction) {
    const Layer layer = ghost(grid, direction);
    const uint32_t* from = packed_at(grid, grid->packed_ghosts, direction);
    for (int row = 0; row < grid->edge; ++row) {
      uint32_t* const to = grid->cells + layer.first + (size_t)row * layer.row;
      for (int cell = 0; cell < grid->edge; ++cell) to[(size_t)cell * layer.cell] = *from++;
    }
  }
}

static bool verify_layer(const Grid* grid, int direction, uint32_t number, char line[256]) {
  const int source = grid->in_order[direction / 2] ? direction : direction ^ 1;
  const Layer mine = ghost(grid, direction), theirs = face(grid, source);
  for (int row = 0; row < grid->edge; ++row) {
    for (int cell = 0; cell < grid->edge; ++cell) {
      const size_t away = (size_t)row * mine.row + (size_t)cell * mine.cell;
      const uint32_t found = grid->cells[mine.first + away],
                     must = value(number, grid->neighbours[direction], theirs.first + away);
      if (found == must) continue;
      snprintf(
          line, 256,
          "wrong result: operation %u, faces of %zu bytes: ghost cell %d,%d of direction %d is "
          "%u, must be %u as at rank %d",
          number, grid_face_bytes(grid->edge), row, cell, direction, found, must,
          grid->neighbours[direction]);
      return false;
    }
  }
  return true;
}

bool grid_verify(const Grid* grid, int dimension, uint32_t number, char line[256]) {
  return verify_layer(grid, 2 * dimension, number, line) &&
         verify_layer(grid, 2 * dimension + 1, number, line);
}
