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

// Visits the plans whose generators write what one rank does.
void for_each_symmetric(int ranks, auto&& visit) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Collective collective : algorithm.collectives) {
      for (const std::string& spec : specs(algorithm)) {
        for (const bool has_levels : {false, true}) {
          const placement::Levels known = has_levels ? levels(ranks) : placement::Levels{};
          const plan::Written plan = written(collective, spec, ranks, 0, known);
          if (const auto* const symmetric = std::get_if<plan::Symmetric>(&plan)) {
            SCOPED_TRACE(std::string(plan::name(collective)) + " " + spec + ", ranks " +
                         std::to_string(ranks) + (has_levels ? ", levels" : ""));
            visit(*symmetric);
          }
        }
      }
    }
  }
}

void expect_same_of_patterns(const plan::Symmetric& symmetric, const std::vector<int>& ranks) {
  const std::optional<plan::Symmetric> patterns = plan::stage(symmetric, {});
  ASSERT_TRUE(patterns);
  const Plan staged = plan::stage(plan::whole(symmetric));
  ASSERT_EQ(staged.transfers.size(),
            patterns->plan.transfers.size() * static_cast<size_t>(staged.ranks));
  EXPECT_EQ(plan::pairs_decide(*patterns), plan::pairs_decide(staged));
  for (const int lines : {1, 2, 3, staged.ranks, INT32_MAX})
    EXPECT_EQ(plan::lines_serve(*patterns, lines), plan::lines_serve(staged, lines)) << lines;
  for (const Carrier carrier : {Carrier::line, Carrier::slot}) {
    if (carrier == Carrier::line && !plan::lines_serve(staged)) continue;
    for (const Program& program :
         plan::lower(staged, plan::depend(staged, carrier, true), ranks, carrier)) {
      const Program own = plan::program_of(*patterns, program.rank, carrier);
      if (own == program) continue;
      ADD_FAILURE() << "the patterns give\n"
                    << print(own) << "and the whole plan gives\n"
                    << print(program);
      return;
    }
  }
}

TEST(Slices, OfSymmetricPlansAreThoseOfTheWholePlan) {
  int plans = 0;
  for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 13, 16, 17}) {
    for_each_symmetric(ranks, [&](const plan::Symmetric& symmetric) {
      expect_same_of_patterns(symmetric, all(ranks));
      ++plans;
    });
  }
  for (const int ranks : {63, 64, 65, 127, 128, 255, 256}) {
    for_each_symmetric(ranks, [&](const plan::Symmetric& symmetric) {
      expect_same_of_patterns(symmetric, {0, 1, ranks / 2, ranks - 1});
    });
  }
  // Thirteen of them with every number of ranks. A reduce_scatter by flat or direct is one where a
  // group has the parts of all ranks, up to 16.
  EXPECT_EQ(plans, 10 * 2 * 13 + 9 * 2 * 2);
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
