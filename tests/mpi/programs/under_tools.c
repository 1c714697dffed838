// Collectives of all kinds, each checked, for runs with tools that count calls.
// under_tools [FILE]: also writes a file by collective calls, for which the host's library makes
// communicators and collectives of its own.
#include "check.h"

enum { rounds = 150 };

static void blocking(MPI_Comm comm) {
  int rank, size, sizes[64], places[64], in[64], out[64];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < size; ++i) sizes[i] = 1, places[i] = i;
  for (int round = 0; round < rounds; ++round) {
    int own = rank + round, sum = -1, word = rank == round % size ? round : -1;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2 + size * round, "allreduce %d: %d", round, sum);
    MPI_Bcast(&word, 1, MPI_INT, round % size, comm);
    CHECK(word == round, "bcast %d: %d", round, word);
    for (int i = 0; i < size; ++i) in[i] = 100 * rank + i + round, out[i] = -1;
    MPI_Alltoallv(in, sizes, places, MPI_INT, out, sizes, places, MPI_INT, comm);
    for (int i = 0; i < size; ++i)
      CHECK(out[i] == 100 * i + rank + round, "alltoallv %d: %d", round, out[i]);
  }
}

static void nonblocking(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  for (int round = 0; round < rounds; ++round) {
    int own = round, sum = -1;
    MPI_Request request;
    MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size * round, "iallreduce %d: %d", round, sum);
  }
}

static void write_file(const char* name) {
  MPI_File file;
  MPI_Info info;
  int own = world_rank, read = -1;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable");
  const int code =
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  CHECK(code == MPI_SUCCESS, "open %s: %d", name, code);
  MPI_File_write_at_all(file, world_rank * (int)sizeof own, &own, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (world_rank + 1) % world_size;
  MPI_File_read_at_all(file, next * (int)sizeof own, &read, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(read == next, "read %d, not %d", read, next);
  MPI_File_close(&file);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  blocking(MPI_COMM_WORLD);
  nonblocking(MPI_COMM_WORLD);
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &part);
  blocking(part);
  MPI_Comm_free(&part);
  if (argc > 1) write_file(argv[1]);
  return finish();
}
