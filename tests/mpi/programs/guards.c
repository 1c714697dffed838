// The functions that store a handle write the handle and nothing behind it, also where interposers
// of several ABIs pass the call on. Prints "ok" at rank 0.
#include "check.h"

enum { behind = 0x5A5AA5A5 };

// A handle, and a word behind it that no function may write.
#define GUARDED(type)  \
  struct {             \
    type handle;       \
    unsigned int word; \
  }
#define CHECK_GUARD(guarded) CHECK((guarded).word == behind, "something was written behind it")

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  GUARDED(MPI_Request) request = {MPI_REQUEST_NULL, behind};
  int in = world_rank, out = 0;
  for (int round = 0; round < 3; ++round) {
    MPI_Ibarrier(MPI_COMM_WORLD, &request.handle);
    CHECK_GUARD(request);
    MPI_Wait(&request.handle, MPI_STATUS_IGNORE);
    CHECK_GUARD(request);
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request.handle);
    CHECK_GUARD(request);
    MPI_Wait(&request.handle, MPI_STATUS_IGNORE);
  }
  MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request.handle);
  CHECK_GUARD(request);
  MPI_Start(&request.handle);
  MPI_Wait(&request.handle, MPI_STATUS_IGNORE);
  MPI_Request_free(&request.handle);
  CHECK_GUARD(request);

  GUARDED(MPI_Comm) comm = {MPI_COMM_NULL, behind};
  MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &comm.handle);
  CHECK_GUARD(comm);
  MPI_Comm_free(&comm.handle);
  CHECK_GUARD(comm);

  GUARDED(MPI_Datatype) type = {MPI_DATATYPE_NULL, behind};
  MPI_Type_contiguous(3, MPI_INT, &type.handle);
  MPI_Type_free(&type.handle);
  CHECK_GUARD(type);

  GUARDED(MPI_Win) window = {MPI_WIN_NULL, behind};
  void* memory = NULL;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window.handle);
  CHECK_GUARD(window);
  MPI_Win_free(&window.handle);
  CHECK_GUARD(window);
  if (world_rank == 0) printf("ok\n");
  return MPI_Finalize();
}
