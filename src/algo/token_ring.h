// Gather and scatter by a ring with tokens: a rank copies its part to or from the root's memory
// while it holds a token, and hands it on to the next, so that no more than `tokens` ranks load the
// root's link at once.
//
//   scatter   the root offers the parts, and every rank reads its own (pull)
//   gather    every rank writes its part into the root's slot (push); the root takes it from there
//
// The ring goes through the ranks outside the root's outermost group, in the order of levels. Those
// inside it have no border to cross and need no token (NUMACol's condition 1); on one level all
// ranks are in the ring. NUMACol hands the token on when less than a threshold is left to copy.
// Here a rank hands it on after each segment, so that the segment is the threshold; with two tokens
// the next rank copies while the token is on its way. The tokens go round from one segment to the
// next: the first ranks of a segment wait for the last ones of the segment before. When: long parts
// and many ranks beyond a border that few of them fill. Short parts go better without tokens
// (`direct`). Cost: (p - 1) (alpha / N + m beta) for N tokens. Parts go through the root's slot in
// groups of `most_window` (parts.h). Restrictions: none; any rank count and root. Source: NUMACol
// section 3.2; several tokens are what it leaves to others.
#pragma once

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

// gather and scatter; one token or more.
plan::Plan token_ring(plan::Collective collective, int ranks, int root, int tokens,
                      const placement::Levels& levels);

}  // namespace tutti::algo
