// Programs broken on purpose, for tests of the simulation only.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "plan/simulate.h"
#include "plan/text.h"

namespace tutti::plan {

// Rank 3 hands over to rank 2 before rank 2 writes, so data that has come from rank 2 implies that
// rank 3's data is there, too.
inline constexpr const char* any_order_allreduce = R"(tutti-plan 1
collective allreduce
ranks 4
commutative yes
copy tmp[3] <- in[3]
copy tmp[3].1 <- tmp[3]
reduce any tmp[2] <- in[2], tmp[3].1
reduce any out[0] <- in[1], tmp[2], in[0]
copy out[2] <- out[0]
copy out[1] <- out[0]
copy out[3] <- out[2]
)";

inline std::vector<Program> programs_of(const Plan& plan, Carrier carrier) {
  const Plan staged = stage(plan);
  const Dependences dependences = depend(staged, carrier);
  std::vector<Program> programs;
  for (int32_t rank = 0; rank < plan.ranks; ++rank) {
    programs.push_back(lower(staged, dependences, rank, carrier));
    programs.back().in_place = check(plan).in_place;
  }
  return programs;
}

// The error message of the simulation; empty if it accepts the programs.
inline std::string fault(const Plan& plan, const std::vector<Program>& programs,
                         const Simulation& how) {
  try {
    simulate(plan, programs, how);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_plan);
    return error.what();
  }
}

using Break = std::function<void(Program& program, size_t step)>;
using Applies = std::function<bool(const std::vector<Program>& programs, const Step& step)>;

// How many of the broken programs the simulation refused (found) and accepted (missed).
struct Outcome {
  int found = 0;
  int missed = 0;
  std::string last;  // message
  std::string first_missed;
};

// Breaks each step of a kind, one at a time, in each program.
inline Outcome break_each(const Plan& plan, Carrier carrier, StepKind kind, const Simulation& how,
                          const Break& break_it, const Applies& applies = nullptr) {
  const std::vector<Program> right = programs_of(plan, carrier);
  EXPECT_EQ(fault(plan, right, how), "");
  Outcome outcome;
  for (size_t rank = 0; rank < right.size(); ++rank) {
    for (size_t step = 0; step < right[rank].steps.size(); ++step) {
      if (right[rank].steps[step].kind != kind) continue;
      if (applies && !applies(right, right[rank].steps[step])) continue;
      std::vector<Program> broken = right;
      break_it(broken[rank], step);
      const std::string message = fault(plan, broken, how);
      if (!message.empty()) {
        ++outcome.found;
        outcome.last = message;
        continue;
      }
      ++outcome.missed;
      outcome.first_missed = print(plan) + print(right[rank]) + "step " + std::to_string(step);
    }
  }
  return outcome;
}

inline void drop(Program& program, size_t step) {
  program.steps.erase(program.steps.begin() + static_cast<ptrdiff_t>(step));
}

inline constexpr Simulation one_segment{1, 1, 3, 4, 5};
inline constexpr Simulation few_positions{7, 0, 2, 4, 6};

}  // namespace tutti::plan
