// This function says whether the rules that decide the calls of a team ask for the system's copies
// between its processes. It depends on the rules alone; any thread.
#pragma once

#include "exec/reach.h"
#include "select/select.h"

namespace tutti::group {

// The user's rules ask `always`, the default ones `where_quick`.
exec::SystemCopies system_copies_asked(const select::Overrides& overrides);

}  // namespace tutti::group
