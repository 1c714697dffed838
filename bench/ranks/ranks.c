/* tutti-ranks: measures among ranks of an MPI.
 *
 *   mpiexec -n RANKS tutti-ranks KIND WORDS
 *
 * One program for each MPI ABI. Each kind's file says what it measures, and how it is started. The
 * first rank writes rows (rows.h). */
#define _GNU_SOURCE
#include "ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

void measure_between(const Ranks* ranks, int argc, char** argv);
void measure_lives(const Ranks* ranks, int argc, char** argv);
void measure_messages(const Ranks* ranks, int argc, char** argv);
void measure_saturation(const Ranks* ranks, int argc, char** argv);
void measure_transfers(const Ranks* ranks, int argc, char** argv);
void measure_waits(const Ranks* ranks, int argc, char** argv);

typedef struct {
  const char* name;
  void (*measure)(const Ranks* ranks, int argc, char** argv);
} Kind;

static const Kind kinds[] = {
    {"between", measure_between},     {"lives", measure_lives},
    {"messages", measure_messages},   {"saturation", measure_saturation},
    {"transfers", measure_transfers}, {"waits", measure_waits},
};

void ranks_stop(const char* what) {
  fprintf(stderr, "tutti-ranks: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

long ranks_number(const char* text, long least, long most, const char* usage) {
  char* end;
  errno = 0;
  const long number = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || errno != 0 || number < least || number > most)
    ranks_stop(usage);
  return number;
}

void* ranks_memory(size_t bytes, int value) {
  void* memory;
  if (posix_memalign(&memory, 4096, bytes) != 0) ranks_stop("there is no memory to transfer");
  return memset(memory, value, bytes);
}

int ranks_of_node(int* first) {
  MPI_Comm node;
  int here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &here);
  MPI_Comm_rank(MPI_COMM_WORLD, first);
  MPI_Allreduce(MPI_IN_PLACE, first, 1, MPI_INT, MPI_MIN, node);
  MPI_Comm_free(&node);
  return here;
}

static const Kind* kind_named(const char* name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (name != NULL && strcmp(kinds[i].name, name) == 0) return &kinds[i];
  ranks_stop(
      "the first word must be one of between, lives, messages, saturation, transfers, waits");
}

int main(int argc, char** argv) {
  Ranks ranks = {.clock = bench_clock_open()};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.ranks);
  kind_named(argv[1])->measure(&ranks, argc - 1, argv + 1);
  if (ranks.rank == 0) rows_write();
  return MPI_Finalize();
}
