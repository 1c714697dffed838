/* The times of one-sided transfers between two nodes, by Tutti and by the host MPI.
 *
 *   mpiexec -n 2 -hosts A,B tutti-run tutti-ranks between SIZES MILLISECONDS waits|waits,computes
 *
 * `tutti bench --one-sided --hosts` starts it. Ranks are pairs of a client and its target
 * (pairs.h). Each client transfers SIZES bytes (multiples of 8, with commas) into or from its
 * target's memory, which is from MPI_Win_allocate, in turn
 *
 *   tutti      by tutti_put or tutti_get, and tutti_wait
 *   host       by MPI_Put or MPI_Get, and MPI_Win_flush, in one epoch of MPI_Win_lock_all
 *   ping_pong  by MPI_Send and MPI_Recv on both sides: the data one way, and 8 bytes the other way
 *
 * while the target waits in a call (of Tutti's, or MPI_Recv), or computes with its data in
 * registers until it sees in its memory that the transfer is over. Somebody must answer for a
 * target that computes: Tutti's server. The host's own transfers are then answered only because
 * this server calls the host MPI.
 *
 * Both ranks rewrite their memory before each transfer, and the one that gets the data checks it.
 * MILLISECONDS, and three rounds at least, are spent on each kind, size and state of the target.
 * Then the client starts each transfer, computes twice as long as the ping-pong or the host's
 * transfer took with a target that waits, whichever was longer, and waits for the transfer.
 *
 * There is a row for each transfer, with the median of the rounds, and of several clients the
 * largest:
 *
 *   ns        until the transfer is complete
 *   start_ns  until the start returns (not of ping_pong)
 *   compute_ns, beside_ns  the computation alone, and start, computation and wait (not of
 * ping_pong)
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "rows.h"
#include "statistics.h"
#include "work.h"

enum { least_rounds = 3, most_rounds = 200, most_sizes = 32, tag_end = 8, tag_data = 9 };
static const double times_the_call = 2; /* the computation beside a transfer */
static const double turn_us = 20;       /* a target that computes looks so often */
static const double longest_us = 60e6;

typedef enum { BY_TUTTI, BY_HOST, PING_PONG, NOTHING, WAYS } Way;
static const char* const way_names[] = {"tutti", "host", "ping_pong", "nothing"};

/* One of the cases that a client measures in turn. */
typedef struct {
  bool puts, computes; /* its direction; the target computes */
  size_t bytes;
  double beside_us; /* the time of a computation; 0: none */
} Cell;

typedef struct {
  double start[most_rounds], whole[most_rounds];
} Times;

typedef struct {
  Pair pair;
  Work work;
  MPI_Win window;
  void* mine;    /* a client's side of transfers */
  void* there;   /* this rank's memory in the window */
  void* target;  /* the partner's memory in the window */
  uint64_t seed; /* the seed of the next data, the same in both ranks of a pair */
  Times times[WAYS];
} Bench;

static uint64_t now(const Bench* bench) { return bench_now(&bench->pair.clock); }

static void compute(Bench* bench, double microseconds) {
  const uint64_t turns =
      work_turns(&bench->work, WORK_ARITHMETIC, microseconds, &bench->pair.clock);
  if (microseconds > 0) work_run(&bench->work, WORK_ARITHMETIC, turns, &bench->pair.clock);
}

