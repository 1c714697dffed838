#define _GNU_SOURCE
#include "results.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives.h"
#include "json.h"
#include "order.h"

static int ascending(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

double results_median(double* samples, int count) {
  qsort(samples, (size_t)count, sizeof *samples, ascending);
  const int middle = count / 2;
  return count % 2 ? samples[middle] : 0.5 * (samples[middle - 1] + samples[middle]);
}

bool results_add(Results* results, ResultsCell cell, SeriesTimes* times) {
  double* const samples = times->whole;
  const int kept = times->wholes;
  if (results->count == results->room) {
    const int room = results->room > 0 ? 2 * results->room : 64;
    ResultsCell* const moved = realloc(results->cells, (size_t)room * sizeof *moved);
    if (moved == NULL) return false;
    results->cells = moved;
    results->room = room;
  }
  cell.kept = kept;
  cell.missed = times->missed;
  cell.start = times->starts > 0 ? results_median(times->start, times->starts) : -1;
  cell.others = times->computations > 0 ? results_median(times->others, times->computations) : -1;
  cell.wait = times->waits > 0 ? results_median(times->wait, times->waits) : -1;
  cell.median = results_median(samples, kept);
  for (int i = 0; i < kept; ++i) cell.mean += samples[i] / kept;
  cell.least = samples[0];
  cell.percentile_95 = samples[(int)(0.95 * (kept - 1) + 0.5)];
  results->cells[results->count++] = cell;
  return true;
}

bool results_leave_out(Results* results, BenchKind kind) {
  for (int i = 0; i < results->left_out.count; ++i) {
    const BenchKind* const known = &results->left_out.kinds[i];
    if (known->collective == kind.collective && known->bytes == kind.bytes) return true;
  }
  return kinds_append(&results->left_out, kind);
}

void results_free(Results* results) {
  free(results->cells);
  free(results->left_out.kinds);
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

/* The first line of what the library says of itself. */
static void write_library(BenchJson* json) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, "\n")] = '\0';
  bench_json_text(json, "library", version);
}

static void write_call(BenchJson* json, const ResultsCell* cell) {
  const BenchKind* const kind = &cell->kind;
  bench_json_text(json, "collective", bench_collective_names[kind->collective]);
  bench_json_integer(json, "bytes", (int64_t)kind->bytes);
  if (bench_shapes[kind->collective].rooted) bench_json_integer(json, "root", kind->root);
  bench_json_text(json, "element", pattern_element_names[kind->element]);
  if (bench_shapes[kind->collective].uneven)
    bench_json_text(json, "lengths", bench_lengths_names[kind->lengths]);
  bench_json_text(json, "communicator", bench_communicator_names[kind->communicator]);
  bench_json_text(json, "condition", bench_condition_name(cell->condition));
  bench_json_text(json, "form", cell->no_call ? "none" : bench_form_names[kind->form]);
  if (cell->trial > 0) bench_json_integer(json, "trial", cell->trial);
}

/* An exchange of ghost cells: the way is its form. */
static void write_exchange(BenchJson* json, const ResultsCell* cell) {
  bench_json_text(json, "collective", "halo");
  bench_json_integer(json, "bytes", (int64_t)cell->kind.bytes);
  bench_json_text(json, "element", pattern_element_names[cell->kind.element]);
  bench_json_text(json, "form", cell->no_call ? "none" : cell->halo);
  bench_json_flag(json, "in_order", cell->in_order);
}

