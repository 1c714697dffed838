/* tutti-sim-setup: counts the messages that each simulated rank sends while Tutti sets up.
 *
 * Between phases all ranks meet at a barrier of SimGrid's own, which sends no message, and the
 * first rank notes how many messages each rank has sent so far. The phases after the first two
 * repeat only the host MPI's calls of these two, so that the host's share can be subtracted: SMPI's
 * MPI_Comm_split goes through its first rank, unlike other MPIs'. The first rank writes rows
 * (rows.h): the messages sent by each rank in each phase.
 *
 * bench/sim/setup_messages.py starts it, with Tutti linked in. */
#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "counts.h"
#include "rows.h"

enum { phases = 6 };

static const char* const phase_names[phases] = {
    "init",        /* MPI_Init */
    "first",       /* a communicator's first collective, a barrier, with its set-up */
    "second",      /* the next barrier */
    "init_splits", /* the communicators that MPI_Init has the host make: a node's, and that of
                      nodes' first ranks */
    "first_split", /* and the set-up: all ranks' */
    "board", /* a bcast, which is in the first phase too: it shows the others what the first rank
                counts */
};

typedef struct {
  SimCounts* counts;
  sg_bar_t meeting;
  long* sent; /* indexed by phase and rank, since the begin */
} Board;

static void note(const Board* board, int phase, int rank, int ranks) {
  sg_barrier_wait(board->meeting);
  if (rank == 0)
    sim_sent(board->counts, (size_t)ranks, board->sent + (size_t)phase * (size_t)ranks);
  sg_barrier_wait(board->meeting);
}

/* The messages of each rank in each phase. */
static void say(const Board* board, int ranks) {
  for (int phase = 0; phase < phases; ++phase) {
    for (int rank = 0; rank < ranks; ++rank) {
      const long* const now = board->sent + (size_t)phase * (size_t)ranks + rank;
      row_begin_call("messages", phase_names[phase], 0);
      row_integer("rank", rank);
      row_integer("sent", phase == 0 ? *now : *now - now[-ranks]);
      row_end();
    }
  }
  rows_write();
}

static void split_as_init_does(void) {
  MPI_Comm node, firsts;
  int place = 0;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  PMPI_Comm_rank(node, &place);
  PMPI_Comm_split(MPI_COMM_WORLD, place == 0 ? 0 : MPI_UNDEFINED, 0, &firsts);
  if (firsts != MPI_COMM_NULL) PMPI_Comm_free(&firsts);
  PMPI_Comm_free(&node);
}

/* On the heap of the first rank, which all ranks see. */
static Board make_board(SimCounts* counts, int ranks) {
  const Board board = {counts, sg_barrier_init((unsigned)ranks),
                       calloc((size_t)ranks * phases, sizeof(long))};
  if (counts == NULL || board.sent == NULL) {
    fputs("tutti-sim-setup: the first rank is not SimGrid's first actor, or there is no memory\n",
          stderr);
    _exit(1);
  }
  return board;
}

int main(int argc, char** argv) {
  SimCounts* const counts = sg_actor_self_get_pid() == 1 ? sim_count() : NULL;
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0, phase = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Board board = {NULL, NULL, NULL};
  if (rank == 0) board = make_board(counts, ranks);
  PMPI_Bcast(&board, (int)sizeof board, MPI_BYTE, 0, MPI_COMM_WORLD);
  note(&board, phase++, rank, ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  note(&board, phase++, rank, ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  note(&board, phase++, rank, ranks);
  split_as_init_does();
  note(&board, phase++, rank, ranks);
  MPI_Comm all;
  PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &all);
  PMPI_Comm_free(&all);
  note(&board, phase++, rank, ranks);
  PMPI_Bcast(&board, (int)sizeof board, MPI_BYTE, 0, MPI_COMM_WORLD);
  note(&board, phase++, rank, ranks);
  if (rank == 0) say(&board, ranks);
  MPI_Finalize();
  sg_barrier_wait(board.meeting); /* all have finished */
  fflush(NULL);
  _exit(0); /* the usual end of a process would act on memory that the ranks share */
}
