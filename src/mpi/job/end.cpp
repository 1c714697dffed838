#include "mpi/job/end.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "base/log.h"
#include "base/options.h"
#include "mpi/host/inside.h"
#include "mpi/host/host.h"

namespace tutti::mpi {
namespace {

constexpr int exit_code = 2;
constexpr unsigned seconds_to_abort = 5;
constexpr useconds_t microseconds_to_read = 100'000;

[[noreturn]] void end_by_signal() {
  signal(SIGTERM, SIG_DFL);
  raise(SIGTERM);
  _exit(exit_code);
}

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

// This process ends by a signal. MPICH's launcher (Hydra 5.0.2) sometimes misses the end of a rank
// that exits, although the rank has asked it to end the job, and lets the other ranks run on; a
// rank that ends by a signal is always seen. The launcher has time to read the request first.
void end_job(Comm communicator) {
  end_soon();
  std::atexit([] {
    usleep(microseconds_to_read);
    end_by_signal();
  });
  const Inside inside;
  host().Abort(communicator, exit_code);
  _exit(exit_code);
}

void end_stalled_job(Comm communicator) {
  if (options().stall != StallAction::abort_job) return;
  log_line(LogLevel::error, "stalled for %d s; ended because TUTTI_STALL=abort",
           options().stall_seconds);
  let_launcher_read();
  end_job(communicator);
}

void end_before_init() { end_by_signal(); }

}  // namespace tutti::mpi
