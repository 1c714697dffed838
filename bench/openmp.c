/* tutti-openmp compares reduce and allreduce of ranks as threads (tutti.h) with OpenMP's array
 * reductions, which give all threads one result (HMPI, section 3.5). The variants run in one
 * process, interleaved: every repetition runs each variant for a while.
 *
 *   tutti-openmp THREADS REPETITIONS BUDGET_MS BYTES...
 *
 * Before each operation every thread rewrites its own vector. An operation's time is that of the
 * slowest thread, from a barrier on. Results are verified. Writes rows (rows.h). */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "openmp.h"
#include "rows.h"
#include "statistics.h"
#include "tutti/tutti.h"

enum { most_threads = 256, most_calls = 4096, least_calls = 5 };
enum variant { OPENMP_C, OPENMP_FORTRAN, TUTTI_REDUCE, TUTTI_ALLREDUCE, VARIANTS };
static const char* const names[] = {"openmp_c", "openmp_fortran", "tutti_reduce",
                                    "tutti_allreduce"};

typedef struct {
  int threads;
  size_t count;
  BenchClock clock;
  tutti_group* groups[most_threads];
  double* in[most_threads];
  double* out[most_threads];
  double* shared; /* OpenMP's result */
  uint64_t took[most_threads];
} Bench;

int openmp_variant_exists(int variant) {
#ifdef TUTTI_BENCH_FORTRAN
  (void)variant;
  return 1;
#else
  return variant != OPENMP_FORTRAN;
#endif
}

/* Called inside a parallel region, by each thread with its own vector. */
static void reduce_in_c(double* a, size_t n, double* const in[], int threads) {
#pragma omp for schedule(static, 1) reduction(+ : a[ : n])
  for (int thread = 0; thread < threads; ++thread)
    for (size_t i = 0; i < n; ++i) a[i] += in[thread][i];
}

static void operate(Bench* bench, enum variant variant, int thread) {
  const size_t n = bench->count;
  switch (variant) {
    case OPENMP_C: reduce_in_c(bench->shared, n, bench->in, bench->threads); break;
    case OPENMP_FORTRAN:
#ifdef TUTTI_BENCH_FORTRAN
      reduce_in_fortran(bench->shared, bench->in[thread], (int)n);
#endif
      break;
    case TUTTI_REDUCE:
      tutti_reduce(bench->groups[thread], bench->in[thread], bench->out[thread], n, TUTTI_FLOAT64,
                   TUTTI_SUM, 0);
      break;
    case TUTTI_ALLREDUCE:
      tutti_allreduce(bench->groups[thread], bench->in[thread], bench->out[thread], n,
                      TUTTI_FLOAT64, TUTTI_SUM);
      break;
    case VARIANTS: break;
  }
}

static void verify(const Bench* bench, enum variant variant, int call) {
  const int p = bench->threads;
  for (int thread = 0; thread < p; ++thread) {
    const double* result = variant >= TUTTI_REDUCE ? bench->out[thread] : bench->shared;
    if (variant == TUTTI_REDUCE && thread > 0) return;
    for (size_t i = 0; i < bench->count; ++i) {
      const double expected = p * (double)(i % 1000 + (size_t)call) + p * (p - 1) / 2.0;
      if (result[i] == expected) continue;
      fprintf(stderr, "tutti-openmp: %s of %zu elements is wrong at %zu: %g, not %g\n",
              names[variant], bench->count, i, result[i], expected);
      exit(1);
    }
  }
}

/* The median time in nanoseconds of the calls within the budget. */
static double measure(Bench* bench, enum variant variant, double budget_ms) {
  static double times[most_calls];
  int calls = 0;
  const uint64_t end = bench_nanoseconds() + (uint64_t)(budget_ms * 1e6);
  int going = 1;
#pragma omp parallel num_threads(bench->threads)
  {
    const int thread = omp_get_thread_num();
    while (going) {
      for (size_t i = 0; i < bench->count; ++i)
        bench->in[thread][i] = (double)(i % 1000 + (size_t)calls) + thread;
      if (variant < TUTTI_REDUCE && thread == 0)
        memset(bench->shared, 0, bench->count * sizeof(double));
#pragma omp barrier
      const uint64_t begin = bench_now(&bench->clock);
      operate(bench, variant, thread);
      bench->took[thread] = bench_now(&bench->clock) - begin;
#pragma omp barrier
#pragma omp single
      {
        uint64_t slowest = 0;
        for (int t = 0; t < bench->threads; ++t)
          slowest = bench->took[t] > slowest ? bench->took[t] : slowest;
        if (calls == 0 || calls % 64 == 63) verify(bench, variant, calls);
        times[calls++] = (double)slowest / bench->clock.ticks_per_second * 1e9;
        going = calls < most_calls && (calls < least_calls || bench_nanoseconds() < end);
      }
    }
  }
  return median_of(times, (size_t)calls);
}

static void* memory(size_t bytes) {
  void* made = NULL;
  if (posix_memalign(&made, 4096, bytes) == 0) return memset(made, 0, bytes);
  fprintf(stderr, "tutti-openmp: no memory\n");
  exit(1);
}

static void make(Bench* bench, size_t most_bytes) {
#pragma omp parallel num_threads(bench->threads)
  {
    const int thread = omp_get_thread_num(); /* memory lies where its thread writes it first */
    bench->in[thread] = memory(most_bytes);
    bench->out[thread] = memory(most_bytes);
  }
  tutti_team* team = NULL; /* now that the threads are there, each on its core */
  if (tutti_team_create(bench->threads, &team) != TUTTI_OK) {
    fprintf(stderr, "tutti-openmp: %s\n", tutti_error_message());
    exit(1);
  }
  bench->shared = memory(most_bytes);
#pragma omp parallel num_threads(bench->threads)
  {
    const int thread = omp_get_thread_num();
    tutti_team_join(team, thread, &bench->groups[thread]);
  }
}

int main(int argc, char** argv) {
  if (argc < 5 || atoi(argv[1]) < 1 || atoi(argv[1]) > most_threads) {
    fprintf(stderr, "tutti-openmp: usage: tutti-openmp THREADS REPETITIONS BUDGET_MS BYTES...\n");
    return 2;
  }
#if defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2")) {
    fprintf(stderr,
            "tutti-openmp: this processor has no AVX2, which the program was compiled for\n");
    return 1;
  }
#endif
  static Bench bench;
  bench.threads = atoi(argv[1]);
  bench.clock = bench_clock_open();
  const int repetitions = atoi(argv[2]);
  size_t most = 8;
  for (int i = 4; i < argc; ++i)
    most = strtoull(argv[i], NULL, 10) > most ? strtoull(argv[i], NULL, 10) : most;
  make(&bench, most);
  row_begin("job");
  row_integer("threads", bench.threads);
  row_end();
  for (int repetition = 0; repetition < repetitions; ++repetition)
    for (int i = 4; i < argc; ++i)
      for (int variant = 0; variant < VARIANTS; ++variant) {
        if (!openmp_variant_exists(variant)) continue;
        const unsigned long long bytes = strtoull(argv[i], NULL, 10);
        bench.count = bytes / sizeof(double);
        const double taken = measure(&bench, (enum variant)variant, atof(argv[3]));
        row_begin_call("openmp", names[variant], bytes);
        row_integer("repetition", repetition);
        row_number("ns", taken);
        row_end();
      }
  rows_write();
  return 0;
}
