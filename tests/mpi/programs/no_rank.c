// A program without MPI, with a malloc of its own, that does what programs rarely do: no_rank WHAT.
// It prints its open descriptors at the end, if it has not closed them.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static _Alignas(16) char memory[1 << 20];
static size_t used;

void* malloc(size_t size) {
  const size_t at = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  if (at + size + 16 > sizeof memory) return NULL;
  memcpy(memory + at, &size, sizeof size);
  return memory + at + 16;
}
void free(void* data) { (void)data; }
void* calloc(size_t count, size_t size) { return malloc(count * size); }  // memory is never reused
void* realloc(void* old, size_t size) {
  size_t old_size = 0;
  if (old != NULL) memcpy(&old_size, (char*)old - 16, sizeof old_size);
  void* const data = malloc(size);
  if (data != NULL && old != NULL) memcpy(data, old, old_size < size ? old_size : size);
  return data;
}

static int is_ours(const void* data) {
  return (const char*)data >= memory && (const char*)data < memory + sizeof memory;
}

static int status_of(pid_t child) {
  int status;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void close_all(void) {
  for (int descriptor = 0; descriptor < 1024; ++descriptor) close(descriptor);
  _exit(open("/dev/null", O_RDWR) == 0 && open("/dev/null", O_RDWR) == 1 ? 11 : 12);
}

static void start_children(void) {
  char* const command[] = {"sh", "-c", "echo of spawn; exit 4", NULL};
  pid_t child;
  if (posix_spawnp(&child, "sh", NULL, NULL, command, environ) == 0)
    printf("spawn %d\n", status_of(child));
  fflush(stdout);
  child = vfork();
  if (child == 0) {
    execlp("sh", "sh", "-c", "echo of vfork; exit 5", (char*)NULL);
    _exit(6);
  }
  printf("vfork %d\n", status_of(child));
  fflush(stdout);
  child = fork();
  if (child == 0) exit(7);  // by the handlers of the program's end
  printf("fork %d, system %d\n", status_of(child), system("exit 8"));
}

static void* other_thread(void* data) { return data; }

static void use_memory(void) {
  pthread_t thread;
  void* result = NULL;
  char* const copy = strdup("text");
  pthread_create(&thread, NULL, other_thread, copy);
  pthread_join(thread, &result);
  printf("own malloc: %d, thread: %d\n", is_ours(copy), result == copy);
}

static void look_up(void) {
  void* const library = dlopen("libm.so.6", RTLD_NOW);
  double (*const root)(double) = (double (*)(double))dlsym(library, "sqrt");
  printf("dlopen: %g, nothing: %d\n", root(16), dlsym(RTLD_DEFAULT, "no_such_function") == NULL);
  printf("nowhere: %d, %s\n", dlopen("libnowhere.so", RTLD_LAZY) == NULL, dlerror());
}

static void print_descriptors(void) {
  DIR* const directory = opendir("/proc/self/fd");
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;)
    if (entry->d_name[0] != '.') printf("descriptor %s\n", entry->d_name);
  closedir(directory);
}

int main(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  if (strcmp(what, "close") == 0) close_all();
  if (strcmp(what, "children") == 0) start_children();
  if (strcmp(what, "memory") == 0) use_memory();
  if (strcmp(what, "dlopen") == 0) look_up();
  print_descriptors();
  return 3;
}
