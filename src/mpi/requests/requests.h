// The program's requests that are persistent collectives of Tutti, and how MPI's functions that
// start, test and wait handle them.
//
// The program's handle is a request of the host: a persistent send of no data from this process to
// itself, so it works in arrays, in Fortran and in MPI_Request_free. It stays inactive, and the
// host skips it when it waits for all requests or tests all. If the host is to name a complete
// request (MPI_Waitany and its like), Tutti starts the send, and receives it, as soon as this rank
// has its results, so that the host finds the request complete. (A send to MPI_PROC_NULL would need
// no receive, but MPICH never names such a request.) So these functions add one step before the
// host's own: they find Tutti's requests and take the results that are ready.
//
// Each process has one table, which owns the Persistents and is never destroyed. Any thread may
// call; the table's lock is not held while communicating. In a process without such requests each
// call costs one load more.
#pragma once

#include <memory>

#include "exec/waiter.h"
#include "mpi/requests/persistent.h"
#include "report/tally.h"

namespace tutti::mpi {

// The number of such requests in this process.
inline constinit shm::Word own_requests{0};
inline bool has_own_requests() { return shm::load_relaxed(own_requests) != 0; }

// Makes the program's handle for a persistent collective. The table then owns the Persistent until
// the program frees the handle. Returns the host's error code; after an error the Persistent is
// destroyed.
int note_request(std::unique_ptr<Persistent> persistent, MPI_Request* request);
// To be called before the host frees the handle. Removes the persistent collective from the table
// and returns it; null if the request is not Tutti's.
std::unique_ptr<Persistent> forget_request(MPI_Request request);
// The persistent collective of a request; null if the request is not Tutti's.
Persistent* own_request(MPI_Request request);

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

// MPI_REQUEST_NULL.
MPI_Request no_request();

// Completes each of Tutti's requests that has been started. The caller then makes the host's wait
// for all, from which the program learns of the completion.
int complete_own(int count, const MPI_Request* requests);
// The result of take_own: the number of Tutti's requests that are left, because some rank has not
// started them.
struct Left {
  int count = 0;
  int code = MPI_SUCCESS;  // of those that were completed
};
// Completes each of Tutti's requests that all ranks have started. If any is left, lets the host's
// messages progress.
Left take_own(int count, const MPI_Request* requests);
// The same for a test that names complete requests: also makes the host find those that have been
// completed (Persistent::show).
Left show_own(int count, const MPI_Request* requests);
// To be called when the host has reported that all of them are complete.
void note_told(int count, const MPI_Request* requests);

// Waits for one of several requests: repeats the host's test for as long as some of Tutti's are
// left. `ask` makes the test, sets *found if it found a request, and returns an error code.
template <class Ask>
int wait_with_own(int count, const MPI_Request* requests, bool* found, Ask ask) {
  int code = MPI_SUCCESS;
  const auto is_over = [&] {
    const Left left = show_own(count, requests);
    code = left.code;
    if (code != MPI_SUCCESS || left.count == 0) return true;
    code = ask();
    return code != MPI_SUCCESS || *found;
  };
  exec::Waiter waiter(exec::pace_between_calls(exec::WaitStyle::yield));
  waiter.until(is_over, [] { return Code::ok; });
  return code;
}

// The requests of a call in C. Another language has a type of its own, with `count` and a get()
// that converts the handles.
struct Requests {
  int count;
  const MPI_Request* requests;
  const MPI_Request* get() const { return requests; }
};

// The calls for one or many requests, in any language. `List` is Requests or another language's
// type; `wait` and `test` call the host and return its error code.

// Waits for all.
template <class List, class Wait>
int wait_for_all(const List& requests, Wait wait) {
  if (has_own_requests()) {
    const int code = complete_own(requests.count, requests.get());
    if (code != MPI_SUCCESS) return code;
  }
  return wait();
}

// Waits for one or some; `test(&found)` sets `found` if the host's test found one.
template <class List, class Test, class Wait>
int wait_for_some(const List& requests, Test test, Wait wait) {
  if (has_own_requests()) {
    bool found = false;
    const int code =
        wait_with_own(requests.count, requests.get(), &found, [&] { return test(&found); });
    if (code != MPI_SUCCESS || found) return code;
  }
  return wait();
}

// Tests all requests. `tells` is false for a test that leaves complete requests as they are
// (MPI_Request_get_status and its like).
template <class List, class Test>
int test_all(const List& requests, int* flag, bool tells, Test test) {
  if (!has_own_requests()) return test();
  const Left left = take_own(requests.count, requests.get());
  *flag = 0;
  if (left.code != MPI_SUCCESS || left.count > 0) return left.code;
  const int code = test();
  if (tells && *flag != 0) note_told(requests.count, requests.get());
  return code;
}

// A test that names one or some. To the host, those of Tutti's that are left are inactive: if it
// finds no other active request, it sets *named to MPI_UNDEFINED, and *result must then be 0.
template <class List, class Test>
int test_some(const List& requests, const int* named, int* result, Test test) {
  if (!has_own_requests()) return test();
  const Left left = show_own(requests.count, requests.get());
  if (left.code != MPI_SUCCESS) return left.code;
  const int code = test();
  if (code == MPI_SUCCESS && left.count > 0 && *named == MPI_UNDEFINED) *result = 0;
  return code;
}

// The bodies of MPI_Start, MPI_Startall, MPI_Request_free, MPI_Waitany and MPI_Waitsome in C. Those
// of the other functions are made from the templates above (functions.table).
int start(MPI_Request* request);
int start_all(int count, MPI_Request* requests);
int free_request(MPI_Request* request);
int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status);
int wait_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
// MPI 4.1 added these. Libraries that look for them by name at run time (mpi4py does) also find
// them here under an older MPI, so they work there too, request by request. An inactive request
// then counts as complete, as in MPI_Request_get_status.
int get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses);
int get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status);
int get_status_some(int count, const MPI_Request* requests, int* completed, int* indices,
                    MPI_Status* statuses);

}  // namespace tutti::mpi
