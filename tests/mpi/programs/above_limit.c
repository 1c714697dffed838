// Long collectives of all forms under way at once, whose data is above TUTTI_OUTSTANDING_BYTES.
// Each rank starts all of them, makes a blocking one among neighbours, and only then completes
// them. The argument is the bytes of each.
#include "check.h"

enum { kinds = 6, operations = 3 * kinds };
static int bytes, rank, size;
static MPI_Comm ring;
static char *in, *out;  // of the operation that is started
static char given(int from, int operation) { return (char)(10 * from + operation); }

static void begin(int operation, int is_first, MPI_Request* request) {
  const MPI_Comm world = MPI_COMM_WORLD;
  memset(in, given(rank, operation), (size_t)bytes);
  if (operation % kinds == 2 && rank == 0) memset(out, given(0, operation), (size_t)bytes);
  switch (operation % kinds) {
    case 0: MPI_Iallreduce(in, out, bytes, MPI_CHAR, MPI_MAX, world, request); break;
    case 1:
      MPI_Ialltoall(in, bytes / size, MPI_CHAR, out, bytes / size, MPI_CHAR, world, request);
      break;
    case 2: MPI_Ibcast(out, bytes, MPI_CHAR, 0, world, request); break;
    case 3:
      MPI_Ineighbor_allgather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, ring, request);
      break;
#if MPI_VERSION >= 4
    case 4:
      if (is_first)
        MPI_Allreduce_init(in, out, bytes, MPI_CHAR, MPI_MAX, world, MPI_INFO_NULL, request);
      MPI_Start(request);
      break;
    case 5:
      if (is_first)
        MPI_Neighbor_allgather_init(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, ring, MPI_INFO_NULL,
                                    request);
      MPI_Start(request);
      break;
#endif
    default: *request = MPI_REQUEST_NULL; break;
  }
}

static void check(int operation) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  const size_t last = (size_t)bytes - 1;
  switch (operation % kinds) {
    case 1:
      for (int from = 0; from < size; ++from)
        CHECK(out[from * (bytes / size)] == given(from, operation), "alltoall, from %d", from);
      break;
    case 2: CHECK(out[last] == given(0, operation), "bcast: %d", out[last]); break;
    case 3:
    case 5:
      CHECK(out[0] == given(left, operation) && out[2 * last + 1] == given(right, operation),
            "neighbours: %d %d", out[0], out[2 * last + 1]);
      break;
    default:
      CHECK(out[0] == given(size - 1, operation) && out[last] == out[0], "maximum: %d", out[0]);
  }
}

int main(int argc, char** argv) {
  const int period = 1;
  start(&argc, &argv);
  rank = world_rank, size = world_size, bytes = atoi(argv[1]) / size * size;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
  const size_t each = 3 * (size_t)bytes;
  char *const data = malloc(operations * each), *const faces = malloc(2 * (size_t)bytes);
  MPI_Request requests[operations];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < operations; ++i) {
      in = data + (size_t)i * each, out = in + bytes;
      memset(out, -1, 2 * (size_t)bytes);
      begin(i, round == 0, &requests[i]);
    }
    MPI_Neighbor_allgather(data, bytes, MPI_CHAR, faces, bytes, MPI_CHAR, ring);
    CHECK(faces[0] == given((rank + size - 1) % size, 0), "before: %d", faces[0]);
    MPI_Waitall(operations, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < operations; ++i) {
      out = data + (size_t)i * each + bytes;
      if (MPI_VERSION >= 4 || i % kinds < 4) check(i);
    }
  }
  for (int i = 0; i < operations; ++i)
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  MPI_Comm_free(&ring);
  free(data), free(faces);
  return finish();
}
