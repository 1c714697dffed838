// A rank that makes its own program from its slice of a plan gets the program that the whole plan
// gives, and all ranks' programs together are right.
#include <gtest/gtest.h>

#include <numeric>

#include "algo/algo.h"
#include "plan/lower.h"
#include "plan/simulate.h"
#include "plan/test_slices.h"

namespace tutti::algo {
namespace {

using plan::Carrier;
using plan::Collective;
using plan::Plan;
using plan::Program;

std::vector<std::string> specs(const Algorithm& algorithm) {
  std::vector<std::string> specs{std::string(algorithm.name)};
  for (const auto variant : algorithm.variants) specs.emplace_back(variant);
  return specs;
}

placement::Levels levels(int ranks) {
  std::vector<int32_t> socket(static_cast<size_t>(ranks)), cache(static_cast<size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    socket[static_cast<size_t>(rank)] = rank / ((ranks + 1) / 2);
    cache[static_cast<size_t>(rank)] = rank / 3;
  }
  return placement::Levels(
      {placement::SharedLevel{"socket", socket}, placement::SharedLevel{"cache", cache}});
}

// Visits the staged plans that have no tokens.
void for_each_plan(int ranks, auto&& visit) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Collective collective : algorithm.collectives) {
      for (const std::string& spec : specs(algorithm)) {
        for (const int root : {0, ranks / 2}) {
          for (const bool has_levels : {false, true}) {
            if (!plan::rooted(collective) && root != 0) continue;
            const placement::Levels known = has_levels ? levels(ranks) : placement::Levels{};
            const Plan plan = generate(collective, spec, ranks, root, known);
            const Plan staged = plan::stage(plan);
            if (!plan::can_be_sliced(staged)) continue;
            for (const Carrier carrier : {Carrier::line, Carrier::slot}) {
              if (carrier == Carrier::line && !plan::lines_serve(staged)) continue;
              SCOPED_TRACE(std::string(plan::name(collective)) + " " + spec + ", ranks " +
                           std::to_string(ranks) + ", root " + std::to_string(root) +
                           (has_levels ? ", levels" : "") +
                           (carrier == Carrier::line ? ", lines" : ", slots"));
              visit(plan, staged, carrier);
            }
          }
        }
      }
    }
  }
}

std::vector<int32_t> all(int ranks) {
  std::vector<int32_t> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(Slices, GiveTheProgramsOfTheWholePlan) {
  for (const int ranks : {1, 2, 3, 5, 7, 8, 13, 16}) {
    for_each_plan(ranks, [&](const Plan&, const Plan& staged, Carrier carrier) {
      plan::expect_same_of_slices(staged, carrier, all(ranks));
    });
  }
}

TEST(Slices, GiveTheProgramsOfManyRanks) {
  for (const int ranks : {63, 64, 65, 127, 128, 255, 256}) {
    for_each_plan(ranks, [&](const Plan&, const Plan& staged, Carrier carrier) {
      if (plan::pairs_decide(staged))
        plan::expect_same_of_slices(staged, carrier, {0, 1, ranks / 2, ranks - 1});
    });
  }
}

TEST(Slices, GiveRightPrograms) {
  for (const int ranks : {2, 3, 5, 8}) {
    for_each_plan(ranks, [&](const Plan& plan, const Plan& staged, Carrier carrier) {
      std::vector<Program> programs =
          plan::lower(staged, plan::depend(staged, carrier, true), all(ranks), carrier);
      for (Program& program : programs) {
        program.in_place = true;
        program.knows_all |= plan.definition().needs_all(program.rank);
      }
      EXPECT_NO_THROW(plan::simulate(plan, programs, {}));
    });
  }
}

}  // namespace
}  // namespace tutti::algo
