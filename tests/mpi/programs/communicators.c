// Communicators made in every way: by split and dup, of one rank, between groups; freed in every
// order; and 10,000 short-lived ones.
#include <dirent.h>

#include "check.h"

static void use(MPI_Comm communicator, int rounds) { exercise(communicator, rounds, 1); }

static void of_every_making(void) {
  MPI_Comm half, copy, reversed, alone, freed_at_once;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  use(half, 10);
  MPI_Comm_dup(half, &copy);
  use(copy, 10);
  use(half, 3);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
  use(reversed, 10);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank, 0, &alone);
  use(alone, 10);
  use(MPI_COMM_SELF, 10);
  MPI_Comm_dup(MPI_COMM_WORLD, &freed_at_once);
  MPI_Comm_free(&freed_at_once);
  MPI_Comm_free(&half);
  use(copy, 3);
  MPI_Comm_disconnect(&copy);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&alone);
}

static void between_groups(void) {
  if (world_size < 2) return;
  MPI_Comm local, both;
  const int side = world_rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, world_rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - side, 5, &both);
  const int others = (world_size + side) / 2;  // ranks of the other side
  const int among_senders = world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  for (int i = 0; i < 6; ++i) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both);
    CHECK(sum == others, "the other side has %d ranks, not %d", others, sum);
    int data = world_rank == 0 ? 40 + i : 0;
    MPI_Bcast(&data, 1, MPI_INT, side == 0 ? among_senders : 0, both);
    if (side == 1) CHECK(data == 40 + i, "bcast %d: %d", i, data);
    MPI_Barrier(both);
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&local);
}

// Ranks free communicators in different orders, and some use more of them than others, so that
// handles and call counts differ between ranks.
static void unequal_histories(void) {
  enum { many = 12 };
  for (int round = 0; round < 5; ++round) {
    MPI_Comm all[many];
    for (int i = 0; i < many; ++i) {
      MPI_Comm_split(MPI_COMM_WORLD, (world_rank + i) % 3 == 0 ? MPI_UNDEFINED : i, world_rank,
                     &all[i]);
      if (all[i] != MPI_COMM_NULL) use(all[i], i % 4);
    }
    for (int i = 0; i < many; ++i) {
      MPI_Comm* one = &all[(i * 5 + (world_rank > 0)) % many];
      if (*one != MPI_COMM_NULL) MPI_Comm_free(one);
    }
    use(MPI_COMM_WORLD, 1);
  }
}

// There are more communicators at once than the shared memory can serve: the rest stay on the host,
// and all of them work. The first and the last process are rank 0 of every other one, and each of
// these two runs out of memory.
static void many_at_once(int count) {
  MPI_Comm* all = malloc(sizeof *all * count);
  for (int i = 0; i < count; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 == 0 ? world_rank : -world_rank, &all[i]);
    use(all[i], 2);
  }
  for (int i = 0; i < count; ++i) use(all[i], 1);
  for (int i = count; i-- > 0;) MPI_Comm_free(&all[i]);
  free(all);
}

static int open_files(void) {
  int count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != NULL) ++count;
  closedir(directory);
  return count;
}

static long memory_kib(const char* field) {
  char line[256];
  long kib = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, field, strlen(field)) == 0) sscanf(line + strlen(field), ": %ld", &kib);
  fclose(file);
  return kib;
}

static void short_lived(int count) {
  int files = 0;
  long private = 0, shared = 0;
  for (int i = 0; i < count; ++i) {
    MPI_Comm brief;
    MPI_Comm_dup(MPI_COMM_WORLD, &brief);
    for (int call = 0; call < 5; ++call) {
      int one = 1, sum = 0;
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, brief);
      CHECK(sum == world_size, "communicator %d, call %d: %d", i, call, sum);
    }
    MPI_Comm_free(&brief);
    if (i == count / 5) {  // by then the host has taken all files and memory that it keeps
      files = open_files();
      private = memory_kib("RssAnon");
      shared = memory_kib("RssShmem");
    }
  }
  CHECK(open_files() <= files, "%d open files, %d before", open_files(), files);
  CHECK(memory_kib("RssAnon") <= private + 2048, "%ld KiB of memory, %ld before",
        memory_kib("RssAnon"), private);
  CHECK(memory_kib("RssShmem") <= shared + 2048, "%ld KiB shared, %ld before",
        memory_kib("RssShmem"), shared);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const char* what = argc > 1 ? argv[1] : "makings";
  const int count = argc > 2 ? atoi(argv[2]) : 0;
  if (strcmp(what, "makings") == 0) {
    of_every_making();
    between_groups();
    unequal_histories();
  } else if (strcmp(what, "many") == 0) {
    many_at_once(count);
  } else {
    short_lived(count);
  }
  return finish();
}
