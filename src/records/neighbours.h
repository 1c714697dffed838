// The programs of neighbourhood collectives: which blocks a rank gives to its neighbours, and
// where it takes the blocks that its neighbours give (MPI 4.1, section 8.6).
//
// A topology has edges, each from one rank to one rank. A rank may have an edge to itself, and
// several edges may lead from one rank to another. A rank knows its own edges and no others: block
// i of its `in` goes along its i-th edge out (in an allgather its only block goes along all of
// them), and block j of its `out` comes along its j-th edge in. Both ends of an edge must agree
// which edge that is:
//
//   cartesian   Block s of a rank becomes block s^1 of the neighbour, because the two edges of a
//               dimension change places: what goes in the negative direction comes from the
//               positive side. This also holds if both neighbours of a dimension are one rank.
//   graphs      The k-th edge from rank a to rank b in a's list is the k-th edge from a in b's
//               list.
//
// So a rank must read the lists of the edges out of its sources, and of no other ranks.
//
// Pure functions of plain data; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plan/record_program.h"

namespace tutti::records {

// A rank's own edges, by the block that goes or comes along each. -1 stands for MPI_PROC_NULL: the
// buffer has the block, but no data moves.
struct Neighbourhood {
  std::vector<int32_t> sources;       // the rank at the other end of each block of `out`
  std::vector<int32_t> destinations;  // the rank at the other end of each block of `in`
  bool cartesian = false;
};

// An edge out of a rank, as the rank tells it to the others. Plain data for shared memory.
struct OutEdge {
  int32_t to = -1;    // the rank to which it leads; -1: MPI_PROC_NULL
  int32_t slot = -1;  // the block of that rank's `out`; -1: the order of the edges decides
};

// Returns the edges that a rank tells the others, one for each of its destinations.
std::vector<OutEdge> out_edges(const Neighbourhood& own);

// The out_edges() of another rank. Called only for the sources of the rank whose program is made.
using EdgesOf = std::function<std::span<const OutEdge>(int32_t rank)>;

// The program of `rank` for an alltoall or an allgather among neighbours. Throws Error(mismatch)
// that names both ranks if a source's edges to this rank are not those that this rank expects.
plan::RecordProgram neighbours_program(plan::Collective collective, int32_t rank, int32_t ranks,
                                       const Neighbourhood& own, const EdgesOf& edges_of);

// The part of the same program that follows from the rank's own edges: what it gives, and of which
// ranks it awaits records. An operation can be started with it, but not be completed.
plan::RecordProgram neighbours_start(plan::Collective collective, int32_t rank, int32_t ranks,
                                     const Neighbourhood& own);

}  // namespace tutti::records
