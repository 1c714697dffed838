// All-read-all: every rank copies its vector to its slot, then combines all vectors in rank order.
//
// Idea: one hand-over in all, fewer than any other algorithm. The combining is done p times.
// When: a few ranks and few bytes.
// Cost: alpha + p m (beta + gamma).
// Restrictions: none. It keeps rank order and is uniform, because every rank evaluates the same
// expression.
// Source: the one-step form of HMPI's one-stage broadcast (section 2.2), applied to every rank's
// contribution.
#pragma once

#include "plan/symmetric.h"

namespace tutti::algo {

// allreduce and barrier.
plan::Written all_read_all(plan::Collective collective, int ranks);

}  // namespace tutti::algo
