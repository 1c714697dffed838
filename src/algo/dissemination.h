// Dissemination: in log2 p steps every rank combines its vector with that of a rank at a doubling
// distance.
//
// Idea: after step i a rank holds the combination of the 2^(i+1) ranks before it on a circle. If p
// is not a power of two, ranks are folded first and get the result in a closing step (fold.h). The
// circles of the first steps lie within a group of the outermost level, those of the last steps go
// from group to group; neither folding nor the closing step does. A barrier on one level needs no
// folding: hearing of an arrival twice does no harm.
// When: barriers and short vectors, with a core per rank; never if oversubscribed.
// Cost: floor(log2 p) (alpha + m beta + m gamma), and 2 (alpha + m beta) + m gamma if ranks are
// folded.
// Restrictions: the operation must commute, and the order must not change the result's bits,
// because ranks evaluate different expressions (not uniform): integers, minima and maxima,
// barriers.
// Source: HMPI, sections 2.3 and 2.6; Hensgen, Finkel and Manber, "Two algorithms for barrier
// synchronization", 1988.
#pragma once

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

// barrier and allreduce.
plan::Plan dissemination(plan::Collective collective, int ranks, const placement::Levels& levels);

}  // namespace tutti::algo
