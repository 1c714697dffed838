#define _GNU_SOURCE
#include "trials.h"

#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char opening[] = "trial ";

/* The file's text, for the caller to free; NULL if it cannot be read. */
static char* text_of(const char* name) {
  FILE* file = fopen(name, "r");
  if (file == NULL) return NULL;
  char* text = NULL;
  size_t room = 0;
  /* A text has no byte 0, so this reads all of it; -1: the file is empty or cannot be read. */
  const ssize_t length = getdelim(&text, &room, '\0', file);
  fclose(file);
  if (length >= 0) return text;
  free(text);
  return NULL;
}

static bool parse_collectives(char* words, Trial* trial, char message[256]) {
  for (char *rest = words, *word; (word = strsep(&rest, ",")) != NULL;) {
    const int found = bench_word(bench_collective_names, BENCH_COLLECTIVES, word, strlen(word));
    if (found == BENCH_COLLECTIVES) {
      snprintf(message, 256, "--trials: unknown collective '%.32s'", word);
      return false;
    }
    trial->collectives[found] = true;
  }
  return true;
}

static bool append(Trials* trials, char* words, char* rules, char message[256]) {
  Trial* const moved =
      realloc(trials->trials, (size_t)(trials->count + 1) * sizeof *trials->trials);
  if (moved == NULL) {
    snprintf(message, 256, "no memory for the trials");
    return false;
  }
  trials->trials = moved;
  Trial* const trial = &moved[trials->count++];
  *trial = (Trial){.rules = rules};
  return parse_collectives(words, trial, message);
}

bool trials_read(Trials* trials, const char* file, char message[256]) {
  trials->text = text_of(file);
  if (trials->text == NULL) {
    snprintf(message, 256, "--trials: cannot read '%.160s': %s", file,
             errno != 0 ? strerror(errno) : "it is empty");
    return false;
  }
  for (char* at = trials->text; at != NULL && *at != '\0';) {
    char* const end = strchr(at, '\n');
    if (strncmp(at, opening, sizeof opening - 1) != 0 || end == NULL) {
      snprintf(message, 256, "--trials: '%.160s' has no line 'trial COLLECTIVES' before a table",
               file);
      return false;
    }
    *end = '\0';
    char* const rules = end + 1;
    char* next = rules;
    while (next != NULL && strncmp(next, opening, sizeof opening - 1) != 0) {
      next = strchr(next, '\n');
      if (next != NULL) ++next;
    }
    if (!append(trials, at + sizeof opening - 1, rules, message)) return false;
    /* The next opening line is read after the byte before it has ended this table. */
    if (next != NULL && next > rules) next[-1] = '\0';
    at = next;
  }
  return true;
}

void trials_free(Trials* trials) {
  free(trials->trials);
  free(trials->text);
}

const char* trial_begin(const Trial* trial) {
  typedef int (*ChangeTable)(MPI_Comm comm, const char* rules);
  ChangeTable change = NULL;
  void* const found = dlsym(RTLD_DEFAULT, "tutti_comm_table");
  memcpy(&change, &found, sizeof change);
  if (change == NULL) return "--trials: Tutti is not loaded; start the job under tutti-run";
  if (change(MPI_COMM_WORLD, trial->rules) != MPI_SUCCESS)
    return "--trials: Tutti refuses a table, or does not serve MPI_COMM_WORLD";
  return NULL;
}
