#include "mpi/requests/requests.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "mpi/job/self.h"
#include "mpi/job/thrown.h"

namespace tutti::mpi {
namespace {

// Persistent requests of the host, while calls are recorded.
struct Table {
  std::mutex mutex;
  std::unordered_map<uint64_t, report::Record> by_host;  // by the program's handle
};

// Never destroyed: exit handlers may still call MPI.
Table& table() {
  static Table& made = *new Table;
  return made;
}

uint64_t key_of(MPI_Request request) { return (uint64_t)request; }

}  // namespace

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

bool hosts_turn() {
  static TUTTI_PER_THREAD bool turn = false;
  return turn = !turn;
}

int start(MPI_Request* request) {
  OwnRequest* const own = has_own_requests() ? own_request(*request) : nullptr;
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

int free_own(OwnRequest& own, MPI_Request handle, bool* freed) {
  using State = OwnRequest::State;
  *freed = false;
  // MPI_Request_get_status has told the program that a taken operation is complete.
  const bool is_complete = own.state() == State::taken;
  if (!own.is_persistent() && !is_complete)
    return own.raise_error(
        "MPI_Request_free is given a non-blocking collective; complete it by MPI_Wait or MPI_Test",
        MPI_ERR_REQUEST);
  if (own.state() == State::pending)
    return own.raise_error(
        "MPI_Request_free is given a persistent collective that has been started; complete it "
        "first",
        MPI_ERR_REQUEST);
  *freed = true;
  if (is_complete && own.tell()) return MPI_SUCCESS;  // it has given up its handle
  give_back_handle(handle);
  own.discard();
  return MPI_SUCCESS;
}

int refuse_to_cancel(OwnRequest& own) {
  return own.raise_error("MPI_Cancel is given a collective, which cannot be cancelled",
                         MPI_ERR_REQUEST);
}

int free_request(MPI_Request* request) {
  OwnRequest* const own = has_own_requests() ? own_request(*request) : nullptr;
  if (own != nullptr) {
    bool freed = false;
    const int code = free_own(*own, *request, &freed);
    if (freed) *request = no_request();
    return code;
  }
  if (records_starts()) forget_hosts_request(*request);
  return host().Request_free(request);
}

int cancel(MPI_Request* request) {
  OwnRequest* const own = has_own_requests() ? own_request(*request) : nullptr;
  return own != nullptr ? refuse_to_cancel(*own) : host().Cancel(request);
}

namespace {

// Writes empty statuses, as the host does for null requests.
int write_empty(size_t count, MPI_Status* statuses) {
  std::vector<MPI_Request> none(count, no_request());
  return host().Waitall(static_cast<int>(count), none.data(), statuses);
}

// The two ways in which a call may name one request, or some, in C.
struct One {
  int count;
  MPI_Request* requests;
  int* index;
  int* flag;
  MPI_Status* status;

  int ours(const std::vector<int>& which) const {
    *index = which[0];
    *flag = 1;
    MPI_Request none = no_request();
    return host().Wait(&none, status);
  }
  int hosts(bool& found) const {
    const int code = host().Testany(count, requests, index, flag, status);
    found = code == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED;
    return code;
  }
};

struct Some {
  int count;
  MPI_Request* requests;
  int* completed;
  int* indices;
  MPI_Status* statuses;

  int ours(const std::vector<int>& which) const {
    *completed = static_cast<int>(which.size());
    std::copy(which.begin(), which.end(), indices);
    return write_empty(which.size(), statuses);
  }
  int hosts(bool& found) const {
    const int code = host().Testsome(count, requests, completed, indices, statuses);
    found = *completed != MPI_UNDEFINED && *completed > 0;
    return code;
  }
};

template <class Way>
Named name_in_c(const Way& way, int most) {
  return name_some(
      Requests{way.count, way.requests}, most,
      [&](const std::vector<int>& which) { return way.ours(which); },
      [&](bool& found) { return way.hosts(found); });
}

// Returns false if the host's own wait must be called.
template <class Way>
bool wait_in_c(const Way& way, int most, int* code) {
  return wait_for_some(
      Requests{way.count, way.requests}, most, code,
      [&](const std::vector<int>& which) { return way.ours(which); },
      [&](bool& found) { return way.hosts(found); });
}

}  // namespace

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (!has_own_requests()) return host().Waitany(count, requests, index, status);
  return guarded(self_communicator(), [&] {
    int code = MPI_SUCCESS, flag = 0;
    const One way{count, requests, index, &flag, status};
    if (wait_in_c(way, 1, &code)) return code;
    return host().Waitany(count, requests, index, status);
  });
}

int wait_some(int count, MPI_Request* requests, int* completed, int* indices,
              MPI_Status* statuses) {
  if (!has_own_requests()) return host().Waitsome(count, requests, completed, indices, statuses);
  return guarded(self_communicator(), [&] {
    int code = MPI_SUCCESS;
    const Some way{count, requests, completed, indices, statuses};
    if (wait_in_c(way, count, &code)) return code;
    return host().Waitsome(count, requests, completed, indices, statuses);
  });
}

int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  if (!has_own_requests()) return host().Testany(count, requests, index, flag, status);
  return guarded(self_communicator(), [&] {
    const Named named = name_in_c(One{count, requests, index, flag, status}, 1);
    if (!named.any && named.left > 0) {
      *flag = 0;
      *index = MPI_UNDEFINED;
    }
    return named.code;
  });
}

int test_some(int count, MPI_Request* requests, int* completed, int* indices,
              MPI_Status* statuses) {
  if (!has_own_requests()) return host().Testsome(count, requests, completed, indices, statuses);
  return guarded(self_communicator(), [&] {
    const Named named = name_in_c(Some{count, requests, completed, indices, statuses}, count);
    if (!named.any && named.left > 0) *completed = 0;
    return named.code;
  });
}

namespace {

int get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return test_all(Requests{1, &request}, flag, false,
                  [&] { return host().Request_get_status(request, flag, status); });
}

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

bool some_are_own(int count, const MPI_Request* requests) {
  return has_own_requests() && requests != nullptr &&
         std::any_of(requests, requests + count,
                     [](MPI_Request request) { return own_request(request) != nullptr; });
}

// True for MPI_REQUEST_NULL and for a persistent collective of Tutti's that is not started.
bool is_inactive(MPI_Request request) {
  if (request == no_request()) return true;
  const OwnRequest* const own = has_own_requests() ? own_request(request) : nullptr;
  return own != nullptr && own->state() == OwnRequest::State::idle;
}

// Finds the first complete requests, at most `most`, and returns their number; -1 if no request is
// active. *code is the host's error code.
int find_complete(int count, const MPI_Request* requests, int most, int* indices,
                  MPI_Status* statuses, int* code) {
  int found = 0;
  bool any = false;
  for (int i = 0; i < count && found < most; ++i) {
    if (is_inactive(requests[i])) continue;
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
    return test_all(Requests{count, const_cast<MPI_Request*>(requests)}, flag, false,
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
  if (host().Request_get_status_any != nullptr && !some_are_own(count, requests))
    return host().Request_get_status_any(count, requests, index, flag, status);
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
  if (host().Request_get_status_some != nullptr && !some_are_own(count, requests))
    return host().Request_get_status_some(count, requests, completed, indices, statuses);
  int code = MPI_SUCCESS;
  *completed = find_complete(count, requests, count, indices, statuses, &code);
  if (*completed < 0) *completed = MPI_UNDEFINED;
  return code;
}

}  // namespace tutti::mpi
