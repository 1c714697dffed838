// Servers as processes: what the program sees of them, and what becomes of transfers when servers
// and ranks die or are stopped. Arguments: what to try, and how many servers each rank has.
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tutti/mpi.h"

enum { numbers = 100000, most_servers = 8 };

static long mine[numbers], theirs[numbers];  // private memory: system's copies
static long** there;                         // by rank: its `theirs`
static int rank, ranks;
static tutti_group* group;
static volatile sig_atomic_t children;

static void ok(tutti_status status) {
  CHECK(status == TUTTI_OK, "%d: %s", (int)status, tutti_error_message());
}

static void count_child(int number) {
  (void)number;
  ++children;
}

// The servers of this process, found by their command lines. Returns how many there are.
static int find_servers(pid_t* servers) {
  int count = 0;
  char own[32];
  snprintf(own, sizeof own, "%d", (int)getpid());
  DIR* processes = opendir("/proc");
  for (struct dirent* entry; (entry = readdir(processes)) != NULL;) {
    char name[300], words[600] = "";
    snprintf(name, sizeof name, "/proc/%s/cmdline", entry->d_name);
    FILE* file = fopen(name, "r");
    if (file == NULL) continue;
    const size_t length = fread(words, 1, sizeof words - 1, file);
    fclose(file);
    const size_t program = strlen(words), option = program + 1,
                 owner = option + strlen("--owner") + 1;
    if (owner >= length || strstr(words, "tutti-server") == NULL) continue;
    if (strcmp(words + option, "--owner") != 0 || strcmp(words + owner, own) != 0) continue;
    if (count < most_servers) servers[count++] = (pid_t)atoi(entry->d_name);
  }
  closedir(processes);
  return count;
}

static void find_peers(void) {
  long* own = theirs;
  there = malloc((size_t)ranks * sizeof *there);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, there, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
}

// Rank r puts `numbers` numbers into the next rank's memory, in many blocks.
static tutti_handle start_long(int round) {
  const int next = (rank + 1) % ranks;
  tutti_handle handle;
  for (int i = 0; i < numbers; ++i) mine[i] = 1000000L * (rank + 1) + 1000L * round + i;
  MPI_Barrier(MPI_COMM_WORLD);
  ok(tutti_put_strided(group, next, there[next], sizeof(long), mine, sizeof(long), sizeof(long),
                       numbers, &handle));
  return handle;
}
static void check_long(int round) {
  const int before = (rank + ranks - 1) % ranks;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < numbers; ++i)
    CHECK(theirs[i] == 1000000L * (before + 1) + 1000L * round + i, "round %d at %d: %ld", round, i,
          theirs[i]);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void exchange(int round) {
  tutti_handle handle = start_long(round);
  ok(tutti_wait(group, &handle));
  check_long(round);
}

// Makes the group, finds the servers of this process, and transfers once.
static void begin(int servers, pid_t* found) {
  ok(tutti_group_of_comm(MPI_COMM_WORLD, &group));
  CHECK(find_servers(found) == servers, "%d servers", find_servers(found));
  find_peers();
  exchange(1);
}

static void nothing_is_seen(void) {
  CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a child, or errno %d", errno);
  CHECK(children == 0, "%d signals of children", (int)children);
}

static void unseen(int servers) {
  pid_t found[most_servers];
  struct sigaction counts = {.sa_handler = count_child};
  sigaction(SIGCHLD, &counts, NULL);
  begin(servers, found);
  nothing_is_seen();
  // The program's own children are its own.
  const pid_t child = fork();
  if (child == 0) _exit(3);
  int status = 0;
  pid_t ended;
  while ((ended = wait(&status)) < 0 && errno == EINTR) continue;
  CHECK(ended == child && WEXITSTATUS(status) == 3, "%d ended with %d", (int)ended, status);
  signal(SIGCHLD, SIG_IGN);
  exchange(2);
  CHECK(find_servers(found) == servers, "%d servers", find_servers(found));
}

// All servers die while transfers are under way; others follow them.
static void killed(int servers) {
  pid_t found[most_servers];
  begin(servers, found);
  tutti_handle handle = start_long(2);
  for (int i = 0; i < servers; ++i) kill(found[i], SIGKILL);
  ok(tutti_wait(group, &handle));
  check_long(2);
  int left = -1;
  for (int tries = 0; tries < 10000 && left != 0; ++tries, usleep(1000))
    left = tutti_servers_count(tutti_node_team());
  CHECK(left == 0, "%d servers", left);
  for (int round = 3; round < 6; ++round) exchange(round);
  if (servers == 0) return;
  ok(tutti_servers_stop(tutti_node_team()));
  ok(tutti_servers_start(tutti_node_team(), servers, TUTTI_SERVE_ALL));
  CHECK(find_servers(found) == servers, "%d servers", find_servers(found));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 6; round < 9; ++round) exchange(round);
}

// Servers are stopped with transfers under way, and are still when MPI ends.
static void stopped(int servers) {
  pid_t found[most_servers];
  begin(servers, found);
  tutti_handle handle = start_long(2);
  for (int i = 0; i < servers; ++i) kill(found[i], SIGSTOP);
  ok(tutti_wait(group, &handle));
  check_long(2);
  exchange(3);
}

// The last rank dies with its transfers under way. The others find out, or the launcher ends them.
static void rank_killed(int servers) {
  pid_t found[most_servers];
  begin(servers, found);
  for (int i = 0; i < servers; ++i) printf("server %d\n", (int)found[i]);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  tutti_handle handle = start_long(2);
  if (rank == ranks - 1) kill(getpid(), SIGKILL);
  (void)tutti_wait(group, &handle);
  printf("rank %d has waited\n", rank);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const int servers = argc > 2 ? atoi(argv[2]) : 1;
  start(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(argv[1], "unseen") == 0) unseen(servers);
  if (strcmp(argv[1], "killed") == 0) killed(servers);
  if (strcmp(argv[1], "stopped") == 0) stopped(servers);
  if (strcmp(argv[1], "rank_killed") == 0) rank_killed(servers);
  tutti_group_free(group);
  const int code = finish();
  pid_t found[most_servers];
  // A server has told that it ends before its process is gone.
  for (int tries = 0; tries < 5000 && find_servers(found) > 0; ++tries) usleep(1000);
  if (find_servers(found) > 0) {
    fprintf(stderr, "%d servers after MPI_Finalize\n", find_servers(found));
    return 1;
  }
  if (strcmp(argv[1], "unseen") == 0 && (waitpid(-1, NULL, WNOHANG) != -1 || children > 1))
    return 1;
  return code;
}
