// Slices of random plans give the programs of the whole plans. Tests of the room of algorithms do
// the same for all built-in algorithms.
#include "plan/slice.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "base/sanitized.h"
#include "plan/check.h"
#include "plan/simulate.h"
#include "plan/test_random_plans.h"
#include "plan/test_slices.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

std::vector<int32_t> all(int32_t ranks) {
  std::vector<int32_t> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(SlicesOfRandomPlans, GiveRightPrograms) {
  for (uint64_t seed = 0; seed < (looks_at_memory ? 100 : 1000); ++seed) {
    const Plan plan = RandomPlan(seed).make();
    const Plan staged = stage(plan);
    if (!can_be_sliced(staged)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const Carrier carrier : {Carrier::line, Carrier::slot}) {
      if (carrier == Carrier::line && !lines_serve(staged)) continue;
      expect_same_of_slices(staged, carrier, all(plan.ranks));
      std::vector<Program> programs =
          lower(staged, depend(staged, carrier, true), all(plan.ranks), carrier);
      for (Program& program : programs) program.in_place = check(plan).in_place;
      ASSERT_NO_THROW(simulate(plan, programs, {.seed = seed})) << print(plan) << print(staged);
    }
  }
}

// Plans that give wrong results do what right plans do not, such as to overwrite what was copied.
TEST(SlicesOfRandomPlans, GiveTheProgramsOfPlansWithWrongResults) {
  int compared = 0, copies_that_stay = 0;
  for (uint64_t seed = 0; seed < (looks_at_memory ? 1000 : 12000); ++seed) {
    Plan plan = RandomPlan(seed).make();
    std::mt19937_64 random(seed);
    for (uint64_t changes = 1 + random() % 4; changes > 0; --changes) change(plan, random);
    try {
      validate(plan);
    } catch (const Error&) {
      continue;
    }
    const Plan staged = stage(plan);
    if (!can_be_sliced(staged)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print(staged));
    expect_same_of_slices(staged, Carrier::slot, all(plan.ranks));
    ++compared;
    const auto by_pairs = depend(staged, Carrier::slot, true).elidable.copies,
               by_clocks = depend(staged, Carrier::slot, false).elidable.copies;
    if (by_pairs != by_clocks) ++copies_that_stay;
  }
  EXPECT_GT(compared, looks_at_memory ? 200 : 2000);
  EXPECT_GT(copies_that_stay, 0);
}

}  // namespace
}  // namespace tutti::plan
