// ucp_worker_progress of UCX, through which all waits of a host MPI over UCX pass: MPICH as
// Debian and PyPI build it, and Open MPI's pml/ucx. It polls as UCX's function does, and then
// rests.
//
// A rank with a core of its own counts its polls, and jumps to UCX's function.
//
// A program may use UCX beside MPI. Its own workers are those that it makes outside the calls of
// MPI. Their polls do not rest, because the program may have other work between two polls.
#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "mpi/host/loaded.h"
#include "mpi/host/tools.h"
#include "mpi/progress/host_waits.h"
#include "shm/order.h"

namespace {

using tutti::mpi::Loaded;

using Status = signed char;  // ucs_status_t; 0 is success
using Progress = unsigned (*)(void* worker);
using Create = Status (*)(void* context, const void* parameters, void** worker);
using Destroy = void (*)(void* worker);

constinit thread_local int32_t untold = 0;  // polls before HostWait is told of the next

// UCX's function for the host's workers, and the one to which a poll jumps: the same, unless the
// program has made a worker of its own. A thread's first poll finds `untold` at 0, and looks for
// both if no other has.
constinit tutti::shm::Word hosts{0}, next{0};

Progress function_in(const tutti::shm::Word& word) {
  return reinterpret_cast<Progress>(tutti::shm::load_relaxed(word));
}
void set(tutti::shm::Word& word, Progress function) {
  tutti::shm::store_relaxed(word, reinterpret_cast<uintptr_t>(function));
}

// Calls visit(address) for the frames of this thread's stack, the innermost first, until it returns
// false.
template <class Visit>
void for_frames(Visit visit) {
  const auto step = [](_Unwind_Context* context, void* data) {
    const auto* const at =
        reinterpret_cast<const void*>(_Unwind_GetIP(context) - 1);  // in the call
    return (*static_cast<Visit*>(data))(at) ? _URC_NO_REASON : _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(step, &visit);
}

// The file that has called UCX, through the hooks of one interposer of Tutti's or of several.
const Loaded* find_caller(const std::vector<Loaded>& all) {
  const Loaded* caller = nullptr;
  for_frames([&](const void* at) {
    caller = Loaded::that_has(all, at);
    return caller != nullptr && tutti::mpi::is_interposer(*caller);
  });
  return caller;
}

// Finds UCX's function as the dynamic linker would without Tutti: in the search order, and then
// among the libraries that the caller needs. A process may have several UCX.
template <class Function>
Function find_next(const char* name) {
  const auto find_in = [name](const char* file) {
    void* const library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    return library == nullptr ? nullptr : dlsym(library, name);
  };
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    const std::vector<Loaded> all = Loaded::all();
    const Loaded* const caller = find_caller(all);
    if (caller != nullptr && !caller->path().empty()) found = find_in(caller->path().c_str());
  }
  if (found == nullptr) found = find_in("libucp.so.0");
  if (found != nullptr) return reinterpret_cast<Function>(found);
  tutti::log_line(tutti::LogLevel::error,
                  "cannot find UCX's %s behind Tutti's; run the program without tutti-run, and "
                  "report this",
                  name);
  std::abort();
}

// The program's own workers. A thread that uses a worker has got it from the thread that made it,
// so it sees the worker's entry.
struct OwnWorker {
  tutti::shm::Word worker{0};  // 0: the entry is free
  Progress progress = nullptr;
};
std::mutex mutex;                                  // for changes
constinit std::array<OwnWorker, 256> own_workers;  // further ones are taken for the host's
constinit tutti::shm::Word own_workers_end{0};     // the entries before it may be in use

uint64_t word_of(const void* worker) { return reinterpret_cast<uintptr_t>(worker); }

OwnWorker* find_own(uint64_t worker) {
  OwnWorker* const end = own_workers.data() + tutti::shm::load_relaxed(own_workers_end);
  OwnWorker* const found = std::find_if(own_workers.data(), end, [&](const OwnWorker& own) {
    return tutti::shm::load_relaxed(own.worker) == worker;
  });
  return found == end ? nullptr : found;
}

// True if the thread is in a call of MPI: a frame of its stack is in the host's library. The
// program may load that library later.
bool is_in_mpi() {
  const std::vector<Loaded> all = Loaded::all();
  const Loaded* const host = tutti::mpi::find_host_library(all);
  if (host == nullptr) return false;
  bool found = false;
  for_frames([&](const void* at) {
    found = host->has(at);
    return !found;
  });
  return found;
}

unsigned poll_own_or_hosts(void* worker) {
  const OwnWorker* const own = find_own(word_of(worker));
  return (own != nullptr ? own->progress : function_in(hosts))(worker);
}

void add_own(void* worker, Progress progress) {
  const std::lock_guard lock(mutex);
  const uint64_t used = tutti::shm::load_relaxed(own_workers_end);
  OwnWorker* own = find_own(0);
  if (own == nullptr && used == own_workers.size()) return;
  if (own == nullptr) own = &own_workers[used];
  own->progress = progress;
  tutti::shm::store_relaxed(own->worker, word_of(worker));
  if (own == &own_workers[used]) tutti::shm::store_relaxed(own_workers_end, used + 1);
  if (function_in(hosts) != nullptr) set(next, poll_own_or_hosts);
}

void find_hosts() {
  const auto found = find_next<Progress>("ucp_worker_progress");
  const std::lock_guard lock(mutex);
  set(hosts, found);
  set(next, tutti::shm::load_relaxed(own_workers_end) == 0 ? found : poll_own_or_hosts);
}

[[gnu::noinline]] unsigned poll_and_tell(void* worker) {
  if (const OwnWorker* const own = find_own(word_of(worker)); own != nullptr) {
    ++untold;
    return own->progress(worker);
  }
  if (function_in(hosts) == nullptr) find_hosts();
  const unsigned progressed = function_in(hosts)(worker);
  untold = tutti::mpi::host_wait.polled(progressed != 0);
  return progressed;
}

}  // namespace

#define TUTTI_HOOK extern "C" __attribute__((visibility("default")))

TUTTI_HOOK unsigned ucp_worker_progress(void* worker) {
  if (--untold >= 0) [[likely]]
    return function_in(next)(worker);
  return poll_and_tell(worker);
}

TUTTI_HOOK Status ucp_worker_create(void* context, const void* parameters, void** worker) {
  const Status status = find_next<Create>("ucp_worker_create")(context, parameters, worker);
  if (status == 0 && !is_in_mpi()) add_own(*worker, find_next<Progress>("ucp_worker_progress"));
  return status;
}

TUTTI_HOOK void ucp_worker_destroy(void* worker) {
  {
    const std::lock_guard lock(mutex);
    if (OwnWorker* const own = find_own(word_of(worker)); own != nullptr)
      tutti::shm::store_relaxed(own->worker, 0);
  }
  find_next<Destroy>("ucp_worker_destroy")(worker);
}
