// The host MPI: the PMPI functions that Tutti calls, found in the process when the first MPI call
// arrives.
//
// One object a process, made once, constant from then on; any thread may read it. Where the process
// runs an MPI of another ABI than this build's (two interposers may be preloaded into an
// interpreter), the entry points pass their calls on to the next definition of MPI_* and Tutti
// stays out.
#pragma once

#include "net/abi.h"
#include "shm/order.h"

namespace tutti::mpi {

// Which of an entry point's two forms was called, and is handed on to the host.
enum class Form { plain, large };

// Large-count forms, whether or not the header that Tutti is built with has them.
using LargeMove = int(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype,
                      MPI_Comm);
using LargeRootedMove = int(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype,
                            int, MPI_Comm);
using LargeReduction = int(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);

// What makes persistent collectives, whether or not the header has it: Count is int, and int or
// MPI_Count and MPI_Aint are what arrays hold.
template <class Count>
using BcastInit = int(void*, Count, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
template <class Count>
using MoveInit = int(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm,
                     MPI_Info, MPI_Request*);
template <class Count>
using RootedMoveInit = int(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, int,
                           MPI_Comm, MPI_Info, MPI_Request*);
template <class Count, class Displacement>
using GathervInit = int(const void*, Count, MPI_Datatype, void*, const Count[],
                        const Displacement[], MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
template <class Count, class Displacement>
using ScattervInit = int(const void*, const Count[], const Displacement[], MPI_Datatype, void*,
                         Count, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
template <class Count, class Displacement>
using AllgathervInit = int(const void*, Count, MPI_Datatype, void*, const Count[],
                           const Displacement[], MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*);
template <class Count, class Displacement>
using AlltoallvInit = int(const void*, const Count[], const Displacement[], MPI_Datatype, void*,
                          const Count[], const Displacement[], MPI_Datatype, MPI_Comm, MPI_Info,
                          MPI_Request*);
template <class Count, class Displacement>
using AlltoallwInit = int(const void*, const Count[], const Displacement[], const MPI_Datatype[],
                          void*, const Count[], const Displacement[], const MPI_Datatype[],
                          MPI_Comm, MPI_Info, MPI_Request*);
template <class Count>
using ReductionInit = int(const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                          MPI_Request*);
template <class Count>
using ReduceInit = int(const void*, void*, Count, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info,
                       MPI_Request*);
template <class Count>
using ReduceScatterInit = int(const void*, void*, const Count[], MPI_Datatype, MPI_Op, MPI_Comm,
                              MPI_Info, MPI_Request*);

// One form of each; null where the MPI has none.
template <class Count, class Displacement>
struct PersistentInits {
  BcastInit<Count>* Bcast_init;
  RootedMoveInit<Count>*Gather_init, *Scatter_init;
  MoveInit<Count>*Allgather_init, *Alltoall_init;
  GathervInit<Count, Displacement>* Gatherv_init;
  ScattervInit<Count, Displacement>* Scatterv_init;
  AllgathervInit<Count, Displacement>* Allgatherv_init;
  AlltoallvInit<Count, Displacement>* Alltoallv_init;
  AlltoallwInit<Count, Displacement>* Alltoallw_init;
  ReduceInit<Count>* Reduce_init;
  ReductionInit<Count>*Allreduce_init, *Reduce_scatter_block_init, *Scan_init, *Exscan_init;
  ReduceScatterInit<Count>* Reduce_scatter_init;
};

// What makes communicators of this process's job, and what ends them.
struct Makers {
  decltype(&PMPI_Comm_dup) Comm_dup;
  decltype(&PMPI_Comm_dup_with_info) Comm_dup_with_info;
  decltype(&PMPI_Comm_create) Comm_create;
  decltype(&PMPI_Comm_create_group) Comm_create_group;
  decltype(&PMPI_Comm_split) Comm_split;
  decltype(&PMPI_Comm_split_type) Comm_split_type;
  decltype(&PMPI_Cart_create) Cart_create;
  decltype(&PMPI_Cart_sub) Cart_sub;
  decltype(&PMPI_Graph_create) Graph_create;
  decltype(&PMPI_Dist_graph_create) Dist_graph_create;
  decltype(&PMPI_Dist_graph_create_adjacent) Dist_graph_create_adjacent;
  decltype(&PMPI_Comm_free) Comm_free;
  decltype(&PMPI_Comm_disconnect) Comm_disconnect;
};

struct Host {
  // By either name, the next definition behind this library: a tool's, or the host's.
  Makers makers, profiled_makers;
  // The other entry points' own functions: PMPI_*, or the next MPI_* where the ABI is foreign.
  decltype(&PMPI_Init) Init;
  decltype(&PMPI_Init_thread) Init_thread;
  decltype(&PMPI_Finalize) Finalize;
  decltype(&PMPI_Abort) Abort;
  decltype(&PMPI_Comm_spawn) Comm_spawn;
  decltype(&PMPI_Intercomm_merge) Intercomm_merge;
#ifdef TUTTI_SESSIONS
  decltype(&PMPI_Session_init) Session_init;  // null in an older MPI, as Group_from_session_pset
  decltype(&PMPI_Session_finalize) Session_finalize;
#endif
  decltype(&PMPI_Barrier) Barrier;
  decltype(&PMPI_Bcast) Bcast;
  decltype(&PMPI_Gather) Gather;
  decltype(&PMPI_Scatter) Scatter;
  decltype(&PMPI_Allgather) Allgather;
  decltype(&PMPI_Alltoall) Alltoall;
  decltype(&PMPI_Reduce) Reduce;
  decltype(&PMPI_Allreduce) Allreduce;
  decltype(&PMPI_Reduce_scatter_block) Reduce_scatter_block;
  decltype(&PMPI_Gatherv) Gatherv;
  decltype(&PMPI_Scatterv) Scatterv;
  decltype(&PMPI_Allgatherv) Allgatherv;
  decltype(&PMPI_Alltoallv) Alltoallv;
  decltype(&PMPI_Alltoallw) Alltoallw;
  decltype(&PMPI_Reduce_scatter) Reduce_scatter;
  decltype(&PMPI_Scan) Scan;
  decltype(&PMPI_Exscan) Exscan;
  // The large-count forms, null in an older MPI.
  int (*Bcast_c)(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
  LargeRootedMove *Gather_c, *Scatter_c;
  LargeMove *Allgather_c, *Alltoall_c;
  int (*Reduce_c)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);
  LargeReduction *Allreduce_c, *Reduce_scatter_block_c, *Scan_c, *Exscan_c;
#ifdef TUTTI_LARGE_COUNTS
  decltype(&PMPI_Gatherv_c) Gatherv_c;
  decltype(&PMPI_Scatterv_c) Scatterv_c;
  decltype(&PMPI_Allgatherv_c) Allgatherv_c;
  decltype(&PMPI_Alltoallv_c) Alltoallv_c;
  decltype(&PMPI_Alltoallw_c) Alltoallw_c;
  decltype(&PMPI_Reduce_scatter_c) Reduce_scatter_c;
#endif
  int (*Barrier_init)(MPI_Comm, MPI_Info, MPI_Request*);  // null in an older MPI, as all of these
  PersistentInits<int, int> persistent;
  PersistentInits<MPI_Count, MPI_Aint> persistent_large;
  decltype(&PMPI_Start) Start;
  decltype(&PMPI_Startall) Startall;
  decltype(&PMPI_Request_free) Request_free;
  decltype(&PMPI_Wait) Wait;
  decltype(&PMPI_Waitall) Waitall;
  decltype(&PMPI_Waitany) Waitany;
  decltype(&PMPI_Waitsome) Waitsome;
  decltype(&PMPI_Test) Test;
  decltype(&PMPI_Testall) Testall;
  decltype(&PMPI_Testany) Testany;
  decltype(&PMPI_Testsome) Testsome;
  decltype(&PMPI_Request_get_status) Request_get_status;
  // Of MPI 4.1, null in an older one.
  int (*Request_get_status_all)(int, const MPI_Request[], int*, MPI_Status*);
  int (*Request_get_status_any)(int, const MPI_Request[], int*, int*, MPI_Status*);
  int (*Request_get_status_some)(int, const MPI_Request[], int*, int*, MPI_Status*);
  decltype(&PMPI_Iprobe) Iprobe;
  decltype(&PMPI_Improbe) Improbe;
  decltype(&PMPI_Win_test) Win_test;
  decltype(&PMPI_Alloc_mem) Alloc_mem;
  decltype(&PMPI_Free_mem) Free_mem;
  decltype(&PMPI_Win_allocate) Win_allocate;
  decltype(&PMPI_Win_free) Win_free;
  decltype(&PMPI_Win_get_attr) Win_get_attr;

  // What Tutti itself needs; null where the ABI is foreign.
  decltype(&PMPI_Initialized) Initialized;
  decltype(&PMPI_Comm_size) Comm_size;
  decltype(&PMPI_Comm_remote_size) Comm_remote_size;
  decltype(&PMPI_Comm_rank) Comm_rank;
  decltype(&PMPI_Comm_group) Comm_group;
  decltype(&PMPI_Comm_test_inter) Comm_test_inter;
  decltype(&PMPI_Error_class) Error_class;
  decltype(&PMPI_Get_library_version) Get_library_version;
  decltype(&PMPI_Comm_split) Comm_split;
  decltype(&PMPI_Comm_split_type) Comm_split_type;
  decltype(&PMPI_Comm_free) Comm_free;
  decltype(&PMPI_Comm_call_errhandler) Comm_call_errhandler;
  decltype(&PMPI_Comm_set_errhandler) Comm_set_errhandler;
  decltype(&PMPI_Comm_create_errhandler) Comm_create_errhandler;
  decltype(&PMPI_Errhandler_free) Errhandler_free;
  decltype(&PMPI_Comm_create_keyval) Comm_create_keyval;
  decltype(&PMPI_Comm_free_keyval) Comm_free_keyval;
  decltype(&PMPI_Comm_set_attr) Comm_set_attr;
  decltype(&PMPI_Comm_get_attr) Comm_get_attr;
  decltype(&PMPI_Comm_get_parent) Comm_get_parent;
  decltype(&PMPI_Group_size) Group_size;
  decltype(&PMPI_Group_incl) Group_incl;
  decltype(&PMPI_Group_translate_ranks) Group_translate_ranks;
  decltype(&PMPI_Group_free) Group_free;
#ifdef TUTTI_SESSIONS
  decltype(&PMPI_Group_from_session_pset) Group_from_session_pset;
#endif
  decltype(&PMPI_Iallreduce) Iallreduce;
  decltype(&PMPI_Send_init) Send_init;
  decltype(&PMPI_Isend) Isend;
  decltype(&PMPI_Irecv) Irecv;
  decltype(&PMPI_Send) Send;
  decltype(&PMPI_Recv) Recv;
  decltype(&PMPI_Get_count) Get_count;
  decltype(&PMPI_Type_size) Type_size;
  decltype(&PMPI_Type_get_extent) Type_get_extent;
  decltype(&PMPI_Type_get_true_extent) Type_get_true_extent;
  decltype(&PMPI_Type_get_envelope) Type_get_envelope;
  decltype(&PMPI_Type_get_contents) Type_get_contents;
  decltype(&PMPI_Type_dup) Type_dup;
  decltype(&PMPI_Type_free) Type_free;
  decltype(&PMPI_Pack) Pack;
  decltype(&PMPI_Unpack) Unpack;
  decltype(&PMPI_Op_commutative) Op_commutative;
  decltype(&PMPI_Reduce_local) Reduce_local;
  decltype(&PMPI_Info_get) Info_get;
  decltype(&PMPI_Win_create) Win_create;

  // Handles, looked up once.
  MPI_Comm comm_null;
  MPI_Comm comm_world;
  MPI_Comm comm_self;
  MPI_Datatype type_null;
  MPI_Datatype type_byte;
  MPI_Datatype type_packed;
  MPI_Datatype type_uint64;
  MPI_Op op_null;
  MPI_Op op_sum;
  MPI_Op op_min;
  MPI_Op op_max;
  MPI_Info info_null;

  bool foreign = false;
};

// True where programs may outlive failed ranks (Open MPI's --with-ft): what a collective then
// returns, and that it returns at all, is the host's to say. Asked after MPI_Init.
bool host_tolerates_faults();

extern shm::Word found_host;  // its address; 0 before the first MPI call arrives
const Host& find_host();

// Prints one line and ends the process where it holds no MPI at all.
inline const Host& host() {
  const uint64_t found = shm::observe(found_host);
  return found != 0 ? *reinterpret_cast<const Host*>(found) : find_host();
}

}  // namespace tutti::mpi
