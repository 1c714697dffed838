#include "mpi/requests/requests.h"

#include <mutex>
#include <unordered_map>
#include <utility>

namespace tutti::mpi {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::unique_ptr<Persistent>> requests;  // by the program's handle
  // Requests of the host, while calls are recorded.
  std::unordered_map<uint64_t, report::Record> by_host;
};

// Never destroyed: exit handlers may still call MPI.
Table& table() {
  static Table& made = *new Table;
  return made;
}

uint64_t key_of(MPI_Request request) { return (uint64_t)request; }

template <class Do>
void for_own(int count, const MPI_Request* requests, Do what) {
  for (int i = 0; i < count && requests != nullptr; ++i)
    if (Persistent* const own = own_request(requests[i])) what(*own, requests[i]);
}

using State = Persistent::State;

}  // namespace

int note_request(std::unique_ptr<Persistent> persistent, MPI_Request* request) {
  static char nothing = 0;
  const int code =
      host().Send_init(&nothing, 0, host().type_byte, 0, 0, persistent->loopback(), request);
  if (code != MPI_SUCCESS) return code;
  const std::lock_guard<std::mutex> lock(table().mutex);
  table().requests[key_of(*request)] = std::move(persistent);
  shm::store_relaxed(own_requests, table().requests.size());
  return MPI_SUCCESS;
}

std::unique_ptr<Persistent> forget_request(MPI_Request request) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  const auto found = table().requests.find(key_of(request));
  if (found == table().requests.end()) return nullptr;
  std::unique_ptr<Persistent> forgotten = std::move(found->second);
  table().requests.erase(found);
  shm::store_relaxed(own_requests, table().requests.size());
  return forgotten;
}

Persistent* own_request(MPI_Request request) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  const auto found = table().requests.find(key_of(request));
  return found == table().requests.end() ? nullptr : found->second.get();
}

void note_hosts_request(MPI_Request request, const report::Record& call) noexcept {
  try {
    const std::lock_guard<std::mutex> lock(table().mutex);
    table().by_host[key_of(request)] = call;
    shm::store_relaxed(hosts_requests, table().by_host.size());
  } catch (...) {  // memory ran out; the report then lacks its starts
  }
}

void forget_hosts_request(MPI_Request request) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  table().by_host.erase(key_of(request));
  shm::store_relaxed(hosts_requests, table().by_host.size());
}

void record_hosts_start(MPI_Request request, std::chrono::nanoseconds time) {
  report::Record call;
  {
    const std::lock_guard<std::mutex> lock(table().mutex);
    const auto found = table().by_host.find(key_of(request));
    if (found == table().by_host.end()) return;
    call = found->second;
  }
  call.time = time;
  report::record(call);
}

MPI_Request no_request() {
  static const MPI_Request null = MPI_REQUEST_NULL;
  return null;
}

int start(MPI_Request* request) {
  Persistent* const own = has_own_requests() ? own_request(*request) : nullptr;
  return own != nullptr ? own->start()
                        : start_by_host(*request, [&] { return host().Start(request); });
}

