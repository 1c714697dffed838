/* Parent and child write at the same time and never see each other's stores; threads go on
 * allocating while others fork. */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap.h"

enum { words = 1 << 20 };
static atomic_int over;

static int ended_well(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void both_write(void) {
  int* vector = malloc(words * sizeof *vector);
  CHECK(in_heap(vector));
  for (int i = 0; i < words; ++i) vector[i] = i;
  const pid_t child = fork();
  const int own = child == 0 ? 1 : 2;
  for (int round = 1; round <= 20; ++round) {
    for (int i = 0; i < words; ++i) vector[i] += own;
    for (int i = 0; i < words; i += 61) CHECK(vector[i] == i + round * own);
  }
  int* more = realloc(vector, 2 * words * sizeof *vector);
  CHECK(more[words - 1] == words - 1 + 20 * own);
  free(more);
  if (child == 0) exit(0);
  CHECK(ended_well(child));
}

static void* allocate(void* seed) {
  unsigned state = (unsigned)(uintptr_t)seed;
  unsigned char* kept[64] = {0};
  while (!over) {
    state = state * 1664525 + 1013904223;
    unsigned char** slot = &kept[state >> 26];
    const size_t bytes = 1 + (state >> 8) % 5000;
    if (*slot != NULL) CHECK(**slot == (unsigned char)((uintptr_t)seed));
    *slot = realloc(*slot, bytes);
    **slot = (unsigned char)(uintptr_t)seed;
  }
  for (int i = 0; i < 64; ++i) free(kept[i]);
  return NULL;
}

static void while_threads_allocate(void) {
  pthread_t threads[3];
  for (uintptr_t i = 0; i < 3; ++i)
    CHECK(pthread_create(&threads[i], NULL, allocate, (void*)(i + 1)) == 0);
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      char* memory = malloc(100000);
      memset(memory, 1, 100000);
      free(memory);
      _exit(0);
    }
    CHECK(ended_well(child));
  }
  over = 1;
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}

static void children_of_children(void) {
  char* text = strcpy(malloc(32), "kept");
  const pid_t child = fork();
  if (child == 0) {
    strcpy(text, "the child's");
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      CHECK(strcmp(text, "the child's") == 0);
      strcpy(text, "the grandchild's");
      exit(0);
    }
    CHECK(ended_well(grandchild) && strcmp(text, "the child's") == 0);
    exit(0);
  }
  CHECK(ended_well(child) && strcmp(text, "kept") == 0);
}

static void other_programs(void) {
  CHECK(system("test $(echo 6) -eq 6") == 0);
  FILE* pipe = popen("echo from the shell", "r");
  char line[64];
  CHECK(fgets(line, sizeof line, pipe) != NULL && strcmp(line, "from the shell\n") == 0 &&
        pclose(pipe) == 0);
  pid_t child;
  char* arguments[] = {"true", NULL};
  CHECK(posix_spawnp(&child, "true", NULL, NULL, arguments, NULL) == 0 && ended_well(child));
  child = fork();
  if (child == 0) {
    execlp("true", "true", NULL);
    _exit(1);
  }
  CHECK(ended_well(child));
}

int main(void) {
  both_write();
  while_threads_allocate();
  children_of_children();
  other_programs();
  puts("ok");
  return 0;
}
