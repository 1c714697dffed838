// Compares the check, the lowering and the simulation of random plans, right and broken, with a
// plain evaluation of the plan on concrete values: lists of leaves, which are the free monoid, and
// expressions written out as text.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/error.h"
#include "base/sanitized.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "plan/test_random_plans.h"
#include "plan/simulate.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

using Leaf = std::pair<int32_t, int32_t>;  // rank and block of an `in`

// The leaves that a block of a rank's `out` holds by the definition of MPI.
std::vector<Leaf> wanted(const Plan& plan, int32_t rank, int32_t block) {
  std::vector<Leaf> leaves;
  switch (plan.collective) {
    case Collective::bcast: return {{plan.root, block}};
    case Collective::scatter: return {{plan.root, rank}};
    case Collective::gather:
    case Collective::allgather: return {{block, 0}};
    case Collective::alltoall: return {{block, rank}};
    default: break;
  }
  const bool part = plan.collective == Collective::reduce_scatter;
  for (int32_t other = 0; other < plan.ranks; ++other) {
    if (plan.collective == Collective::scan && other > rank) continue;
    if (plan.collective == Collective::exscan && other >= rank) continue;
    leaves.emplace_back(other, part ? rank : block);
  }
  return leaves;
}

bool has_in(const Plan& plan, int32_t rank) {
  const bool root_only =
      plan.collective == Collective::bcast || plan.collective == Collective::scatter;
  return rank == plan.root || !root_only;
}

bool one_part_in(const Plan& plan) {
  return plan.collective == Collective::gather || plan.collective == Collective::allgather;
}

bool one_part_out(const Plan& plan) {
  return plan.collective == Collective::scatter || plan.collective == Collective::reduce_scatter;
}

bool reduces(const Plan& plan) {
  return plan.collective == Collective::reduce || plan.collective == Collective::allreduce ||
         plan.collective == Collective::reduce_scatter || plan.collective == Collective::scan ||
         plan.collective == Collective::exscan;
}

struct Held {
  std::vector<Leaf> leaves;
  std::string expression;
  bool by_arrival = false;  // a reduction in any order is in it
};

// Executes a plan literally. `in_place` has a bit for each rank that passes one buffer; `backwards`
// moves the blocks of a transfer last to first, which shows whether a result depends on their
// order.
class Evaluation {
 public:
  Evaluation(const Plan& plan, uint32_t in_place, bool backwards)
      : plan_(plan), in_place_(in_place), backwards_(backwards) {}

