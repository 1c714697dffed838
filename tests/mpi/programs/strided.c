// Calls for counting instructions, with datatypes that have gaps. Some libraries (ScaLAPACK's
// messages) make a type for one broadcast and free it; other programs keep a type for many calls,
// as for the face of an array. The last rank is late, so that it need not wait. Each of its calls
// gets a dump of its own, under its name.
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "check.h"

enum { side = 16, usual_calls = 20, most_others = 8 };
static double in[64], out[128];
static int cube[side][side][side];
static MPI_Datatype gaps, kept, face;

static void own_sum(void* from, void* to, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((double*)to)[i] += ((double*)from)[i];
}

__attribute__((noinline)) void counted_bcast(void) {
  MPI_Bcast(in, 1, gaps, world_size - 1, MPI_COMM_WORLD);
}
__attribute__((noinline)) void counted_gather(void) {
  MPI_Gather(in, 1, gaps, out, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
__attribute__((noinline)) void counted_reduce(MPI_Op op) {
  MPI_Reduce(in, out, 4, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
}
__attribute__((noinline)) void counted_kept(void) {
  MPI_Bcast(in, 1, kept, world_size - 1, MPI_COMM_WORLD);
}
__attribute__((noinline)) void counted_packed_face(void) {
  MPI_Bcast(cube, 1, face, world_size - 1, MPI_COMM_WORLD);
}
__attribute__((noinline)) void counted_unpacked_face(void) {
  MPI_Bcast(cube, 1, face, 0, MPI_COMM_WORLD);
}

// One integer of each row, at the same place in all rows.
static void make_kept_types(void) {
  const int sizes[] = {side, side, side}, sub[] = {side, side, 1}, starts[] = {0, 0, 3};
  MPI_Type_create_subarray(3, sizes, sub, starts, MPI_ORDER_C, MPI_INT, &face);
  MPI_Type_commit(&face);
  MPI_Type_vector(2, 2, 8, MPI_DOUBLE, &kept);
  MPI_Type_commit(&kept);
}

static void fill(void) {
  for (int k = 0; k < 64; ++k) in[k] = k;
  for (int k = 0; k < side * side * side; ++k) (&cube[0][0][0])[k] = 100000 * world_rank + k;
}

// A face that a root has sent, and an element beside it, which keeps the receiver's value.
static void check_face(int root) {
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      CHECK(cube[i][j][3] == 100000 * root + (i * side + j) * side + 3 &&
                cube[i][j][4] == 100000 * world_rank + (i * side + j) * side + 4,
            "row %d %d: %d %d", i, j, cube[i][j][3], cube[i][j][4]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : usual_calls, warming = 5, last = world_size - 1;
  set_up(MPI_COMM_WORLD);
  // Each call beyond the usual number shifts the handles of the types below by one.
  MPI_Datatype others[most_others];
  const int more = calls > usual_calls ? calls - usual_calls : 0;
  for (int i = 0; i < more && i < most_others; ++i) MPI_Type_contiguous(2, MPI_INT, &others[i]);
  make_kept_types();
  MPI_Op op;
  MPI_Op_create(own_sum, 1, &op);
  for (int i = 0; i < warming + calls; ++i) {
    MPI_Type_vector(2, 2, 8, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    static const char* const names[] = {"bcast", "gather",      "reduce",
                                        "kept",  "packed_face", "unpacked_face"};
    for (int which = 0; which < 6; ++which) {
      fill();
      if (world_rank == last) usleep(2000);
      if (i == warming && which == 0) CALLGRIND_ZERO_STATS;
      if (which == 0) counted_bcast();
      if (which == 1) counted_gather();
      if (which == 2) counted_reduce(op);
      if (which == 3) counted_kept();
      if (which == 4) counted_packed_face();
      if (which == 5) counted_unpacked_face();
      if (i >= warming) CALLGRIND_DUMP_STATS_AT(names[which]);
      if (which == 0 || which == 3)
        CHECK(in[1] == 1 && in[8] == 8 && in[9] == 9, "bcast: %g %g %g", in[1], in[8], in[9]);
      if (which == 1 && world_rank == 0)
        CHECK(out[4] == 0 && out[5] == 1 && out[6] == 8 && out[7] == 9, "gather: %g %g", out[6],
              out[7]);
      if (which == 2 && world_rank == 0) CHECK(out[3] == 3.0 * world_size, "reduce: %g", out[3]);
      if (which >= 4) check_face(which == 4 ? last : 0);
    }
    MPI_Type_free(&gaps);
  }
  for (int i = 0; i < more && i < most_others; ++i) MPI_Type_free(&others[i]);
  MPI_Type_free(&kept);
  MPI_Type_free(&face);
  MPI_Op_free(&op);
  return finish();
}
