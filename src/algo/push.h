// Push: the same plan, with each hand-over executed by the owner of the data instead of its reader.
//
// Idea: a copy from another rank is executed by that rank. Sources of a reduce that belong to other
// ranks are first pushed to the reducing rank's `tmp`, each to a block of its own, where they are
// read locally.
// When: the data is in its owner's cache and the owner has time; pull spreads the work over the
// readers.
// Cost: that of the plan, but at the other end: a root that hands data to d ranks copies d times.
// Restrictions: none; the plan computes the same expressions.
// Source: NUMACol, section 3 (push and pull).
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

plan::Plan pushed(plan::Plan plan);

}  // namespace tutti::algo
