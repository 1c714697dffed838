// MPI's one-sided calls, which the host serves (docs/decisions/windows-stay-with-the-host.md). Each
// function counts the call for the report, calls the host's function of its name, and returns that
// one's error code. Any thread.
#pragma once

#include "mpi/abi/abi_host.h"
#include "mpi/entry/point_to_point.h"
#include "report/tally.h"

#ifdef TUTTI_WINDOWS
namespace tutti::mpi::entry {

template <class... Arguments>
int count_call(report::WindowCall call, int (*function)(Arguments...), Arguments... arguments) {
  if (report::recording()) report::record_window_call(call);
  return ring_after([&] { return function(arguments...); });
}

template <class... Arguments>
int put(Arguments... arguments) {
  return count_call(report::WindowCall::put, abi_host().Put, arguments...);
}
template <class... Arguments>
int rput(Arguments... arguments) {
  return count_call(report::WindowCall::put, abi_host().Rput, arguments...);
}
template <class... Arguments>
int get(Arguments... arguments) {
  return count_call(report::WindowCall::get, abi_host().Get, arguments...);
}
template <class... Arguments>
int rget(Arguments... arguments) {
  return count_call(report::WindowCall::get, abi_host().Rget, arguments...);
}
template <class... Arguments>
int accumulate(Arguments... arguments) {
  return count_call(report::WindowCall::accumulate, abi_host().Accumulate, arguments...);
}
template <class... Arguments>
int raccumulate(Arguments... arguments) {
  return count_call(report::WindowCall::accumulate, abi_host().Raccumulate, arguments...);
}
template <class... Arguments>
int get_accumulate(Arguments... arguments) {
  return count_call(report::WindowCall::accumulate, abi_host().Get_accumulate, arguments...);
}
template <class... Arguments>
int rget_accumulate(Arguments... arguments) {
  return count_call(report::WindowCall::accumulate, abi_host().Rget_accumulate, arguments...);
}
template <class... Arguments>
int fetch_and_op(Arguments... arguments) {
  return count_call(report::WindowCall::accumulate, abi_host().Fetch_and_op, arguments...);
}
template <class... Arguments>
int compare_and_swap(Arguments... arguments) {
  return count_call(report::WindowCall::accumulate, abi_host().Compare_and_swap, arguments...);
}

}  // namespace tutti::mpi::entry
#endif
