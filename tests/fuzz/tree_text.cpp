// Trees: what is read is printed and read back the same, and whatever is read means a right plan.
#include <cstdint>

#include "fuzz.h"
#include "plan/check.h"
#include "plan/text.h"
#include "plan/tree_text.h"

namespace tutti::fuzz {
namespace {

using plan::Collective;
using plan::Plan;
using plan::Trees;

// A tree of 2^20 ranks is read in a tenth of a second; its plan is checked where that takes
// milliseconds.
constexpr int32_t most_ranks_checked = 4096;

void hold_plan(const Plan& plan, const Trees& trees, std::string_view text) {
  hold(same(plan,
            surely([&] { return plan::plan_of(trees); }, "trees that can be read are trees", text)),
       "a text and its trees mean the same plan", text);
  if (plan.ranks > most_ranks_checked) return;
  surely([&] { return plan::validate(plan), true; }, "a tree means a plan that is well formed",
         text);
  const plan::Verdict verdict =
      surely([&] { return plan::check(plan); }, "a tree means a right plan", text);
  hold(verdict.uniform, "one rank computes the result of a tree", text);
  hold(plan.commutative || verdict.rank_order,
       "a tree that does not say commutative keeps rank order", text);
  const bool combines =
      plan.collective == Collective::reduce || plan.collective == Collective::allreduce;
  if (combines && plan.commutative && !trees.any_order) {
    hold(!verdict.rank_order, "a tree that keeps rank order does not say commutative", text);
  }
  const std::string printed = plan::print(plan);
  const Plan again =
      surely([&] { return plan::read(printed); }, "a tree's plan can be printed and read", printed);
  hold(same(plan, again), "a tree's plan reads the same", printed);
}

void run(std::string_view text) {
  const auto trees = taken([&] { return plan::read_trees(text, "fuzzed.tree"); });
  const auto plan = taken([&] { return plan::read_tree(text, "fuzzed.tree"); });
  hold(trees.has_value() == plan.has_value(), "a tree is refused by both readers or by none", text);
  if (!trees) return;
  const std::string printed = plan::print(*trees);
  const Trees again =
      surely([&] { return plan::read_trees(printed); }, "what is printed can be read", printed);
  hold(again == *trees, "what is printed reads the same", printed);
  hold_plan(*plan, *trees, text);
}

}  // namespace
}  // namespace tutti::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tutti::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
