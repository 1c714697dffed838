// Calls that the host makes instead of Tutti, and the requests of its persistent collectives, as
// the report and traces tell of them.
//
// A process has one table of these requests while calls are recorded, with a lock, which is never
// destroyed. Any thread may call.
#pragma once

#include <functional>

#include "mpi/collectives/call.h"
#include "mpi/host/host.h"
#include "report/tally.h"

namespace tutti::mpi {

// Makes a call by the host's function, which make() calls and whose code it returns. If the host
// has made it, calls note(RECORD) with what the report says about it, provided that there is a
// report.
int by_host(const Call& call, Comm comm, report::Reason reason, const std::function<int()>& make,
            const std::function<void(const report::Record&)>& note);

// For the report: requests of persistent collectives that the host has made while calls are
// recorded. Each start counts as a call, like each round of Tutti's own.
inline constinit shm::Word hosts_requests{0};
inline bool records_starts() { return shm::load_relaxed(hosts_requests) != 0; }
void note_hosts_request(Request request, const report::Record& call) noexcept;
void forget_hosts_request(Request request);
// Call it after the host has started the request; `time` is the time that the start took.
void record_hosts_start(Request request, const TimeSpent& time);

template <class ByHost>
[[gnu::noinline, gnu::cold]] int start_and_record(Request request, ByHost by_host) {
  const Stopwatch stopwatch;
  const int code = by_host();
  if (code == success) record_hosts_start(request, stopwatch.read());
  return code;
}
// Makes a start by the host, and records it. `by_host` makes it and returns an error code.
template <class ByHost>
int start_by_host(Request request, ByHost by_host) {
  return records_starts() ? start_and_record(request, by_host) : by_host();
}

}  // namespace tutti::mpi
