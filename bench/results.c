#define _GNU_SOURCE
#include "results.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives.h"

static int ascending(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

double results_median(double* samples, int count) {
  qsort(samples, (size_t)count, sizeof *samples, ascending);
  const int middle = count / 2;
  return count % 2 ? samples[middle] : 0.5 * (samples[middle - 1] + samples[middle]);
}

bool results_add(Results* results, ResultsCell cell, double* samples, int kept, int missed) {
  if (results->count == results->room) {
    const int room = results->room > 0 ? 2 * results->room : 64;
    ResultsCell* const moved = realloc(results->cells, (size_t)room * sizeof *moved);
    if (moved == NULL) return false;
    results->cells = moved;
    results->room = room;
  }
  cell.kept = kept;
  cell.missed = missed;
  cell.median = results_median(samples, kept);
  for (int i = 0; i < kept; ++i) cell.mean += samples[i] / kept;
  cell.least = samples[0];
  cell.percentile_95 = samples[(int)(0.95 * (kept - 1) + 0.5)];
  results->cells[results->count++] = cell;
  return true;
}

void results_leave_out(Results* results, const char* collective, size_t bytes) {
  results->left_out[results->left_out_count++] = (ResultsLeftOut){collective, bytes};
}

/* Not what the launcher was asked for but what is mapped: a preload that did not take is a wrong measurement. */
static bool interposed(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return false;
  char line[4352];
  bool found = false;
  while (!found && fgets(line, sizeof line, maps) != NULL) found = strstr(line, "/libtutti-") != NULL;
  fclose(maps);
  return found;
}

static void write_library(FILE* file) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  fputs("  \"library\": \"", file);
  for (const char* c = version; *c != '\0' && *c != '\n'; ++c) {
    if (*c == '"' || *c == '\\') fputc('\\', file);
    fputc((unsigned char)*c < ' ' ? ' ' : *c, file);
  }
  fputs("\",\n", file);
}

static void write_json(FILE* file, const Results* results, const ResultsJob* job) {
  const BenchOptions* options = job->options;
  fputs("{\n  \"format\": \"tutti-bench-job 1\",\n", file);
  write_library(file);
  fprintf(file, "  \"interposed\": %s,\n", interposed() ? "true" : "false");
  fprintf(file, "  \"ranks\": %d, \"cores\": %d, \"yields\": %s, \"clock\": \"%s\",\n", job->ranks, job->cores,
          job->yields ? "true" : "false", job->counter ? "tsc" : "monotonic");
  if (results->flag_exchange > 0) fprintf(file, "  \"flag_exchange_us\": %.4f,\n", results->flag_exchange);
  fprintf(file, "  \"dirty\": %s, \"verified\": %s, \"every_root\": %s,\n  \"cells\": [", options->dirty ? "true" : "false",
          options->verify ? "true" : "false", options->every_root ? "true" : "false");
  for (int i = 0; i < results->count; ++i) {
    const ResultsCell* cell = &results->cells[i];
    fprintf(file, "%s\n    {\"collective\": \"%s\", \"bytes\": %zu, ", i ? "," : "", cell->collective, cell->bytes);
    if (cell->root >= 0) fprintf(file, "\"root\": %d, ", cell->root);
    fprintf(file,
            "\"operations\": %d, \"missed\": %d, \"median_us\": %.4f, \"mean_us\": %.4f, \"min_us\": %.4f, "
            "\"p95_us\": %.4f}",
            cell->kept, cell->missed, cell->median, cell->mean, cell->least, cell->percentile_95);
  }
  fputs("\n  ]", file);
  for (int i = 0; i < results->left_out_count; ++i) {
    const ResultsLeftOut* cell = &results->left_out[i];
    fprintf(file, "%s{\"collective\": \"%s\", \"bytes\": %zu}%s", i ? ", " : ",\n  \"left_out\": [", cell->collective,
            cell->bytes, i + 1 == results->left_out_count ? "]" : "");
  }
  fputs("\n}\n", file);
}

static void say_left_out(const Results* results) {
  if (results->left_out_count == 0) return;
  fprintf(stderr, "tutti-bench: left out, for more than %d MiB of buffers a rank:", CELL_BOUND_MIB);
  for (int i = 0; i < results->left_out_count; ++i) {
    const bool first = i == 0 || results->left_out[i].collective != results->left_out[i - 1].collective;
    if (first) fprintf(stderr, "%s %s of", i ? ";" : "", results->left_out[i].collective);
    fprintf(stderr, "%s %zu", first ? "" : ",", results->left_out[i].bytes);
  }
  fputs(" bytes\n", stderr);
}

static void write_table(FILE* file, const Results* results, const ResultsJob* job) {
  fprintf(file, "%d ranks, %d cores, microseconds%s%s\n", job->ranks, job->cores,
          job->options->dirty ? ", buffers rewritten" : "", interposed() ? ", with Tutti" : "");
  if (results->flag_exchange > 0) fprintf(file, "two ranks see each other's word after %.3f\n", results->flag_exchange);
  const bool roots = job->options->every_root;
  fprintf(file, "%-20s %9s%s %10s %10s %10s %10s %10s\n", "collective", "bytes", roots ? "   root" : "", "median", "mean",
          "min", "p95", "operations");
  for (int i = 0; i < results->count; ++i) {
    const ResultsCell* cell = &results->cells[i];
    fprintf(file, "%-20s %9zu", cell->collective, cell->bytes);
    if (roots && cell->root >= 0) fprintf(file, " %6d", cell->root);
    else if (roots) fprintf(file, " %6s", "-");
    fprintf(file, " %10.3f %10.3f %10.3f %10.3f %10d\n", cell->median, cell->mean, cell->least, cell->percentile_95, cell->kept);
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
  if (name == NULL) write_table(stdout, results, job);
  else if (!write_file(name, results, job)) return false;
  say_left_out(results);
  return true;
}
