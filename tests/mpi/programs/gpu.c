// Collectives on memory of a GPU, which no processor can read (fake_cuda.c): each is made on the
// host's memory and on the GPU's, and the results must be the same. Odd ranks use the GPU's memory
// and the others the host's, so that a rank that goes another way than the others hangs. The
// library, which the first argument names, is loaded after calls have been made, as Python programs
// do.
#include <dlfcn.h>

#include "check.h"

enum { most_ranks = 8, most_elements = 40000, room = most_ranks * most_elements };
enum { blocking, started, persistent, forms };
static const char* const form_names[] = {"blocking", "non-blocking", "persistent"};

static void* (*allocate)(size_t);
static long (*copies)(void);
static int (*copy)(void*, const void*, size_t, int);

// What one call works on. Buffers have room for most_ranks parts.
typedef struct {
  int *in, *out;
  int count;
  int form;
  MPI_Comm comm;
  MPI_Request request;
} Work;

static int counts[most_ranks], places[most_ranks], bytes_at[most_ranks];
static MPI_Datatype types[most_ranks], gaps;

static void fill_parts(int count) {
  for (int r = 0; r < world_size; ++r) {
    counts[r] = count;
    places[r] = (world_size - 1 - r) * count;
    bytes_at[r] = places[r] * (int)sizeof(int);
    types[r] = MPI_INT;
  }
}

#define AS_ASKED(w, name, ...)                                                    \
  do {                                                                            \
    if ((w)->form == blocking) MPI_##name(__VA_ARGS__, (w)->comm);                \
    if ((w)->form == started) MPI_I##name(__VA_ARGS__, (w)->comm, &(w)->request); \
    if ((w)->form == persistent)                                                  \
      MPI_##name##_init(__VA_ARGS__, (w)->comm, MPI_INFO_NULL, &(w)->request);    \
  } while (0)
// The names of functions begin with a small letter after MPI_I.
#define MPI_IBcast MPI_Ibcast
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IGather MPI_Igather
#define MPI_IScatter MPI_Iscatter
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IScan MPI_Iscan
#define MPI_INeighbor_allgather MPI_Ineighbor_allgather
#define MPI_INeighbor_alltoallv MPI_Ineighbor_alltoallv

static void bcast(Work* w) { AS_ASKED(w, Bcast, w->out, w->count, MPI_INT, world_size - 1); }
static void bcast_gaps(Work* w) { AS_ASKED(w, Bcast, w->out, w->count / 3, gaps, 0); }
static void reduce(Work* w) {
  AS_ASKED(w, Reduce, w->in, w->out, w->count, MPI_INT, MPI_SUM, world_size - 1);
}
static void allreduce(Work* w) {
  AS_ASKED(w, Allreduce, w->in, w->out, w->count, MPI_INT, MPI_SUM);
}
static void allreduce_in_place(Work* w) {
  AS_ASKED(w, Allreduce, MPI_IN_PLACE, w->out, w->count, MPI_INT, MPI_MAX);
}
static void gather(Work* w) {
  const int root = world_size - 1, at_root = world_rank == root;
  AS_ASKED(w, Gather, w->in, w->count, MPI_INT, at_root ? w->out : (int*)8, w->count, MPI_INT,
           root);
}
static void scatter(Work* w) {
  AS_ASKED(w, Scatter, w->in, w->count, MPI_INT, w->out, w->count, MPI_INT, 0);
}
static void allgather(Work* w) {
  AS_ASKED(w, Allgather, w->in, w->count, MPI_INT, w->out, w->count, MPI_INT);
}
static void allgatherv(Work* w) {
  AS_ASKED(w, Allgatherv, w->in, w->count, MPI_INT, w->out, counts, places, MPI_INT);
}
static void alltoall(Work* w) {
  AS_ASKED(w, Alltoall, w->in, w->count, MPI_INT, w->out, w->count, MPI_INT);
}
static void alltoall_in_place(Work* w) {
  AS_ASKED(w, Alltoall, MPI_IN_PLACE, 0, MPI_INT, w->out, w->count, MPI_INT);
}
static void alltoallv(Work* w) {
  AS_ASKED(w, Alltoallv, w->in, counts, places, MPI_INT, w->out, counts, places, MPI_INT);
}
static void alltoallw(Work* w) {
  AS_ASKED(w, Alltoallw, w->in, counts, bytes_at, types, w->out, counts, bytes_at, types);
}
static void reduce_scatter(Work* w) {
  AS_ASKED(w, Reduce_scatter, w->in, w->out, counts, MPI_INT, MPI_SUM);
}
static void reduce_scatter_in_place(Work* w) {
  AS_ASKED(w, Reduce_scatter_block, MPI_IN_PLACE, w->out, w->count, MPI_INT, MPI_SUM);
}
static void scan(Work* w) { AS_ASKED(w, Scan, w->in, w->out, w->count, MPI_INT, MPI_SUM); }
static void neighbor_allgather(Work* w) {
  AS_ASKED(w, Neighbor_allgather, w->in, w->count, MPI_INT, w->out, w->count, MPI_INT);
}
static void neighbor_alltoallv(Work* w) {
  static const int two[2][2] = {{1, 1}, {0, 1}};
  static int lengths[2], at[2];
  for (int i = 0; i < 2; ++i) {
    lengths[i] = two[0][i] * w->count;
    at[i] = two[1][i] * w->count;
  }
  AS_ASKED(w, Neighbor_alltoallv, w->in, lengths, at, MPI_INT, w->out, lengths, at, MPI_INT);
}

