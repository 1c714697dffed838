// Open MPI's list of functions that it calls in each poll (opal_progress_register of its
// libopen-pal), for hosts whose polls do not pass through UCX.
#include <dlfcn.h>

#include <utility>

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
  static constinit bool is_watched = false;
  if (std::exchange(is_watched, true)) return;
  void* const found = dlsym(RTLD_DEFAULT, "opal_progress_register");
  if (found == nullptr) return;
  if (reinterpret_cast<Register>(found)(note_poll) != 0)
    log_line(LogLevel::info,
             "Open MPI registers no function for its polls: ranks that wait in calls such as "
             "MPI_Comm_split do not sleep, and a report does not say how long they wait for "
             "messages");
}

}  // namespace tutti::mpi
