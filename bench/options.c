#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

/* A grid of 258 cells each way has 66 MiB. */
enum { most_face_bytes = 256 << 10 };

/* Reads words that stand in a table, with commas between them, each once. */
static bool parse_words(const char* option, char* words, const char* const* names, int known,
                        WordList* list, char* message) {
  list->count = 0;
  for (char *rest = words, *word; (word = strsep(&rest, ",")) != NULL;) {
    const int found = bench_word(names, known, word, strlen(word));
    bool again = false;
    for (int i = 0; i < list->count; ++i) again = again || list->chosen[i] == found;
    if (found == known || again) {
      size_t length = (size_t)snprintf(message, 256, "%s: '%.32s' is %s; known are", option, word,
                                       again ? "given twice" : "unknown");
      for (int i = 0; i < known && length < 256; ++i)
        length +=
            (size_t)snprintf(message + length, 256 - length, "%s %s", i > 0 ? "," : "", names[i]);
      return false;
    }
    list->chosen[list->count++] = found;
  }
  return true;
}

static bool parse_collectives(char* words, BenchOptions* options, char* message) {
  if (strcmp(words, "all") != 0)
    return parse_words("--collectives", words, bench_collective_names, BENCH_COLLECTIVES,
                       &options->collectives, message);
  options->collectives.count = BENCH_COLLECTIVES;
  for (int each = 0; each < BENCH_COLLECTIVES; ++each) options->collectives.chosen[each] = each;
  return true;
}

/* Reads a list, each word of which `take` adds to the options; false if it does not. */
static bool parse_list(const char* option, char* words, bool (*take)(const char*, BenchOptions*),
                       const char* accepted, BenchOptions* options, char* message) {
  for (char *rest = words, *word; (word = strsep(&rest, ",")) != NULL;) {
    if (take(word, options)) continue;
    snprintf(message, 256, "%s '%.40s' is not accepted; %s", option, word, accepted);
    return false;
  }
  return true;
}

static bool take_size(const char* word, BenchOptions* options) {
  size_t bytes;
  if (!bench_parse_bytes(word, strlen(word), &bytes) || bytes % sizeof(double) != 0 ||
      options->size_count == BENCH_MOST_SIZES)
    return false;
  options->sizes[options->size_count++] = bytes;
  return true;
}

static bool take_duration(const char* word, BenchOptions* options) {
  char* end;
  const double microseconds = strtod(word, &end);
  if (end == word || *end != '\0' || !(microseconds > 0 && microseconds <= 1e6) ||
      options->computing_count == BENCH_MOST_DURATIONS)
    return false;
  options->computing[options->computing_count++] = microseconds;
  return true;
}

static bool take_face(const char* word, BenchOptions* options) {
  size_t bytes;
  if (!bench_parse_bytes(word, strlen(word), &bytes) || bytes > most_face_bytes ||
      grid_edge(bytes) == 0 || options->face_count == BENCH_MOST_SIZES)
    return false;
  options->faces[options->face_count++] = bytes;
  return true;
}

static bool parse_sizes(const char* option, char* words, BenchOptions* options, char* message) {
  options->size_count = 0;
  return parse_list(option, words, take_size,
                    "up to 64 sizes are, multiples of 8 bytes up to 1024M", options, message);
}

static bool parse_overlap(char* words, BenchOptions* options, char* message) {
  options->overlap = true;
  options->computing_count = 0;
  if (strcmp(words, "call") == 0) return true;
  return parse_list("--overlap", words, take_duration,
                    "call is, or up to 2048 numbers of microseconds up to 1000000", options,
                    message);
}

static bool parse_faces(char* words, BenchOptions* options, char* message) {
  options->measurement = BENCH_HALO;
  options->face_count = 0;
  return parse_list("--halo", words, take_face,
                    "up to 64 sizes are, each four times a square up to 256K, as 4, 64 or 1K",
                    options, message);
}

