// Collectives of the host MPI that Tutti makes for itself, polled until they are complete.
//
// The host's blocking collectives poll without rest. If ranks outnumber cores, a rank that waits in
// one keeps a core from the ranks that it waits for. These are the non-blocking forms, and their
// waits yield and sleep. Each function returns the host's error code. No state; one thread at a
// time for each communicator.
#pragma once

#include "exec/waiter.h"
#include "mpi/host/host.h"

namespace tutti::mpi {

// Waits until the host has completed the request. `look(waiter)` is called while it waits.
template <class Look>
int complete(Request* request, Look look) {
  int code = success;
  const auto has_ended = [&] {
    int done = 0;
    code = host().Test(request, &done, abi.status_ignore);
    return code != success || done != 0;
  };
  exec::Waiter waiter(exec::pace_of_set_up());
  waiter.until(has_ended, [&] {
    look(waiter);
    return Code::ok;
  });
  return code;
}
int complete(Request* request);

// Gives the bytes of the root to all ranks.
int broadcast(void* data, size_t bytes, Comm communicator, int root = 0);
// Tells rank 0 the least of all ranks' numbers.
int tell_least(uint64_t own, uint64_t* least, Comm communicator);

}  // namespace tutti::mpi
