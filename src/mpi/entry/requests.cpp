#include "mpi/entry/requests.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "exec/waiter.h"
#include "mpi/collectives/general.h"
#include "mpi/job/self.h"
#include "mpi/job/thrown.h"

namespace tutti::mpi::entry {

namespace {

constinit thread_local std::optional<Stopwatch> timed_call;

}  // namespace

void begin_timed() {
  if (!report::recording()) return;
  timed_call.emplace();
  host_wait.begin_timed();
}

int end_timed(int code) {
  if (!timed_call) return code;
  host_wait.end_timed();
  report::record_point_to_point(timed_call->read());
  timed_call.reset();
  return code;
}

int wait_watched(const Requests& requests, MPI_Status* statuses) {
  return timed([&] {
    if (!exec::sleeps_when_idle())
      return abi_host().Waitall(requests.count, requests.requests, statuses);
    return sleep_until([&](int* flag) {
      return abi_host().Testall(requests.count, requests.requests, flag, statuses);
    });
  });
}

int wait_watched(MPI_Request* request, MPI_Status* status) {
  return timed([&] {
    if (!exec::sleeps_when_idle()) return abi_host().Wait(request, status);
    return sleep_until_complete(request, status);
  });
}

int report_errors(const Requests& requests, MPI_Status* statuses, int hosts) {
  int kind = MPI_SUCCESS;
  if (hosts != MPI_SUCCESS) abi_host().Error_class(hosts, &kind);
  if (kind != MPI_SUCCESS && kind != MPI_ERR_IN_STATUS) return hosts;
  if (statuses == MPI_STATUSES_IGNORE) return MPI_ERR_IN_STATUS;
  for (int i = 0; i < requests.count && kind == MPI_SUCCESS; ++i)
    statuses[i].MPI_ERROR = MPI_SUCCESS;
  for_own(requests, [&](const OwnRequest& own, int i) {
    if (own.state() == OwnRequest::State::taken && own.code() != MPI_SUCCESS)
      statuses[i].MPI_ERROR = own.code();
  });
  return MPI_ERR_IN_STATUS;
}

Ready take_ready(const Requests& requests) {
  using State = OwnRequest::State;
  Ready ready;
  OwnRequest* late = nullptr;
  for_own(requests, [&](OwnRequest& own, int) {
    if (own.state() == State::pending && !own.is_ready()) {
      late = &own;
      own.note_late();
      ++ready.left;
      return;
    }
    if (own.state() == State::pending) own.complete_and_keep();
    if (own.state() != State::taken) return;
    ++ready.taken;
    ready.failed |= own.code() != MPI_SUCCESS;
  });
  if (late != nullptr && ready.taken == 0) drive_in_test(*late);
  return ready;
}

int start(MPI_Request* request) {
  OwnRequest* const own = has_own_requests() ? own_of(*request) : nullptr;
  return own != nullptr ? own->start() : start_by_host(house<Request>(*request), [&] {
    return ring_after([&] { return abi_host().Start(request); });
  });
}

int start_all(int count, MPI_Request* requests) {
  if ((!has_own_requests() && !records_starts()) || requests == nullptr)
    return ring_after([&] { return abi_host().Startall(count, requests); });
  for (int i = 0; i < count; ++i)
    if (const int code = start(&requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int free_request(MPI_Request* request) {
  using State = OwnRequest::State;
  OwnRequest* const own = has_own_requests() ? own_of(*request) : nullptr;
  if (own == nullptr) {
    if (records_starts()) forget_hosts_request(house<Request>(*request));
    return abi_host().Request_free(request);
  }
  // MPI_Request_get_status has told the program that a taken operation is complete.
  const bool is_complete = own->state() == State::taken;
  if (!own->is_persistent() && !is_complete)
    return own->raise_error(
        "MPI_Request_free is given a non-blocking collective; complete it by MPI_Wait or MPI_Test",
        MPI_ERR_REQUEST);
  if (own->state() == State::pending)
    return own->raise_error(
        "MPI_Request_free is given a persistent collective that has been started; complete it "
        "first",
        MPI_ERR_REQUEST);
  const auto handle = house<Request>(std::exchange(*request, null_request()));
  if (is_complete && own->tell()) return MPI_SUCCESS;  // it has given up its handle
  give_back_handle(handle);
  own->discard();
  return MPI_SUCCESS;
}

int cancel(MPI_Request* request) {
  OwnRequest* const own = has_own_requests() ? own_of(*request) : nullptr;
  if (own == nullptr) return abi_host().Cancel(request);
  return own->raise_error("MPI_Cancel is given a collective, which cannot be cancelled",
                          MPI_ERR_REQUEST);
}

namespace {

// True in every other call of a thread: it then asks the host before it names Tutti's requests.
bool hosts_turn() {
  static TUTTI_PER_THREAD bool turn = false;
  return turn = !turn;
}

// Writes empty statuses, as the host does for null requests.
int write_empty(size_t count, MPI_Status* statuses) {
  std::vector<MPI_Request> none(count, null_request());
  return abi_host().Waitall(static_cast<int>(count), none.data(), statuses);
}

// The error code of one of the requests that a call names.
int code_of(MPI_Request request) {
  const OwnRequest* const own = own_of(request);
  return own != nullptr && own->state() == OwnRequest::State::taken ? own->code() : MPI_SUCCESS;
}

// The code that a call returns which names these requests. If one has an error, sets MPI_ERROR in
// the statuses of all.
int codes_of(const MPI_Request* requests, const int* which, int count, MPI_Status* statuses) {
  const auto failed = [&](int i) { return code_of(requests[i]) != MPI_SUCCESS; };
  if (!has_own_requests() || std::none_of(which, which + count, failed)) return MPI_SUCCESS;
  for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; ++i)
    statuses[i].MPI_ERROR = code_of(requests[which[i]]);
  return MPI_ERR_IN_STATUS;
}

// The two ways in which a call may name one request, or some. `ours` names some of Tutti's, at
// least one. `wait` and `test` are the host's functions; `test` sets `complete` if it has named
// one, or none is active, and `found` is true then if it has named one. `none` names none. All but
// it return an MPI error code.
struct One {
  Requests requests;
  int* index;
  int* flag;
  MPI_Status* status;

  int most() const { return 1; }
  int ours(const std::vector<int>& which) const {
    *index = which[0];
    *flag = 1;
    MPI_Request none = null_request();
    const int code = abi_host().Wait(&none, status);
    return first_error(code_of(requests.requests[*index]), code).code;
  }
  int wait() const { return abi_host().Waitany(requests.count, requests.requests, index, status); }
  int test(int* complete) const {
    return abi_host().Testany(requests.count, requests.requests, index, complete, status);
  }
  int test() const { return test(flag); }
  bool found(int code) const {
    return code == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED;
  }
  void none() const {
    *flag = 0;
    *index = MPI_UNDEFINED;
  }
};

struct Some {
  Requests requests;
  int* completed;
  int* indices;
  MPI_Status* statuses;

  int most() const { return requests.count; }
  int ours(const std::vector<int>& which) const {
    *completed = static_cast<int>(which.size());
    std::copy(which.begin(), which.end(), indices);
    const int code = write_empty(which.size(), statuses);
    return first_error(codes_of(requests.requests, indices, *completed, statuses), code).code;
  }
  int wait() const {
    return abi_host().Waitsome(requests.count, requests.requests, completed, indices, statuses);
  }
  int test(int* complete) const {
    const int code = test();
    *complete = *completed != 0 ? 1 : 0;
    return code;
  }
  int test() const {
    return abi_host().Testsome(requests.count, requests.requests, completed, indices, statuses);
  }
  bool found(int) const { return *completed != MPI_UNDEFINED && *completed > 0; }
  void none() const { *completed = 0; }
};

// The result of a test that names requests.
struct Named {
  bool any = false;
  int left = 0;  // the number of Tutti's requests left; to the host they are inactive
  int code = MPI_SUCCESS;
};
template <class Way>
Named name_some(const Way& way) {
  const Ready ready = take_ready(way.requests);
  Named named{.left = ready.left};
  if (ready.taken == 0 || hosts_turn()) {
    named.code = way.test();
    named.any = way.found(named.code);
  }
  if (named.any || ready.taken == 0) return named;
  std::vector<int> which;
  for_own(way.requests, [&](const OwnRequest& own, int i) {
    if (own.state() == OwnRequest::State::taken && static_cast<int>(which.size()) < way.most())
      which.push_back(i);
  });
  named.code = first_error(named.code, way.ours(which)).code;
  named.any = true;
  for (const int i : which) tell(way.requests, *own_of(way.requests.requests[i]), i);
  return named;
}

// Waits until name_some() names one. If none of Tutti's requests is left, makes the host's wait.
template <class Way>
int wait_for_some(const Way& way) {
  if (!has_own_requests()) return way.wait();
  return guarded(self_communicator(), [&] {
    Named named;
    exec::Waiter waiter(exec::pace_between_calls(exec::WaitStyle::yield));
    waiter.until(
        [&] {
          named = name_some(way);
          return named.any || named.left == 0 || named.code != MPI_SUCCESS;
        },
        [] { return Code::ok; });
    if (named.any || named.code != MPI_SUCCESS) return named.code;
    return timed([&] {
      if (!exec::sleeps_when_idle()) return way.wait();
      return sleep_until([&](int* complete) { return way.test(complete); });
    });
  });
}

template <class Way>
int test_for_some(const Way& way) {
  if (!has_own_requests()) return way.test();
  return guarded(self_communicator(), [&] {
    const Named named = name_some(way);
    if (!named.any && named.left > 0) way.none();
    return named.code;
  });
}

}  // namespace

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  int flag = 0;
  return wait_for_some(One{{count, requests}, index, &flag, status});
}

int wait_some(int count, MPI_Request* requests, int* completed, int* indices,
              MPI_Status* statuses) {
  return wait_for_some(Some{{count, requests}, completed, indices, statuses});
}

int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  return test_for_some(One{{count, requests}, index, flag, status});
}

int test_some(int count, MPI_Request* requests, int* completed, int* indices,
              MPI_Status* statuses) {
  return test_for_some(Some{{count, requests}, completed, indices, statuses});
}

namespace {

int get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return test_one(Requests{1, &request}, flag, false,
                  [&] { return abi_host().Request_get_status(request, flag, status); });
}

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

bool some_are_own(int count, const MPI_Request* requests) {
  return has_own_requests() && requests != nullptr &&
         std::any_of(requests, requests + count,
                     [](MPI_Request request) { return own_of(request) != nullptr; });
}

// True for MPI_REQUEST_NULL and for a persistent collective of Tutti's that is not started.
bool is_inactive(MPI_Request request) {
  if (request == null_request()) return true;
  const OwnRequest* const own = has_own_requests() ? own_of(request) : nullptr;
  return own != nullptr && own->state() == OwnRequest::State::idle;
}

// Finds the first complete requests, at most `most`, and returns their number; -1 if no request is
// active. *code is the first error code.
int find_complete(int count, const MPI_Request* requests, int most, int* indices,
                  MPI_Status* statuses, int* code) {
  int found = 0;
  bool any = false;
  for (int i = 0; i < count && found < most; ++i) {
    if (is_inactive(requests[i])) continue;
    any = true;
    int flag = 0;
    const int its = get_status(requests[i], &flag, status_at(statuses, found));
    *code = first_error(*code, its).code;
    if (flag != 0)
      indices[found++] = i;
    else if (its != MPI_SUCCESS)
      return found;
  }
  return any ? found : -1;
}

}  // namespace

