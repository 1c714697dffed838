#include "mpi/job/end.h"

#include <signal.h>
#include <unistd.h>

#include "mpi/abi/inside.h"
#include "mpi/abi/host.h"

namespace tutti::mpi {
namespace {

constexpr int exit_code = 2;
constexpr unsigned seconds_to_abort = 5;

}  // namespace

// The kernel's alarm works whatever state the threads of this process are in.
void end_soon() {
  signal(SIGALRM, SIG_DFL);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(seconds_to_abort);
}

void end_job(MPI_Comm communicator) {
  end_soon();
  const Inside inside;
  host().Abort(communicator, exit_code);
  _exit(exit_code);
}

void end_before_init() {
  signal(SIGTERM, SIG_DFL);
  raise(SIGTERM);
  _exit(exit_code);
}

}  // namespace tutti::mpi
