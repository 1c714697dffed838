// All-read-all: every rank offers its vector, every rank combines all of them, in rank order.
//
// When: a few ranks and bytes. One hand-over in all, which no other algorithm reaches; the
// combining is done p times. Cost: alpha + p m (beta + gamma). Restrictions: none; uniform and in
// rank order, because every rank evaluates the same expression. Source: the one-step form of HMPI's
// one-stage broadcast (section 2.2) applied to every rank's contribution.
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

plan::Plan all_read_all(plan::Collective collective, int ranks);

}  // namespace tutti::algo