int start_all(int count, MPI_Request* requests) {
  if ((!has_own_requests() && !records_starts()) || requests == nullptr)
    return host().Startall(count, requests);
  for (int i = 0; i < count; ++i)
    if (const int code = start(&requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int free_request(MPI_Request* request) {
  const std::unique_ptr<Persistent> ended = has_own_requests() ? forget_request(*request) : nullptr;
  if (records_starts()) forget_hosts_request(*request);
  return host().Request_free(request);
}

int complete_own(int count, const MPI_Request* requests) {
  int code = MPI_SUCCESS;
  for_own(count, requests, [&](Persistent& own, MPI_Request) {
    if (code == MPI_SUCCESS && own.state() == State::pending) code = own.complete();
    if (own.state() == State::taken) own.set_idle();
  });
  return code;
}

Left take_own(int count, const MPI_Request* requests) {
  Left left;
  Persistent* late = nullptr;
  for_own(count, requests, [&](Persistent& own, MPI_Request) {
    if (left.code != MPI_SUCCESS || own.state() != State::pending) return;
    if (own.all_started()) {
      left.code = own.complete();
    } else {
      late = &own;
      ++left.count;
    }
  });
  if (late != nullptr) late->drive_host();
  return left;
}

Left show_own(int count, const MPI_Request* requests) {
  Left left = take_own(count, requests);
  for_own(count, requests, [&](Persistent& own, MPI_Request request) {
    if (left.code == MPI_SUCCESS && own.state() == State::taken) left.code = own.show(request);
  });
  return left;
}

void note_told(int count, const MPI_Request* requests) {
  for_own(count, requests, [](Persistent& own, MPI_Request) {
    if (own.state() == State::taken) own.set_idle();
  });
}

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return wait_for_some(
      Requests{count, requests},
      [&](bool* found) {
        int flag = 0;
        const int code = host().Testany(count, requests, index, &flag, status);
        *found = flag != 0 && *index != MPI_UNDEFINED;
        return code;
      },
      [&] { return host().Waitany(count, requests, index, status); });
}

int wait_some(int count, MPI_Request* requests, int* completed, int* indices,
              MPI_Status* statuses) {
  return wait_for_some(
      Requests{count, requests},
      [&](bool* found) {
        const int code = host().Testsome(count, requests, completed, indices, statuses);
        *found = *completed != MPI_UNDEFINED && *completed > 0;
        return code;
      },
      [&] { return host().Waitsome(count, requests, completed, indices, statuses); });
}

namespace {

int get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return test_all(Requests{1, &request}, flag, false,
                  [&] { return host().Request_get_status(request, flag, status); });
}

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

// Finds the first complete requests, at most `most`, and returns their number; -1 if no request is
// active. *code is the host's error code.
int find_complete(int count, const MPI_Request* requests, int most, int* indices,
                  MPI_Status* statuses, int* code) {
  int found = 0;
  bool any = false;
  for (int i = 0; i < count && found < most; ++i) {
    if (requests[i] == no_request()) continue;
    any = true;
    int flag = 0;
    *code = get_status(requests[i], &flag, status_at(statuses, found));
    if (*code != MPI_SUCCESS) return found;
    if (flag != 0) indices[found++] = i;
  }
  return any ? found : -1;
}

}  // namespace

int get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  *flag = 1;
  if (host().Request_get_status_all != nullptr)
    return test_all(Requests{count, requests}, flag, false,
                    [&] { return host().Request_get_status_all(count, requests, flag, statuses); });
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; ++i)
    statuses[i].MPI_ERROR = MPI_SUCCESS;
  for (int i = 0; i < count && *flag != 0 && code == MPI_SUCCESS; ++i)
    code = get_status(requests[i], flag, status_at(statuses, i));
  return code;
}

int get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status) {
  if (host().Request_get_status_any != nullptr)
    return test_some(Requests{count, requests}, index, flag, [&] {
      return host().Request_get_status_any(count, requests, index, flag, status);
    });
  int code = MPI_SUCCESS;
  const int found = find_complete(count, requests, 1, index, status, &code);
  *flag = found != 0 ? 1 : 0;
  if (found >= 0) return code;
  *index = MPI_UNDEFINED;
  // The status becomes empty, with MPI_ERROR = MPI_SUCCESS, which functions of one status do not
  // write.
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
  return host().Request_get_status(no_request(), flag, status);
}

int get_status_some(int count, const MPI_Request* requests, int* completed, int* indices,
                    MPI_Status* statuses) {
  if (host().Request_get_status_some != nullptr)
    return test_some(Requests{count, requests}, completed, completed, [&] {
      return host().Request_get_status_some(count, requests, completed, indices, statuses);
    });
  int code = MPI_SUCCESS;
  *completed = find_complete(count, requests, count, indices, statuses, &code);
  if (*completed < 0) *completed = MPI_UNDEFINED;
  return code;
}

}  // namespace tutti::mpi
