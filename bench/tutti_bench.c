/* tutti-bench: times the collectives of whatever MPI it runs under, cell by cell (a collective and a size) in one job.
 *
 * All ranks start an operation at one instant, after a meeting on neutral ground (neutral.h), with buffers that their
 * owners have just rewritten: nobody rewriting them flatters MPIs that copy from process to process. An operation's
 * time is the largest over the ranks. Every result is compared with what it must be, outside of the timed part. The
 * program calls MPI as any program does, so that an interposer serves it. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives.h"
#include "neutral.h"
#include "options.h"
#include "results.h"

enum { warm_operations = 8, fewest_samples = 10, fewest_slow_samples = 3 };
static const double longest_cell_seconds = 20;

typedef struct {
  int rank, ranks, cores;
  BenchOptions options;
  Neutral neutral;
  Cell cell;
  uint32_t number; /* of operations so far */
} Bench;

static void stop_job(const Bench* bench, const char* line) {
  fprintf(stderr, "tutti-bench: rank %d: %s\n", bench->rank, line);
  fflush(stderr);
  usleep(200000); /* launchers forward what a rank says, but drop what is on its way when a job is aborted */
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* Neutral ground is no MPI call, in which alone an MPI must make progress. */
static void let_mpi_progress(void) {
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void exchange_flags(const Bench* bench) {
  neutral_enter(&bench->neutral, bench->number);
  while (!neutral_all_entered(&bench->neutral, bench->number)) continue;
}

/* A barrier has no result but that nobody leaves before the last one comes. To see that, one rank comes late and notes
 * that it came; so every sixteenth barrier is watched instead of timed, and the warm ones too. */
static bool watched(BenchCollective collective, int sample) {
  return collective == BENCH_BARRIER && (sample < 0 || sample % 16 == 15);
}

static void watch_barrier(const Bench* bench, uint32_t number) {
  if ((int)(number % (uint32_t)bench->ranks) == bench->rank) {
    const uint64_t until = bench_nanoseconds() + 10000;
    while (bench_nanoseconds() < until) bench_pause();
  }
  neutral_enter(&bench->neutral, number);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!neutral_all_entered(&bench->neutral, number)) stop_job(bench, "a barrier let this rank out before all were in");
}

static void verify(const Bench* bench, uint32_t number) {
  char line[256];
  if (!cell_verify(&bench->cell, number, line)) stop_job(bench, line);
}

static bool enough(const Bench* bench, int samples, int kept, double seconds) {
  const BenchOptions* options = &bench->options;
  if (samples == BENCH_MOST_ITERATIONS || seconds > longest_cell_seconds) return true;
  if (options->iterations > 0) return samples >= options->iterations;
  /* Ranks that stall for tens of milliseconds get fewer samples, not more time without end. */
  return (kept >= fewest_samples && seconds > options->budget_seconds) ||
         (kept >= fewest_slow_samples && seconds > 10 * options->budget_seconds);
}

static int keep_samples(const Neutral* neutral, int samples, double* microseconds) {
  int kept = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const uint64_t ticks = neutral_largest(neutral, sample);
    if (ticks != NEUTRAL_NO_SAMPLE) microseconds[kept++] = (double)ticks * 1e6 / neutral->clock.ticks_per_second;
  }
  return kept;
}

/* The cell that is set, or the flag exchange; the first rank gets the samples in microseconds, *kept of them. Returns
 * how many operations were sampled. */
static int run_cell(Bench* bench, BenchCollective collective, double* microseconds, int* kept) {
  Neutral* neutral = &bench->neutral;
  const bool flags = collective == BENCH_FLAGS;
  const uint64_t began = bench_nanoseconds();
  uint32_t number = bench->number;
  int samples = -warm_operations, good = 0;
  if (bench->rank == 0) neutral_set_end(neutral, BENCH_MOST_ITERATIONS);
  for (;; ++samples) {
    if (bench->options.dirty || samples == -warm_operations) {
      number = bench->number;
      if (!flags) cell_fill(&bench->cell, number);
    }
    ++bench->number;
    uint64_t start;
    bool in_time = neutral_start(neutral, &start);
    if (samples >= neutral_end(neutral)) break;
    if (bench->options.verify && watched(collective, samples)) {
      in_time = false;
      watch_barrier(bench, bench->number);
    } else if (flags) {
      exchange_flags(bench);
    } else {
      cell_perform(&bench->cell);
    }
    const uint64_t ended = bench_now(&neutral->clock);
    if (samples >= 0) neutral_note(neutral, samples, in_time ? ended - start : NEUTRAL_NO_SAMPLE);
    /* Ranks that share a core: who has ended would keep it from who has not, for work that is no part of the operation. */
    if (neutral->yields) neutral_meet(neutral);
    if (bench->options.verify && !flags) verify(bench, number);
    if (bench->rank == 0 && samples >= 0) {
      /* The sample before is complete: all ranks noted it before they came to the last meeting. */
      if (samples > 0) good += neutral_largest(neutral, samples - 1) != NEUTRAL_NO_SAMPLE;
      if (enough(bench, samples + 1, good, (double)(bench_nanoseconds() - began) * 1e-9)) {
        neutral_set_end(neutral, samples + 1);
      }
    }
  }
  if (bench->rank == 0) *kept = keep_samples(neutral, samples, microseconds);
  neutral_meet(neutral); /* before the first rank sets another end */
  return samples;
}

static double microseconds[BENCH_MOST_ITERATIONS];

