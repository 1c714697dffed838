// The programs of neighbourhood collectives between nodes: what goes along an edge to another rank
// is a message from the block of the source's `in` to the block of the target's `out`.
//
// A program is made from the rank's own edges, because a rank knows no others (neighbours.h). So
// there is no plan that could be checked as a whole. The k-th edge from one rank to another is the
// same edge at both ends: both count the edges between them in the order of the source's blocks.
// Both ends of an edge know its length, and one without data has no message. If two ranks disagree
// about how many edges lead from one to the other, a message that the target expects and the source
// does not send never comes.
//
// Pure functions of plain data; any thread.
#pragma once

#include <string>

#include "records/neighbours.h"
#include "plan/program.h"

namespace tutti::records {

// For an alltoall or an allgather among neighbours. The lengths of its blocks are those of
// exec::VParts, and nothing is in place. It begins with the posts and the sends of all messages,
// and no message waits for another. The programs of all ranks have equally many transfers, also
// that of a rank without edges.
plan::Program neighbours_by_messages(plan::Collective collective, int32_t rank, int32_t ranks,
                                     const Neighbourhood& own);

// One line about edges from the rank to itself that have one end only; empty if there are none.
// The program then leaves them out.
std::string edges_with_one_end(int32_t rank, const Neighbourhood& own);

}  // namespace tutti::records
