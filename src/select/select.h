// Selection: (collective, bytes, ranks, oversubscribed, shape, root) -> algorithm and parameters.
//
// Data, not code: tables of rules (table.h), read from top to bottom. A pure function of what all
// ranks share, so that every rank chooses alike. A user's word (TUTTI_ALGORITHM_*) beats the map of
// a user's own plans (library.h), that beats the user's table, and that beats the one that is
// compiled in. Asked when an entry is made, never by a call that finds one.
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
  size_t bytes_low = 0;  // the sizes for which the answer is the same
  size_t bytes_high = 0;
};

struct Overrides {
  std::array<std::string, plan::collective_count> algorithm;  // empty: the tables'
  size_t segment_bytes = 0;                                   // 0: the tables'
  ReachChoice reach = ReachChoice::automatic;                 // else the tables have no say
  Reproducible reproducible = Reproducible::off;
  const Library* library = nullptr;  // the user's plans, which outlive this; null: none
  const Table* table = nullptr;      // the user's table, likewise
};

// A built-in algorithm that serves the call's operation; the library has no say here. One that is
// asked for and cannot serve is passed over, as a rule is whose algorithm cannot. With
// Reproducible::placement, one whose every result is
// ((x0 op x1) op x2) op ..., unless the user named another.
Choice choose(const Call& call, const Overrides& overrides);
// The same for root 0 on a machine of unknown shape.
Choice choose(plan::Collective collective, size_t bytes, int ranks, bool oversubscribed,
              const Overrides& overrides);

// The tables that have a say about a collective, in the order in which they are asked.
std::vector<const Table*> tables_for(plan::Collective collective, const Overrides& overrides);

// Whether some variable or rule names the host MPI's own collective between nodes (algo/by_host.h).
bool may_go_by_host(const Overrides& overrides);
// Whether some rule asks for the system's copies, so that ranks must find out whether they have
// them.
bool may_ask_for_cma(const Overrides& overrides);

// "TUTTI_ALGORITHM_BCAST"
std::string algorithm_variable(plan::Collective collective);

}  // namespace tutti::select
