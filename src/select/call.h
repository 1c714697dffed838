// A call as rules see it, and whether a rule is for it.
//
// Plain data that all ranks of a communicator share, so that all ranks find the same rule. Pure
// functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "select/map.h"
#include "placement/levels.h"

namespace tutti::select {

struct Call {
  plan::Collective collective;
  size_t bytes;
  int ranks;
  topo::Shape shape;  // the shape of the machine that the communicator runs on; empty: unknown
  int root;
  bool rank_order = false;       // the operation does not commute
  bool same_expression = false;  // the bits of the result depend on the expression that is
                                 // evaluated: floating point, users' operations
  bool oversubscribed = false;   // ranks outnumber cores
  // The levels that the ranks lie on; null: one, or unknown.
  const placement::Levels* levels = nullptr;
  int32_t nodes = 1;         // the number of nodes that they are on
  bool reached = false;      // all ranks reach the memory that each one allocates
  bool led = true;           // the nodes' leaders have a communicator of the host MPI's
  bool fixed_order = false;  // the same bits on every run (TUTTI_REPRODUCIBLE)

  const placement::Levels& known_levels() const;
};

// The sizes for which an answer is the same, both ends in it.
struct Sizes {
  size_t low = 0, high = SIZE_MAX;
};

// True if the rule's conditions hold. Narrows `sizes` to those around the call's for which the rule
// says the same.
bool holds(const Rule& rule, const Call& call, Sizes& sizes);

// Why a built-in algorithm cannot serve a call of its collective; empty where it can.
std::string refusal(std::string_view algorithm, const Call& call);

}  // namespace tutti::select
