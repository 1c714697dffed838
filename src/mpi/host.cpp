#include "mpi/host.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <string>

#include "base/log.h"

namespace tutti::mpi {
namespace {

// The file name of a library without its directory.
std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool looks_like_mpi(std::string_view path) {
  const std::string_view name = base_name(path);
  return (name.starts_with("libmpi") || name.starts_with("libpmpi")) &&
         name.find(".so") != name.npos;
}

// Programs see their MPI in the global scope. Interpreters load it into a scope of its own, where
// only a walk over all loaded libraries finds it; that walk is not for every look-up, so the
// library is remembered.
struct Library {
  void* handle = RTLD_DEFAULT;
  std::string path;  // of the library that defines PMPI_Init; empty: there is none
};

int inspect(dl_phdr_info* info, size_t, void* context) {
  Library& library = *static_cast<Library*>(context);
  if (info->dlpi_name == nullptr || !looks_like_mpi(info->dlpi_name)) return 0;
  void* handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  if (dlsym(handle, "PMPI_Init") != nullptr) {
    library = {handle, info->dlpi_name};  // kept open: it must outlive the table
    return 1;
  }
  dlclose(handle);
  return 0;
}

Library find_library() {
  Library library;
  Dl_info info;
  if (void* init = dlsym(RTLD_DEFAULT, "PMPI_Init"); init != nullptr && dladdr(init, &info) != 0)
    library.path = info.dli_fname;
  else
    dl_iterate_phdr(inspect, &library);
  return library;
}

const Library& library() {
  static const Library& found = *new Library(find_library());
  return found;
}

bool speaks_our_abi() {
  const std::string_view name = base_name(library().path);
  const bool open_mpi = dlsym(library().handle, "ompi_mpi_comm_world") != nullptr;
  const bool standard = name.starts_with("libmpi_abi") || name.starts_with("libpmpi_abi");
  switch (abi) {
    case Abi::openmpi: return open_mpi && !standard;
    case Abi::standard: return standard;
    case Abi::mpich: return !open_mpi && !standard && looks_like_mpi(name);
    case Abi::smpi: return name.starts_with("libsimgrid");
  }
  return false;
}

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library().handle, name));
}

// The next definition of a name behind this library: another interposer's, or the host's.
template <class Function>
void find_next(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (function == nullptr) find(function, name);
}

void find_collectives(Host& host, auto&& locate) {
  locate(host.Barrier, "PMPI_Barrier");
  locate(host.Bcast, "PMPI_Bcast");
  locate(host.Gather, "PMPI_Gather");
  locate(host.Scatter, "PMPI_Scatter");
  locate(host.Allgather, "PMPI_Allgather");
  locate(host.Alltoall, "PMPI_Alltoall");
  locate(host.Reduce, "PMPI_Reduce");
  locate(host.Allreduce, "PMPI_Allreduce");
  locate(host.Reduce_scatter_block, "PMPI_Reduce_scatter_block");
  locate(host.Gatherv, "PMPI_Gatherv");
  locate(host.Scatterv, "PMPI_Scatterv");
  locate(host.Allgatherv, "PMPI_Allgatherv");
  locate(host.Alltoallv, "PMPI_Alltoallv");
  locate(host.Alltoallw, "PMPI_Alltoallw");
  locate(host.Reduce_scatter, "PMPI_Reduce_scatter");
  locate(host.Scan, "PMPI_Scan");
  locate(host.Exscan, "PMPI_Exscan");
  locate(host.Bcast_c, "PMPI_Bcast_c");
  locate(host.Gather_c, "PMPI_Gather_c");
  locate(host.Scatter_c, "PMPI_Scatter_c");
  locate(host.Allgather_c, "PMPI_Allgather_c");
  locate(host.Alltoall_c, "PMPI_Alltoall_c");
  locate(host.Reduce_c, "PMPI_Reduce_c");
  locate(host.Allreduce_c, "PMPI_Allreduce_c");
  locate(host.Reduce_scatter_block_c, "PMPI_Reduce_scatter_block_c");
  locate(host.Scan_c, "PMPI_Scan_c");
  locate(host.Exscan_c, "PMPI_Exscan_c");
}

template <class Count, class Displacement>
void find_persistent(PersistentInits<Count, Displacement>& inits, const std::string& form,
                     auto&& locate) {
  const auto look = [&](auto& function, const char* name) {
    locate(function, std::string(name).append(form).c_str());
  };
  look(inits.Bcast_init, "PMPI_Bcast_init");
  look(inits.Gather_init, "PMPI_Gather_init");
  look(inits.Scatter_init, "PMPI_Scatter_init");
  look(inits.Allgather_init, "PMPI_Allgather_init");
  look(inits.Alltoall_init, "PMPI_Alltoall_init");
  look(inits.Gatherv_init, "PMPI_Gatherv_init");
  look(inits.Scatterv_init, "PMPI_Scatterv_init");
  look(inits.Allgatherv_init, "PMPI_Allgatherv_init");
  look(inits.Alltoallv_init, "PMPI_Alltoallv_init");
  look(inits.Alltoallw_init, "PMPI_Alltoallw_init");
  look(inits.Reduce_init, "PMPI_Reduce_init");
  look(inits.Allreduce_init, "PMPI_Allreduce_init");
  look(inits.Reduce_scatter_block_init, "PMPI_Reduce_scatter_block_init");
  look(inits.Scan_init, "PMPI_Scan_init");
  look(inits.Exscan_init, "PMPI_Exscan_init");
  look(inits.Reduce_scatter_init, "PMPI_Reduce_scatter_init");
}

