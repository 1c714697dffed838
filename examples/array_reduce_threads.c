/* The reduction of a shared array without MPI: the threads of one process are the ranks.
 *
 *   cc -O3 array_reduce_threads.c $(pkg-config --cflags --libs tutti) -pthread && ./a.out 4
 *
 * The array's blocks are spread over the ranks in turn. The program adds all elements by
 * tutti_reduce_array, beside a loop and tutti_reduce of one element, and then finds the array's
 * longest run of equal elements, for which the order counts. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tutti/tutti.h>

enum { most_ranks = 64, block = 100, blocks_of_rank = 20, iterations = 500 };
enum { part = block * blocks_of_rank };

typedef struct {
  tutti_team* team;
  int rank, ranks;
  int failed; /* rank 0's */
} Worker;

static void stop_on(tutti_status status) {
  if (status == TUTTI_OK) return;
  fprintf(stderr, "array_reduce_threads: %s\n", tutti_error_message());
  exit(1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Element i of the array: runs of 1, 2, ... 60 and again 1, 2, ... equal elements. */
static double element(long i) {
  long run = 0, length = 1;
  while (i >= length) {
    i -= length;
    ++run;
    length = length % 60 + 1;
  }
  return (double)run;
}

/* A piece of the array: its length, its ends, and the runs at its ends and inside. Pieces that are
 * next to each other make a longer one; swapped they would make another, so this does not commute.
 * The piece of no element is the neutral one. */
typedef struct {
  long length, first_run, last_run, longest;
  double first, last;
} Piece;

static const Piece no_piece = {0, 0, 0, 0, 0, 0};

static long larger(long x, long y) { return x > y ? x : y; }

static Piece joined(Piece x, Piece y) {
  if (x.length == 0) return y;
  if (y.length == 0) return x;
  const int meet = x.last == y.first;
  Piece piece = {x.length + y.length,          x.first_run, y.last_run,
                 larger(x.longest, y.longest), x.first,     y.last};
  if (!meet) return piece;
  piece.longest = larger(piece.longest, x.last_run + y.first_run);
  if (x.first_run == x.length) piece.first_run = x.length + y.first_run;
  if (y.last_run == y.length) piece.last_run = y.length + x.last_run;
  return piece;
}

static void join_all(void* folded, const void* in, size_t count, void* context) {
  (void)context;
  const Piece* const pieces = in;
  for (size_t i = 0; i < count; ++i) *(Piece*)folded = joined(*(Piece*)folded, pieces[i]);
}

/* The time of an addition in microseconds. All ranks check the sum. */
static double add(tutti_group* group, const double* mine, int by_array, double expected) {
  stop_on(tutti_barrier(group));
  const double start = seconds();
  for (int i = 0; i < iterations; ++i) {
    double sum = 0, local = 0;
    if (by_array) {
      stop_on(
          tutti_reduce_array(group, mine, part, block, TUTTI_FLOAT64, TUTTI_SUM, TUTTI_ALL, &sum));
    } else {
      for (int j = 0; j < part; ++j) local += mine[j];
      stop_on(tutti_allreduce(group, &local, &sum, 1, TUTTI_FLOAT64, TUTTI_SUM));
    }
    if (sum == expected) continue;
    fprintf(stderr, "array_reduce_threads: a sum is %g, not %g\n", sum, expected);
    exit(1);
  }
  return (seconds() - start) / iterations * 1e6;
}

static void* work(void* argument) {
  Worker* const worker = argument;
  tutti_group* group;
  stop_on(tutti_team_join(worker->team, worker->rank, &group));

  /* This rank's blocks are number rank, rank + ranks, ... of the array. */
  double mine[part], expected = 0;
  Piece pieces[part];
  for (int i = 0; i < part; ++i) {
    const long row = i / block;
    mine[i] = element((row * worker->ranks + worker->rank) * block + i % block);
    pieces[i] = (Piece){1, 1, 1, 1, mine[i], mine[i]};
  }
  for (long i = 0; i < (long)part * worker->ranks; ++i) expected += element(i);

  const double by_loop = add(group, mine, 0, expected), by_array = add(group, mine, 1, expected);
  const tutti_user_op join = {join_all, NULL, sizeof(Piece), 0, &no_piece};
  Piece whole;
  stop_on(tutti_reduce_array_by(group, pieces, part, block, &join, 0, &whole));
  if (worker->rank == 0) {
    printf(
        "%d ranks: the sum is %.0f; by a loop and tutti_allreduce %.2f us, by tutti_reduce_array "
        "%.2f us\n",
        worker->ranks, expected, by_loop, by_array);
    printf("the longest of the runs of %ld elements has %ld\n", whole.length, whole.longest);
    worker->failed = whole.length != (long)part * worker->ranks || whole.longest != 60;
  }
  tutti_group_free(group);
  return NULL;
}

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? atoi(argv[1]) : 4;
  if (ranks < 1 || ranks > most_ranks) {
    fprintf(stderr, "array_reduce_threads: the number of ranks must be from 1 to %d\n", most_ranks);
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
