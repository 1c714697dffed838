// A program that uses UCX itself beside MPI: own_ucx linked|dlopened. Its ranks exchange messages
// in a ring by workers of their own, in turn with messages of MPI, and wait for them by polls, by
// ucp_worker_wait and by an event descriptor. All but rank 0 print how often 20,000 polls of their
// own workers, and then a wait in MPI for 0.1 s, gave the core away.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include "check.h"

// Tutti and the host call these, because the program comes first in the search order.
static unsigned long rests;

int sched_yield(void) {
  ++rests;
  return (int)syscall(SYS_sched_yield);
}

int nanosleep(const struct timespec* time, struct timespec* left) {
  ++rests;
  return (int)syscall(SYS_nanosleep, time, left);
}

#define FUNCTIONS(X)             \
  X(ucp_config_read);            \
  X(ucp_init_version);           \
  X(ucp_config_release);         \
  X(ucp_cleanup);                \
  X(ucp_worker_create);          \
  X(ucp_worker_destroy);         \
  X(ucp_worker_progress);        \
  X(ucp_worker_wait);            \
  X(ucp_worker_arm);             \
  X(ucp_worker_get_efd);         \
  X(ucp_worker_get_address);     \
  X(ucp_worker_release_address); \
  X(ucp_worker_flush_nbx);       \
  X(ucp_ep_create);              \
  X(ucp_ep_close_nbx);           \
  X(ucp_tag_send_nbx);           \
  X(ucp_tag_recv_nbx);           \
  X(ucp_request_check_status);   \
  X(ucp_request_free)

static struct {
#define POINTER(name) __typeof__(&name) name
  FUNCTIONS(POINTER);
} ucx;

static void find_ucx(int dlopened) {
  void* const library = dlopened ? dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL) : NULL;
  CHECK(!dlopened || library != NULL, "no UCX");
#define FIND(name) ucx.name = dlopened ? (__typeof__(&name))dlsym(library, #name) : name
  FUNCTIONS(FIND);
}

static ucp_worker_h worker;

enum { by_polls, by_wait, by_descriptor, ways };

static void wait_once(int way) {
  if (way == by_wait) {
    CHECK(ucx.ucp_worker_wait(worker) == UCS_OK, "wait");
  } else if (way == by_descriptor) {
    struct pollfd event = {.events = POLLIN};
    CHECK(ucx.ucp_worker_get_efd(worker, &event.fd) == UCS_OK, "descriptor");
    const ucs_status_t status = ucx.ucp_worker_arm(worker);
    CHECK(status == UCS_OK || status == UCS_ERR_BUSY, "arm");
    if (status == UCS_OK) CHECK(poll(&event, 1, 60000) == 1, "no event in a minute");
  }
}

static void complete(void* request, int way) {
  if (request == NULL) return;
  CHECK(!UCS_PTR_IS_ERR(request), "%s", ucs_status_string(UCS_PTR_STATUS(request)));
  while (ucx.ucp_request_check_status(request) == UCS_INPROGRESS)
    if (ucx.ucp_worker_progress(worker) == 0) wait_once(way);
  CHECK(ucx.ucp_request_check_status(request) == UCS_OK, "a request failed");
  ucx.ucp_request_free(request);
}

// Twice, because a worker may get the address of an earlier one.
static void run(int right, int left) {
  ucp_config_t* config;
  ucp_context_h context;
  const ucp_params_t features = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP};
  CHECK(ucx.ucp_config_read(NULL, NULL, &config) == UCS_OK, "config");
  CHECK(ucx.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &features, config, &context) == UCS_OK,
        "init");
  ucx.ucp_config_release(config);
  const ucp_worker_params_t plain = {0};
  CHECK(ucx.ucp_worker_create(context, &plain, &worker) == UCS_OK, "worker");

  ucp_address_t* address;
  size_t bytes;
  char* const addresses = calloc((size_t)world_size, 4096);
  CHECK(ucx.ucp_worker_get_address(worker, &address, &bytes) == UCS_OK && bytes <= 4096, "address");
  memcpy(addresses + 4096 * (size_t)world_rank, address, bytes);
  ucx.ucp_worker_release_address(worker, address);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, addresses, 4096, MPI_BYTE, MPI_COMM_WORLD);
  ucp_ep_h to_right;
  const ucp_ep_params_t peer = {
      .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
      .address = (const ucp_address_t*)(addresses + 4096 * (size_t)right)};
  CHECK(ucx.ucp_ep_create(worker, &peer, &to_right) == UCS_OK, "endpoint");

  const ucp_request_param_t nothing = {0};
  for (int round = 0; round < 60; ++round) {
    int sent = round * world_size + world_rank, got = -1;
    const int expected = round * world_size + left, way = round % ways;
    void* const receive = ucx.ucp_tag_recv_nbx(worker, &got, sizeof got, 7, ~0ul, &nothing);
    complete(ucx.ucp_tag_send_nbx(to_right, &sent, sizeof sent, 7, &nothing), way);
    complete(receive, way);
    CHECK(got == expected, "round %d: %d by UCX", round, got);
    got = -1;
    MPI_Sendrecv(&sent, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(got == expected, "round %d: %d by MPI", round, got);
  }

  const unsigned long before = rests;
  for (int poll = 0; poll < 20000; ++poll) ucx.ucp_worker_progress(worker);
  const unsigned long in_own = rests - before;
  int late = 0;
  if (world_rank == 0) {
    usleep(100000);
    for (int rank = 1; rank < world_size; ++rank)
      MPI_Send(&late, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&late, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fprintf(stderr, "rests: %lu by own polls, %lu in MPI\n", in_own, rests - before - in_own);
  }

  complete(ucx.ucp_worker_flush_nbx(worker, &nothing), by_polls);
  MPI_Barrier(MPI_COMM_WORLD);
  complete(ucx.ucp_ep_close_nbx(to_right, &nothing), by_polls);
  ucx.ucp_worker_destroy(worker);
  ucx.ucp_cleanup(context);
  free(addresses);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  find_ucx(strcmp(argv[1], "dlopened") == 0);
  for (int time = 0; time < 2; ++time)
    run((world_rank + 1) % world_size, (world_rank + world_size - 1) % world_size);
  MPI_Finalize();
  if (world_rank == 0) puts("ok");
  return 0;
}
