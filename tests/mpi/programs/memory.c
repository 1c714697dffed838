/* Memory that MPI allocates is in the shared heap, can be reached by all ranks, gives correct
 * results in collectives and is freed by its allocator. Arguments: the number of heaps that this
 * process has mapped; whether malloc's memory is in the heap; whether the memory of windows is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../heap/heap.h"
#include "mpi.h"

static int rank, ranks;

static int mapped_heaps(void) {
  char line[512];
  int count = 0;
  unsigned long seen[64];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long inode = 0;
    if (strstr(line, "memfd:tutti-heap") == NULL ||
        sscanf(line, "%*s %*s %*s %*s %lu", &inode) != 1)
      continue;
    int known = 0;
    for (int i = 0; i < count; ++i) known |= seen[i] == inode;
    if (!known && count < 64) seen[count++] = inode;
  }
  fclose(maps);
  return count;
}

static void collectives_on(double* vector, int count) {
  for (int i = 0; i < count; ++i) vector[i] = rank + i;
  MPI_Allreduce(MPI_IN_PLACE, vector, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) CHECK(vector[i] == (double)ranks * i + ranks * (ranks - 1) / 2);
  if (rank == 1) vector[count - 1] = 42;
  MPI_Bcast(vector, count, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  CHECK(vector[count - 1] == 42);
}

static void alloc_mem(int ours) {
  enum { count = 100000 };
  for (int round = 0; round < 20; ++round) {
    double* vector = NULL;
    CHECK(MPI_Alloc_mem(count * sizeof *vector, MPI_INFO_NULL, &vector) == MPI_SUCCESS);
    CHECK(in_heap(vector) == ours && (!ours || (uintptr_t)vector % 64 == 0));
    collectives_on(vector, round == 0 ? count : 10);
    CHECK(MPI_Free_mem(vector) == MPI_SUCCESS);
  }
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "1024");
  char* memory;
  CHECK(MPI_Alloc_mem(10, info, &memory) == MPI_SUCCESS &&
        (!ours || (uintptr_t)memory % 1024 == 0));
  MPI_Free_mem(memory);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "1048576"); /* the host serves this */
  CHECK(MPI_Alloc_mem(10, info, &memory) == MPI_SUCCESS);
  memory[9] = 1;
  MPI_Free_mem(memory);
  MPI_Info_free(&info);
}

static void tutti_alloc(int ours) {
  void* (*const alloc)(size_t) = (void* (*)(size_t))dlsym(RTLD_DEFAULT, "tutti_alloc");
  void (*const release)(void*) = (void (*)(void*))dlsym(RTLD_DEFAULT, "tutti_free");
  CHECK(alloc != NULL && release != NULL);
  double* vector = alloc(5000 * sizeof *vector);
  CHECK(in_heap(vector) == ours);
  collectives_on(vector, 5000);
  release(vector);
  release(NULL);
}

static void windows(int ours) {
  MPI_Win window;
  int* memory;
  const int next = (rank + 1) % ranks;
  CHECK(MPI_Win_allocate(1000 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                         &memory, &window) == MPI_SUCCESS);
  CHECK(!ours || in_heap(memory));
  int *flavor, flag = 0;
  MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
  CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
  memset(memory, 0, 1000 * sizeof *memory);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, next, 7, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  CHECK(memory[7] == (rank + ranks - 1) % ranks && memory[6] == 0);
  MPI_Win_free(&window);
  CHECK(window == MPI_WIN_NULL);
}

static void child_of_fork(void) {
  volatile int* memory;
  MPI_Alloc_mem(sizeof *memory, MPI_INFO_NULL, &memory);
  *memory = rank;
  const pid_t child = fork();
  if (child == 0) {
    const int own = *memory == rank && mapped_heaps() == 0;
    *memory = -1;
    _exit(own ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK(status == 0 && *memory == rank);
  MPI_Free_mem((void*)memory);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(argc == 4);
  const int heaps = atoi(argv[1]);
  CHECK(mapped_heaps() == heaps);
  void* ordinary = malloc(100);
  CHECK(in_heap(ordinary) == atoi(argv[2]));
  free(ordinary);
  alloc_mem(heaps > 0);
  tutti_alloc(heaps > 0);
  windows(atoi(argv[3]));
  child_of_fork();
  MPI_Finalize();
  if (rank == 0) puts("ok");
  return 0;
}
