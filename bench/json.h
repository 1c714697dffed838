/* A JSON document, built member by member and written when it is complete: how the programs in this
 * directory write JSON.
 *
 * Whoever opens a document owns it until it is written, on one thread. A value goes into the
 * innermost object or list that is open; in a list its name is NULL. Names and texts are copied. A
 * program without memory for its document ends. */
#ifndef TUTTI_BENCH_JSON_H
#define TUTTI_BENCH_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct BenchJson BenchJson;

/* An object, open. */
BenchJson* bench_json_open(void);
void bench_json_begin_object(BenchJson* json, const char* name);
void bench_json_begin_list(BenchJson* json, const char* name);
/* Closes what was begun last. */
void bench_json_end(BenchJson* json);

void bench_json_text(BenchJson* json, const char* name, const char* text);
void bench_json_flag(BenchJson* json, const char* name, bool value);
void bench_json_integer(BenchJson* json, const char* name, int64_t value);
/* Rounded to so many decimal places; null if it is not finite. */
void bench_json_number(BenchJson* json, const char* name, double value, int places);
void bench_json_null(BenchJson* json, const char* name);

/* Writes the document and frees it, with all that is open closed: on one line, or a member or an
 * element a line. */
void bench_json_write_line(BenchJson* json, FILE* file);
void bench_json_write_indented(BenchJson* json, FILE* file);

#ifdef __cplusplus
}
#endif

#endif
