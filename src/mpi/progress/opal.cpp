// Open MPI's list of functions that it calls in each poll (opal_progress_register of its
// libopen-pal), for hosts whose polls do not pass through UCX.
#include <dlfcn.h>

#include "base/log.h"
#include "mpi/progress/host_waits.h"

namespace tutti::mpi {
namespace {

using Callback = int (*)();  // returns how many events it has served
using Register = int (*)(Callback);

int note_poll() {
  host_wait.polled();
  return 0;
}

}  // namespace

void watch_polls_of_open_mpi() {
  void* const found = dlsym(RTLD_DEFAULT, "opal_progress_register");
  if (found == nullptr) return;
  if (reinterpret_cast<Register>(found)(note_poll) != 0)
    log_line(LogLevel::info,
             "Open MPI registers no function for its polls: ranks that wait in "
             "calls such as MPI_Comm_split do not sleep");
}

}  // namespace tutti::mpi
