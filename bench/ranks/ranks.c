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
#include "tutti/mpi.h"

static RanksKind* kinds; /* in the order of their names */

void ranks_add(RanksKind* kind) {
  RanksKind** at = &kinds;
  while (*at != NULL && strcmp((*at)->name, kind->name) < 0) at = &(*at)->next;
  kind->next = *at;
  *at = kind;
}

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

void require_ok(tutti_status status) {
  if (status != TUTTI_OK) ranks_stop(tutti_error_message());
}

tutti_group* ranks_group(void) {
  tutti_group* group;
  if (tutti_group_of_communicator == NULL)
    ranks_stop("Tutti is not loaded; start the job under tutti-run");
  require_ok(tutti_group_of_comm(MPI_COMM_WORLD, &group));
  return group;
}

void* ranks_reached_memory(size_t bytes) {
  void* const memory = tutti_alloc(bytes);
  if (memory == NULL) ranks_stop("no memory from tutti_alloc");
  return memory;
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

static const RanksKind* kind_named(const char* name) {
  char names[256] = "";
  for (const RanksKind* kind = kinds; kind != NULL; kind = kind->next) {
    if (name != NULL && strcmp(kind->name, name) == 0) return kind;
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : ", ", kind->name);
  }
  char line[300];
  snprintf(line, sizeof line, "the first word must be one of %s", names);
  ranks_stop(line);
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