/* The client's transfer; *started is when the start has returned. */
static void transfer(Bench* bench, const Cell* cell, Way way, uint64_t* started) {
  const int partner = bench->pair.partner, bytes = (int)cell->bytes;
  tutti_handle handle;
  uint64_t word = 0;
  if (way == BY_TUTTI && cell->puts)
    require_ok(
        tutti_put(bench->pair.group, partner, bench->target, bench->mine, cell->bytes, &handle));
  if (way == BY_TUTTI && !cell->puts)
    require_ok(
        tutti_get(bench->pair.group, partner, bench->mine, bench->target, cell->bytes, &handle));
  if (way == BY_HOST && cell->puts)
    MPI_Put(bench->mine, bytes, MPI_BYTE, partner, 0, bytes, MPI_BYTE, bench->window);
  if (way == BY_HOST && !cell->puts)
    MPI_Get(bench->mine, bytes, MPI_BYTE, partner, 0, bytes, MPI_BYTE, bench->window);
  *started = now(bench);
  compute(bench, cell->beside_us);
  if (way == BY_TUTTI) require_ok(tutti_wait(bench->pair.group, &handle));
  if (way == BY_HOST) MPI_Win_flush(partner, bench->window);
  if (way != PING_PONG) return;
  MPI_Send(cell->puts ? bench->mine : &word, cell->puts ? bytes : (int)sizeof word, MPI_BYTE,
           partner, tag_data, MPI_COMM_WORLD);
  MPI_Recv(cell->puts ? &word : bench->mine, cell->puts ? (int)sizeof word : bytes, MPI_BYTE,
           partner, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pong(const Bench* bench, const Cell* cell) {
  const int partner = bench->pair.partner, bytes = (int)cell->bytes;
  uint64_t word = 0;
  MPI_Recv(cell->puts ? bench->there : &word, cell->puts ? bytes : (int)sizeof word, MPI_BYTE,
           partner, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(cell->puts ? &word : bench->there, cell->puts ? (int)sizeof word : bytes, MPI_BYTE,
           partner, tag_data, MPI_COMM_WORLD);
}

/* The target computes, and calls nothing, until its client has told it. */
static void compute_until_told(Bench* bench) {
  const uint64_t begin = now(bench);
  while (!pair_was_told(&bench->pair)) {
    compute(bench, turn_us);
    if (pair_microseconds(&bench->pair, now(bench) - begin) > longest_us)
      ranks_stop(
          "nobody has answered for 60 s for a target that computes; give the job servers "
          "(tutti-run --servers 1)");
  }
}

/* The target, until the transfer is over. */
static void be_target(Bench* bench, const Cell* cell, Way way) {
  if (way == PING_PONG)
    pong(bench, cell);
  else if (cell->computes)
    compute_until_told(bench);
  else if (way == BY_TUTTI)
    pair_answer(&bench->pair);
  else
    MPI_Recv(NULL, 0, MPI_BYTE, bench->pair.partner, tag_end, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end_target(Bench* bench, const Cell* cell, Way way) {
  if (way == PING_PONG) return;
  if (cell->computes || way == BY_TUTTI)
    pair_tell(&bench->pair);
  else
    MPI_Send(NULL, 0, MPI_BYTE, bench->pair.partner, tag_end, MPI_COMM_WORLD);
}

/* One transfer of each pair, with fresh memory. */
static void take_turn(Bench* bench, const Cell* cell, Way way, int round) {
  const bool is_client = bench->pair.is_client, gets_data = is_client != cell->puts;
  void* const memory = is_client ? bench->mine : bench->there;
  const uint64_t seed = bench->seed += 2; /* the other side of the data has the seeds between */
  pair_fill(memory, cell->bytes, gets_data ? seed + 1 : seed);
  MPI_Win_sync(bench->window);
  pair_exchange(&bench->pair, 0);
  if (is_client) {
    uint64_t started;
    const uint64_t begin = now(bench);
    transfer(bench, cell, way, &started);
    const uint64_t end = now(bench);
    if (round >= 0) {
      bench->times[way].start[round] = pair_microseconds(&bench->pair, started - begin);
      bench->times[way].whole[round] = pair_microseconds(&bench->pair, end - begin);
    }
    end_target(bench, cell, way);
  } else {
    be_target(bench, cell, way);
  }
  MPI_Win_sync(bench->window);
  if (way != NOTHING && gets_data && !pair_is_filled(memory, cell->bytes, seed))
    ranks_stop("a transfer has brought other data than its owner had written");
}

/* Rounds of these ways until the time is over; the first one is not counted. Returns how many were
 * counted. The client decides. */
static int run_rounds(Bench* bench, const Cell* cell, const Way* ways, int count,
                      int milliseconds) {
  uint64_t begin = 0;
  int round = -1;
  for (;; ++round) {
    if (round == 0) begin = now(bench);
    const double spent = round <= 0 ? 0 : pair_microseconds(&bench->pair, now(bench) - begin);
    int64_t ends = round >= most_rounds || (round >= least_rounds && spent >= milliseconds * 1e3);
    const int64_t of_partner = pair_exchange(&bench->pair, ends);
    if (!bench->pair.is_client) ends = of_partner;
    if (ends) return round;
    for (int i = 0; i < count; ++i) take_turn(bench, cell, ways[(i + round + 1) % count], round);
  }
}

/* Clients only: the largest of their medians. */
static double slowest(const Bench* bench, double* values, int count) {
  double value = median_of(values, (size_t)count);
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, bench->pair.side);
  return value;
}

/* Measures a kind and size, and adds its rows. `host_us`: of the host's transfer to a target
 * that waits, or of its ping-pong if that is longer, because a put may be over for the host before
 * it has arrived; it is found if the target waits. */
static void measure(Bench* bench, Cell cell, int milliseconds, double* host_us) {
  static const Way all[] = {BY_TUTTI, BY_HOST, PING_PONG};
  static const Way beside[] = {BY_TUTTI, BY_HOST, NOTHING};
  const int ways = cell.computes ? 2 : 3;
  double start[WAYS] = {0}, whole[WAYS] = {0}, computing[WAYS] = {0};
  MPI_Barrier(MPI_COMM_WORLD);
  cell.beside_us = 0;
  const int alone = run_rounds(bench, &cell, all, ways, milliseconds);
  for (int i = 0; bench->pair.is_client && i < ways; ++i) {
    start[all[i]] = slowest(bench, bench->times[all[i]].start, alone);
    whole[all[i]] = slowest(bench, bench->times[all[i]].whole, alone);
  }
  if (!cell.computes)
    *host_us = whole[BY_HOST] > whole[PING_PONG] ? whole[BY_HOST] : whole[PING_PONG];
  cell.beside_us = times_the_call * *host_us;
  MPI_Barrier(MPI_COMM_WORLD);
  const int rounds = run_rounds(bench, &cell, beside, 3, milliseconds);
  for (int i = 0; bench->pair.is_client && i < 3; ++i)
    computing[beside[i]] = slowest(bench, bench->times[beside[i]].whole, rounds);
  for (int i = 0; i < ways; ++i) {
    row_begin_call("between", cell.puts ? "put" : "get", cell.bytes);
    row_text("target", cell.computes ? "computes" : "waits");
    row_text("way", way_names[all[i]]);
    row_number("ns", whole[all[i]] * 1000);
    if (all[i] != PING_PONG) {
      row_number("start_ns", start[all[i]] * 1000);
      row_number("compute_ns", computing[NOTHING] * 1000);
      row_number("beside_ns", computing[all[i]] * 1000);
    }
    row_end();
  }
}

/* Returns how many there are. */
static int read_sizes(const char* text, size_t* sizes) {
  int count = 0;
  for (char* end; *text != '\0'; text = *end == ',' ? end + 1 : end) {
    const unsigned long long size = strtoull(text, &end, 10);
    if (count == most_sizes || size == 0 || size % 8 != 0 || size > 1 << 30 ||
        (*end != ',' && *end != '\0'))
      ranks_stop("SIZES: give multiples of 8 up to 2^30, at most 32, with commas between them");
    sizes[count++] = (size_t)size;
  }
  return count;
}

static void measure_between(const Ranks* ranks, int argc, char** argv) {
  static const char usage[] =
      "between: give SIZES, MILLISECONDS (1 or more), and what targets do: waits, or "
      "waits,computes";
  static Bench bench;
  size_t sizes[most_sizes], most = 0;
  if (argc != 4) ranks_stop(usage);
  const int count = read_sizes(argv[1], sizes);
  const int milliseconds = (int)ranks_number(argv[2], 1, 1000000, usage);
  const bool computes = strcmp(argv[3], "waits,computes") == 0;
  if (count == 0 || (!computes && strcmp(argv[3], "waits") != 0)) ranks_stop(usage);
  for (int i = 0; i < count; ++i) most = sizes[i] > most ? sizes[i] : most;
  bench.pair = pair_open(ranks);
  if (!work_open(&bench.work)) ranks_stop("there is no memory for computations");
  work_measure(&bench.work, WORK_ARITHMETIC, &bench.pair.clock);
  MPI_Win_allocate((MPI_Aint)most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bench.there, &bench.window);
  MPI_Win_lock_all(0, bench.window);
  bench.mine = ranks_memory(most, 0);
  bench.target = (void*)(uintptr_t)pair_exchange(&bench.pair, (int64_t)(uintptr_t)bench.there);

  row_begin("job");
  row_integer("pairs", bench.pair.pairs);
  row_end();
  for (int puts = 1; puts >= 0; --puts)
    for (int i = 0; i < count; ++i) {
      double host_us = 0;
      for (int busy = 0; busy <= (computes ? 1 : 0); ++busy) {
        const Cell cell = {.puts = puts != 0, .computes = busy != 0, .bytes = sizes[i]};
        measure(&bench, cell, milliseconds, &host_us);
      }
    }
  MPI_Win_unlock_all(bench.window);
  MPI_Win_free(&bench.window);
  work_close(&bench.work);
  free(bench.mine);
  pair_close(&bench.pair);
}

static RanksKind kind = {"between", measure_between, NULL};
__attribute__((constructor)) static void add_kind(void) { ranks_add(&kind); }