static bool parse_number(const char* option, const char* word, long least, long most, long* number,
                         char* message) {
  char* end;
  errno = 0;
  *number = strtol(word, &end, 10);
  if (*word == '\0' || *end != '\0' || errno != 0 || *number < least || *number > most) {
    snprintf(message, 256, "%s '%.40s' is not accepted; a whole number from %ld to %ld is", option,
             word, least, most);
    return false;
  }
  return true;
}

static bool parse_cold(const char* value, BenchOptions* options, char* message) {
  if (bench_parse_bytes(value, strlen(value), &options->cold_bytes)) return true;
  snprintf(message, 256, "--cold '%.40s' is not accepted; bytes up to 1024M are, as in 4M", value);
  return false;
}

static bool parse_value(const char* option, char* value, int ranks, BenchOptions* options,
                        char* message) {
  long number;
  if (strcmp(option, "--collectives") == 0) return parse_collectives(value, options, message);
  options->former = options->former || strcmp(option, "--sizes") == 0;
  if (strcmp(option, "--bytes") == 0 || strcmp(option, "--sizes") == 0)
    return parse_sizes(option, value, options, message);
  if (strcmp(option, "--iterations") == 0) {
    if (strcmp(value, "auto") == 0) return true;
    if (!parse_number(option, value, 1, BENCH_MOST_ITERATIONS, &number, message)) return false;
    options->iterations = (int)number;
    return true;
  }
  if (strcmp(option, "--budget-ms") == 0) {
    if (!parse_number(option, value, 1, 60000, &number, message)) return false;
    options->budget_seconds = (double)number * 1e-3;
    return true;
  }
  if (strcmp(option, "--root") == 0) {
    options->every_root = strcmp(value, "every") == 0;
    if (options->every_root) return true;
    if (!parse_number(option, value, 0, ranks - 1, &number, message)) return false;
    options->root = (int)number;
    return true;
  }
  if (strcmp(option, "--kinds") == 0) {
    options->listed = true;
    return kinds_parse(&options->kinds, value, ranks, message);
  }
  if (strcmp(option, "--forms") == 0)
    return parse_words(option, value, bench_form_names, BENCH_FORMS, &options->forms, message);
  if (strcmp(option, "--lengths") == 0)
    return parse_words(option, value, bench_lengths_names, BENCH_LENGTHS, &options->lengths,
                       message);
  if (strcmp(option, "--overlap") == 0) return parse_overlap(value, options, message);
  if (strcmp(option, "--halo") == 0) return parse_faces(value, options, message);
  if (strcmp(option, "--cold") == 0) return parse_cold(value, options, message);
  if (strcmp(option, "--seed") == 0) {
    if (!parse_number(option, value, 0, INT32_MAX, &number, message)) return false;
    options->seed = (uint64_t)number;
    return true;
  }
  if (strcmp(option, "--trials") == 0) {
    errno = 0;
    return trials_read(&options->trials, value, message);
  }
  if (strcmp(option, "--ground") == 0) {
    options->ground = value;
    return true;
  }
  snprintf(message, 256, "unknown option '%.40s'; see tutti-bench --help", option);
  return false;
}

static bool parse_flag(const char* option, BenchOptions* options) {
  if (strcmp(option, "--dirty") == 0)
    options->dirty = true;
  else if (strcmp(option, "--no-dirty") == 0)
    options->dirty = false;
  else if (strcmp(option, "--verify") == 0)
    options->verify = true;
  else if (strcmp(option, "--no-verify") == 0)
    options->verify = false;
  else if (strcmp(option, "--mixed") == 0)
    options->mixed = true;
  else if (strcmp(option, "--help") == 0)
    options->help = true;
  else
    return false;
  return true;
}

/* A kind, in each of the lengths if its parts may differ. */
static bool append_lengths(BenchOptions* options, BenchKind kind) {
  const int count = bench_shapes[kind.collective].uneven ? options->lengths.count : 1;
  for (int i = 0; i < count; ++i) {
    if (bench_shapes[kind.collective].uneven)
      kind.lengths = (BenchLengths)options->lengths.chosen[i];
    if (!kinds_append(&options->kinds, kind)) return false;
  }
  return true;
}