static void write_cell(BenchJson* json, const ResultsCell* cell) {
  bench_json_begin_object(json, NULL);
  if (cell->halo != NULL)
    write_exchange(json, cell);
  else
    write_call(json, cell);
  if (cell->loop != WORK_NONE) {
    bench_json_text(json, "work", work_loop_names[cell->loop]);
    bench_json_number(json, "work_us", cell->computing, 4);
  }
  bench_json_integer(json, "operations", cell->kept);
  bench_json_integer(json, "missed", cell->missed);
  bench_json_number(json, "median_us", cell->median, 4);
  bench_json_number(json, "mean_us", cell->mean, 4);
  bench_json_number(json, "min_us", cell->least, 4);
  bench_json_number(json, "p95_us", cell->percentile_95, 4);
  if (cell->start >= 0) bench_json_number(json, "start_us", cell->start, 4);
  if (cell->others >= 0) bench_json_number(json, "others_us", cell->others, 4);
  if (cell->wait >= 0) bench_json_number(json, "wait_us", cell->wait, 4);
  bench_json_end(json);
}

/* The first of the shuffled rounds, in the words of --kinds. */
static void write_first_round(BenchJson* json, const BenchOptions* options) {
  const int count = options->kinds.count;
  int* const order = malloc((size_t)count * sizeof *order);
  if (order == NULL) return;
  bench_order(order, count, 1, options->seed);
  bench_json_integer(json, "seed", (int64_t)options->seed);
  bench_json_begin_list(json, "first_round");
  for (int i = 0; i < count; ++i) {
    char word[BENCH_KIND_WORD];
    kind_word(&options->kinds.kinds[order[i]], word);
    bench_json_text(json, NULL, word);
  }
  bench_json_end(json);
  free(order);
}

static void write_hand_overs(BenchJson* json, const Results* results) {
  bench_json_begin_list(json, "hand_overs");
  for (int i = 0; i < results->hand_over_count; ++i) {
    const ResultsHandOvers* const one = &results->hand_overs[i];
    bench_json_begin_object(json, NULL);
    bench_json_text(json, "condition", bench_condition_name(one->condition));
    bench_json_begin_list(json, "ns");
    bench_json_number(json, NULL, one->before, 2);
    bench_json_number(json, NULL, one->after, 2);
    bench_json_end(json);
    bench_json_end(json);
  }
  bench_json_end(json);
}

static void write_left_out(BenchJson* json, const BenchKinds* left_out) {
  if (left_out->count == 0) return;
  bench_json_begin_list(json, "left_out");
  for (int i = 0; i < left_out->count; ++i) {
    const BenchKind* const kind = &left_out->kinds[i];
    bench_json_begin_object(json, NULL);
    bench_json_text(json, "collective", bench_collective_names[kind->collective]);
    bench_json_integer(json, "bytes", (int64_t)kind->bytes);
    bench_json_end(json);
  }
  bench_json_end(json);
}

static void write_json(FILE* file, const Results* results, const ResultsJob* job) {
  const BenchOptions* options = job->options;
  BenchJson* const json = bench_json_open();
  bench_json_text(json, "format", "tutti-bench-job 2");
  write_library(json);
  bench_json_flag(json, "interposed", interposed());
  bench_json_integer(json, "ranks", job->ranks);
  bench_json_integer(json, "cores", job->cores);
  bench_json_flag(json, "yields", job->yields);
  bench_json_text(json, "clock", job->counter ? "tsc" : "monotonic");
  if (results->flag_exchange > 0)
    bench_json_number(json, "flag_exchange_us", results->flag_exchange, 4);
  write_hand_overs(json, results);
  if (options->mixed) write_first_round(json, options);
  if (options->cold_bytes > 0) bench_json_integer(json, "cold_bytes", (int64_t)options->cold_bytes);
  bench_json_flag(json, "dirty", options->dirty);
  bench_json_flag(json, "verified", options->verify);
  bench_json_flag(json, "every_root", options->every_root);
  bench_json_begin_list(json, "cells");
  for (int i = 0; i < results->count; ++i) write_cell(json, &results->cells[i]);
  bench_json_end(json);
  write_left_out(json, &results->left_out);
  if (results->lacks_persistent) bench_json_text(json, "form_left_out", "persistent");
  bench_json_write_indented(json, file);
}

