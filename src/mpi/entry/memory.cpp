#include "mpi/entry/memory.h"

#include <stdlib.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/log.h"
#include "base/options.h"
#include "mpi/host/private_communicator.h"
#include "mpi/host/ranks.h"
#include "mpi/communicators/registry.h"
#include "mpi/job/thrown.h"
#include "mpi/progress/host_waits.h"
#include "shm/process_heap.h"

namespace tutti::mpi {
namespace {

constexpr size_t usual_alignment = shm::usual_alignment;
constexpr const char* alignment_key = "mpi_minimum_memory_alignment";

// The memory of a window that Tutti has made. The host frees it if it allocated it, else the heap.
struct WindowMemory {
  void* base;
  bool from_host;
};

struct Windows {
  std::mutex mutex;
  std::map<uint64_t, WindowMemory> memory;  // indexed by handle
};

Windows& windows() {
  static Windows& made = *new Windows;
  return made;
}

uint64_t key_of(Win window) { return (uint64_t)window; }

// The least alignment that the program requests; 0 if the value cannot be used.
size_t wished_alignment(Info info) {
  if (info == host().info_null) return usual_alignment;
  char text[32] = {};
  int found = 0;
  if (host().Info_get(info, alignment_key, sizeof text - 1, text, &found) != success) return 0;
  if (found == 0) return usual_alignment;
  const unsigned long long wish = strtoull(text, nullptr, 10);
  return wish > 0 && (wish & (wish - 1)) == 0 ? static_cast<size_t>(wish) : 0;
}

// True if Tutti allocates the memory of this communicator's windows; the same at all of its ranks.
// A communicator of one rank would gain nothing, and some hosts refuse it windows over given
// memory.
bool serves_windows_of(Comm communicator) {
  if (!options().shared_heap || Inside::depth > 0 || !registry_is_open() ||
      communicator == host().comm_null)
    return false;
  const std::shared_ptr<Team> team = world_team();
  int ranks = 0, inter = 0;
  if (team == nullptr || !team->memory().direct() ||
      host().Comm_test_inter(communicator, &inter) != success || inter != 0)
    return false;
  return host().Comm_size(communicator, &ranks) == success && ranks > 1 &&
         team->covers(communicator, ranks);
}

void give_back(const WindowMemory& held) {
  if (held.from_host)
    host().Free_mem(held.base);
  else
    shm::give_memory(held.base);
}

// If this rank's heap is full, the host allocates the memory, so that all ranks make the same
// calls. `base` is null if there is no memory at all.
WindowMemory take_for_window(Aint size) {
  WindowMemory held{shm::take_memory(size > 0 ? static_cast<size_t>(size) : 1, usual_alignment),
                    false};
  if (held.base != nullptr) return held;
  held.from_host = true;
  if (host().Alloc_mem(size > 0 ? size : 1, host().info_null, &held.base) != success)
    held.base = nullptr;
  return held;
}

// A copy of a communicator for one attempt. Its errors are returned as codes, and the program's
// error handler is not called.
class Trial {
 public:
  // Collective; a failure is raised on the program's communicator.
  explicit Trial(Comm communicator) {
    copy_ = PrivateCommunicator::split(communicator, 0, rank_in(communicator), &code_);
    if (copy_) copy_.return_errors();
  }

  int code() const { return code_; }
  Comm communicator() const { return copy_.get(); }

