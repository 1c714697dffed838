// Requests of the host's persistent collectives, while calls are recorded for the report.
//
// A process has one table, with a lock, which is never destroyed. Any thread may call.
#pragma once

#include "mpi/host/host.h"
#include "report/tally.h"

namespace tutti::mpi {

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
