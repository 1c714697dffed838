// ucp_worker_progress of UCX, through which all waits of a host MPI over UCX pass: MPICH as
// Debian and PyPI build it, and Open MPI's pml/ucx. It polls as UCX's function does, and then
// rests.
//
// A rank with a core of its own counts its polls, and jumps to UCX's function.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

#include "base/log.h"
#include "mpi/progress/host_waits.h"

namespace {

using Progress = unsigned (*)(void* worker);

constinit thread_local int32_t untold = 0;  // polls before HostWait is told of the next
constinit thread_local Progress next = nullptr;

// A library that a program has loaded for itself is not in the search order.
Progress find_next() {
  if (void* const found = dlsym(RTLD_NEXT, "ucp_worker_progress"); found != nullptr)
    return reinterpret_cast<Progress>(found);
  if (void* const library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD); library != nullptr)
    return reinterpret_cast<Progress>(dlsym(library, "ucp_worker_progress"));
  tutti::log_line(tutti::LogLevel::error,
                  "cannot find UCX's ucp_worker_progress behind Tutti's; run the program without "
                  "tutti-run, and report this");
  std::abort();
}

[[gnu::noinline]] unsigned poll_and_tell(void* worker) {
  if (next == nullptr) next = find_next();
  const unsigned progressed = next(worker);
  untold = tutti::mpi::host_wait.polled(progressed != 0);
  return progressed;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  if (--untold >= 0) [[likely]]
    return next(worker);
  return poll_and_tell(worker);
}
