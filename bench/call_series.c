#define _GNU_SOURCE
#include "call_series.h"

#include <stdlib.h>

#include "calls.h"
#include "rows.h"

/* The subject of the series. */
typedef struct {
  Bench* bench;
  const CallSeries* calls;
  Cell* cells; /* one for each kind */
} Subject;

/* The only result of a barrier is that no rank leaves before the last one has entered. To check
 * this, one rank enters late and notes its entry. So every sixteenth barrier and all warm-up
 * barriers are checked instead of timed. */
static bool watched(const Subject* subject, int place, int sample) {
  if (subject->calls->kinds[place].collective != BENCH_BARRIER) return false;
  return sample < 0 || sample / subject->calls->count % 16 == 15;
}

static void watch_barrier(const Bench* bench, Cell* cell, uint32_t number) {
  if ((int)(number % (uint32_t)bench->ranks) == bench->rank) {
    const uint64_t until = bench_nanoseconds() + 10000;
    while (bench_nanoseconds() < until) bench_pause();
  }
  neutral_enter(&bench->neutral, number);
  call_start(cell);
  call_finish(cell);
  if (!neutral_all_entered(&bench->neutral, number))
    bench_stop(bench, "a barrier let this rank out before all ranks had entered");
}

static void fill(void* of, int place, uint32_t number) {
  const Subject* const subject = of;
  cell_fill(&subject->cells[place], number);
}

static bool operate(void* of, int place, int sample, uint64_t* began) {
  const Subject* const subject = of;
  Bench* const bench = subject->bench;
  Cell* const cell = &subject->cells[place];
  if (bench->options.verify && watched(subject, place, sample)) {
    watch_barrier(bench, cell, bench->number);
    return false;
  }
  call_start(cell);
  if (began != NULL && cell->kind.form != BENCH_BLOCKING) *began = bench_now(&bench->neutral.clock);
  work_beside(&bench->work, &subject->calls->beside, &bench->neutral.clock);
  call_finish(cell);
  return true;
}

static bool verify(void* of, int place, uint32_t number, char line[256]) {
  const Subject* const subject = of;
  return cell_verify(&subject->cells[place], number, line);
}

static void open_cells(const Subject* subject) {
  for (int place = 0; place < subject->calls->count; ++place) {
    Cell* const cell = &subject->cells[place];
    if (!cell_open_beside(cell, &subject->bench->cell, &subject->calls->kinds[place]))
      bench_stop(subject->bench, "no memory for the counts of the kinds");
    call_open(cell);
  }
}

static void close_cells(const Subject* subject) {
  for (int place = 0; place < subject->calls->count; ++place) {
    call_close(&subject->cells[place]);
    cell_close_bare(&subject->cells[place]);
  }
}

static void begin_row(const Bench* bench, const CallSeries* calls, const BenchKind* kind) {
  const BenchShape* const shape = &bench_shapes[kind->collective];
  row_begin_call("call", bench_collective_names[kind->collective], kind->bytes);
  if (shape->rooted) row_integer("root", kind->root);
  row_text("element", pattern_element_names[kind->element]);
  if (shape->uneven) row_text("lengths", bench_lengths_names[kind->lengths]);
  row_text("communicator", bench_communicator_names[kind->communicator]);
  row_text("condition", bench_condition_name(calls->condition));
  row_text("form", calls->beside.alone ? "none" : bench_form_names[kind->form]);
  if (bench->trial > 0) row_integer("trial", bench->trial);
}

/* Adds a row for each kind and returns the median of the first one in microseconds. */
static double add_rows(const Subject* subject, const Series* series, int samples) {
  const CallSeries* const calls = subject->calls;
  double first = 0;
  for (int place = 0; place < calls->count; ++place) {
    begin_row(subject->bench, calls, &calls->kinds[place]);
    const double median = series_row(subject->bench, series, samples, place);
    row_end();
    if (place == 0) first = median;
  }
  return first;
}

double call_series_measure(Bench* bench, const CallSeries* calls) {
  Cell* const cells = calloc((size_t)calls->count, sizeof *cells);
  if (cells == NULL) bench_stop(bench, "no memory for the kinds");
  Subject subject = {bench, calls, cells};
  const Series series = {.count = calls->count,
                         .order = calls->order,
                         .cold = calls->condition.cold,
                         .subject = &subject,
                         .fill = fill,
                         .beside = calls->beside,
                         .operate = operate,
                         .verify = verify};
  open_cells(&subject);
  const int samples = series_run(bench, &series);
  close_cells(&subject);
  free(cells);
  return bench->rank == 0 ? add_rows(&subject, &series, samples) : 0;
}
