// Trees: a tree that can be read is printed and read back the same, and its plan is correct.
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

// A tree of 2^20 ranks is read in a tenth of a second; plans up to this many ranks are checked in
// milliseconds.
constexpr int32_t most_ranks_checked = 4096;

void check_plan(const Plan& plan, const Trees& trees, std::string_view text) {
  require(same(plan, must_succeed([&] { return plan::plan_of(trees); },
                                  "trees that can be read have a plan", text)),
          "a text and its trees have the same plan", text);
  if (plan.ranks > most_ranks_checked) return;
  must_succeed([&] { return plan::validate(plan), true; }, "the plan of a tree is well formed",
               text);
  const plan::Verdict verdict =
      must_succeed([&] { return plan::check(plan); }, "the plan of a tree is correct", text);
  require(verdict.uniform, "one rank computes the result of a tree", text);
  require(plan.commutative || verdict.rank_order,
          "a tree that does not say commutative keeps rank order", text);
  const bool combines =
      plan.collective == Collective::reduce || plan.collective == Collective::allreduce;
  if (combines && plan.commutative && !trees.any_order) {
    require(!verdict.rank_order, "a tree that keeps rank order does not say commutative", text);
  }
  const std::string printed = plan::print(plan);
  const Plan again = must_succeed([&] { return plan::read(printed); },
                                  "a tree's plan can be printed and read", printed);
  require(same(plan, again), "a tree's plan reads the same", printed);
}

void run(std::string_view text) {
  const auto trees = if_accepted([&] { return plan::read_trees(text, "fuzzed.tree"); });
  const auto plan = if_accepted([&] { return plan::read_tree(text, "fuzzed.tree"); });
  require(trees.has_value() == plan.has_value(), "a tree is refused by both readers or by none",
          text);
  if (!trees) return;
  const std::string printed = plan::print(*trees);
  const Trees again = must_succeed([&] { return plan::read_trees(printed); },
                                   "a printed text can be read back", printed);
  require(again == *trees, "a printed text reads back the same", printed);
  check_plan(*plan, *trees, text);
}

}  // namespace
}  // namespace tutti::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tutti::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