void find_requests(Host& host, auto&& locate) {
  locate(host.Start, "PMPI_Start");
  locate(host.Startall, "PMPI_Startall");
  locate(host.Request_free, "PMPI_Request_free");
  locate(host.Wait, "PMPI_Wait");
  locate(host.Waitall, "PMPI_Waitall");
  locate(host.Waitany, "PMPI_Waitany");
  locate(host.Waitsome, "PMPI_Waitsome");
  locate(host.Test, "PMPI_Test");
  locate(host.Testall, "PMPI_Testall");
  locate(host.Testany, "PMPI_Testany");
  locate(host.Testsome, "PMPI_Testsome");
  locate(host.Request_get_status, "PMPI_Request_get_status");
  locate(host.Request_get_status_all, "PMPI_Request_get_status_all");
  locate(host.Request_get_status_any, "PMPI_Request_get_status_any");
  locate(host.Request_get_status_some, "PMPI_Request_get_status_some");
}

// `profiled` is "P" or nothing.
void find_makers(Makers& makers, const char* profiled) {
  const auto look = [&](auto& function, const char* name) {
    find_next(function, std::string(profiled).append(name).c_str());
  };
  look(makers.Comm_dup, "MPI_Comm_dup");
  look(makers.Comm_dup_with_info, "MPI_Comm_dup_with_info");
  look(makers.Comm_create, "MPI_Comm_create");
  look(makers.Comm_create_group, "MPI_Comm_create_group");
  look(makers.Comm_split, "MPI_Comm_split");
  look(makers.Comm_split_type, "MPI_Comm_split_type");
  look(makers.Cart_create, "MPI_Cart_create");
  look(makers.Cart_sub, "MPI_Cart_sub");
  look(makers.Graph_create, "MPI_Graph_create");
  look(makers.Dist_graph_create, "MPI_Dist_graph_create");
  look(makers.Dist_graph_create_adjacent, "MPI_Dist_graph_create_adjacent");
  look(makers.Comm_free, "MPI_Comm_free");
  look(makers.Comm_disconnect, "MPI_Comm_disconnect");
}

void find_entries(Host& host) {
  find_makers(host.makers, "");
  find_makers(host.profiled_makers, "P");
  auto locate = [&](auto& function, const char* name) {
    if (host.foreign)
      find_next(function, name + 1);  // MPI_*, without the P
    else
      find(function, name);
  };
  locate(host.Init, "PMPI_Init");
  locate(host.Init_thread, "PMPI_Init_thread");
  locate(host.Finalize, "PMPI_Finalize");
  locate(host.Abort, "PMPI_Abort");
  locate(host.Comm_spawn, "PMPI_Comm_spawn");
  locate(host.Intercomm_merge, "PMPI_Intercomm_merge");
#ifdef TUTTI_SESSIONS
  locate(host.Session_init, "PMPI_Session_init");
  locate(host.Session_finalize, "PMPI_Session_finalize");
#endif
  find_collectives(host, locate);
#ifdef TUTTI_LARGE_COUNTS
  locate(host.Gatherv_c, "PMPI_Gatherv_c");
  locate(host.Scatterv_c, "PMPI_Scatterv_c");
  locate(host.Allgatherv_c, "PMPI_Allgatherv_c");
  locate(host.Alltoallv_c, "PMPI_Alltoallv_c");
  locate(host.Alltoallw_c, "PMPI_Alltoallw_c");
  locate(host.Reduce_scatter_c, "PMPI_Reduce_scatter_c");
#endif
  locate(host.Barrier_init, "PMPI_Barrier_init");
  find_persistent(host.persistent, "", locate);
  find_persistent(host.persistent_large, "_c", locate);
  find_requests(host, locate);
  locate(host.Iprobe, "PMPI_Iprobe");
  locate(host.Improbe, "PMPI_Improbe");
  locate(host.Win_test, "PMPI_Win_test");
  locate(host.Alloc_mem, "PMPI_Alloc_mem");
  locate(host.Free_mem, "PMPI_Free_mem");
  locate(host.Win_allocate, "PMPI_Win_allocate");
  locate(host.Win_free, "PMPI_Win_free");
  locate(host.Win_get_attr, "PMPI_Win_get_attr");
}

