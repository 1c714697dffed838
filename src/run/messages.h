// The settings that a library below the MPI needs for jobs in which many operations or transfers
// are under way.
#pragma once

#include <cstdlib>

namespace tutti::run {

// Many messages then arrive before they are asked for. libfabric's TCP provider stops reading a
// connection when it has kept 64 of those, and a message behind them that a rank waits for never
// arrives: the job hangs (its description of FI_TCP_MAX_SAVED says so). Sets that variable, unless
// the user has.
inline void permit_many_messages() { setenv("FI_TCP_MAX_SAVED", "65536", 0); }

}  // namespace tutti::run