static void say_left_out(const BenchKinds* left_out) {
  if (left_out->count == 0) return;
  fprintf(stderr, "tutti-bench: left out, for more than %d MiB of buffers a rank:", CELL_BOUND_MIB);
  for (int i = 0; i < left_out->count; ++i) {
    const BenchKind* const kind = &left_out->kinds[i];
    const bool first = i == 0 || kind->collective != left_out->kinds[i - 1].collective;
    if (first) fprintf(stderr, "%s %s of", i ? ";" : "", bench_collective_names[kind->collective]);
    fprintf(stderr, "%s %zu", first ? "" : ",", kind->bytes);
  }
  fputs(" bytes\n", stderr);
}

/* The name of a cell's row. */
static void row_name(const ResultsCell* cell, char name[BENCH_KIND_WORD + 32]) {
  char word[BENCH_KIND_WORD];
  if (cell->halo != NULL)
    snprintf(word, sizeof word, "halo:%zu %s", cell->kind.bytes, cell->halo);
  else
    kind_word(&cell->kind, word);
  if (cell->trial > 0)
    snprintf(name, BENCH_KIND_WORD + 32, "%s trial %d", word, cell->trial);
  else if (cell->loop == WORK_NONE)
    snprintf(name, BENCH_KIND_WORD + 32, "%s", word);
  else
    snprintf(name, BENCH_KIND_WORD + 32, "%s%s%s", cell->no_call ? "" : word,
             cell->no_call ? "" : " + ", work_loop_names[cell->loop]);
}

static void write_table(FILE* file, const Results* results, const ResultsJob* job) {
  BenchCondition conditions[BENCH_MOST_CONDITIONS];
  const bool several = bench_conditions(job->options, conditions) > 1;
  fprintf(file, "%d ranks, %d cores, microseconds%s%s\n", job->ranks, job->cores,
          job->options->dirty ? ", buffers rewritten" : "", interposed() ? ", with Tutti" : "");
  if (results->flag_exchange > 0)
    fprintf(file, "two ranks see each other's word after %.3f\n", results->flag_exchange);
  if (job->options->mixed)
    fprintf(file, "order by seed %llu\n", (unsigned long long)job->options->seed);
  fprintf(file, "%-42s%s %10s %10s %10s %10s %10s %10s\n", "kind", several ? " condition " : "",
          "start", "median", "mean", "min", "p95", "operations");
  for (int i = 0; i < results->count; ++i) {
    const ResultsCell* cell = &results->cells[i];
    char name[BENCH_KIND_WORD + 32], start[16] = "";
    row_name(cell, name);
    if (cell->start >= 0) snprintf(start, sizeof start, "%.3f", cell->start);
    fprintf(file, "%-42s", name);
    if (several) fprintf(file, " %-10s", bench_condition_name(cell->condition));
    fprintf(file, " %10s %10.3f %10.3f %10.3f %10.3f %10d\n", start, cell->median, cell->mean,
            cell->least, cell->percentile_95, cell->kept);
  }
}

static bool write_file(const char* name, const Results* results, const ResultsJob* job) {
  FILE* file = strcmp(name, "-") == 0 ? stdout : fopen(name, "w");
  if (file == NULL) {
    fprintf(stderr, "tutti-bench: cannot write '%s': %s\n", name, strerror(errno));
    return false;
  }
  write_json(file, results, job);
  if (fflush(file) != 0 || (file != stdout && fclose(file) != 0)) {
    fprintf(stderr, "tutti-bench: cannot write '%s': %s\n", name, strerror(errno));
    return false;
  }
  return true;
}

bool results_write(const Results* results, const ResultsJob* job) {
  const char* name = job->options->json;
  if (name == NULL)
    write_table(stdout, results, job);
  else if (!write_file(name, results, job))
    return false;
  say_left_out(&results->left_out);
  if (results->lacks_persistent) {
    fputs(
        "tutti-bench: left out: persistent collectives, which this MPI does not have (they came "
        "with MPI 4.0)\n",
        stderr);
  }
  return true;
}
