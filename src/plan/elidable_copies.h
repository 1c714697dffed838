// Elidable copies: copies of a user's blocks into their owner's slot that the owner may leave out,
// because readers that reach the blocks bypass the slot. Internal to src/plan.
//
// A staged plan leads every read of another rank's `in` or `out` through a slot. If the reader can
// map or copy the owner's memory, the slot is a detour: the owner leaves the copy out, and the
// reader reads the blocks in the user's buffer. This is right if nothing overwrites the blocks
// before they have been read, and if the owner does not return before that. Both are derived here
// from the waits that the plan has anyway. Source: one-copy reads of HMPI's shared heap (HMPI 2.1).
#pragma once

#include "plan/lower.h"

namespace tutti::plan {

// Takes a scheduled plan and its dependences over slots. Pure; the result is the same at all ranks.
ElidableCopies find_elidable_copies(const Plan& staged, const Dependences& dependences);

// True for a copy that a rank makes of its own user's blocks into its own slot.
bool could_offer(const Plan& staged, const Transfer& transfer);

}  // namespace tutti::plan