 private:
  PrivateCommunicator copy_;
  int code_ = success;
};

// Collective. Makes a window over the heap's memory at all ranks, or at none; returns whether it
// did. *code is an error that has been raised on the program's communicator.
bool make_window(Aint size, int unit, Info info, Comm communicator, void* baseptr, Win* window,
                 int* code) {
  const Trial trial(communicator);
  *code = trial.code();
  if (*code != success) return false;
  const WindowMemory held = take_for_window(size);
  if (!all_say(held.base != nullptr, trial.communicator())) {
    if (held.base != nullptr) give_back(held);
    return false;
  }
  const bool made =
      host().Win_create(held.base, size, unit, info, trial.communicator(), window) == success;
  if (!all_say(made, trial.communicator())) {
    // A window that other ranks lack cannot be freed, and so its memory cannot be freed either.
    if (!made) give_back(held);
    log_once(
        "windows", LogLevel::info,
        "the host MPI makes no windows over the shared heap; it allocates their memory itself");
    return false;
  }
  *static_cast<void**>(baseptr) = held.base;
  const std::lock_guard<std::mutex> lock(windows().mutex);
  windows().memory[key_of(*window)] = held;
  return true;
}

}  // namespace

int alloc_mem(Aint size, Info info, void* baseptr) {
  if (!host().foreign && Inside::depth == 0 && size > 0 && baseptr != nullptr &&
      shm::has_process_heap()) {
    const size_t alignment = wished_alignment(info);
    if (void* const address =
            alignment > 0 ? shm::take_memory(static_cast<size_t>(size), alignment) : nullptr) {
      *static_cast<void**>(baseptr) = address;
      return success;
    }
  }
  return host().Alloc_mem(size, info, baseptr);
}

int free_mem(void* base) { return shm::give_memory(base) ? success : host().Free_mem(base); }

int win_create(void* base, Aint size, int unit, Info info, Comm communicator, Win* window) {
  return sleeping([&] { return host().Win_create(base, size, unit, info, communicator, window); });
}

namespace {

int allocate_window(Aint size, int unit, Info info, Comm communicator, void* baseptr, Win* window) {
  if (host().foreign || baseptr == nullptr || window == nullptr || !serves_windows_of(communicator))
    return host().Win_allocate(size, unit, info, communicator, baseptr, window);
  const Inside inside;
  bool served = false;
  const int code = guarded(communicator, [&] {
    int raised = success;
    served = make_window(size, unit, info, communicator, baseptr, window, &raised);
    return raised;
  });
  if (code != success || served) return code;
  return host().Win_allocate(size, unit, info, communicator, baseptr, window);
}

}  // namespace

int win_allocate(Aint size, int unit, Info info, Comm communicator, void* baseptr, Win* window) {
  return sleeping([&] { return allocate_window(size, unit, info, communicator, baseptr, window); });
}

// The memory is given back after the window is freed: until then other ranks may put data into it.
int win_free(Win* window) {
  const uint64_t key = window != nullptr ? key_of(*window) : 0;
  const int code = sleeping([&] { return host().Win_free(window); });
  if (code != success || host().foreign) return code;
  WindowMemory held{};
  {
    const std::lock_guard<std::mutex> lock(windows().mutex);
    const auto found = windows().memory.find(key);
    if (found == windows().memory.end()) return code;
    held = found->second;
    windows().memory.erase(found);
  }
  give_back(held);
  return code;
}

// The program must see a window over the heap's memory as one whose memory MPI allocated.
int win_get_attr(Win window, int keyval, void* value, int* flag) {
  const int code = host().Win_get_attr(window, keyval, value, flag);
  if (code != success || host().foreign || keyval != abi.win_create_flavor || flag == nullptr ||
      *flag == 0)
    return code;
  static int allocated = abi.win_flavor_allocate;
  const std::lock_guard<std::mutex> lock(windows().mutex);
  if (windows().memory.contains(key_of(window))) *static_cast<int**>(value) = &allocated;
  return code;
}

}  // namespace tutti::mpi

// A program that is linked to libtutti.so calls these two functions instead of that library's,
// because a preloaded library is searched first.
extern "C" __attribute__((visibility("default"))) void* tutti_alloc(size_t bytes) {
  const size_t wanted = bytes > 0 ? bytes : 1;
  void* address = tutti::shm::take_memory(wanted, tutti::shm::usual_alignment);
  if (address == nullptr && posix_memalign(&address, 64, wanted) != 0) return nullptr;
  return address;
}

extern "C" __attribute__((visibility("default"))) void tutti_free(void* memory) {
  if (!tutti::shm::give_memory(memory)) free(memory);
}
