/* tutti-sim: times collectives of ranks that SimGrid's SMPI simulates, cell by cell, in simulated
 * time.
 *
 * It is compiled twice: with Tutti linked in before SimGrid, so that Tutti serves the collectives,
 * and without Tutti. All ranks are in one process and one thread, each with its own copy of this
 * program's globals. They start an operation at the same simulated instant, after a barrier of
 * SimGrid's own that takes no simulated time and sends no message. An operation's time is the
 * largest over the ranks. The simulation is deterministic, so a few operations suffice.
 *
 * A cell is a word, COLLECTIVE:BYTES:ROOT. The first rank writes a row (rows.h) for each cell as
 * soon as it is done. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <simgrid/barrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "collectives.h"
#include "costs.h"
#include "rows.h"
#include "statistics.h"

enum { most_operations = 1000, most_number = 1000000000, first_cell = 9 };

static const char usage[] =
    "usage: smpirun ... tutti-sim WARM OPERATIONS MEBIBYTES WITHIN BETWEEN GAP RATE SHORT CELL...\n"
    "Times simulated collectives; `tutti sim` starts it.\n"
    "  WARM        untimed operations of a cell before the timed ones\n"
    "  OPERATIONS  timed operations of a cell\n"
    "  MEBIBYTES   limit for the buffers of all ranks together; if they need more, all ranks share "
    "one buffer, and results are not verified\n"
    "  WITHIN      nanoseconds that a message to a rank of the same node keeps its sender busy, "
    "and its receiver\n"
    "  BETWEEN     the same for a message to another node\n"
    "  GAP         nanoseconds for which a message to another node holds its node's adapter\n"
    "  RATE        bandwidth of an adapter in MB/s\n"
    "  SHORT       bytes from which messages wait for their receivers\n"
    "  CELL        COLLECTIVE:BYTES:ROOT, as in bcast:65536:0; bytes as for tutti-bench\n";

/* Data that the ranks share: memory of the first rank, which the whole process sees. */
typedef struct {
  sg_bar_t meeting;
  double* ended; /* indexed by rank */
} Board;

typedef struct {
  int rank, ranks;
  int warm, operations;
  size_t most_bytes; /* bytes of all ranks' buffers */
  SimCosts costs;
  Board board;
  uint32_t number; /* operations so far */
} Sim;

/* Ends the whole simulation without exit handlers and destructors: all ranks share one process, and
 * each would destroy what another still uses. */
static void end(int code) {
  fflush(NULL);
  _exit(code);
}

static void stop_job(const Sim* sim, const char* line) {
  fprintf(stderr, "tutti-sim: rank %d: %s\n", sim->rank, line);
  end(1);
}

static void* need(const Sim* sim, void* memory) {
  if (memory == NULL) stop_job(sim, "no memory; give fewer ranks or smaller sizes");
  return memory;
}

static long parse_number(const char* word, char** end) {
  errno = 0;
  const long number = strtol(word, end, 10);
  return *word < '0' || *word > '9' || errno != 0 ? -1 : number;
}

static int count_of(const char* word, long most) {
  char* end;
  const long number = parse_number(word, &end);
  return *end != '\0' || number > most ? -1 : (int)number;
}

static bool parse_cell(const char* word, int ranks, BenchKind* kind) {
  const size_t length = strcspn(word, ":");
  const int collective = bench_word(bench_collective_names, BENCH_COLLECTIVES, word, length);
  if (collective == BENCH_COLLECTIVES || word[length] == '\0') return false;
  char* end;
  const long bytes = parse_number(word + length + 1, &end);
  if (bytes < 0 || bytes > (1L << 30) || bytes % (long)sizeof(double) != 0 || *end != ':')
    return false;
  const int root = count_of(end + 1, ranks - 1);
  *kind =
      (BenchKind){.collective = (BenchCollective)collective, .bytes = (size_t)bytes, .root = root};
  return root >= 0;
}

/* The ranks' buffers, or, if these would need too much memory, one buffer that all ranks use: the
 * simulated cost of a message does not depend on its contents. */
static void* buffer(const Sim* sim, size_t bytes, bool folded) {
  if (bytes == 0) return NULL;
  void* memory = NULL;
  if (folded) return need(sim, SMPI_SHARED_MALLOC(bytes));
  if (posix_memalign(&memory, 4096, bytes) != 0) memory = NULL;
  return memset(need(sim, memory), 0, bytes);
}

