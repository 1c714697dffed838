/* Collectives without MPI: the threads of one process are the ranks. The program approximates pi;
 * each rank computes a part of the sum.
 *
 *   cc threads.c $(pkg-config --cflags --libs tutti) -pthread && ./a.out 4 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { most_ranks = 64, intervals = 1000000 };

typedef struct {
  tutti_team* team;
  int rank, ranks;
  int failed;
} Worker;

static void stop_on(tutti_status status) {
  if (status == TUTTI_OK) return;
  fprintf(stderr, "threads: %s\n", tutti_error_message());
  exit(1);
}

static void* work(void* argument) {
  Worker* worker = argument;
  tutti_group* group;
  stop_on(tutti_team_join(worker->team, worker->rank, &group));

  /* Rank 0 chooses the number of steps and tells the others. */
  long steps = worker->rank == 0 ? intervals : 0;
  stop_on(tutti_bcast(group, &steps, sizeof steps, 0));
  double mine = 0, pi;
  for (long i = worker->rank; i < steps; i += worker->ranks) {
    const double x = ((double)i + 0.5) / (double)steps;
    mine += 4 / (1 + x * x) / (double)steps;
  }
  stop_on(tutti_allreduce(group, &mine, &pi, 1, TUTTI_FLOAT64, TUTTI_SUM));

  /* All ranks have the same bits: rank 0 collects their results and compares them. */
  double all[most_ranks];
  stop_on(tutti_gather(group, &pi, all, sizeof pi, 0));
  if (worker->rank == 0) {
    for (int rank = 1; rank < worker->ranks; ++rank)
      worker->failed = worker->failed || all[rank] != pi;
    printf("%d ranks: pi is about %.12f, %s\n", worker->ranks, pi,
           worker->failed ? "which DIFFERS" : "the same bits at all ranks");
  }
  tutti_group_free(group);
  return NULL;
}

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? atoi(argv[1]) : 4;
  if (ranks < 1 || ranks > most_ranks) {
    fprintf(stderr, "threads: the number of ranks must be from 1 to %d\n", most_ranks);
    return 2;
  }
  Worker workers[most_ranks];
  pthread_t threads[most_ranks];
  tutti_team* team;
  stop_on(tutti_team_create(ranks, &team));
  for (int rank = 0; rank < ranks; ++rank) {
    workers[rank] = (Worker){team, rank, ranks, 0};
    if (pthread_create(&threads[rank], NULL, work, &workers[rank]) != 0) return 1;
  }
  for (int rank = 0; rank < ranks; ++rank) pthread_join(threads[rank], NULL);
  tutti_team_free(team);
  return workers[0].failed;
}
