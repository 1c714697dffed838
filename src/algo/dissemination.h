// Dissemination: in log2 p steps every rank combines what it has with what a rank at a doubling
// distance has.
//
// Idea: after step i a rank holds the data of the 2^(i+1) ranks behind it, in a circle. Where p is
// no power of two, ranks are folded first and get the result in a closing step (fold.h). Circles of
// the first steps lie within a group of the outermost level, those of the last go from group to
// group, so that borders are crossed in the last steps (and in neither the first nor the closing
// one). A barrier on one level needs no folding: to hear of an arrival twice is no harm. When:
// barriers and short vectors with a core a rank; never with more ranks than cores. Cost: floor(log2
// p) (alpha + m beta + m gamma), and 2 (alpha + m beta) + m gamma where ranks are folded.
// Restrictions: the operation must commute, and its bits must not hang on the order, because ranks
// evaluate different expressions (not uniform): integers, minima and maxima, barriers. Source:
// HMPI, sections 2.3 and 2.6; Hensgen, Finkel and Manber, "Two algorithms for barrier
// synchronization", 1988.
#pragma once

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

// barrier and allreduce.
plan::Plan dissemination(plan::Collective collective, int ranks, const placement::Levels& levels);

}  // namespace tutti::algo