static void give_back(void* memory, bool folded) {
  if (folded && memory != NULL) SMPI_SHARED_FREE(memory);
  if (!folded) free(memory);
}

static void verify(const Sim* sim, const Cell* cell, uint32_t number) {
  char line[256];
  if (!cell_verify(cell, number, line)) stop_job(sim, line);
}

/* One operation's simulated time in nanoseconds, at the first rank. */
static double operate(Sim* sim, Cell* cell) {
  sg_barrier_wait(sim->board.meeting);
  const double start = MPI_Wtime();
  call_start(cell);
  sim->board.ended[sim->rank] = MPI_Wtime();
  sg_barrier_wait(sim->board.meeting);
  double last = start;
  for (int rank = 0; sim->rank == 0 && rank < sim->ranks; ++rank)
    if (sim->board.ended[rank] > last) last = sim->board.ended[rank];
  return (last - start) * 1e9;
}

static void add(const BenchKind* kind, double* times, int count, bool verified) {
  row_begin_call("simulated", bench_collective_names[kind->collective], kind->bytes);
  row_integer("root", kind->root);
  row_number("ns", median_of(times, (size_t)count));
  row_number("min_ns", times[0]);
  row_number("max_ns", times[count - 1]);
  row_flag("verified", verified);
  row_end();
  rows_write();
}

static void run_cell(Sim* sim, const BenchKind* kind) {
  Cell cell;
  double times[most_operations];
  if (!cell_open_bare(&cell, sim->rank, sim->ranks)) need(sim, NULL);
  cell_set(&cell, kind);
  const size_t in = cell_in_bytes(&cell), out = cell_out_bytes(&cell);
  double all = (double)(in + out), most = 0;
  PMPI_Allreduce(&all, &most, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const bool folded = most > (double)sim->most_bytes;
  cell.in = buffer(sim, in, folded);
  cell.out = buffer(sim, out, folded);
  for (int operation = -sim->warm; operation < sim->operations; ++operation) {
    const uint32_t number = sim->number++;
    if (!folded) cell_fill(&cell, number);
    const double time = operate(sim, &cell);
    if (!folded) verify(sim, &cell, number);
    if (operation >= 0) times[operation] = time;
  }
  if (sim->rank == 0) add(kind, times, sim->operations, !folded);
  sg_barrier_wait(sim->board.meeting);
  give_back(cell.in, folded);
  give_back(cell.out, folded);
  cell_close_bare(&cell);
}

static void share_board(Sim* sim) {
  if (sim->rank == 0) {
    sim->board.meeting = sg_barrier_init((unsigned)sim->ranks);
    sim->board.ended = need(sim, calloc((size_t)sim->ranks, sizeof *sim->board.ended));
    sim_charge(sim->costs);
  }
  PMPI_Bcast(&sim->board, (int)sizeof sim->board, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static bool parse(Sim* sim, int argc, char** argv) {
  if (argc <= first_cell) return false;
  static const long most[first_cell] = {0,           most_operations, most_operations,
                                        1 << 24,     most_number,     most_number,
                                        most_number, most_number,     most_number};
  int number[first_cell];
  for (int i = 1; i < first_cell; ++i) {
    number[i] = count_of(argv[i], most[i]);
    if (number[i] < 0) return false;
  }
  sim->warm = number[1];
  sim->operations = number[2];
  sim->most_bytes = (size_t)number[3] << 20;
  sim->costs = (SimCosts){.overhead_within = number[4] * 1e-9,
                          .overhead_between = number[5] * 1e-9,
                          .gap = number[6] * 1e-9,
                          .bytes_per_second = number[7] * 1e6,
                          .short_bytes = (size_t)number[8]};
  if (sim->operations < 1 || number[7] < 1) return false;
  BenchKind kind;
  for (int i = first_cell; i < argc; ++i)
    if (!parse_cell(argv[i], sim->ranks, &kind)) return false;
  return true;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Sim sim = {.number = 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &sim.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &sim.ranks);
  if (!parse(&sim, argc, argv)) {
    fputs(usage, stderr); /* the first rank to come here speaks for all */
    end(2);
  }
  share_board(&sim);
  for (int i = first_cell; i < argc; ++i) {
    BenchKind kind;
    if (parse_cell(argv[i], sim.ranks, &kind)) run_cell(&sim, &kind);
  }
  MPI_Finalize();
  sg_barrier_wait(sim.board.meeting); /* all have finished */
  end(0);
  return 0;
}
