#include "multigrid_ghosts.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "tutti/mpi.h"

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT_NEIGHBOURS 1
#endif

const char* const way_names[ways] = {"messages",   "get",     "tutti_get", "tutti_put",
                                     "neighbours", "started", "persistent"};

static const char advice[] = "use smaller or fewer boxes";

static void require_ok(tutti_status status) {
  if (status == TUTTI_OK) return;
  fprintf(stderr, "multigrid: %s\n", tutti_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int by_tutti(const Neighbourhood* a) {
  return a->way == ways_tutti_get || a->way == ways_tutti_put;
}

/* An edge to another rank leaves for each direction d, in ascending order. The data that a rank
 * sends in direction d comes from the opposite side of the receiver, so the receivers list their
 * edges in the order of the senders' d. With two ranks in a direction both neighbours are one rank;
 * its two edges are told apart by their order (MPI 4.1, section 8.6). The cartesian communicator
 * has the same ranks, but Open MPI 5.0 takes a graph that is made from one for cartesian, too. */
static void make_graph(Neighbourhood* a) {
  int sources[directions], destinations[directions];
  const int weights[directions] = {1, 1, 1, 1, 1, 1};
  for (int d = 0; d < directions; ++d) {
    if (a->neighbour[d] == MPI_PROC_NULL) continue;
    destinations[a->edges] = a->neighbour[d];
    a->sends[a->edges] = d;
    sources[a->edges] = a->neighbour[d ^ 1];
    a->receives[a->edges++] = d ^ 1;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, a->edges, sources, weights, a->edges, destinations,
                                 weights, MPI_INFO_NULL, 0, &a->graph);
}

const char* neighbourhood_make(Neighbourhood* a, Way way, const int dims[3]) {
#ifndef HAS_PERSISTENT_NEIGHBOURS
  if (way == ways_persistent)
    return "this MPI has no MPI_Neighbor_alltoallv_init; use another --exchange";
#endif
  *a = (Neighbourhood){.way = way};
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, (int[]){1, 1, 1}, 0, &a->grid);
  for (int axis = 0; axis < 3; ++axis) {
    MPI_Cart_shift(a->grid, axis, 1, &a->neighbour[2 * axis], &a->neighbour[2 * axis + 1]);
    if (dims[axis] == 1) a->neighbour[2 * axis] = a->neighbour[2 * axis + 1] = MPI_PROC_NULL;
  }
  make_graph(a);
  if (!by_tutti(a)) return NULL;
  if (tutti_group_of_communicator == NULL)
    return "--exchange tutti_get and tutti_put need Tutti; start the job under tutti-run";
  return tutti_group_of_comm(a->grid, &a->group) == TUTTI_OK ? NULL : tutti_error_message();
}

void neighbourhood_free(Neighbourhood* a) {
  if (by_tutti(a)) tutti_group_free(a->group);
  MPI_Comm_free(&a->graph);
  MPI_Comm_free(&a->grid);
}

/* Memory that other ranks reach. */
static void* reached_memory(size_t bytes) {
  void* const memory = tutti_alloc(bytes);
  if (memory == NULL) require_ok(TUTTI_UNAVAILABLE);
  return memory;
}

/* Tells each neighbour where `memory` of this rank is, and asks for the place of its one. */
static void exchange_places(Ghosts* g, double* memory) {
  const Neighbourhood* a = g->around;
  for (int d = 0; d < directions; ++d)
    MPI_Sendrecv(&memory, sizeof memory, MPI_BYTE, a->neighbour[d ^ 1], 0, &g->theirs[d],
                 sizeof g->theirs[d], MPI_BYTE, a->neighbour[d], 0, a->grid, MPI_STATUS_IGNORE);
}

/* With puts: the signal of a half of the `in` of this rank or another one. It lies behind both. */
static uint64_t* signal_of(const Ghosts* g, double* in, int half) {
  return (uint64_t*)(in + 2 * directions * g->count) + half;
}

void ghosts_make(Ghosts* g, const Neighbourhood* around, int boxes, int side) {
  *g = (Ghosts){.around = around,
                .boxes = boxes,
                .side = side,
                .count = boxes * boxes * side * side,
                .window = MPI_WIN_NULL,
                .request = MPI_REQUEST_NULL,
                .moving = {"ghosts", PHASE_COMMUNICATION, 0, 0},
                .packing = {"pack", PHASE_COMPUTATION, 0, 0}};
  const size_t bytes = (size_t)directions * (size_t)g->count * sizeof(double);
  g->in = around->way == ways_tutti_put ? reached_memory(2 * bytes + 2 * sizeof(uint64_t))
                                        : options_memory("multigrid", bytes, 1, advice);
  for (int edge = 0; edge < around->edges; ++edge) {
    g->counts[edge] = g->count;
    g->send_places[edge] = around->sends[edge] * g->count;
    g->receive_places[edge] = around->receives[edge] * g->count;
  }
  if (around->way == ways_get) {
    MPI_Win_allocate((MPI_Aint)(2 * bytes), sizeof(double), MPI_INFO_NULL, around->grid, &g->out,
                     &g->window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, g->window);
    return;
  }
  if (by_tutti(around)) {
    g->out = reached_memory(2 * bytes);
    if (around->way == ways_tutti_put) memset(signal_of(g, g->in, 0), 0, 2 * sizeof(uint64_t));
    exchange_places(g, around->way == ways_tutti_put ? g->in : g->out);
    return;
  }
  g->out = options_memory("multigrid", bytes, 1, advice);
#ifdef HAS_PERSISTENT_NEIGHBOURS
  if (around->way == ways_persistent)
    MPI_Neighbor_alltoallv_init(g->out, g->counts, g->send_places, MPI_DOUBLE, g->in, g->counts,
                                g->receive_places, MPI_DOUBLE, around->graph, MPI_INFO_NULL,
                                &g->request);
#endif
}

static void complete_puts(Ghosts* g, int half) {
  for (int d = 0; d < directions; ++d) require_ok(tutti_wait(g->around->group, &g->puts[half][d]));
}

void ghosts_free(Ghosts* g) {
  if (g->window != MPI_WIN_NULL) {
    MPI_Win_unlock_all(g->window);
    MPI_Win_free(&g->window);
  } else if (by_tutti(g->around)) {
    for (int half = 0; half < 2; ++half) complete_puts(g, half);
    MPI_Request all_are_here; /* neighbours have taken the last faces */
    MPI_Ibarrier(g->around->grid, &all_are_here);
    ghosts_wait(g, &all_are_here);
    tutti_free(g->out);
  } else {
    free(g->out);
  }
  if (g->request != MPI_REQUEST_NULL) MPI_Request_free(&g->request);
  if (g->around->way == ways_tutti_put)
    tutti_free(g->in);
  else
    free(g->in);
}

/* The cells of a box that are `layer` layers from its lower end of an axis, as a square. */
typedef struct {
  double* first;
  size_t row, cell; /* distances */
} Square;

static Square square_of(const Ghosts* g, double* cells, const int box[3], int axis, int layer) {
  const size_t edge = (size_t)g->side + 2, steps[3] = {1, edge, edge * edge};
  const size_t number =
      ((size_t)box[2] * (size_t)g->boxes + (size_t)box[1]) * (size_t)g->boxes + (size_t)box[0];
  const int inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2;
  double* const corner = cells + number * edge * edge * edge;
  return (Square){corner + (size_t)layer * steps[axis] + steps[inner] + steps[outer], steps[outer],
                  steps[inner]};
}

static void copy_square(Square to, Square from, int side) {
  for (int row = 0; row < side; ++row)
    for (int cell = 0; cell < side; ++cell)
      to.first[(size_t)row * to.row + (size_t)cell * to.cell] =
          from.first[(size_t)row * from.row + (size_t)cell * from.cell];
}

/* The layer of a box that lies at its end in a direction, and the ghost layer beyond it. */
static int border_layer(const Ghosts* g, int direction) { return direction % 2 == 0 ? 1 : g->side; }
static int ghost_layer(const Ghosts* g, int direction) {
  return direction % 2 == 0 ? 0 : g->side + 1;
}

/* The place of a box's face in the packed message of a direction: faces in the order of boxes. */
static Square packed_square(const Ghosts* g, double* message, int row, int column) {
  const size_t side = (size_t)g->side;
  return (Square){message + ((size_t)row * (size_t)g->boxes + (size_t)column) * side * side, side,
                  1};
}

/* Copies the faces at this rank's end in `direction` into a message, or a message into the ghost
 * cells there. */
static void pack(const Ghosts* g, double* cells, int direction, double* message, int unpacking) {
  const int axis = direction / 2, inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2;
  int box[3];
  box[axis] = direction % 2 == 0 ? 0 : g->boxes - 1;
  for (box[outer] = 0; box[outer] < g->boxes; ++box[outer])
    for (box[inner] = 0; box[inner] < g->boxes; ++box[inner]) {
      const Square packed = packed_square(g, message, box[outer], box[inner]);
      if (unpacking)
        copy_square(square_of(g, cells, box, axis, ghost_layer(g, direction)), packed, g->side);
      else
        copy_square(packed, square_of(g, cells, box, axis, border_layer(g, direction)), g->side);
    }
}

/* Copies between boxes of this rank, around its end where it is its own neighbour. */
static void copy_local(const Ghosts* g, double* cells, int direction) {
  const int axis = direction / 2, step = direction % 2 == 0 ? -1 : 1;
  const int alone = g->around->neighbour[direction] == MPI_PROC_NULL;
  int box[3];
  for (box[2] = 0; box[2] < g->boxes; ++box[2])
    for (box[1] = 0; box[1] < g->boxes; ++box[1])
      for (box[0] = 0; box[0] < g->boxes; ++box[0]) {
        int beside[3] = {box[0], box[1], box[2]};
        beside[axis] += step;
        if (beside[axis] < 0 || beside[axis] >= g->boxes) {
          if (!alone) continue;
          beside[axis] = (beside[axis] + g->boxes) % g->boxes;
        }
        copy_square(square_of(g, cells, box, axis, ghost_layer(g, direction)),
                    square_of(g, cells, beside, axis, border_layer(g, direction ^ 1)), g->side);
      }
}

static void pack_all(Ghosts* g, double* cells, int unpacking) {
  const int from_half = g->around->way == ways_tutti_put ? g->half : 0;
  double* const messages = unpacking ? g->in + from_half * directions * g->count
                                     : g->out + g->half * directions * g->count;
  phase_begin(&g->packing);
  for (int d = 0; d < directions; ++d)
    if (g->around->neighbour[d] != MPI_PROC_NULL)
      pack(g, cells, d, messages + d * g->count, unpacking);
  phase_end(&g->packing);
}

/* The tag of a message is the direction in which it was sent. */
static void start_messages(Ghosts* g) {
  const Neighbourhood* a = g->around;
  for (int d = 0; d < directions; ++d)
    MPI_Irecv(g->in + d * g->count, g->count, MPI_DOUBLE, a->neighbour[d], d ^ 1, a->grid,
              &g->messages[d]);
  for (int d = 0; d < directions; ++d)
    MPI_Isend(g->out + d * g->count, g->count, MPI_DOUBLE, a->neighbour[d], d, a->grid,
              &g->messages[directions + d]);
}

/* Tells the neighbours that the faces are there, and waits for word of theirs. */
static void start_gets(Ghosts* g) {
  const Neighbourhood* a = g->around;
  if (a->way == ways_get) MPI_Win_sync(g->window);
  for (int d = 0; d < directions; ++d)
    MPI_Irecv(NULL, 0, MPI_BYTE, a->neighbour[d], d ^ 1, a->grid, &g->messages[d]);
  for (int d = 0; d < directions; ++d)
    MPI_Isend(NULL, 0, MPI_BYTE, a->neighbour[d], d, a->grid, &g->messages[directions + d]);
}

/* Two halves of `out` suffice without a message that says that the faces were taken: a neighbour
 * says that its next faces are there after it has taken this exchange's, and this half is packed
 * again only after that. */
static void finish_gets(Ghosts* g) {
  const Neighbourhood* a = g->around;
  for (int d = 0; d < directions; ++d) {
    if (a->neighbour[d] == MPI_PROC_NULL) continue;
    MPI_Wait(&g->messages[d], MPI_STATUS_IGNORE);
    MPI_Win_sync(g->window);
    const MPI_Aint place = (MPI_Aint)(g->half * directions + (d ^ 1)) * g->count;
    MPI_Get(g->in + d * g->count, g->count, MPI_DOUBLE, a->neighbour[d], place, g->count,
            MPI_DOUBLE, g->window);
  }
  MPI_Win_flush_all(g->window);
  MPI_Waitall(2 * directions, g->messages, MPI_STATUSES_IGNORE);
  g->half ^= 1;
}

/* The same by Tutti. Starts the gets if all neighbours have said that their faces are there. */
static void ask_for_faces(Ghosts* g) {
  const Neighbourhood* a = g->around;
  const size_t bytes = (size_t)g->count * sizeof(double);
  if (g->asked) return;
  MPI_Testall(2 * directions, g->messages, &g->asked, MPI_STATUSES_IGNORE);
  for (int d = 0; d < directions && g->asked; ++d) {
    if (a->neighbour[d] == MPI_PROC_NULL) continue;
    const double* const face = g->theirs[d] + (g->half * directions + (d ^ 1)) * g->count;
    require_ok(
        tutti_get(a->group, a->neighbour[d], g->in + d * g->count, face, bytes, &g->gets[d]));
  }
}

/* Answers ranks of other nodes that want something now, and lets others use the core. */
static void answer(tutti_group* group) {
  tutti_handle of_none = {{0, 0}};
  int done;
  require_ok(tutti_test(group, &of_none, &done));
  sched_yield();
}

/* Without servers a rank of another node answers inside calls of Tutti's only, so this rank must
 * not wait in MPI while others get its faces. */
static void finish_tutti_gets(Ghosts* g) {
  const Neighbourhood* a = g->around;
  for (ask_for_faces(g); !g->asked; ask_for_faces(g)) answer(a->group);
  for (int d = 0; d < directions; ++d) require_ok(tutti_wait(a->group, &g->gets[d]));
  g->asked = 0;
  g->half ^= 1;
}

/* Two halves of `in` suffice without a message that says that the faces were taken: a neighbour
 * puts into this half again after it has this rank's next faces, which start when this exchange's
 * are unpacked. */
static void start_puts(Ghosts* g) {
  const Neighbourhood* a = g->around;
  const size_t bytes = (size_t)g->count * sizeof(double);
  for (int d = 0; d < directions; ++d) {
    if (a->neighbour[d] == MPI_PROC_NULL) continue;
    const int face = g->half * directions + d, there = g->half * directions + (d ^ 1);
    require_ok(tutti_put_signal(a->group, a->neighbour[d], g->theirs[d] + there * g->count,
                                g->out + face * g->count, bytes,
                                signal_of(g, g->theirs[d], g->half), &g->puts[g->half][d]));
    g->arrived[g->half] += bytes;
  }
}

static void start_moving(Ghosts* g) {
  const Neighbourhood* a = g->around;
  switch (a->way) {
    case ways_messages: start_messages(g); break;
    case ways_get:
    case ways_tutti_get: start_gets(g); break;
    case ways_tutti_put: start_puts(g); break;
    case ways_neighbours:
      MPI_Neighbor_alltoallv(g->out, g->counts, g->send_places, MPI_DOUBLE, g->in, g->counts,
                             g->receive_places, MPI_DOUBLE, a->graph);
      break;
    case ways_started:
      MPI_Ineighbor_alltoallv(g->out, g->counts, g->send_places, MPI_DOUBLE, g->in, g->counts,
                              g->receive_places, MPI_DOUBLE, a->graph, &g->request);
      break;
    case ways_persistent: MPI_Start(&g->request); break;
  }
}

static void finish_moving(Ghosts* g) {
  switch (g->around->way) {
    case ways_messages: MPI_Waitall(2 * directions, g->messages, MPI_STATUSES_IGNORE); break;
    case ways_get: finish_gets(g); break;
    case ways_tutti_get: finish_tutti_gets(g); break;
    case ways_tutti_put:
      require_ok(
          tutti_signal_wait(g->around->group, signal_of(g, g->in, g->half), g->arrived[g->half]));
      break;
    case ways_neighbours: break;
    default: MPI_Wait(&g->request, MPI_STATUS_IGNORE);
  }
}

void ghosts_start(Ghosts* g, double* cells) {
  ++g->exchanges;
  if (g->around->way == ways_tutti_put) {
    phase_begin(&g->moving);
    complete_puts(g, g->half);
    phase_end(&g->moving);
  }
  pack_all(g, cells, 0);
  phase_begin(&g->moving);
  start_moving(g);
  phase_end(&g->moving);
  phase_begin(&g->packing);
  for (int d = 0; d < directions; ++d) copy_local(g, cells, d);
  phase_end(&g->packing);
}

void ghosts_look(Ghosts* g) {
  if (g->around->way != ways_tutti_get) return;
  phase_begin(&g->moving);
  ask_for_faces(g);
  phase_end(&g->moving);
}

void ghosts_wait(const Ghosts* g, MPI_Request* request) {
  if (by_tutti(g->around))
    for (int done = 0; !done; MPI_Test(request, &done, MPI_STATUS_IGNORE)) answer(g->around->group);
  else
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

void ghosts_finish(Ghosts* g, double* cells) {
  phase_begin(&g->moving);
  finish_moving(g);
  phase_end(&g->moving);
  pack_all(g, cells, 1);
  if (g->around->way == ways_tutti_put) g->half ^= 1;
}
