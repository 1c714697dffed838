// persistent.c with the names that Fortran compilers give Open MPI's routines, called as Fortran
// code calls them. If the host has no Fortran library, only the interposer has these routines. All
// arguments are addresses; handles are integers.
#include <mpi.h>

typedef MPI_Fint F;

// The last arguments of every routine.
typedef struct {
  F comm, info, request, error;
} Last;
#define LAST &last.comm, &last.info, &last.request, &last.error

extern char mpi_fortran_in_place_;

static void* at(void* data) { return data == MPI_IN_PLACE ? (void*)&mpi_fortran_in_place_ : data; }
static F* handles(const MPI_Datatype* types, int count) {
  static F made[4][8];
  static int turn;
  F* const chosen = made[++turn % 4];
  for (int i = 0; i < count; ++i) chosen[i] = MPI_Type_c2f(types[i]);
  return chosen;
}
static F* handle(MPI_Datatype type) { return handles(&type, 1); }
static F* handles_of_all(const MPI_Datatype* types) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return handles(types, ranks);
}
static Last last_of(MPI_Comm comm, MPI_Info info) {
  return (Last){MPI_Comm_c2f(comm), MPI_Info_c2f(info), -1, -1};
}
static int made(const Last* last, MPI_Request* request) {
  *request = MPI_Request_f2c(last->request);
  return last->error;
}

extern void mpi_barrier_init_(F*, F*, F*, F*) __attribute__((weak));
extern void mpi_bcast_init_(void*, F*, F*, F*, F*, F*, F*, F*) __attribute__((weak));
extern void mpi_gather_init_(void*, F*, F*, void*, F*, F*, F*, F*, F*, F*, F*)
    __attribute__((weak));
extern void mpi_scatter_init_(void*, F*, F*, void*, F*, F*, F*, F*, F*, F*, F*)
    __attribute__((weak));
extern void mpi_allgather_init_(void*, F*, F*, void*, F*, F*, F*, F*, F*, F*) __attribute__((weak));
extern void mpi_alltoall_init_(void*, F*, F*, void*, F*, F*, F*, F*, F*, F*) __attribute__((weak));
extern void mpi_gatherv_init_(void*, F*, F*, void*, F*, F*, F*, F*, F*, F*, F*, F*)
    __attribute__((weak));
extern void mpi_scatterv_init_(void*, F*, F*, F*, void*, F*, F*, F*, F*, F*, F*, F*)
    __attribute__((weak));
extern void mpi_allgatherv_init_(void*, F*, F*, void*, F*, F*, F*, F*, F*, F*, F*)
    __attribute__((weak));
extern void mpi_alltoallv_init_(void*, F*, F*, F*, void*, F*, F*, F*, F*, F*, F*, F*)
    __attribute__((weak));
extern void mpi_alltoallw_init_(void*, F*, F*, F*, void*, F*, F*, F*, F*, F*, F*, F*)
    __attribute__((weak));
extern void mpi_reduce_init_(void*, void*, F*, F*, F*, F*, F*, F*, F*, F*) __attribute__((weak));
extern void mpi_allreduce_init_(void*, void*, F*, F*, F*, F*, F*, F*, F*) __attribute__((weak));
extern void mpi_reduce_scatter_block_init_(void*, void*, F*, F*, F*, F*, F*, F*, F*)
    __attribute__((weak));
extern void mpi_scan_init_(void*, void*, F*, F*, F*, F*, F*, F*, F*) __attribute__((weak));
extern void mpi_exscan_init_(void*, void*, F*, F*, F*, F*, F*, F*, F*) __attribute__((weak));
extern void mpi_reduce_scatter_init_(void*, void*, F*, F*, F*, F*, F*, F*, F*)
    __attribute__((weak));

