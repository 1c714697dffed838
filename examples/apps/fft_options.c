#include "fft_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fft_published.h"

/* Reads whole numbers from `least` to `most` after an option. */
static const char* read_numbers(int argc, char** argv, int* at, int count, int* numbers, int least,
                                int most) {
  static char complaint[100];
  for (int i = 0; i < count; ++i) {
    char* end = "";
    const char* const word = *at + i + 1 < argc ? argv[*at + i + 1] : "";
    const long number = strtol(word, &end, 10);
    if (*word == '\0' || *end != '\0' || number < least || number > most) {
      snprintf(complaint, sizeof complaint, "%s takes %d whole number%s from %d to %d", argv[*at],
               count, count == 1 ? "" : "s", least, most);
      return complaint;
    }
    numbers[i] = (int)number;
  }
  *at += count;
  return NULL;
}

const char* options_parse(int argc, char** argv, Options* o) {
  int size[3] = {64, 64, 64}, grid[2] = {0, 0}, slices = 0;
  const char* complaint = NULL;
  o->iterations = published_iterations;
  for (int i = 1; i < argc && complaint == NULL; ++i) {
    if (strcmp(argv[i], "--class") == 0) {
      const char* name = i + 1 < argc ? argv[++i] : "";
      int at = 0;
      while (at < published_count && strcmp(published_classes[at].name, name) != 0) ++at;
      if (at == published_count) return "--class takes S, W or A";
      memcpy(size, published_classes[at].size, sizeof size);
    } else if (strcmp(argv[i], "--size") == 0) {
      complaint = read_numbers(argc, argv, &i, 3, size, 1, 1 << 14);
    } else if (strcmp(argv[i], "--iterations") == 0) {
      complaint = read_numbers(argc, argv, &i, 1, &o->iterations, 1, most_iterations);
    } else if (strcmp(argv[i], "--grid") == 0) {
      complaint = read_numbers(argc, argv, &i, 2, grid, 1, 1 << 14);
    } else if (strcmp(argv[i], "--slices") == 0) {
      complaint = read_numbers(argc, argv, &i, 1, &slices, 1, 1024);
    } else if (strcmp(argv[i], "--ahead") == 0) {
      complaint = read_numbers(argc, argv, &i, 1, &o->ahead, 0, most_ahead);
    } else if (strcmp(argv[i], "--overlap") == 0) {
      o->shape.overlapped = 1;
    } else if (strcmp(argv[i], "--blocking") == 0) {
      o->shape.overlapped = 0;
    } else {
      return "usage: fft [--class S|W|A] [--size NX NY NZ] [--iterations N] [--grid PX PY] "
             "[--blocking | --overlap] [--slices N] [--ahead N]";
    }
  }
  if (complaint != NULL) return complaint;
  if (slices > 0 && !o->shape.overlapped) return "--slices needs --overlap";
  if (o->ahead > 0 && !o->shape.overlapped) return "--ahead needs --overlap";
  o->shape.nx = size[0], o->shape.ny = size[1], o->shape.nz = size[2];
  o->shape.px = grid[0], o->shape.py = grid[1];
  o->shape.slices = slices > 0 ? slices : 4;
  if (!o->shape.overlapped) o->shape.slices = 1;
  return NULL;
}

const char* options_divide(Shape* s, int ranks) {
  static char complaint[160];
  if (s->px == 0) s->px = 1, s->py = ranks;
  if ((long long)s->px * s->py != ranks)
    snprintf(complaint, sizeof complaint, "--grid %d %d needs %lld ranks, and there are %d", s->px,
             s->py, (long long)s->px * s->py, ranks);
  else if (s->px > s->nx || s->px > s->ny || s->py > s->ny || s->py > s->nz)
    snprintf(complaint, sizeof complaint,
             "%d x %d ranks are too many for %d x %d x %d: PX is at most NX and NY, PY at most NY "
             "and NZ (--grid)",
             s->px, s->py, s->nx, s->ny, s->nz);
  else
    return NULL;
  return complaint;
}
