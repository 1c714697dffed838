// The program's requests that are persistent collectives of Tutti's, and what starting, testing and
// waiting do with them.
//
// The program's handle is a request of the host's own: a persistent send of nothing from this
// process to itself, which keeps its place in arrays, in Fortran and in MPI_Request_free. It stays
// inactive, so that the host passes over it where it waits for all or tests all. Where the host is
// to name one that is complete (MPI_Waitany and its like), it is started, and received, when the
// collective's results are there (a send to MPI_PROC_NULL would do, but MPICH never names those).
// What these functions add is therefore one step before the host's own: look which requests are
// ours, and take what can be taken.
//
// A table a process, with a lock that is not held while communicating. A process without such
// requests pays one load a call.
#pragma once

#include <memory>

#include "exec/waiter.h"
#include "mpi/requests/persistent.h"
#include "report/tally.h"

namespace tutti::mpi {

// How many there are.
inline constinit shm::Word own_requests{0};
inline bool has_own_requests() { return shm::load_relaxed(own_requests) != 0; }

// Makes the program's handle of a persistent collective, and owns it until the request is freed.
int note_request(std::unique_ptr<Persistent> persistent, MPI_Request* request);
// Gives up ownership, before the host frees the handle; null where the request is the host's own.
std::unique_ptr<Persistent> forget_request(MPI_Request request);
// Null where the request is the host's own.
Persistent* own_request(MPI_Request request);

// For the report: persistent collectives that the host made, while calls are recorded. Their starts
// count, as do the rounds of ours.
inline constinit shm::Word hosts_requests{0};
inline bool records_starts() { return shm::load_relaxed(hosts_requests) != 0; }
void note_hosts_request(MPI_Request request, const report::Record& call) noexcept;
void forget_hosts_request(MPI_Request request);
// After the host has started it; what the start took.
void record_hosts_start(MPI_Request request, std::chrono::nanoseconds time);

// A start by the host; `by_host` returns an error code.
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

// Waits for each of ours that has been started. The host's wait for all follows, which is when the
// program is told.
int complete_own(int count, const MPI_Request* requests);
// Takes what can be taken without waiting, makes the host progress where something is left, and
// counts that.
struct Left {
  int count = 0;
  int code = MPI_SUCCESS;  // of what was taken
};
Left take_own(int count, const MPI_Request* requests);
// The same, for a test that names what is complete: shows the host what has been taken.
Left show_own(int count, const MPI_Request* requests);
// The host has said that all of them are complete.
void note_told(int count, const MPI_Request* requests);

// A wait for one of several: asks the host's test again and again for as long as some of ours are
// left. `ask` returns an error code and says in *found whether it found a request.
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

// The requests of a call as C knows them. Another language's are converted where get() is asked.
struct Requests {
  int count;
  const MPI_Request* requests;
  const MPI_Request* get() const { return requests; }
};

// The calls for one or many requests, in any language: `Requests` is as above, and what is asked of
// the host returns an error code.

// A wait for all.
template <class Requests, class Wait>
int wait_for_all(const Requests& requests, Wait wait) {
  if (has_own_requests()) {
    const int code = complete_own(requests.count, requests.get());
    if (code != MPI_SUCCESS) return code;
  }
  return wait();
}

// A wait for one or some; `test(&found)` says whether the host's test found one.
template <class Requests, class Test, class Wait>
int wait_for_some(const Requests& requests, Test test, Wait wait) {
  if (has_own_requests()) {
    bool found = false;
    const int code =
        wait_with_own(requests.count, requests.get(), &found, [&] { return test(&found); });
    if (code != MPI_SUCCESS || found) return code;
  }
  return wait();
}

// A test of all, or a look at them: `tells` says whether the program learns that they are complete.
template <class Requests, class Test>
int test_all(const Requests& requests, int* flag, bool tells, Test test) {
  if (!has_own_requests()) return test();
  const Left left = take_own(requests.count, requests.get());
  *flag = 0;
  if (left.code != MPI_SUCCESS || left.count > 0) return left.code;
  const int code = test();
  if (tells && *flag != 0) note_told(requests.count, requests.get());
  return code;
}

// A test that names one or some. Ours are inactive to the host while they are left: where it finds
// no other active one, it sets *named to MPI_UNDEFINED, and *result must then be 0.
template <class Requests, class Test>
int test_some(const Requests& requests, const int* named, int* result, Test test) {
  if (!has_own_requests()) return test();
  const Left left = show_own(requests.count, requests.get());
  if (left.code != MPI_SUCCESS) return left.code;
  const int code = test();
  if (code == MPI_SUCCESS && left.count > 0 && *named == MPI_UNDEFINED) *result = 0;
  return code;
}

// MPI's functions of these names, in C.
int start(MPI_Request* request);
int start_all(int count, MPI_Request* requests);
int free_request(MPI_Request* request);
int wait(MPI_Request* request, MPI_Status* status);
int wait_all(int count, MPI_Request* requests, MPI_Status* statuses);
int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status);
int wait_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
int test(MPI_Request* request, int* flag, MPI_Status* status);
int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses);
int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int test_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
int get_status(MPI_Request request, int* flag, MPI_Status* status);
// These came with MPI 4.1. Libraries look for them by name while they run (mpi4py does), and find
// these in an older MPI too, so here they work there as well, request by request; an inactive
// request then counts as complete, as in MPI_Request_get_status.
int get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses);
int get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status);
int get_status_some(int count, const MPI_Request* requests, int* completed, int* indices,
                    MPI_Status* statuses);

}  // namespace tutti::mpi