  bool right() {
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
      if (!has_in(plan_, rank)) continue;
      for (int32_t block = 0; block < (one_part_in(plan_) ? 1 : plan_.blocks); ++block) {
        cells_[key(rank, Buffer::in, block)] = {{{rank, block}},
                                                std::to_string(rank) + "." + std::to_string(block)};
      }
    }
    for (const Transfer& transfer : plan_.transfers) {
      for (int32_t i = 0; i < transfer.dst.count; ++i) {
        if (!move(transfer, backwards_ ? transfer.dst.count - 1 - i : i)) return false;
      }
    }
    return ends_right();
  }

  bool has_out(int32_t rank) const {
    if (plan_.collective == Collective::exscan) return rank != 0;
    return rank == plan_.root ||
           (plan_.collective != Collective::reduce && plan_.collective != Collective::gather);
  }
  int32_t out_blocks() const { return one_part_out(plan_) ? 1 : plan_.blocks; }
  const Held& result(int32_t rank, int32_t block) {
    return cells_.at(key(rank, Buffer::out, block));
  }

  bool rank_order() {
    if (!reduces(plan_)) return true;
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
      for (int32_t block = 0; has_out(rank) && block < out_blocks(); ++block) {
        const auto& [leaves, expression, by_arrival] = result(rank, block);
        if (by_arrival || !std::is_sorted(leaves.begin(), leaves.end())) return false;
      }
    }
    return true;
  }

  bool uniform() {
    for (int32_t block = 0; block < plan_.blocks && plan_.collective == Collective::allreduce;
         ++block) {
      for (int32_t rank = 1; rank < plan_.ranks; ++rank) {
        if (result(rank, block).expression != result(0, block).expression) return false;
      }
    }
    return true;
  }

 private:
  using Key = std::tuple<int32_t, Buffer, int32_t>;

  Key key(int32_t rank, Buffer buffer, int32_t block) const {
    const bool one_buffer = (in_place_ >> rank & 1) != 0 ||
                            (plan_.collective == Collective::bcast && rank == plan_.root);
    if (!one_buffer || buffer != Buffer::out) return {rank, buffer, block};
    if (one_part_in(plan_))
      return block == rank ? Key{rank, Buffer::in, 0} : Key{rank, buffer, block};
    if (plan_.collective == Collective::scatter) return {rank, Buffer::in, rank};
    return {rank, Buffer::in, block};
  }

  bool move(const Transfer& transfer, int32_t k) {
    if (transfer.dst.buffer == Buffer::out && !has_out(transfer.dst.rank)) return false;
    if (transfer.kind == TransferKind::reduce && !reduces(plan_) &&
        plan_.collective != Collective::barrier)
      return false;
    Held result;
    for (const Region& source : transfer.src) {
      const auto found =
          cells_.find(key(source.rank, source.buffer, source.first + k * source.stride));
      if (found == cells_.end()) return false;
      const Held& held = found->second;
      result.leaves.insert(result.leaves.end(), held.leaves.begin(), held.leaves.end());
      result.expression += (result.expression.empty() ? "" : ",") + held.expression;
      result.by_arrival |= held.by_arrival;
    }
    if (transfer.any_order) {
      result.by_arrival = true;
      result.expression = "some order " + std::to_string(&transfer - plan_.transfers.data());
    }
    if (transfer.kind == TransferKind::reduce) {
      result.expression = "(" + result.expression + ")";
      if (plan_.collective != Collective::barrier && !may_be_combined(result.leaves)) return false;
    }
    const int32_t block = transfer.dst.first + k * transfer.dst.stride;
    if (transfer.dst.buffer == Buffer::out &&
        !may_be_there(result.leaves.front(), transfer.dst.rank, block))
      return false;
    cells_[key(transfer.dst.rank, transfer.dst.buffer, block)] = result;
    return true;
  }

  // In a reduction, and in a bcast, where all data is the root's, any rank's data for this place
  // may be there.
  bool may_be_there(const Leaf& leaf, int32_t rank, int32_t block) const {
    const Leaf belongs = wanted(plan_, rank, block).front();
    return parted(plan_.collective) && !reduces(plan_) ? leaf == belongs
                                                       : leaf.second == belongs.second;
  }

  bool may_be_combined(std::vector<Leaf> leaves) const {
    for (size_t i = 1; i < leaves.size() && !plan_.commutative; ++i) {
      if (leaves[i].first != leaves[i - 1].first + 1) return false;
    }
    std::sort(leaves.begin(), leaves.end());
    for (size_t i = 1; i < leaves.size(); ++i) {
      if (leaves[i].second != leaves[0].second || leaves[i].first == leaves[i - 1].first)
        return false;
    }
    return true;
  }

  bool ends_right() {
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
      for (int32_t block = 0; has_out(rank) && block < out_blocks(); ++block) {
        const auto found = cells_.find(key(rank, Buffer::out, block));
        if (found == cells_.end()) return false;
        auto leaves = found->second.leaves;
        std::sort(leaves.begin(), leaves.end());
        leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
        if (leaves != wanted(plan_, rank, block)) return false;
      }
    }
    return true;
  }

  const Plan& plan_;
  uint32_t in_place_;
  bool backwards_;
  std::map<Key, Held> cells_;
};