/* Each collective in each size, from each root that is measured. */
static bool make_grid(BenchOptions* options, int ranks) {
  for (int c = 0; c < options->collectives.count; ++c) {
    BenchKind kind = {.collective = (BenchCollective)options->collectives.chosen[c]};
    const bool rooted = bench_shapes[kind.collective].rooted;
    const int sizes = kind.collective == BENCH_BARRIER ? 1 : options->size_count;
    const int first = rooted && !options->every_root ? options->root : 0,
              end = rooted && options->every_root ? ranks : first + 1;
    for (int s = 0; s < sizes; ++s) {
      if (kind.collective != BENCH_BARRIER) kind.bytes = options->sizes[s];
      for (kind.root = first; kind.root < end; ++kind.root) {
        if (!append_lengths(options, kind)) return false;
      }
    }
  }
  return true;
}

/* Checks the words together. */
static bool complete(BenchOptions* options, int ranks, char* message) {
  if (options->overlap && options->measurement == BENCH_CALLS) options->measurement = BENCH_OVERLAP;
  const bool calls = options->measurement == BENCH_CALLS;
  if (options->mixed && !options->dirty) {
    snprintf(message, 256,
             "--no-dirty: kinds that alternate share their buffers, which owners rewrite; leave "
             "out one of it and --mixed");
    return false;
  }
  if (!calls && (options->mixed || options->cold_bytes > 0)) {
    snprintf(message, 256,
             "--mixed, --cold: leave them out, or --overlap and --halo, which measure otherwise");
    return false;
  }
  if (options->trials.count > 0 && !calls) {
    snprintf(message, 256, "--trials: leave out one of it and --overlap or --halo");
    return false;
  }
  if (options->measurement == BENCH_HALO) return true;
  if ((!options->listed && !make_grid(options, ranks)) ||
      (calls && !kinds_in_forms(&options->kinds, &options->forms))) {
    snprintf(message, 256, "no memory for the kinds");
    return false;
  }
  if (options->mixed && options->kinds.count > BENCH_MOST_ITERATIONS) {
    snprintf(message, 256, "--mixed: %d kinds are too many to alternate; up to %d do",
             options->kinds.count, BENCH_MOST_ITERATIONS);
    return false;
  }
  return true;
}

int bench_conditions(const BenchOptions* options,
                     BenchCondition conditions[BENCH_MOST_CONDITIONS]) {
  int count = 0;
  for (int cold = 0; cold <= (options->cold_bytes > 0); ++cold) {
    for (int mixed = 0; mixed <= options->mixed; ++mixed) {
      conditions[count++] = (BenchCondition){.mixed = mixed != 0, .cold = cold != 0};
    }
  }
  return count;
}

const char* bench_condition_name(BenchCondition condition) {
  if (condition.mixed) return condition.cold ? "mixed+cold" : "mixed";
  return condition.cold ? "cold" : "plain";
}

bool bench_parse(int argc, char** argv, int ranks, BenchOptions* options, char message[256]) {
  static char usual_collectives[] = BENCH_USUAL_COLLECTIVES,
              common_sizes[] = "8,64,512,4K,32K,256K";
  *options = (BenchOptions){.budget_seconds = 0.04,
                            .dirty = true,
                            .verify = true,
                            .seed = 1,
                            .forms.count = 1,
                            .lengths.count = 1};
  parse_collectives(usual_collectives, options, message);
  parse_sizes("--bytes", common_sizes, options, message);
  for (int i = 1; i < argc; ++i) {
    if (parse_flag(argv[i], options)) continue;
    if (i + 1 == argc) {
      snprintf(message, 256, "option '%.40s' is unknown or lacks its value; see tutti-bench --help",
               argv[i]);
      return false;
    }
    if (!parse_value(argv[i], argv[i + 1], ranks, options, message)) return false;
    ++i;
  }
  return complete(options, ranks, message);
}
