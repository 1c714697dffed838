/* Rows: how the programs in this directory say what they have measured.
 *
 * A row is a line of JSON with named members, of which "what" comes first: what was measured, or
 * "job" for what holds for all rows. Times are in nanoseconds. A program writes rows on standard
 * output and nothing else there; its messages go to standard error.
 *
 * Rows are kept in memory until rows_write, because output wakes other processes, which would
 * disturb what is measured next. One thread at a time makes a row, from row_begin to row_end; in a
 * job only the first rank does. A program without memory for its rows ends. */
#ifndef TUTTI_BENCH_ROWS_H
#define TUTTI_BENCH_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void row_begin(const char* what);
void row_text(const char* name, const char* text);
void row_flag(const char* name, bool value);
void row_integer(const char* name, int64_t value);
void row_integers(const char* name, const int* values, int count);
/* To nine digits; null if it is not finite. */
void row_number(const char* name, double value);
void row_end(void);

/* A row of a kind of measurement, for a call (or another operation), and of a number of bytes
 * unless it is 0. The caller adds members and ends it. */
void row_begin_call(const char* what, const char* call, uint64_t bytes);

/* Writes all rows so far. */
void rows_write(void);

#ifdef __cplusplus
}
#endif

#endif
