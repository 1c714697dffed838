// Polls that look more than once.
//
// "Send, barrier, then receive while MPI_Iprobe finds something" is how many programs drain their
// messages. MPI only promises that polling again and again finds a message (MPI-4.1 section 3.8.1),
// but in a host's own collective the host has progressed, and the first poll after it finds what
// was sent before. Tutti's collective may not have touched the host at all, and hosts look before
// they progress: the first poll would find nothing. So a poll that finds nothing asks the host
// again, some times, where Tutti has served a collective since a poll last did so in vain; by
// whichever thread, since the host then progresses for all.
#pragma once

#include "mpi/abi/host.h"
#include "mpi/job/served.h"

namespace tutti::mpi {

// Each look makes the host take in one message or more; an MPI_Win_test may need one of each rank.
inline constexpr int most_looks = 16;

template <class Ask>
int look_again(const int* flag, Ask ask) {
  int code = ask();
  if (code != MPI_SUCCESS || *flag != 0 || !ServedCalls::any()) return code;
  for (int looks = 1; looks < most_looks && code == MPI_SUCCESS && *flag == 0; ++looks)
    code = ask();
  if (*flag == 0) ServedCalls::forget();
  return code;
}

// MPI's functions of these names, in C.
inline int iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return look_again(flag, [&] { return host().Iprobe(source, tag, comm, flag, status); });
}
inline int improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                   MPI_Status* status) {
  return look_again(flag, [&] { return host().Improbe(source, tag, comm, flag, message, status); });
}
inline int win_test(MPI_Win window, int* flag) {
  return look_again(flag, [&] { return host().Win_test(window, flag); });
}

}  // namespace tutti::mpi
