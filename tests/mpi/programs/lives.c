// Communicators that are made and freed by every function for it. Each rank also makes some of its
// own, so that a handle that is reused at one rank is new at another. If a rank counted the calls
// of a freed communicator for the next one with the same handle, it would set up when the others do
// not, and all would wait.
#include "check.h"

enum { kinds = 8, ends = 3 };

// Fortran bindings and tools call the PMPI_ functions.
static MPI_Comm made_by(int kind, MPI_Comm parent) {
  MPI_Comm made = MPI_COMM_NULL;
  int rank, size;
  const int whole = 0;
  MPI_Comm_rank(parent, &rank);
  MPI_Comm_size(parent, &size);
  switch (kind) {
    case 0: MPI_Comm_dup(parent, &made); break;
    case 1: PMPI_Comm_dup(parent, &made); break;
    case 2: MPI_Comm_split(parent, 0, rank, &made); break;
    case 3: PMPI_Comm_split(parent, 0, -rank, &made); break;
    case 4: MPI_Cart_create(parent, 1, &size, &whole, 0, &made); break;
    case 5: MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made); break;
    case 6: {
      MPI_Group group;
      MPI_Comm_group(parent, &group);
      MPI_Comm_create_group(parent, group, 7, &made);
      MPI_Group_free(&group);
      break;
    }
    default: {
      MPI_Request request;
      MPI_Comm_idup(parent, &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  return made;
}

static void freed_by(int end, MPI_Comm* communicator) {
  switch (end) {
    case 0: MPI_Comm_free(communicator); break;
    case 1: PMPI_Comm_free(communicator); break;
    default: MPI_Comm_disconnect(communicator);
  }
}

static void use(MPI_Comm communicator, int calls) {
  int size;
  MPI_Comm_size(communicator, &size);
  for (int call = 0; call < calls; ++call) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, communicator);
    CHECK(sum == size, "call %d of %d gave %d of %d ranks", call, calls, sum, size);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  unsigned own = 12345u + (unsigned)world_rank;  // the state of this rank's own random numbers
  for (int round = 0; round < rounds; ++round) {
    for (unsigned more = (own = own * 1103515245u + 12345u) >> 16 & 3; more > 0;
         --more) {  // of this rank alone
      MPI_Comm alone = made_by((int)more + round % 4, MPI_COMM_SELF);
      use(alone, 1 + (int)more % 2);
      freed_by(round % ends, &alone);
    }
    MPI_Comm one = made_by(round % kinds, MPI_COMM_WORLD),
             other = made_by((round / 3) % kinds, MPI_COMM_WORLD);
    use(one, round % 5);
    use(other, round / 5 % 7);
    use(one, round % 2);
    freed_by(round / kinds % ends, &one);
    if (round % 7 == 0) use(other, 3);
    freed_by(round % ends, &other);
  }
  return finish();
}
