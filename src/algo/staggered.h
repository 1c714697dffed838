// Staggered dissemination: a barrier in which every rank sends to others while what was sent to it
// is still on its way.
//
// Idea: `ahead` messages leave a rank before the first one comes, and from then on one leaves
// whenever one has come. In slot s a rank hears what another knew `ahead` slots ago, so that it
// knows known(s) = known(s - 1) + known(s - ahead) ranks, those behind it in a circle: all of them
// when known(s) reaches p. With 1 ahead that is dissemination, whose known ranks double; with more
// the numbers grow slower by slot, and a slot takes no more than the gap between two messages.
// When: barriers between nodes, where a message is on its way for `ahead` times as long as the next
// one has to wait to leave. Cost: s gaps, for the least s with known(s) >= p, and s - ahead + 1
// messages a rank. 16 ranks and 3 ahead: 9 gaps (3 times a delay) and 7 messages; dissemination
// takes 4 delays and 4 messages. Restrictions: what a rank hears may be known to it, so this serves
// nothing that counts. Source: Bar-Noy, Kipnis and Schieber, "An optimal algorithm for computing
// census functions in message-passing systems", 1993, whose messages are of a postal model; as a
// barrier it needs no exact number of ranks.
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

plan::Plan staggered_barrier(int ranks, int ahead);

}  // namespace tutti::algo