/* Measured on the cores of this very job, because those of the next one may be nearer to each other or farther apart. */
static void run_flags(Bench* bench, Results* results) {
  if (bench->ranks != 2 || bench->neutral.yields || bench->neutral.sleeps) return;
  int kept = 0;
  run_cell(bench, BENCH_FLAGS, microseconds, &kept);
  if (bench->rank == 0 && kept > 0) results->flag_exchange = results_median(microseconds, kept);
}

static void run_root(Bench* bench, Results* results, BenchCollective collective, size_t bytes, int root) {
  cell_set(&bench->cell, collective, bytes, root);
  int kept = 0;
  const int samples = run_cell(bench, collective, microseconds, &kept);
  if (bench->rank != 0) return;
  if (kept == 0) stop_job(bench, "every start was missed; is something else running on these cores?");
  const ResultsCell cell = {.collective = bench_collective_names[collective], .bytes = bytes,
                            .root = cell_rooted(collective) ? root : -1};
  if (!results_add(results, cell, microseconds, kept, samples - kept)) stop_job(bench, "no memory for the results");
}

static void run_all(Bench* bench, Results* results) {
  const BenchOptions* options = &bench->options;
  run_flags(bench, results);
  for (int c = 0; c < options->collective_count; ++c) {
    const BenchCollective collective = options->collectives[c];
    const int sizes = collective == BENCH_BARRIER ? 1 : options->size_count;
    const bool every_root = options->every_root && cell_rooted(collective);
    for (int s = 0; s < sizes; ++s) {
      const size_t bytes = collective == BENCH_BARRIER ? 0 : options->sizes[s];
      if (bytes > cell_most_bytes(collective, bench->ranks)) {
        results_leave_out(results, bench_collective_names[collective], bytes);
        continue;
      }
      const int first = every_root ? 0 : options->root, end = every_root ? bench->ranks : first + 1;
      for (int root = first; root < end; ++root) run_root(bench, results, collective, bytes, root);
    }
  }
}

/* Whether the nodes are all on one machine, whose clock and files they share: the kernel's number of its start says so. */
static bool on_one_machine(void) {
  char mine[64] = "", first[64];
  FILE* file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (file != NULL) {
    if (fgets(mine, sizeof mine, file) == NULL) mine[0] = '\0';
    fclose(file);
  }
  memcpy(first, mine, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  int same = mine[0] != '\0' && strcmp(mine, first) == 0, all;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

/* The cores that the ranks may use, all together; 0 where they do not share memory. */
static int cores_of_all(int ranks, bool several_nodes) {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int here;
  MPI_Comm_size(node, &here);
  MPI_Comm_free(&node);
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  CPU_ZERO(&all);
  sched_getaffinity(0, sizeof mine, &mine);
  MPI_Allreduce(&mine, &all, (int)sizeof mine, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  return here == ranks || (several_nodes && on_one_machine()) ? CPU_COUNT(&all) : 0;
}

/* NULL, or what failed at this rank or another. */
static const char* meet_on_neutral_ground(Bench* bench) {
  NeutralName name = {.file = -1};
  const char* failed = NULL;
  const char* ground = bench->options.ground;
  if (bench->rank == 0) failed = neutral_make(&name, ground, bench->ranks, BENCH_MOST_ITERATIONS);
  MPI_Bcast(name.path, sizeof name.path, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (failed == NULL) {
    failed = neutral_join(&bench->neutral, name.path, bench->rank, bench->ranks, bench->cores, BENCH_MOST_ITERATIONS);
  }
  int mine = failed == NULL, all;
  if (failed != NULL) fprintf(stderr, "tutti-bench: rank %d: %s: %s\n", bench->rank, failed, strerror(errno));
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (bench->rank == 0 && name.file >= 0) neutral_unname(&name);
  bench->neutral.while_waiting = let_mpi_progress;
  if (all && ground != NULL) neutral_sleep(&bench->neutral);
  return all ? NULL : "no shared memory";
}

/* Runs the job and returns the exit code; only the first rank speaks. */
static int run_job(Bench* bench, int argc, char** argv) {
  char message[256];
  const bool speaks = bench->rank == 0;
  if (!bench_parse(argc, argv, bench->ranks, &bench->options, message)) {
    if (speaks) fprintf(stderr, "tutti-bench: %s\n", message);
    return 2;
  }
  if (bench->options.help) {
    if (speaks) fputs(bench_usage, stdout);
    return 0;
  }
  bench->cores = cores_of_all(bench->ranks, bench->options.ground != NULL);
  if (bench->cores == 0) {
    if (speaks) fputs("tutti-bench: the ranks are on several nodes; start all of them on one, or on nodes of one machine "
                      "with --ground\n", stderr);
    return 2;
  }
  if (meet_on_neutral_ground(bench) != NULL) return 1;
  if (!cell_open(&bench->cell, bench->rank, bench->ranks, &bench->options)) {
    stop_job(bench, "no memory for the buffers; leave out the largest sizes");
  }
  Results results = {.count = 0};
  run_all(bench, &results);
  neutral_leave(&bench->neutral);
  cell_close(&bench->cell);
  if (!speaks) return 0;
  const ResultsJob job = {.ranks = bench->ranks, .cores = bench->cores, .yields = bench->neutral.yields,
                          .counter = bench->neutral.clock.counter, .options = &bench->options};
  const bool written = results_write(&results, &job);
  free(results.cells);
  return written ? 0 : 2;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Bench bench = {.number = 1};
  MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &bench.ranks);
  const int code = run_job(&bench, argc, argv);
  MPI_Finalize();
  return code;
}
