/* tutti-bench: times the collectives of the MPI that it runs under, by kinds of calls (kinds.h), in
 * one job.
 *
 * measuring.h describes the method. The program calls MPI like any program, so that an interposer
 * can serve it. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measuring.h"
#include "order.h"
#include "rows.h"
#include "series.h"

/* Ranks that wait in the neutral ground call this, because an MPI makes progress only in MPI
 * calls. */
static void let_mpi_progress(void) {
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* True if all nodes are on one machine, so that they share its clock and files: then the kernel's
 * boot id is the same. */
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

/* The number of cores that all ranks may use together; 0 if the ranks do not share memory. */
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

/* NULL, or a text that says what failed at this rank or another. */
static const char* meet_on_neutral_ground(Bench* bench) {
  NeutralName name = {.file = -1};
  const char* failed = NULL;
  const char* ground = bench->options.ground;
  if (bench->rank == 0) failed = neutral_make(&name, ground, bench->ranks, SERIES_NOTES);
  MPI_Bcast(name.path, sizeof name.path, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (failed == NULL) {
    failed = neutral_join(&bench->neutral, name.path, bench->rank, bench->ranks, bench->cores,
                          SERIES_NOTES);
  }
  int mine = failed == NULL, all;
  if (failed != NULL)
    fprintf(stderr, "tutti-bench: rank %d: %s: %s\n", bench->rank, failed, strerror(errno));
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (bench->rank == 0 && name.file >= 0) neutral_unname(&name);
  bench->neutral.while_waiting = let_mpi_progress;
  if (all && ground != NULL) neutral_sleep(&bench->neutral);
  return all ? NULL : "no shared memory";
}

/* Not what the launcher was asked for but what is mapped: a preload that did not take is a wrong
 * measurement. */
static bool interposed(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return false;
  char line[4352];
  bool found = false;
  while (!found && fgets(line, sizeof line, maps) != NULL)
    found = strstr(line, "/libtutti-") != NULL;
  fclose(maps);
  return found;
}

/* The first of the shuffled rounds, a row for each kind. */
static void add_first_round(const BenchOptions* options) {
  const int count = options->kinds.count;
  int* const order = malloc((size_t)count * sizeof *order);
  if (order == NULL) return;
  bench_order(order, count, 1, options->seed);
  for (int i = 0; i < count; ++i) {
    char word[BENCH_KIND_WORD];
    kind_word(&options->kinds.kinds[order[i]], word);
    row_begin_call("first_round", word, 0);
    row_end();
  }
  free(order);
}

static void add_job(const Bench* bench) {
  const BenchOptions* const options = &bench->options;
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(library, &length);
  library[strcspn(library, "\n")] = '\0';
  row_begin("job");
  row_text("library", library);
  row_flag("interposed", interposed());
  row_integer("ranks", bench->ranks);
  row_integer("cores", bench->cores);
  row_flag("yields", bench->neutral.yields);
  row_text("clock", bench->neutral.clock.counter ? "tsc" : "monotonic");
  if (options->mixed) row_integer("seed", (int64_t)options->seed);
  if (options->cold_bytes > 0) row_integer("cold_bytes", (int64_t)options->cold_bytes);
  row_flag("dirty", options->dirty);
  row_flag("verified", options->verify);
  row_flag("every_root", options->every_root);
  row_end();
  if (options->mixed) add_first_round(options);
}

/* Runs the job and returns the exit code; only the first rank prints messages. */
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
  if (bench->options.former && speaks)
    fputs("tutti-bench: the next version takes only --bytes instead of --sizes\n", stderr);
  bench->cores = cores_of_all(bench->ranks, bench->options.ground != NULL);
  if (bench->cores == 0) {
    if (speaks)
      fputs(
          "tutti-bench: the ranks are on several nodes; start all of them on one, or on nodes of "
          "one machine "
          "with --ground\n",
          stderr);
    return 2;
  }
  if (meet_on_neutral_ground(bench) != NULL) return 1;
  if (!cell_open(&bench->cell, bench->rank, bench->ranks, &bench->options.kinds) ||
      !stream_open(&bench->stream, bench->options.cold_bytes) ||
      (bench->options.overlap && !work_open(&bench->work))) {
    bench_stop(bench, "no memory for the buffers; leave out the largest sizes");
  }
  bench_measure(bench);
  neutral_leave(&bench->neutral);
  cell_close(&bench->cell);
  stream_close(&bench->stream);
  work_close(&bench->work);
  if (!speaks) return 0;
  add_job(bench);
  rows_write();
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Bench bench = {.number = 1};
  MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &bench.ranks);
  const int code = run_job(&bench, argc, argv);
  free(bench.options.kinds.kinds);
  trials_free(&bench.options.trials);
  MPI_Finalize();
  return code;
}
