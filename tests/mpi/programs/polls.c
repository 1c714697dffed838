// A message sent before a barrier is found by the first poll after it; programs rely on this to
// receive all their messages.
#include "check.h"

enum { rounds = 200, each = 5 };

static char buffer[4096];

static void drain_by_probe(int matched, int length, int round) {
  if (world_rank > 0) {
    for (int k = 0; k < each; ++k) MPI_Send(buffer, length, MPI_BYTE, 0, k, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int found = 0;
  for (int flag = 1;;) {
    MPI_Message message;
    if (matched)
      MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    else
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (!flag) break;
    if (matched)
      MPI_Mrecv(buffer, sizeof buffer, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    else
      MPI_Recv(buffer, sizeof buffer, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    ++found;
  }
  CHECK(found == each * (world_size - 1), "%s found %d of %d messages of %d bytes in round %d",
        matched ? "MPI_Improbe" : "MPI_Iprobe", found, each * (world_size - 1), length, round);
}

// Rank 0's exposure ends when the others have completed their accesses, which they have before the
// barrier.
static void test_window(MPI_Win window, MPI_Group all, int round) {
  MPI_Group others, first;
  const int zero = 0;
  MPI_Group_excl(all, 1, &zero, &others);
  MPI_Group_incl(all, 1, &zero, &first);
  if (world_rank == 0) {
    int flag = 0;
    MPI_Win_post(others, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_test(window, &flag);
    CHECK(flag, "MPI_Win_test says no in round %d", round);
  } else {
    MPI_Win_start(first, 0, window);
    MPI_Win_complete(window);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Group_free(&others);
  MPI_Group_free(&first);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  for (int round = 0; round < rounds; ++round)
    for (int matched = 0; matched < 2; ++matched) {
      drain_by_probe(matched, 0, round);
      MPI_Barrier(MPI_COMM_WORLD);
      drain_by_probe(matched, 3000, round);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  MPI_Win window;
  MPI_Group all;
  MPI_Win_create(buffer, sizeof buffer, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_get_group(window, &all);
  for (int round = 0; round < rounds; ++round) test_window(window, all, round);
  MPI_Group_free(&all);
  MPI_Win_free(&window);
  return finish();
}