int get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  *flag = 1;
  if (abi_host().Request_get_status_all != nullptr)
    return test_all(
        Requests{count, const_cast<MPI_Request*>(requests)}, flag, statuses, false,
        [&] { return abi_host().Request_get_status_all(count, requests, flag, statuses); });
  bool failed = false;
  for (int i = 0; i < count && *flag != 0; ++i) {
    const int code = get_status(requests[i], flag, status_at(statuses, i));
    if (code != MPI_SUCCESS && code_of(requests[i]) == MPI_SUCCESS) return code;
    failed |= code != MPI_SUCCESS;
    if (statuses != MPI_STATUSES_IGNORE) statuses[i].MPI_ERROR = code;
  }
  return failed && *flag != 0 ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

int get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status) {
  if (abi_host().Request_get_status_any != nullptr && !some_are_own(count, requests))
    return abi_host().Request_get_status_any(count, requests, index, flag, status);
  int code = MPI_SUCCESS;
  const int found = find_complete(count, requests, 1, index, status, &code);
  *flag = found != 0 ? 1 : 0;
  if (found >= 0) return code;
  *index = MPI_UNDEFINED;
  // The status becomes empty, with MPI_ERROR = MPI_SUCCESS, which functions of one status do not
  // write.
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
  return abi_host().Request_get_status(null_request(), flag, status);
}

int get_status_some(int count, const MPI_Request* requests, int* completed, int* indices,
                    MPI_Status* statuses) {
  if (abi_host().Request_get_status_some != nullptr && !some_are_own(count, requests))
    return abi_host().Request_get_status_some(count, requests, completed, indices, statuses);
  int code = MPI_SUCCESS;
  *completed = find_complete(count, requests, count, indices, statuses, &code);
  if (*completed < 0) *completed = MPI_UNDEFINED;
  if (*completed == MPI_UNDEFINED) return code;
  return first_error(codes_of(requests, indices, *completed, statuses), code).code;
}

}  // namespace tutti::mpi::entry
