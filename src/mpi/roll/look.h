// Looks where a thread of this process is. The watchdog's thread alone may (watchdog.h).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "mpi/roll/place.h"

namespace tutti::mpi::roll {

// Without the source line, which takes tens of milliseconds in the first place, because the debug
// information must be read (gathering.h says who reads it).
Place place_of(pid_t thread);
// The frame as other processes can tell it.
void add_object(Place* place);
// The line of the first frame that is not MPI's; empty: unknown. Any thread may call this one.
std::string site_of_frames(const uintptr_t* frames, size_t count);

}  // namespace tutti::mpi::roll
