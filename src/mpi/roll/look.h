// Looks where a thread of this process is. The watchdog's thread alone may (watchdog.h).
#pragma once

#include <sys/types.h>

#include "mpi/roll/place.h"

namespace tutti::mpi::roll {

Place place_of(pid_t thread);

}  // namespace tutti::mpi::roll
