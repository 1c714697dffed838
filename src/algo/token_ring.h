// Gather and scatter by a ring with tokens: a rank copies its part to or from the root's memory
// while it holds a token, and then passes the token to the next rank, so that at most `tokens`
// ranks load the root's link at once.
//
//   by ranks   In a gather every rank writes its part into the root's slot (push), and the root
//              copies it to `out`. In a scatter the root copies the parts to its slot, and every
//              rank reads its own (pull).
//   by root    The root moves all parts itself, in the order of the ring: in a gather it reads them
//              (pull), in a scatter it writes them (push). It moves one at a time, so there is no
//              token.
//   threshold  A part of N bytes is copied in two phases: N - T bytes, then the last T. A rank
//              passes the token between them, so its last T bytes overlap with its successor's
//              copy. T is at most half of a part. Between nodes parts go directly from buffer to
//              buffer.
//
// The ring goes through the ranks of other nodes than the root's, in the order of levels. Ranks on
// the root's node copy at any time and need no token. (By NUMACol's condition 1 they wait for it,
// and hand it on before they copy.) So on one node nobody waits for a token. With `within` only the
// ranks of the root's outermost group need none: then ranks of one node take turns, too, and on one
// level all ranks are in the ring. (One rank on each node is one level; tokens among such nodes
// need the word.) A part that is no longer than T needs no token either (by condition 2 the token
// is handed on first); calls that short take `direct` (served_as in algo.h). Without a threshold a
// rank passes the token on after each segment, and tokens go round from one segment to the next:
// the first ranks of a segment wait for the last ones of the segment before. Parts go through the
// root's slot in groups of `most_window` (parts.h), with a threshold of two: no more ranks copy at
// once.
// When: long parts, and many ranks behind a link that a few of them fill. Short parts are faster
// without tokens (`direct`).
// Cost: (p - 1) (alpha / N + m beta) for N tokens.
// Restrictions: none; any rank count and root. If the slots do not hold two segments of a part
// beside each other, there are more segments, and then as many ranks copy at once.
// Source: NUMACol section 3.2, which leaves several tokens to others, and table 1 (push and pull).
#pragma once

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

struct RingForm {
  int tokens = 1;
  int threshold = 0;  // bytes; 0: none
  bool by_root = false;
  bool within = false;
};

// gather and scatter, with at least one token.
plan::Plan token_ring(plan::Collective collective, int ranks, int root, const RingForm& ring,
                      const placement::Levels& levels);

}  // namespace tutti::algo
