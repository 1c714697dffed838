#define _GNU_SOURCE
#include "rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* rows; /* a stream into `text`; NULL: there are no rows */
static char* text;
static size_t bytes;

static void put_text(const char* from) {
  fputc('"', rows);
  for (; *from != '\0'; ++from) {
    const unsigned char letter = (unsigned char)*from;
    if (letter < ' ')
      fprintf(rows, "\\u%04x", letter);
    else
      fprintf(rows, letter == '"' || letter == '\\' ? "\\%c" : "%c", letter);
  }
  fputc('"', rows);
}

static void put_name(const char* name) { fprintf(rows, ",\"%s\":", name); }

void row_begin(const char* what) {
  if (rows == NULL) rows = open_memstream(&text, &bytes);
  if (rows == NULL) {
    fputs("there is no memory for the rows of results\n", stderr);
    exit(1);
  }
  fputs("{\"what\":", rows);
  put_text(what);
}

void row_begin_call(const char* what, const char* call, uint64_t length) {
  row_begin(what);
  row_text("call", call);
  if (length > 0) row_integer("bytes", (int64_t)length);
}

void row_text(const char* name, const char* value) {
  put_name(name);
  put_text(value);
}

void row_flag(const char* name, bool value) {
  put_name(name);
  fputs(value ? "true" : "false", rows);
}

void row_integer(const char* name, int64_t value) {
  put_name(name);
  fprintf(rows, "%" PRId64, value);
}

void row_integers(const char* name, const int* values, int count) {
  put_name(name);
  fputc('[', rows);
  for (int i = 0; i < count; ++i) fprintf(rows, "%s%d", i > 0 ? "," : "", values[i]);
  fputc(']', rows);
}

void row_number(const char* name, double value) {
  put_name(name);
  if (isfinite(value))
    fprintf(rows, "%.9g", value);
  else
    fputs("null", rows);
}

void row_end(void) { fputs("}\n", rows); }

void rows_write(void) {
  if (rows == NULL) return;
  fclose(rows);
  rows = NULL;
  fwrite(text, 1, bytes, stdout);
  fflush(stdout);
  free(text);
}
