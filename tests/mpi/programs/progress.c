// A rank that waits in a collective must let its own messages progress: others need them before
// they can enter the collective.
#include "check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  CHECK(world_size >= 2, "needs 2 ranks");
  const int count = 1 << 21;  // long enough for a rendezvous
  int* data = malloc(sizeof(int) * count);
  for (int round = 0; round < 10; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int sender = round % world_size, receiver = (round + 1) % world_size;
    if (world_rank == sender) {
      for (int i = 0; i < count; ++i) data[i] = i + round;
      MPI_Isend(data, count, MPI_INT, receiver, 9, MPI_COMM_WORLD, &request);
    }
    if (world_rank == receiver) {  // it enters the collective only when the message is complete
      MPI_Recv(data, count, MPI_INT, sender, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < count; i += 1000)
        CHECK(data[i] == i + round, "element %d of round %d", i, round);
    }
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == world_size, "round %d: %d", round, sum);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    // The other direction: a posted receive, whose sender waits for the receiver's answer.
    if (world_rank == receiver)
      MPI_Irecv(data, count, MPI_INT, sender, 10, MPI_COMM_WORLD, &request);
    if (world_rank == sender) MPI_Ssend(data, count, MPI_INT, receiver, 10, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(data);
  return finish();
}
