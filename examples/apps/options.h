/* The options of the applications: words --NAME NUMBER, each with a default and bounds. */
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
  long least, most;
  const char* meaning;
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

static inline void options_help(const char* program, const char* about, const Option* options,
                                int count) {
  printf("usage: mpiexec -n RANKS %s [OPTION NUMBER]...\n%s\n", program, about);
  for (int i = 0; i < count; ++i)
    printf("  %-14s %s (%ld to %ld; default %ld)\n", options[i].name, options[i].meaning,
           options[i].least, options[i].most, *options[i].value);
}

/* Reads all words of the command line, or ends the program with one line about the first that it
 * does not accept. Call it after MPI_Init. */
static inline void options_read(const char* program, const char* about, int argc, char** argv,
                                const Option* options, int count) {
  for (int word = 1; word < argc; word += 2) {
    if (strcmp(argv[word], "--help") == 0) {
      if (options_rank() == 0) options_help(program, about, options, count);
      options_end(0);
    }
    int i = 0;
    while (i < count && strcmp(argv[word], options[i].name) != 0) ++i;
    if (i == count) {
      if (options_rank() == 0)
        fprintf(stderr, "%s: unknown option '%s'; %s --help lists the options\n", program,
                argv[word], program);
      options_end(2);
    }
    const char* const text = word + 1 < argc ? argv[word + 1] : "";
    char* end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || errno != 0 || number < options[i].least ||
        number > options[i].most) {
      if (options_rank() == 0)
        fprintf(stderr, "%s: %s: '%s' is not accepted; give a whole number from %ld to %ld\n",
                program, argv[word], text, options[i].least, options[i].most);
      options_end(2);
    }
    *options[i].value = number;
  }
}

#endif
