// How MPI's functions that start, test, complete and free requests handle those of Tutti
// (own_request.h), alone and in arrays with the host's.
//
// To the host, Tutti's requests are inactive ones, which it skips. A function that completes all
// requests takes the results of Tutti's, then calls the host's function, which treats them as
// complete. A function that completes some names either some of Tutti's or some of the host's; if
// both are complete, its calls name them in turn. Statuses of Tutti's requests are empty, as the
// host writes them. When the program learns that a non-blocking collective is complete, its handle
// becomes MPI_REQUEST_NULL.
//
// These functions exist under both names, MPI_* and PMPI_*. The host's Fortran routines call one of
// the two, and a tool that wraps MPI_Wait calls PMPI_Wait. A library of the host's may call them
// with requests of the host's, which go on to the host.
//
// A call takes the results of the requests that it was given, and no others, because the program's
// operations run in it and errors belong to it. Any thread may call; nothing is locked while
// communicating. In a process without such requests each call costs one load more.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "exec/waiter.h"
#include "mpi/requests/own_request.h"
#include "report/tally.h"

namespace tutti::mpi {

// For the report: requests of persistent collectives that the host has made while calls are
// recorded. Each start counts as a call, like each round of Tutti's own.
inline constinit shm::Word hosts_requests{0};
inline bool records_starts() { return shm::load_relaxed(hosts_requests) != 0; }
void note_hosts_request(MPI_Request request, const report::Record& call) noexcept;
void forget_hosts_request(MPI_Request request);
// To be called after the host has started the request; `time` is the time that the start took.
void record_hosts_start(MPI_Request request, std::chrono::nanoseconds time);

// Makes a start by the host, and records it. `by_host` makes it and returns an error code.
template <class ByHost>
int start_by_host(MPI_Request request, ByHost by_host) {
  if (!records_starts()) return by_host();
  const auto begin = std::chrono::steady_clock::now();
  const int code = by_host();
  if (code == MPI_SUCCESS) record_hosts_start(request, std::chrono::steady_clock::now() - begin);
  return code;
}

// The requests of a call in C. Another language has a type of its own, with `count`, a get() that
// converts the handles, and a forget() that makes a handle MPI_REQUEST_NULL.
struct Requests {
  int count;
  MPI_Request* requests;
  const MPI_Request* get() const { return requests; }
  void forget(int i) const { requests[i] = no_request(); }
};

// Calls what(own, index) for each of Tutti's requests in a call.
template <class List, class Do>
void for_own(const List& requests, Do what) {
  const MPI_Request* const handles = requests.get();
  for (int i = 0; i < requests.count && handles != nullptr; ++i)
    if (OwnRequest* const own = own_request(handles[i])) what(*own, i);
}

// The program learns that a request is complete.
template <class List>
void tell(const List& requests, OwnRequest& own, int index) {
  if (own.tell()) requests.forget(index);
}
// The same for all of Tutti's requests in a call that are taken.
template <class List>
void tell_all(const List& requests) {
  for_own(requests, [&](OwnRequest& own, int i) {
    if (own.state() == OwnRequest::State::taken) tell(requests, own, i);
  });
}

// What take_ready found: how many of Tutti's requests have been taken, and how many are left,
// because some rank has not started them.
struct Ready {
  int taken = 0;
  int left = 0;
  int code = MPI_SUCCESS;  // the first error of those that were completed
};
// Completes each of Tutti's requests that needs no wait. If none is taken and some are left, lets
// the host's messages progress.
template <class List>
Ready take_ready(const List& requests) {
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
    if (own.state() == State::pending)
      if (const int code = own.complete(); ready.code == MPI_SUCCESS) ready.code = code;
    if (own.state() == State::taken) ++ready.taken;
  });
  if (late != nullptr && ready.taken == 0) late->drive_host();
  return ready;
}

// The calls for one or many requests, in any language. `List` is Requests or another language's
// type; `wait` and `test` call the host and return its error code.

// Waits for all. First takes the results of all operations that lend buffers and are ready: other
// ranks, which may wait in another order, then get their buffers back.
template <class List, class Wait>
int wait_for_all(const List& requests, Wait wait) {
  if (!has_own_requests()) return wait();
  int code = MPI_SUCCESS;
  if (requests.count > 1)
    for_own(requests, [&](OwnRequest& own, int) {
      if (own.state() == OwnRequest::State::pending && own.lends()) (void)own.is_ready();
    });
  for_own(requests, [&](OwnRequest& own, int) {
    if (own.state() != OwnRequest::State::pending) return;
    if (const int its = own.complete(); code == MPI_SUCCESS) code = its;
  });
  const int hosts = wait();
  tell_all(requests);
  return code != MPI_SUCCESS ? code : hosts;
}

