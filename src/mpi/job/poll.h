// MPI_Iprobe, MPI_Improbe and MPI_Win_test, which ask the host several times after Tutti has served
// a collective.
//
// Many programs drain their messages so: send, barrier, then receive while MPI_Iprobe finds
// something. MPI only promises that repeated polls find a message (MPI-4.1 section 3.8.1). But a
// host's own collective also makes progress on messages, so the first poll after it finds what was
// sent before. Tutti's collective may not have called the host at all, and hosts look for a message
// before they make progress, so the first poll would find nothing.
//
// Therefore a poll that finds nothing is repeated if Tutti has served a collective (on any thread,
// because the host makes progress for all) since repeated polls last found nothing (served.h). Any
// thread.
#pragma once

#include "mpi/host/host.h"
#include "mpi/job/served.h"

namespace tutti::mpi {

// The limit of polls in one call. Each makes the host receive at least one message; an MPI_Win_test
// may need one message of each rank.
inline constexpr int most_looks = 16;

// Calls `ask`, which sets *flag, until *flag is not 0 or the limit is reached. Returns the last
// call's MPI error code.
template <class Ask>
int look_again(const int* flag, Ask ask) {
  int code = ask();
  if (code != success || *flag != 0 || !ServedCalls::any()) return code;
  for (int looks = 1; looks < most_looks && code == success && *flag == 0; ++looks) code = ask();
  if (*flag == 0) ServedCalls::forget();
  return code;
}

}  // namespace tutti::mpi
