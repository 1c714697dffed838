// Sessions: communicators made from the processes of the job, without MPI_Init or together with it.
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static void use(MPI_Comm communicator, int rounds) { exercise(communicator, rounds, 300); }

static MPI_Comm of_all(MPI_Session session, const char* name) {
  MPI_Group group;
  MPI_Comm communicator;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &communicator);
  MPI_Group_free(&group);
  MPI_Comm_rank(communicator, &world_rank);  // it has the same processes as MPI_COMM_WORLD
  MPI_Comm_size(communicator, &world_size);
  return communicator;
}

// Uses the communicator, a part of it, a copy, and short-lived ones.
static void use_all(MPI_Session session, const char* name, int rounds) {
  MPI_Comm all = of_all(session, name), half, copy;
  int rank;
  MPI_Comm_rank(all, &rank);
  use(all, rounds);
  MPI_Comm_split(all, rank % 2, rank, &half);
  use(half, rounds);
  MPI_Comm_dup(half, &copy);
  MPI_Comm_free(&half);
  use(copy, rounds);
  for (int i = 0; i < 20; ++i) {
    MPI_Comm brief;
    MPI_Comm_dup(all, &brief);
    use(brief, 3);
    MPI_Comm_free(&brief);
  }
  MPI_Comm_free(&all);
  use(copy, rounds);
  MPI_Comm_free(&copy);
}

static MPI_Session begin(void) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  return session;
}

static int rank_in(MPI_Session session) {
  MPI_Group group;
  int rank;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Group_rank(group, &rank);
  MPI_Group_free(&group);
  return rank;
}

// Rank 0 does not make the last call. With `another`, it opens a second session before the first
// communicator of all ranks is used, and the others do so after that.
static void stall(int another) {
  MPI_Session session = begin(), second = MPI_SESSION_NULL;
  const int rank = rank_in(session);
  if (another && rank == 0) second = begin();
  MPI_Comm all = of_all(session, "tutti://stall");
  use(all, 5);
  if (another && rank != 0) second = begin();
  if (another) use(of_all(second, "tutti://second"), 5);
  while (rank == 0) sleep(1);
  int one = 1, sum;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
}

// Ranks that have closed their last session wait for the others, by files in a directory: MPICH
// 5.0.2 hangs in MPI_Comm_create_from_group, even without Tutti, if a rank opens a session while
// another still closes its last one.
static void meet_in(const char* directory) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", directory, world_rank);
  fclose(fopen(path, "w"));
  for (int rank = 0; rank < world_size; ++rank) {
    snprintf(path, sizeof path, "%s/%d", directory, rank);
    while (access(path, F_OK) != 0) usleep(1000);
  }
}

static void alone(int rounds) {
  MPI_Session session = begin(), other = begin();
  use_all(session, "tutti://one", rounds);
  use_all(other, "tutti://other", rounds);
  MPI_Session_finalize(&session);
  use_all(other, "tutti://after", rounds);
  MPI_Session_finalize(&other);
}

// Another thread than the one that ends MPI keeps the objects of its non-blocking collectives. They
// must be of no use in the next session.
static MPI_Comm of_thread;
static int turns;  // of the thread, which the main one has asked for
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void await_turns(int expected) {
  while (turns != expected) pthread_cond_wait(&changed, &mutex);
}