bool by_arrival(const Plan& plan) {
  return reduces(plan) && std::any_of(plan.transfers.begin(), plan.transfers.end(),
                                      [](const Transfer& transfer) { return transfer.any_order; });
}

bool right_in_place(const Plan& plan) {
  const bool two_buffers =
      plan.collective != Collective::barrier && plan.collective != Collective::bcast;
  for (uint32_t subset = 0; subset < (1u << plan.ranks) && two_buffers; ++subset) {
    const bool root_alone =
        plan.collective == Collective::gather || plan.collective == Collective::scatter;
    if (root_alone && (subset & ~(1u << plan.root)) != 0) continue;
    if (!Evaluation(plan, subset, false).right() || !Evaluation(plan, subset, true).right())
      return false;
  }
  return true;
}

std::vector<Program> programs_of(const Plan& plan, const Plan& staged, Carrier carrier,
                                 bool in_place) {
  const Dependences dependences = depend(staged, carrier);
  std::vector<Program> programs;
  for (int32_t rank = 0; rank < plan.ranks; ++rank) {
    programs.push_back(lower(staged, dependences, rank, carrier));
    programs.back().in_place = in_place;
  }
  return programs;
}

// Lowers and simulates with both carriers, with few and with many segments.
void lower_and_simulate(const Plan& plan, bool in_place, uint64_t seed) {
  const Plan staged = stage(plan);
  ASSERT_NO_THROW(validate(staged)) << print(staged);
  ASSERT_NO_THROW(check(staged)) << print(staged);
  const std::vector<Program> slots = programs_of(plan, staged, Carrier::slot, in_place);
  for (const Simulation& how :
       {Simulation{1, 1, 3, 2, seed}, Simulation{5, 0, 2, 2, seed}, Simulation{4, 3, 2, 2, seed}}) {
    ASSERT_NO_THROW(simulate(plan, slots, how)) << "segments " << how.segments << "\n"
                                                << print(plan) << print(staged);
  }
  if (!lines_serve(staged)) return;
  const std::vector<Program> lines = programs_of(plan, staged, Carrier::line, in_place);
  ASSERT_NO_THROW(simulate(plan, lines, {1, 0, 5, 2, seed})) << "lines\n"
                                                             << print(plan) << print(staged);
}

// The same with the ranks on several nodes.
void lower_between_nodes(const Plan& plan, bool in_place, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> of(static_cast<size_t>(plan.ranks));
  for (int32_t& node : of) node = static_cast<int32_t>(random() % 3);
  const placement::Nodes nodes(of);
  const Plan staged = stage(plan, nodes);
  const std::string where = "nodes " + nodes.contents() + "\n" + print(plan);
  const std::vector<Program> slots = programs_of(plan, staged, Carrier::slot, in_place);
  for (const Simulation& how :
       {Simulation{1, 1, 3, 2, seed, true, nodes}, Simulation{5, 0, 2, 2, seed, true, nodes}}) {
    ASSERT_NO_THROW(simulate(plan, slots, how)) << "segments " << how.segments << "\n" << where;
  }
  if (!lines_serve(staged)) return;
  const std::vector<Program> lines = programs_of(plan, staged, Carrier::line, in_place);
  ASSERT_NO_THROW(simulate(plan, lines, {1, 0, 5, 2, seed, true, nodes})) << "lines\n" << where;
}

constexpr int right_plans = looks_at_memory ? 200 : 1500;
constexpr int broken_plans = looks_at_memory ? 1500 : 12000;

