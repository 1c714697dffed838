#include "mpi/requests/own_request.h"

#include <mutex>
#include <vector>

#include "base/log.h"
#include "group/handle_table.h"
#include "mpi/host/last_message.h"
#include "mpi/job/self.h"
#include "mpi/job/thrown.h"

namespace tutti::mpi {
namespace {

using Table = group::HandleTable<OwnRequest, void>;

struct Handles {
  std::mutex mutex;
  std::vector<Request> all, free;
  Table table;
};

// Never destroyed: exit handlers may still call MPI.
Handles& handles() {
  static Handles& made = *new Handles;
  return made;
}

uint64_t key_of(Request handle) { return (uint64_t)handle; }

// Makes a handle and appends it to the free ones. The caller holds the lock.
int make_handle(Handles& handles) {
  static char nothing = 0;
  const Host& mpi = host();
  handles.all.reserve(handles.all.size() + 1);
  handles.free.reserve(handles.all.size() + 1);
  Request made{};
  const int code =
      mpi.Send_init(&nothing, 0, mpi.type_byte, abi.proc_null, 0, self_communicator(), &made);
  if (code != success) return code;
  handles.all.push_back(made);
  handles.free.push_back(made);
  shm::store_relaxed(own_handles, handles.all.size());
  return success;
}

}  // namespace

int OwnRequest::start() {
  if (state_ != State::idle) [[unlikely]]
    return raise_error(is_persistent()
                           ? "a persistent collective is started again before it has been completed"
                           : "MPI_Start is given the request of a non-blocking collective",
                       abi.err_request);
  try {
    return start_round();
  } catch (...) {
    return raise_thrown(communicator());
  }
}

int OwnRequest::raise_error(const char* what, int code) {
  log_line(LogLevel::error, "%s", what);
  let_launcher_read();  // the handler may abort the job
  return raise(communicator(), code);
}

int take_handle(OwnRequest* request, Request* handle) {
  Handles& handles = mpi::handles();
  const std::lock_guard<std::mutex> lock(handles.mutex);
  if (handles.free.empty())
    if (const int code = make_handle(handles); code != success) return code;
  handles.table.put(key_of(handles.free.back()), {request});
  *handle = handles.free.back();
  handles.free.pop_back();
  return success;
}

void give_back_handle(Request handle) noexcept {
  Handles& handles = mpi::handles();
  const std::lock_guard<std::mutex> lock(handles.mutex);
  handles.table.remove(key_of(handle));
  handles.free.push_back(handle);  // within the capacity
}

void watch_messages() noexcept {
  shm::publish(messages_go_on, 0);
  Handles& handles = mpi::handles();
  const std::lock_guard<std::mutex> lock(handles.mutex);
  if (handles.all.empty()) shm::store_relaxed(own_handles, 1);
}

void free_handles() noexcept {
  Handles& handles = mpi::handles();
  const std::lock_guard<std::mutex> lock(handles.mutex);
  shm::store_relaxed(own_handles, 0);
  handles.table.clear();
  for (Request& handle : handles.all) host().Request_free(&handle);
  handles.all.clear();
  handles.free.clear();
}

OwnRequest* own_request(Request handle) { return handles().table.find(key_of(handle)).object; }

}  // namespace tutti::mpi
