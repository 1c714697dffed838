// Selection: (collective, bytes, ranks, oversubscribed, shape, root) -> algorithm and parameters.
//
// Selection is data, not code: tables of rules (table.h), which are read from top to bottom. It is
// a pure function of what all ranks share, so that all ranks choose the same. A variable
// (TUTTI_ALGORITHM_*) overrides the map of a user's own plans (library.h), the map overrides the
// user's table, and that table overrides the compiled one. A group asks when it makes an entry of
// its table of calls; later calls that find the entry do not ask.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "plan/plan.h"
#include "select/call.h"
#include "select/library.h"
#include "select/table.h"

namespace tutti::select {

struct Choice {
  std::string_view algorithm;  // as algo::generate takes it; points into a table or the overrides
  size_t segment_bytes = 0;    // 0: what the executor finds best
  ReachChoice reach = ReachChoice::automatic;
  size_t bytes_low = 0;  // sizes for which the answer is the same, both ends in it
  size_t bytes_high = 0;
  bool by_users_table = false;
  bool by_default_table = false;  // the default table knows nothing of the group's memory
};

struct Overrides {
  std::array<std::string, plan::collective_count> algorithm;  // empty: the tables'
  size_t segment_bytes = 0;                                   // 0: the tables'
  ReachChoice reach = ReachChoice::automatic;                 // any other overrides the tables
  Reproducible reproducible = Reproducible::off;
  const Library* library = nullptr;  // the user's plans, which outlive this; null: none
  const Table* table = nullptr;      // the user's table, which outlives this; null: none
};

// A built-in algorithm that serves the call's operation; the library is not asked here. An
// algorithm that a user asks for is skipped if it cannot serve, and so is a rule. With
// Reproducible::placement the algorithm computes every result as ((x0 op x1) op x2) op ..., unless
// the user named another one.
Choice choose(const Call& call, const Overrides& overrides);
// The same for root 0 on a machine of unknown shape.
Choice choose(plan::Collective collective, size_t bytes, int ranks, bool oversubscribed,
              const Overrides& overrides);

// The tables that decide about a collective, in the order in which they are asked.
std::vector<const Table*> tables_for(plan::Collective collective, const Overrides& overrides);

// True if some variable or rule names the host MPI's own collective between nodes (algo/by_host.h).
bool may_go_by_host(const Overrides& overrides);
// The same for alltoalls whose parts servers exchange (`direct:N:served`).
bool may_go_by_servers(const Overrides& overrides);
// True if rules of the user's, or the default ones, ask for the system's copies, so that ranks must
// find out whether they have them.
bool users_rules_ask_for_cma(const Overrides& overrides);
bool default_rules_ask_for_cma();

// "TUTTI_ALGORITHM_BCAST"
std::string algorithm_variable(plan::Collective collective);

}  // namespace tutti::select