static int barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_barrier_init_(LAST);
  return made(&last, request);
}
static int bcast_init(void* in, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_bcast_init_(at(in), &n, handle(type), &root, LAST);
  return made(&last, request);
}
static int gather_init(void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype other,
                       int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_gather_init_(at(in), &n, handle(type), at(out), &m, handle(other), &root, LAST);
  return made(&last, request);
}
static int scatter_init(void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype other,
                        int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_scatter_init_(at(in), &n, handle(type), at(out), &m, handle(other), &root, LAST);
  return made(&last, request);
}
static int allgather_init(void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype other,
                          MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_allgather_init_(at(in), &n, handle(type), at(out), &m, handle(other), LAST);
  return made(&last, request);
}
static int alltoall_init(void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype other,
                         MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_alltoall_init_(at(in), &n, handle(type), at(out), &m, handle(other), LAST);
  return made(&last, request);
}
static int gatherv_init(void* in, int n, MPI_Datatype type, void* out, int* ms, int* displs,
                        MPI_Datatype other, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_gatherv_init_(at(in), &n, handle(type), at(out), ms, displs, handle(other), &root, LAST);
  return made(&last, request);
}
static int scatterv_init(void* in, int* ns, int* displs, MPI_Datatype type, void* out, int m,
                         MPI_Datatype other, int root, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_scatterv_init_(at(in), ns, displs, handle(type), at(out), &m, handle(other), &root, LAST);
  return made(&last, request);
}
static int allgatherv_init(void* in, int n, MPI_Datatype type, void* out, int* ms, int* displs,
                           MPI_Datatype other, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_allgatherv_init_(at(in), &n, handle(type), at(out), ms, displs, handle(other), LAST);
  return made(&last, request);
}
static int alltoallv_init(void* in, int* ns, int* from, MPI_Datatype type, void* out, int* ms,
                          int* to, MPI_Datatype other, MPI_Comm comm, MPI_Info info,
                          MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_alltoallv_init_(at(in), ns, from, handle(type), at(out), ms, to, handle(other), LAST);
  return made(&last, request);
}
static int alltoallw_init(void* in, int* ns, int* from, MPI_Datatype* types, void* out, int* ms,
                          int* to, MPI_Datatype* others, MPI_Comm comm, MPI_Info info,
                          MPI_Request* request) {
  Last last = last_of(comm, info);
  mpi_alltoallw_init_(at(in), ns, from, handles_of_all(types), at(out), ms, to,
                      handles_of_all(others), LAST);
  return made(&last, request);
}
static int reduce_init(void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  F operation = MPI_Op_c2f(op);
  mpi_reduce_init_(at(in), at(out), &n, handle(type), &operation, &root, LAST);
  return made(&last, request);
}
static int allreduce_init(void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                          MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  F operation = MPI_Op_c2f(op);
  mpi_allreduce_init_(at(in), at(out), &n, handle(type), &operation, LAST);
  return made(&last, request);
}
static int reduce_scatter_block_init(void* in, void* out, int n, MPI_Datatype type, MPI_Op op,
                                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  F operation = MPI_Op_c2f(op);
  mpi_reduce_scatter_block_init_(at(in), at(out), &n, handle(type), &operation, LAST);
  return made(&last, request);
}
static int scan_init(void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                     MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  F operation = MPI_Op_c2f(op);
  mpi_scan_init_(at(in), at(out), &n, handle(type), &operation, LAST);
  return made(&last, request);
}
static int exscan_init(void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  F operation = MPI_Op_c2f(op);
  mpi_exscan_init_(at(in), at(out), &n, handle(type), &operation, LAST);
  return made(&last, request);
}
static int reduce_scatter_init(void* in, void* out, int* ns, MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Last last = last_of(comm, info);
  F operation = MPI_Op_c2f(op);
  mpi_reduce_scatter_init_(at(in), at(out), ns, handle(type), &operation, LAST);
  return made(&last, request);
}

#define MPI_Barrier_init barrier_init
#define MPI_Bcast_init bcast_init
#define MPI_Gather_init gather_init
#define MPI_Scatter_init scatter_init
#define MPI_Allgather_init allgather_init
#define MPI_Alltoall_init alltoall_init
#define MPI_Gatherv_init gatherv_init
#define MPI_Scatterv_init scatterv_init
#define MPI_Allgatherv_init allgatherv_init
#define MPI_Alltoallv_init alltoallv_init
#define MPI_Alltoallw_init alltoallw_init
#define MPI_Reduce_init reduce_init
#define MPI_Allreduce_init allreduce_init
#define MPI_Reduce_scatter_block_init reduce_scatter_block_init
#define MPI_Scan_init scan_init
#define MPI_Exscan_init exscan_init
#define MPI_Reduce_scatter_init reduce_scatter_init

#include "persistent.c"
