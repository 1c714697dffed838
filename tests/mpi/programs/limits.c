// Collectives under limits that come after MPI_Init.
//
//   limits file BYTES   no file may be longer than BYTES from now on (RLIMIT_FSIZE)
//   limits long BYTES   single collectives of so many bytes, with TUTTI_OUTSTANDING_BYTES below
//   that
//   limits end          nothing of Tutti's memory is mapped after MPI_Finalize
//   limits reading      odd ranks may not read other processes' memory from some call on
//   limits secret       odd ranks send from memory that the system does not let others read
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "check.h"

static void add_up(int numbers) {
  int *const own = calloc((size_t)numbers, sizeof *own), *const sum =
                                                             malloc((size_t)numbers * sizeof *sum);
  for (int i = 0; i < numbers; ++i) own[i] = world_rank + i;
  MPI_Request request;
  MPI_Iallreduce(own, sum, numbers, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < numbers; ++i)
    CHECK(sum[i] == world_size * (world_size - 1) / 2 + i * world_size, "%d of %d: %d", i, numbers,
          sum[i]);
  free(own), free(sum);
}

static void under_file_limit(rlim_t bytes) {
  const struct rlimit limit = {bytes, bytes};
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
  add_up(10);
  add_up(1000);
  add_up(200000);
  for (int i = 0; i < 50; ++i) add_up(3000);
  void* memory;
  MPI_Alloc_mem(64 << 20, MPI_INFO_NULL, &memory);
  memset(memory, 1, 64 << 20);
  MPI_Free_mem(memory);
}

static void make_long_calls(int bytes) {
  const int period = 1;
  char *const own = calloc((size_t)bytes, 1), *const all = malloc(2 * (size_t)bytes);
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &period, 0, &ring);
  for (int round = 0; round < 4; ++round) {
    MPI_Request request;
    memset(own, world_rank == 0 ? 'a' + round : 0, (size_t)bytes);
    MPI_Ibcast(own, bytes, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(own[0] == 'a' + round && own[bytes - 1] == 'a' + round, "bcast %d", round);
  }
  for (int round = 0; round < 4; ++round) {
    memset(own, world_rank + round, (size_t)bytes);
    MPI_Neighbor_allgather(own, bytes, MPI_CHAR, all, bytes, MPI_CHAR, ring);
    const int before = (world_rank + world_size - 1) % world_size + round;
    CHECK(all[0] == before && all[bytes - 1] == before, "from the left: %d", all[0]);
  }
  MPI_Comm_free(&ring);
  free(own), free(all);
}

// As sandboxes do.
static void forbid_reading(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
        "no filter: %d", errno);
}

static void lose_permission(void) {
  enum { numbers = 300000 };
  int *const own = calloc(numbers, sizeof *own), *const most = malloc(numbers * sizeof *most);
  for (int round = 0; round < 6; ++round) {
    if (round == 3 && world_rank % 2 == 1) forbid_reading();
    for (int i = 0; i < numbers; ++i) own[i] = world_rank + i + round;
    MPI_Allreduce(own, most, numbers, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < numbers; ++i)
      CHECK(most[i] == world_size - 1 + i + round, "round %d, %d: %d", round, i, most[i]);
  }
  free(own), free(most);
}

// As memory of devices. A system without such memory gives ordinary one.
static int* unreadable_by_others(size_t bytes) {
  const int file = (int)syscall(SYS_memfd_secret, 0);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) return malloc(bytes);
  int* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory != MAP_FAILED ? memory : malloc(bytes);
}

static void send_secrets(void) {
  enum { numbers = 50000 }; /* of a part */
  const size_t bytes = (size_t)numbers * (size_t)world_size * sizeof(int);
  int* const out = world_rank % 2 == 1 ? unreadable_by_others(bytes) : malloc(bytes);
  int* const in = malloc(bytes);
  int counts[16], places[16];
  for (int part = 0; part < world_size; ++part)
    counts[part] = numbers, places[part] = part * numbers;
  for (int round = 0; round < 4; ++round) {
    memset(in, 0, bytes);
    for (int i = 0; i < numbers * world_size; ++i) out[i] = world_rank * 7 + i + round;
    if (round % 2 == 0)
      MPI_Alltoall(out, numbers, MPI_INT, in, numbers, MPI_INT, MPI_COMM_WORLD);
    else
      MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < numbers * world_size; ++i) {
      const int from = i / numbers, there = world_rank * numbers + i % numbers;
      CHECK(in[i] == from * 7 + there + round, "round %d, %d: %d", round, i, in[i]);
    }
  }
}

static int end(void) {
  void* memory;
  MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &memory);
  MPI_Free_mem(memory);
  add_up(1000);
  MPI_Finalize();
  FILE* const maps = fopen("/proc/self/maps", "r");
  int left = 0;
  for (char line[512]; fgets(line, sizeof line, maps) != NULL;)
    if (strstr(line, "memfd:tutti") != NULL) ++left, fputs(line, stderr);
  if (world_rank == 0 && left == 0) printf("ok\n");
  return left;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  if (strcmp(argv[1], "end") == 0) return end();
  if (strcmp(argv[1], "reading") == 0)
    lose_permission();
  else if (strcmp(argv[1], "secret") == 0)
    send_secrets();
  else if (strcmp(argv[1], "file") == 0)
    under_file_limit((rlim_t)atol(argv[2]));
  else
    make_long_calls(atoi(argv[2]));
  return finish();
}