// Whether the caller wants no status. Fortran's routine alone knows the form of its statuses.
inline bool is_ignored(const MPI_Status* status) { return status == MPI_STATUS_IGNORE; }
inline bool is_ignored(const void*) { return false; }

// Waits for one. The host is called only if it must write the status.
template <class List, class Status, class Wait>
int wait_for_one(const List& requests, Status* status, Wait wait) {
  if (!has_own_requests()) return wait();
  OwnRequest* const own = own_request(requests.get()[0]);
  if (own == nullptr) return wait();
  int code = own->state() == OwnRequest::State::pending ? own->complete() : MPI_SUCCESS;
  if (!is_ignored(status))
    if (const int hosts = wait(); code == MPI_SUCCESS) code = hosts;
  if (own->state() == OwnRequest::State::taken) tell(requests, *own, 0);
  return code;
}

// Tests all. `tells` is false for a test that leaves complete requests as they are
// (MPI_Request_get_status and its like).
template <class List, class Test>
int test_all(const List& requests, int* flag, bool tells, Test test) {
  if (!has_own_requests()) return test();
  const Ready ready = take_ready(requests);
  *flag = 0;
  if (ready.left > 0) return ready.code;
  const int code = test();
  if (tells && *flag != 0) tell_all(requests);
  return ready.code != MPI_SUCCESS ? ready.code : code;
}

// True in every other call of a thread: it then asks the host before it names Tutti's requests.
bool hosts_turn();

// What a test that names requests has found.
struct Named {
  bool any = false;
  int left = 0;  // of Tutti's; to the host they are inactive
  int code = MPI_SUCCESS;
};
// A test that names at most `most` requests. `ours` gets the indices of Tutti's requests that are
// to be named, at least one. `hosts` gets a bool, and sets it if the host's test has named one.
// Both return an MPI error code.
template <class List, class Ours, class Hosts>
Named name_some(const List& requests, int most, Ours ours, Hosts hosts) {
  const Ready ready = take_ready(requests);
  Named named{.left = ready.left, .code = ready.code};
  const auto keep_error = [&](int code) {
    if (named.code == MPI_SUCCESS) named.code = code;
  };
  const bool hosts_first = ready.taken == 0 || hosts_turn();
  if (hosts_first) keep_error(hosts(named.any));
  if (named.any) return named;
  if (ready.taken > 0) {
    std::vector<int> which;
    for_own(requests, [&](const OwnRequest& own, int i) {
      if (own.state() == OwnRequest::State::taken && static_cast<int>(which.size()) < most)
        which.push_back(i);
    });
    keep_error(ours(which));
    named.any = true;
    for_own(requests, [&](OwnRequest& own, int i) {
      if (std::find(which.begin(), which.end(), i) != which.end()) tell(requests, own, i);
    });
    return named;
  }
  return named;
}

// Waits until name_some() names one; false if none of Tutti's requests is left, so that the caller
// makes the host's wait.
template <class List, class Ours, class Hosts>
bool wait_for_some(const List& requests, int most, int* code, Ours ours, Hosts hosts) {
  Named named;
  exec::Waiter waiter(exec::pace_between_calls(exec::WaitStyle::yield));
  waiter.until(
      [&] {
        named = name_some(requests, most, ours, hosts);
        return named.any || named.left == 0 || named.code != MPI_SUCCESS;
      },
      [] { return Code::ok; });
  *code = named.code;
  return named.any || named.code != MPI_SUCCESS;
}

// The bodies of functions in C. Those of others are made from the templates above
// (functions.table).
int start(MPI_Request* request);
int start_all(int count, MPI_Request* requests);
// A non-blocking collective must not be cancelled, and freed only if MPI_Request_get_status has
// said that it is complete: MPI_ERR_REQUEST.
int free_request(MPI_Request* request);
int cancel(MPI_Request* request);
// Frees one of Tutti's requests, or refuses to. Sets *freed if the handle is to become
// MPI_REQUEST_NULL. Returns an MPI error code.
int free_own(OwnRequest& own, MPI_Request handle, bool* freed);
int refuse_to_cancel(OwnRequest& own);
int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int test_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status);
int wait_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
// MPI 4.1 added these. Libraries that look for them by name at run time (mpi4py does) also find
// them here under an older MPI, so they work there too, request by request. An inactive request
// of the host's then counts as complete, as in MPI_Request_get_status.
int get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses);
int get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status);
int get_status_some(int count, const MPI_Request* requests, int* completed, int* indices,
                    MPI_Status* statuses);

}  // namespace tutti::mpi