TEST(RandomPlans, RightPlansPassAndTheirProgramsAreOrdered) {
  int not_in_place = 0, not_uniform = 0, arrivals = 0;
  for (uint64_t seed = 0; seed < uint64_t{right_plans}; ++seed) {
    const Plan plan = RandomPlan(seed).make();
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_THROW(validate(plan)) << print(plan);
    Evaluation evaluation(plan, 0, false);
    ASSERT_TRUE(evaluation.right()) << print(plan);
    Verdict verdict;
    ASSERT_NO_THROW(verdict = check(plan)) << print(plan);
    ASSERT_EQ(verdict.rank_order, evaluation.rank_order()) << print(plan);
    ASSERT_EQ(verdict.uniform, evaluation.uniform()) << print(plan);
    ASSERT_EQ(verdict.in_place, right_in_place(plan)) << print(plan);
    ASSERT_EQ(verdict.arrival, by_arrival(plan)) << print(plan);
    arrivals += verdict.arrival ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(lower_and_simulate(plan, verdict.in_place, seed));
    ASSERT_NO_FATAL_FAILURE(lower_between_nodes(plan, verdict.in_place, seed));
    not_in_place += verdict.in_place ? 0 : 1;
    not_uniform += verdict.uniform ? 0 : 1;
  }
  // The random plans must include these cases, or the comparison above shows nothing about them.
  EXPECT_GT(not_in_place, right_plans / 75);
  EXPECT_GT(not_uniform, right_plans / 75);
  EXPECT_GT(arrivals, right_plans / 15);
}

// Without the order of arrival, sources are combined in the order written.
TEST(RandomPlans, InFixedOrderNothingHangsOnArrival) {
  for (uint64_t seed = 0; seed < uint64_t{right_plans}; ++seed) {
    const Plan plan = in_fixed_order(RandomPlan(seed).make());
    const Verdict verdict = check(plan);
    ASSERT_FALSE(verdict.arrival);
    Evaluation evaluation(plan, 0, false);
    ASSERT_TRUE(evaluation.right());
    ASSERT_EQ(verdict.uniform, evaluation.uniform()) << print(plan);
  }
}

TEST(RandomPlans, TextRoundTrip) {
  for (uint64_t seed = 0; seed < uint64_t{right_plans}; ++seed) {
    const std::string text = print(RandomPlan(seed).make());
    ASSERT_EQ(print(read(text)), text);
  }
}

std::optional<Verdict> verdict_of(const Plan& plan, std::string& message) {
  try {
    return check(plan);
  } catch (const Error& error) {
    message = error.what();
    return std::nullopt;
  }
}

// A refusal names the transfer at fault, by its line.
bool well_formed(const Plan& plan) {
  try {
    validate(plan);
    return true;
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("line ")) << error.what();
    return false;
  }
}

TEST(RandomPlans, TheCheckAgreesWithPlainEvaluationOnChangedPlans) {
  int refused = 0, still_right = 0, malformed = 0;
  for (uint64_t seed = 0; seed < uint64_t{broken_plans}; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Plan plan = read(print(RandomPlan(seed, 5).make()));
    std::mt19937_64 random(seed);
    for (uint64_t changes = 1 + seed % 2; changes > 0; --changes) change(plan, random);
    if (!well_formed(plan)) {
      ++malformed;
      continue;
    }
    Evaluation evaluation(plan, 0, false);
    const bool right = evaluation.right();
    std::string message;
    const std::optional<Verdict> verdict = verdict_of(plan, message);
    ASSERT_EQ(verdict.has_value(), right) << message << "\n" << print(plan);
    if (!right) {
      ++refused;
      ASSERT_TRUE(message.starts_with("line ") || message.starts_with("block ")) << message;
      continue;
    }
    ++still_right;
    ASSERT_EQ(verdict->rank_order, evaluation.rank_order()) << print(plan);
    ASSERT_EQ(verdict->uniform, evaluation.uniform()) << print(plan);
    ASSERT_TRUE(!verdict->in_place || right_in_place(plan)) << print(plan);
    ASSERT_NO_FATAL_FAILURE(lower_and_simulate(plan, verdict->in_place, seed));
  }
  printf("changed plans: %d refused, %d still right, %d malformed\n", refused, still_right,
         malformed);
  EXPECT_GT(refused, broken_plans / 6);
  EXPECT_GT(still_right, broken_plans / 24);
}

}  // namespace
}  // namespace tutti::plan