void find_functions(Host& host) {
  find(host.Initialized, "PMPI_Initialized");
  find(host.Comm_size, "PMPI_Comm_size");
  find(host.Comm_remote_size, "PMPI_Comm_remote_size");
  find(host.Comm_rank, "PMPI_Comm_rank");
  find(host.Comm_group, "PMPI_Comm_group");
  find(host.Comm_test_inter, "PMPI_Comm_test_inter");
  find(host.Error_class, "PMPI_Error_class");
  find(host.Get_library_version, "PMPI_Get_library_version");
  // Not this library's, of the same names.
  host.Comm_split = host.profiled_makers.Comm_split;
  host.Comm_split_type = host.profiled_makers.Comm_split_type;
  host.Comm_free = host.profiled_makers.Comm_free;
  find(host.Comm_call_errhandler, "PMPI_Comm_call_errhandler");
  find(host.Comm_set_errhandler, "PMPI_Comm_set_errhandler");
  find(host.Comm_create_errhandler, "PMPI_Comm_create_errhandler");
  find(host.Errhandler_free, "PMPI_Errhandler_free");
  find(host.Comm_create_keyval, "PMPI_Comm_create_keyval");
  find(host.Comm_free_keyval, "PMPI_Comm_free_keyval");
  find(host.Comm_get_attr, "PMPI_Comm_get_attr");
  find(host.Comm_get_parent, "PMPI_Comm_get_parent");
  find(host.Comm_set_attr, "PMPI_Comm_set_attr");
  find(host.Group_size, "PMPI_Group_size");
  find(host.Group_incl, "PMPI_Group_incl");
  find(host.Group_translate_ranks, "PMPI_Group_translate_ranks");
  find(host.Group_free, "PMPI_Group_free");
#ifdef TUTTI_SESSIONS
  find(host.Group_from_session_pset, "PMPI_Group_from_session_pset");
#endif
  find(host.Iallreduce, "PMPI_Iallreduce");
  find(host.Send_init, "PMPI_Send_init");
  find(host.Isend, "PMPI_Isend");
  find(host.Irecv, "PMPI_Irecv");
  find(host.Send, "PMPI_Send");
  find(host.Recv, "PMPI_Recv");
  find(host.Get_count, "PMPI_Get_count");
  find(host.Type_size, "PMPI_Type_size");
  find(host.Type_get_extent, "PMPI_Type_get_extent");
  find(host.Type_get_true_extent, "PMPI_Type_get_true_extent");
  find(host.Type_get_envelope, "PMPI_Type_get_envelope");
  find(host.Type_get_contents, "PMPI_Type_get_contents");
  find(host.Type_dup, "PMPI_Type_dup");
  find(host.Type_free, "PMPI_Type_free");
  find(host.Pack, "PMPI_Pack");
  find(host.Unpack, "PMPI_Unpack");
  find(host.Op_commutative, "PMPI_Op_commutative");
  find(host.Reduce_local, "PMPI_Reduce_local");
  find(host.Info_get, "PMPI_Info_get");
  find(host.Win_create, "PMPI_Win_create");
}

void find_handles(Host& host) {
  host.comm_null = MPI_COMM_NULL;
  host.comm_world = MPI_COMM_WORLD;
  host.comm_self = MPI_COMM_SELF;
  host.type_null = MPI_DATATYPE_NULL;
  host.type_byte = MPI_BYTE;
  host.type_packed = MPI_PACKED;
  host.type_uint64 = MPI_UINT64_T;
  host.op_null = MPI_OP_NULL;
  host.op_sum = MPI_SUM;
  host.op_min = MPI_MIN;
  host.op_max = MPI_MAX;
  host.info_null = MPI_INFO_NULL;
}

Host* make_host() {
  if (library().path.empty()) {
    log_line(LogLevel::error,
             "lib%s.so finds no MPI library in this process; link the program to one",
             (std::string("tutti-") + std::string(abi_name)).c_str());
    _exit(2);
  }
  Host* host = new Host{};
  host->foreign = !speaks_our_abi();
  find_entries(*host);
  if (host->foreign) {
    log_line(LogLevel::info, "%s is no MPI of the ABI '%s'; its calls pass through",
             library().path.c_str(), std::string(abi_name).c_str());
    return host;
  }
  find_functions(*host);
  find_handles(*host);
  return host;
}

}  // namespace

void* host_symbol(const char* name) { return dlsym(library().handle, name); }

bool host_tolerates_faults() {
  const auto* enabled = static_cast<const bool*>(host_symbol("ompi_ftmpi_enabled"));
  return enabled != nullptr && *enabled;
}

shm::Word found_host{0};

const Host& find_host() {
  static const Host* const made =
      make_host();  // lives until the process ends: exit handlers may still call MPI
  shm::publish(found_host, reinterpret_cast<uint64_t>(made));
  return *made;
}

}  // namespace tutti::mpi
