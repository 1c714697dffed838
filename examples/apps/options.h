/* The options and the start of the applications: words --NAME, with numbers or a word after them,
 * each with a default and bounds. Everything here is plain C and MPI. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char* name; /* with its dashes */
  long* value;      /* the default, until options_read */
  long least, most; /* the same: the option has no number, and gives this one */
  const char* meaning;
  int count;                /* numbers; 0: one */
  const char* const* words; /* NULL, or what it takes instead of a number: one of `most` + 1 words,
                               of which it gives the place */
} Option;

static inline int options_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/* Ends the program at every rank. All ranks have the same arguments, so all of them come here. */
static inline void options_end(int code) {
  MPI_Finalize();
  exit(code);
}

/* Ends the program with one line about an argument. */
static inline void options_refuse(const char* program, const char* complaint) {
  if (options_rank() == 0) fprintf(stderr, "%s: %s\n", program, complaint);
  options_end(2);
}

/* Memory of zeros whose pages are there, because pages that nobody has written yet are no memory
 * yet. The job ends without it; `advice` says which options to change. */
static inline void* options_memory(const char* program, size_t count, size_t size,
                                   const char* advice) {
  char* const memory = calloc(count == 0 ? 1 : count, size);
  if (memory == NULL) {
    fprintf(stderr, "%s: rank %d: no memory for %zu MiB; %s\n", program, options_rank(),
            count * size >> 20, advice);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
  }
  for (size_t at = 0; at < count * size; at += 4096) memory[at] = 0;
  return memory;
}

/* Writes into `text` what an option takes, and returns it. */
static inline const char* options_taken(const Option* option, char text[160]) {
  int length = 0;
  if (option->words == NULL) {
    if (option->count > 1)
      snprintf(text, 160, "%d whole numbers from %ld to %ld", option->count, option->least,
               option->most);
    else
      snprintf(text, 160, "a whole number from %ld to %ld", option->least, option->most);
    return text;
  }
  for (int i = 0; i <= option->most; ++i) {
    const char* const between = i < option->most ? ", " : " or ";
    length += snprintf(text + length, 160 - (size_t)length, "%s%s", i > 0 ? between : "",
                       option->words[i]);
  }
  return text;
}

static inline void options_help(const char* program, const char* about, const Option* options,
                                int count) {
  char taken[160];
  printf("usage: mpiexec -n RANKS %s [OPTION]...\n%s\n", program, about);
  for (int i = 0; i < count; ++i) {
    printf("  %-14s %s", options[i].name, options[i].meaning);
    if (options[i].least != options[i].most) printf(" (%s", options_taken(&options[i], taken));
    if (options[i].words != NULL && *options[i].value >= 0)
      printf("; default %s", options[i].words[*options[i].value]);
    else if (options[i].least != options[i].most && *options[i].value >= options[i].least)
      printf("; default %ld", *options[i].value);
    printf(options[i].least != options[i].most ? ")\n" : "\n");
  }
}

/* Reads a number or a word. False if it is not accepted. */
static inline int options_value(const Option* option, const char* text, long* value) {
  if (option->words != NULL) {
    for (*value = 0; *value <= option->most; ++*value)
      if (strcmp(text, option->words[*value]) == 0) return 1;
    return 0;
  }
  char* end;
  errno = 0;
  *value = strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && errno == 0 && *value >= option->least &&
         *value <= option->most;
}

/* Reads all words of the command line, or ends the program with one line about the first that it
 * does not accept. Call it after MPI_Init. */
static inline void options_read(const char* program, const char* about, int argc, char** argv,
                                const Option* options, int count) {
  char complaint[320], taken[160];
  for (int word = 1; word < argc; ++word) {
    if (strcmp(argv[word], "--help") == 0) {
      if (options_rank() == 0) options_help(program, about, options, count);
      options_end(0);
    }
    int i = 0;
    while (i < count && strcmp(argv[word], options[i].name) != 0) ++i;
    if (i == count) {
      snprintf(complaint, sizeof complaint, "unknown option '%.60s'; %s --help lists the options",
               argv[word], program);
      options_refuse(program, complaint);
    }
    const Option* const option = &options[i];
    if (option->least == option->most) {
      *option->value = option->most;
      continue;
    }
    for (int number = 0; number < (option->count > 1 ? option->count : 1); ++number) {
      const char* const text = word + 1 < argc ? argv[++word] : "";
      if (options_value(option, text, &option->value[number])) continue;
      snprintf(complaint, sizeof complaint, "%s: '%.60s' is not accepted; give %s", option->name,
               text, options_taken(option, taken));
      options_refuse(program, complaint);
    }
  }
}

#endif
