// Ranks that start children by all means, between collectives that Tutti serves. Rank 0 prints what
// the children printed and how they ended.
#include "check.h"

#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

static int status_of(pid_t child) {
  int status;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void print_output(const char* command) {
  char line[256];
  FILE* const pipe = popen(command, "r");
  while (fgets(line, sizeof line, pipe) != NULL) printf("child: %s", line);
  printf("popen %d\n", WEXITSTATUS(pclose(pipe)));
}

static void start_children(void) {
  // Ranks inherit descriptors from their launcher and MPI; only those that stay open over exec
  // count.
  print_output("ls /proc/self/fd | wc -l; python3 -c 'print(2 + 2)'; exit 3");
  print_output("grep -c libtutti- /proc/self/maps; exit 2");  // none, with Tutti too
  printf("system %d\n", WEXITSTATUS(system("exit 4")));
  char* const command[] = {"sh", "-c", "exit 5", NULL};
  pid_t child;
  CHECK(posix_spawnp(&child, "sh", NULL, NULL, command, environ) == 0, "spawn");
  printf("spawn %d\n", status_of(child));
  fflush(stdout);
  child = vfork();
  if (child == 0) {
    execlp("sh", "sh", "-c", "exit 6", (char*)NULL);
    _exit(9);
  }
  printf("vfork %d\n", status_of(child));
  fflush(stdout);
  child = fork();
  if (child == 0) _exit(7);
  printf("fork %d\n", status_of(child));
  fflush(stdout);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  exercise(MPI_COMM_WORLD, 20, 8);
  if (world_rank == 0) start_children();
  exercise(MPI_COMM_WORLD, 20, 8);
  return finish();
}