static void* in_thread(void* argument) {
  enum { most = 200 };  // each count may be an object of its own
  int in[most], out[most];
  pthread_mutex_lock(&mutex);
  for (int turn = 1; turn <= 3; turn += 2) {
    await_turns(turn);
    for (int count = 1; count < most; ++count) {
      MPI_Request request;
      for (int i = 0; i < count; ++i) in[i] = world_rank + i + turn;
      MPI_Iallreduce(in, out, count, MPI_INT, MPI_MAX, of_thread, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK_IN(of_thread, out[count - 1] == world_size - 1 + count - 1 + turn, "%d: %d", count,
               out[count - 1]);
    }
    ++turns;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void with_thread(const char* directory) {
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  for (int i = 0; i < 2; ++i) {
    MPI_Session session = begin();
    of_thread = of_all(session, "tutti://thread");
    set_up(of_thread);
    pthread_mutex_lock(&mutex);
    ++turns;
    pthread_cond_broadcast(&changed);
    await_turns(2 * i + 2);
    pthread_mutex_unlock(&mutex);
    MPI_Comm_free(&of_thread);
    MPI_Session_finalize(&session);
    if (i == 0) meet_in(directory);
  }
  pthread_join(thread, NULL);
}

// The session begins before MPI_COMM_WORLD exists, or ends after it.
static void beside_world(int rounds, int early, int late) {
  MPI_Session session;
  MPI_Comm before = MPI_COMM_NULL;
  if (early) {
    session = begin();
    before = of_all(session, "tutti://before");
    use(before, rounds);
  }
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (!early) {
    MPI_Comm without_session;  // it is not freed, and ends with the world
    MPI_Comm_dup(MPI_COMM_WORLD, &without_session);
    use(without_session, rounds);
    session = begin();
  }
  MPI_Comm kept = of_all(session, "tutti://kept"), leaked;
  use(MPI_COMM_WORLD, rounds);
  use(kept, rounds);
  use_all(session, "tutti://beside", rounds);
  MPI_Comm_dup(MPI_COMM_WORLD, &leaked);
  use(leaked, rounds);
  use(MPI_COMM_WORLD, rounds);
  if (late) {
    MPI_Finalize();
    use(kept, rounds);
    use_all(session, "tutti://late", rounds);
  }
  MPI_Comm_free(&kept);
  if (before != MPI_COMM_NULL) {
    use(before, rounds);
    MPI_Comm_free(&before);
  }
  MPI_Session_finalize(&session);
  if (!late) {
    use(MPI_COMM_WORLD, rounds);
    MPI_Finalize();
  }
}

static void call_first(MPI_Comm communicator) {
  int rank, size, sum = -1;
  MPI_Request request;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, communicator, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_IN(communicator, sum == size * (size - 1) / 2, "first call: %d", sum);
}

// The first call on a session's communicator, and on those that are made from it, is a non-blocking
// one.
static void first_calls(MPI_Session session, const char* name) {
  MPI_Comm all = of_all(session, name), copy, part;
  MPI_Request request;
  call_first(all);
  for (int round = 0; round < 3; ++round) {
    MPI_Comm_dup(all, &copy);
    call_first(copy);
    MPI_Comm_split(copy, world_rank == 0, world_rank, &part);
    call_first(part);
    MPI_Comm_free(&part);
    MPI_Comm_idup(copy, &part, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    call_first(part);
    use(part, 3);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&all);
}

// Rank 0 does not make the first call.
static void first_stall(void) {
  MPI_Session session = begin();
  MPI_Comm all = of_all(session, "tutti://stall");
  while (world_rank == 0) sleep(1);
  call_first(all);
}

static void first(int beside) {
  if (beside) MPI_Init(NULL, NULL);
  MPI_Session session = begin();
  first_calls(session, "tutti://first");
  if (beside) {
    MPI_Comm of_world;  // made while a session is open
    MPI_Comm_dup(MPI_COMM_WORLD, &of_world);
    call_first(of_world);
    MPI_Comm_free(&of_world);
    MPI_Finalize();
    first_calls(session, "tutti://after");
  }
  MPI_Session_finalize(&session);
}

static void add_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i)  // of three ints; the middle one is a gap
    for (int k = 0; k < 3; k += 2) ((int*)inout)[3 * i + k] += ((int*)in)[3 * i + k];
}

// A persistent reduction of a type with a gap, which the ranks pack.
static MPI_Datatype pairs;
static MPI_Op adding;
static int given[3], got[3];
static void begin_pairs(MPI_Comm communicator, MPI_Request* request) {
  MPI_Allreduce_init(given, got, 1, pairs, adding, communicator, MPI_INFO_NULL, request);
}
static void use_pairs(MPI_Request* request) {
  given[0] = world_rank, given[2] = 1;
  MPI_Start(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  CHECK(got[0] == world_size * (world_size - 1) / 2 && got[2] == world_size, "%d %d", got[0],
        got[2]);
}

// Sessions open and close while MPI_COMM_WORLD and collectives that outlive their call go on.
static void between(int rounds) {
  MPI_Request kept = MPI_REQUEST_NULL, made;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 2 * sizeof(int)};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  MPI_Type_create_struct(2, lengths, places, ints, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Op_create(add_pairs, 1, &adding);
  for (int i = 0; i < rounds; ++i) {
    MPI_Session session = begin(), other = begin();
    int sum = -1;
    MPI_Request request;
    MPI_Comm all = of_all(session, "tutti://between");
    call_first(all);
    begin_pairs(MPI_COMM_WORLD, &made);
    use_pairs(&made);
    MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Comm_free(&all);
    MPI_Session_finalize(&session);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == world_size * (world_size - 1) / 2, "round %d: %d", i, sum);
    use_pairs(&made);
    call_first(MPI_COMM_WORLD);
    MPI_Session_finalize(&other);
    if (kept != MPI_REQUEST_NULL) {
      use_pairs(&kept);
      MPI_Request_free(&kept);
    }
    kept = made;
    call_first(MPI_COMM_WORLD);
  }
  MPI_Request_free(&kept);
  MPI_Type_free(&pairs);
  MPI_Op_free(&adding);
  MPI_Finalize();
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "alone";
  const int rounds = argc > 2 ? atoi(argv[2]) : 50;
  if (strcmp(what, "stall") == 0 || strcmp(what, "another") == 0) stall(*what == 'a');
  if (strcmp(what, "first-stall") == 0) first_stall();
  if (strcmp(what, "alone") == 0) {
    alone(rounds);
  } else if (strcmp(what, "again") == 0) {  // the second one begins after the first has ended
    alone(rounds);
    meet_in(argv[3]);
    alone(rounds);
  } else if (strcmp(what, "between") == 0) {
    between(rounds);
  } else if (strcmp(what, "thread") == 0) {
    with_thread(argv[3]);
  } else if (strncmp(what, "first", 5) == 0) {
    first(strcmp(what, "first-beside") == 0);
  } else {
    beside_world(rounds, strstr(what, "early") != NULL, strstr(what, "late") != NULL);
  }
  if (world_rank == 0) printf("ok\n");
  return 0;
}