static const struct {
  const char* name;
  void (*make)(Work*);
} calls[] = {
    {"bcast", bcast},
    {"bcast with gaps", bcast_gaps},
    {"reduce", reduce},
    {"allreduce", allreduce},
    {"allreduce in place", allreduce_in_place},
    {"gather", gather},
    {"scatter", scatter},
    {"allgather", allgather},
    {"allgatherv", allgatherv},
    {"alltoall", alltoall},
    {"alltoall in place", alltoall_in_place},
    {"alltoallv", alltoallv},
    {"alltoallw", alltoallw},
    {"reduce_scatter", reduce_scatter},
    {"reduce_scatter_block in place", reduce_scatter_in_place},
    {"scan", scan},
    {"neighbor_allgather", neighbor_allgather},
    {"neighbor_alltoallv", neighbor_alltoallv},
};
enum { kinds = sizeof calls / sizeof *calls };

static void complete(Work* w) {
  if (w->form == blocking) return;
  if (w->form == persistent) MPI_Start(&w->request);
  MPI_Wait(&w->request, MPI_STATUS_IGNORE);
  if (w->form == persistent) MPI_Request_free(&w->request);
}

static void fill(int* in, int* out) {
  for (int k = 0; k < room; ++k) {
    in[k] = world_rank * 1000 + k;
    out[k] = -world_rank * 1000 - k;
  }
}

static void on_gpu(void* to, const void* from) {
  CHECK(copy(to, from, room * sizeof(int), 4) == 0, "hipMemcpy");
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  int *in = malloc(room * sizeof *in), *out = malloc(room * sizeof *out);
  int *expected = malloc(room * sizeof *out), *got = malloc(room * sizeof *out);
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, (int[]){1}, 0, &ring);
  for (int i = 0; i < 60; ++i) {
    MPI_Barrier(ring);
    exercise(MPI_COMM_WORLD, 1, 4);
  }
  for (int form = started; form < forms; ++form) {  // known before the library comes
    fill(in, out);
    Work work = {in, out, 3, form, MPI_COMM_WORLD, MPI_REQUEST_NULL};
    allreduce(&work);
    complete(&work);
  }
  const int uses_gpu = world_rank % 2 == 1;
  void* const library = dlopen(argv[1], RTLD_NOW);
  CHECK(library != NULL, "%s", dlerror());
  *(void**)&allocate = dlsym(library, "fake_allocate");
  *(void**)&copies = dlsym(library, "fake_copies");
  *(void**)&copy = dlsym(library, "hipMemcpy");
  int *const gpu_in = allocate(room * sizeof(int)), *const gpu_out = allocate(room * sizeof(int));
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &gaps);
  MPI_Type_commit(&gaps);
  static const int lengths[] = {3, 999, most_elements};
  for (int length = 0; length < 3; ++length)
    for (int form = 0; form < forms; ++form)
      for (int kind = 0; kind < kinds; ++kind) {
        const int count = lengths[length];
        fill_parts(count);
        const MPI_Comm comm = kind < kinds - 2 ? MPI_COMM_WORLD : ring;
        fill(in, out);
        Work by_host = {in, out, count, form, comm, MPI_REQUEST_NULL};
        calls[kind].make(&by_host);
        complete(&by_host);
        memcpy(expected, out, room * sizeof *out);
        fill(in, out);
        on_gpu(gpu_in, in);
        on_gpu(gpu_out, out);
        Work work = {uses_gpu ? gpu_in : in, uses_gpu ? gpu_out : out, count, form, comm,
                     MPI_REQUEST_NULL};
        const long before = copies();
        calls[kind].make(&work);
        complete(&work);
        CHECK(!uses_gpu || copies() > before, "%s %s: no copies", form_names[form],
              calls[kind].name);
        CHECK(uses_gpu || copies() == before, "%s %s: copies", form_names[form], calls[kind].name);
        if (uses_gpu) on_gpu(got, gpu_out);
        const int* const result = uses_gpu ? got : out;
        for (int k = 0; k < room; ++k)
          CHECK(result[k] == expected[k], "%s %s of %d: [%d] is %d, not %d", form_names[form],
                calls[kind].name, count, k, result[k], expected[k]);
      }
  MPI_Comm_free(&ring);
  MPI_Type_free(&gaps);
  return finish();
}
