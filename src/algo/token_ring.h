// Gather and scatter by a ring with tokens: a rank copies its part to or from the root's memory
// while it holds a token, and then passes the token to the next rank, so that at most `tokens`
// ranks load the root's link at once.
//
//   scatter   The root copies the parts to its slot, and every rank reads its own (pull).
//   gather    Every rank writes its part into the root's slot (push); the root copies it to `out`.
//
// The ring goes through the ranks outside the root's outermost group, in the order of levels. Ranks
// inside that group do not use the link and need no token (NUMACol's condition 1); on one level all
// ranks are in the ring. NUMACol passes the token on when less than a threshold is left to copy.
// Here a rank passes it on after each segment, so the segment is the threshold; with two tokens the
// next rank copies while the token is on its way. Tokens go round from one segment to the next: the
// first ranks of a segment wait for the last ones of the segment before. Parts go through the
// root's slot in groups of `most_window` (parts.h).
// When: long parts, and many ranks behind a link that a few of them fill. Short parts are faster
// without tokens (`direct`).
// Cost: (p - 1) (alpha / N + m beta) for N tokens.
// Restrictions: none; any rank count and root.
// Source: NUMACol section 3.2, which leaves several tokens to others.
#pragma once

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

// gather and scatter, with at least one token.
plan::Plan token_ring(plan::Collective collective, int ranks, int root, int tokens,
                      const placement::Levels& levels);

}  // namespace tutti::algo
