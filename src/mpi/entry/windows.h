// MPI's one-sided calls, which the host serves (docs/decisions/windows-stay-with-the-host.md). Each
// function counts a call for the report, makes it, and returns the host's error code. Any thread.
#pragma once

#include "mpi/entry/point_to_point.h"
#include "report/tally.h"

#ifdef TUTTI_WINDOWS
namespace tutti::mpi::entry {

template <class ByHost>
int one_sided(report::WindowCall call, ByHost by_host) {
  if (report::recording()) report::record_window_call(call);
  return ring_after(by_host);
}
template <class ByHost>
int put(ByHost by_host) {
  return one_sided(report::WindowCall::put, by_host);
}
template <class ByHost>
int get(ByHost by_host) {
  return one_sided(report::WindowCall::get, by_host);
}
// All that combine values at the target.
template <class ByHost>
int accumulate(ByHost by_host) {
  return one_sided(report::WindowCall::accumulate, by_host);
}

}  // namespace tutti::mpi::entry
#endif
