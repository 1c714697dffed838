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

#include "mpi/abi/abi_host.h"
#include "mpi/entry/point_to_point.h"
#include "mpi/progress/host_waits.h"
#include "mpi/requests/hosts_requests.h"
#include "mpi/requests/own_request.h"

namespace tutti::mpi::entry {

// The requests of a call.
struct Requests {
  int count;
  MPI_Request* requests;
};

// Tutti's request of a handle; null for a handle of the host's.
inline OwnRequest* own_of(MPI_Request handle) { return own_request(house<Request>(handle)); }

// Calls what(own, index) for each of Tutti's requests in a call.
template <class Do>
void for_own(const Requests& requests, Do what) {
  for (int i = 0; i < requests.count && requests.requests != nullptr; ++i)
    if (OwnRequest* const own = own_of(requests.requests[i])) what(*own, i);
}

// The program learns that a request is complete.
inline void tell(const Requests& requests, OwnRequest& own, int index) {
  if (own.tell()) requests.requests[index] = null_request();
}
// The same for all of Tutti's requests in a call that are taken.
inline void tell_all(const Requests& requests) {
  for_own(requests, [&](OwnRequest& own, int i) {
    if (own.state() == OwnRequest::State::taken) tell(requests, own, i);
  });
}

// The code that a call returns which completes all its requests, some of Tutti's with an error:
// sets MPI_ERROR in all statuses. Call it before tell_all(). `hosts` is the host's code.
[[gnu::cold]] int report_errors(const Requests& requests, MPI_Status* statuses, int hosts);

// The result of take_ready(): how many of Tutti's requests are taken, and how many are left,
// because some rank has not started them.
struct Ready {
  int taken = 0;
  int left = 0;
  bool failed = false;  // some that is taken has an error
};
// Lets the host's messages progress, in a test that the program may repeat.
inline void drive_in_test(OwnRequest& own) {
  host_wait.note_test(true);
  own.drive_host();
  host_wait.note_test(false);
}
// Completes each of Tutti's requests that needs no wait. If none is taken and some are left, lets
// the host's messages progress.
Ready take_ready(const Requests& requests);

// `wait` and `test` call the host and return its error code.

// The same calls of the host's, where messages are watched.
[[gnu::cold]] int wait_watched(const Requests& requests, MPI_Status* statuses);
[[gnu::cold]] int wait_watched(MPI_Request* request, MPI_Status* status);

// Waits for all. First takes the results of all operations that lend buffers and are ready: other
// ranks, which may wait in another order, then get their buffers back.
template <class Wait>
int wait_for_all(const Requests& requests, MPI_Status* statuses, Wait wait) {
  using State = OwnRequest::State;
  if (!has_own_requests()) return wait();
  bool failed = false;
  if (requests.count > 1)
    for_own(requests, [&](OwnRequest& own, int) {
      if (own.state() == State::pending && own.lends()) (void)own.is_ready();
    });
  for_own(requests, [&](OwnRequest& own, int) {
    if (own.state() == State::pending) own.complete_and_keep();
    if (own.state() == State::taken && own.code() != MPI_SUCCESS) failed = true;
  });
  int code = MPI_SUCCESS;
  if (shm::load_relaxed(messages_go_on) == 0) [[unlikely]]
    code = wait_watched(requests, statuses);
  else
    code = wait();
  if (failed) [[unlikely]]
    code = report_errors(requests, statuses, code);
  tell_all(requests);
  return code;
}

// Waits for one. The host is called only if it must write the status.
template <class Wait>
int wait_for_one(const Requests& requests, MPI_Status* status, Wait wait) {
  using State = OwnRequest::State;
  if (!has_own_requests()) return wait();
  OwnRequest* const own = own_of(requests.requests[0]);
  if (own == nullptr)
    return shm::load_relaxed(messages_go_on) == 0 ? wait_watched(requests.requests, status)
                                                  : wait();
  int code = MPI_SUCCESS;
  if (own->state() == State::pending)
    code = own->complete();
  else if (own->state() == State::taken)
    code = own->code();
  if (status != MPI_STATUS_IGNORE)
    if (const int hosts = wait(); code == MPI_SUCCESS) code = hosts;
  if (own->state() == State::taken) tell(requests, *own, 0);
  return code;
}

// Tests one. `tells` is false for a test that leaves a complete request as it is
// (MPI_Request_get_status).
template <class Test>
int test_one(const Requests& requests, int* flag, bool tells, Test test) {
  using State = OwnRequest::State;
  if (!has_own_requests()) return test();
  OwnRequest* const own = own_of(requests.requests[0]);
  if (own == nullptr) return test();
  if (own->state() == State::pending) {
    if (!own->is_ready()) {
      own->note_late();
      drive_in_test(*own);
      *flag = 0;
      return MPI_SUCCESS;
    }
    own->complete_and_keep();
  }
  const int hosts = test();
  if (own->state() != State::taken) return hosts;
  const int code = own->code();
  if (tells) tell(requests, *own, 0);
  return code != MPI_SUCCESS ? code : hosts;
}

// Tests all. `tells` as above (MPI_Request_get_status_all). An error is told when all are complete.
template <class Test>
int test_all(const Requests& requests, int* flag, MPI_Status* statuses, bool tells, Test test) {
  if (!has_own_requests()) return test();
  const Ready ready = take_ready(requests);
  *flag = 0;
  if (ready.left > 0) return MPI_SUCCESS;
  int code = test();
  if (*flag == 0) return code;
  if (ready.failed) [[unlikely]]
    code = report_errors(requests, statuses, code);
  if (tells) tell_all(requests);
  return code;
}

// The bodies of the other functions. Those of the rest are made from the templates above
// (functions.table).
int start(MPI_Request* request);
int start_all(int count, MPI_Request* requests);
// A non-blocking collective must not be cancelled, and freed only if MPI_Request_get_status has
// said that it is complete: MPI_ERR_REQUEST.
int free_request(MPI_Request* request);
int cancel(MPI_Request* request);
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

}  // namespace tutti::mpi::entry
