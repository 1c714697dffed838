// Staggered dissemination: a barrier in which every rank sends to others while messages to it are
// still on their way.
//
// Idea: a rank sends `ahead` messages before the first one arrives; from then on it sends one
// whenever one has arrived. In time slot s a rank hears what another rank knew `ahead` time slots
// ago, so it knows known(s) = known(s - 1) + known(s - ahead) ranks, those before it on a circle.
// It knows all when known(s) reaches p. With ahead = 1 this is dissemination, in which known ranks
// double; with more, known(s) grows slower per time slot, but a time slot is only as long as the
// gap between two messages.
// When: barriers between nodes, if the delay of a message is `ahead` times the gap between two
// messages.
// Cost: s gaps, for the least s with known(s) >= p, and s - ahead + 1 messages per rank. 16 ranks
// and ahead = 3: 9 gaps (3 delays) and 7 messages; dissemination takes 4 delays and 4 messages.
// Restrictions: barriers only: a rank may hear of the same arrival twice, so nothing can be
// counted.
// Source: Bar-Noy, Kipnis and Schieber, "An optimal algorithm for computing census functions in
// message-passing systems", 1993, in the postal model; a barrier needs no exact number of ranks.
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

plan::Plan staggered_barrier(int ranks, int ahead);

}  // namespace tutti::algo
