// The host's ABI: its name, and its constants. Each interposer has one definition (abi/abi.cpp),
// for its MPI. Constant; any thread.
#pragma once

#include <array>
#include <cstring>
#include <string_view>

#include "mpi/host/handles.h"

namespace tutti::mpi {

// Constants have MPI's names in small letters.
struct AbiFacts {
  std::string_view name;
  bool is_open_mpi;  // Open MPI behaves otherwise than all others where the standard leaves it open
  bool large_counts;  // its mpi.h, and so Tutti, has the large-count forms
  void* in_place;
  Status* status_ignore;
  int undefined, proc_null, any_source, tag_ub, keyval_invalid, comm_type_shared;
  int cart, graph, dist_graph;
  int thread_single, thread_multiple;
  int win_create_flavor, win_flavor_allocate;
  int err_arg, err_comm, err_count, err_no_mem, err_other, err_request, err_truncate;
  // The error classes of wrong arguments.
  std::array<int, 13> refusals;
  size_t datatype_bytes, request_bytes;  // the size of a handle
  int longest_version;                   // MPI_MAX_LIBRARY_VERSION_STRING
};
extern const AbiFacts abi;

// Where a program's call stores a request, in the host's form. The path of calls that were made
// before writes it there at once.
class RequestPlace {
 public:
  explicit RequestPlace(void* of_host) : of_host_(of_host) {}

  void store(Request request) const {
    const auto bits = static_cast<uint64_t>(request);
    const auto half = static_cast<uint32_t>(bits);
    if (abi.request_bytes == sizeof half)
      std::memcpy(of_host_, &half, sizeof half);
    else
      std::memcpy(of_host_, &bits, sizeof bits);
  }
  // Calls make(REQUEST), which returns an error code, and stores the request if that is success.
  // Where handles have one size, `make` gets the place itself, because an MPI of another ABI may
  // write less (host.h).
  template <class Make>
  int store_made(Make&& make) const {
    if (abi.request_bytes == sizeof(Request)) return make(static_cast<Request*>(of_host_));
    Request made{};
    const int code = make(&made);
    if (code == success) store(made);
    return code;
  }

 private:
  void* of_host_;
};

// An element of an array of the host's datatypes.
Datatype datatype_in(const void* array, size_t at);
// The handle that tutti_group_of_communicator (tutti/tutti.h) gets as a number.
Comm comm_of(uint64_t number);
// The sender of the message that a probe has found.
int source_of(const Status& status);

// True if ranks are simulated. The ranks of SMPI share one process and one thread; each has its own
// copy of the library's globals and of nothing else, so for SMPI all rooms are compiled once more.
// TUTTI_PER_THREAD is for variables of which each thread has its own. Under SMPI each rank has:
// SMPI copies globals for each rank, but not thread_local variables.
#if defined(TUTTI_SIMULATED)
inline constexpr bool simulated = true;
#define TUTTI_PER_THREAD
#else
inline constexpr bool simulated = false;
#define TUTTI_PER_THREAD thread_local
#endif

}  // namespace tutti::mpi
