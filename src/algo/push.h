// Push: the same plan with each hand-over done by who has the data, instead of by who wants it.
//
// A copy from another rank is executed by that rank. What a reduce wants of other ranks is pushed
// into places of its own in the reducing rank's `tmp` first, where it is found near by. When: the
// data is hot in its owner's cache and the writer has time; pull spreads the work over the readers.
// Cost: as the plan's, but at the other end: a root that hands data to d ranks copies d times.
// Restrictions: none; what the plan computes stays the same, expression by expression.
// Source: NUMACol, section 3 (push and pull).
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

plan::Plan pushed(plan::Plan plan);

}  // namespace tutti::algo
