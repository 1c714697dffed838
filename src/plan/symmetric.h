// Symmetric plans: all ranks do the same, each at its own place of a circle, as in a ring.
//
// The transfers of such a plan are written once, for one place: these are its patterns. A pattern
// stands for a transfer at every place. The one of place k is the pattern with all its ranks moved
// on by k places; where a buffer has a block for each place, the blocks move on, too, and other
// blocks stay. So a rank finds its own program from the patterns alone, in time that grows with its
// own steps, and the transfers of all ranks are written out only where somebody looks at them.
//
// A pattern is pulled, and its regions are single blocks. It takes its sources in the order
// written, or at each place in the order of their ranks. It never reads or writes what the pattern
// itself writes at another place, so it does not matter which place comes first. Plain data and
// pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "plan/lower.h"
#include "plan/plan.h"
#include "plan/slice.h"

namespace tutti::plan {

struct Symmetric {
  Plan plan;  // its transfers are the patterns; their ranks, and blocks that move on, are places
  std::vector<int32_t> order;    // the rank at each place
  bool sources_by_rank = false;  // sources are taken in the order of their ranks
};

// Place k of the circle is rank k.
Symmetric in_rank_order(Plan patterns, bool sources_by_rank = false);

// A plan as its generator writes it.
using Written = std::variant<Plan, Symmetric>;
// The plan itself, or the one with the patterns.
Plan& plan_in(Written& written);

// The plan of all ranks: each pattern in turn, at all places.
Plan whole(const Symmetric& symmetric);
Plan whole(Written written);

// Does for the patterns of a plan on one node what stage() and schedule() do for all transfers.
// None where the plan of all ranks has to be staged instead, because it is too large or because its
// stages might differ from place to place.
std::optional<Symmetric> stage(Symmetric symmetric, const placement::Nodes& nodes);
// These say of the patterns of a staged plan what they say of the whole plan. The slice is that of
// the whole plan, and gives the same program.
bool pairs_decide(const Symmetric& staged);
bool lines_serve(const Symmetric& staged, int32_t lines = INT32_MAX);
Slice slice(const Symmetric& staged, int32_t rank);
// Expects that pairs decide.
Program program_of(const Symmetric& staged, int32_t rank, Carrier carrier);

// The staged plan from which one rank makes its program: the patterns of a symmetric plan where
// pairs decide, and else the whole plan.
Written stage_for_one(Written written, const placement::Nodes& nodes,
                      Buffers buffers = Buffers::maybe_one);
bool lines_serve(const Written& staged, int32_t lines = INT32_MAX);
Program program_of(const Written& staged, int32_t rank, Carrier carrier);

}  // namespace tutti::plan
