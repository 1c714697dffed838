// Plans: a plan that can be read is printed and read back the same. The check and, for small plans,
// the lowering and its simulation accept any plan that can be read without crashing, and a plan
// that passes the check is lowered correctly.
#include <cstdint>
#include <vector>

#include "fuzz.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "plan/simulate.h"
#include "plan/text.h"

namespace tutti::fuzz {
namespace {

using plan::Carrier;
using plan::Plan;

// The library's own bounds allow minutes of work per input; these bounds allow milliseconds.
constexpr int64_t most_moves_checked = int64_t{1} << 18;
constexpr int64_t most_moves_lowered = int64_t{1} << 12;
constexpr int32_t most_ranks_lowered = 64;
constexpr int64_t most_moves_simulated = 128;
constexpr int32_t most_ranks_simulated = 6;
constexpr int32_t most_blocks_simulated = 32;
constexpr int32_t most_stages_simulated = 32;

void check_round_trip(const Plan& plan) {
  const std::string text = plan::print(plan);
  const Plan again =
      must_succeed([&] { return plan::read(text); }, "a printed text can be read back", text);
  require(same(plan, again), "a printed text reads back the same", text);
}

std::vector<plan::Program> programs_of(const Plan& staged, Carrier carrier, bool in_place) {
  const plan::Dependences dependences = plan::depend(staged, carrier);
  std::vector<plan::Program> programs;
  for (int32_t rank = 0; rank < staged.ranks; ++rank) {
    programs.push_back(plan::lower(staged, dependences, rank, carrier));
    programs.back().in_place = in_place;
    require(!plan::print(programs.back()).empty(), "a program can be printed");
  }
  return programs;
}

bool can_be_simulated(const Plan& plan, const Plan& staged) {
  const int32_t stages = staged.transfers.empty() ? 1 : staged.transfers.back().stage + 1;
  return plan.ranks <= most_ranks_simulated && plan::moves(staged) <= most_moves_simulated &&
         plan.blocks <= most_blocks_simulated && staged.largest_tmp() <= most_blocks_simulated &&
         stages <= most_stages_simulated;
}

// The programs of a plan that passed the check must be correct, too, in any interleaving.
void lower_and_simulate(const Plan& plan, bool in_place) {
  const std::string text = plan::print(plan);
  const Plan staged = plan::stage(plan);
  must_succeed([&] { return plan::check(staged); }, "staging keeps a plan correct", text);
  const bool simulated = can_be_simulated(plan, staged);
  for (const Carrier carrier : {Carrier::slot, Carrier::line}) {
    if (carrier == Carrier::line && !plan::lines_serve(staged)) continue;
    const std::vector<plan::Program> programs = programs_of(staged, carrier, in_place);
    if (!simulated) continue;
    const int32_t segments = carrier == Carrier::line ? 1 : 3;
    const plan::Simulation how{segments, 0, 2, 2, 1};
    must_succeed([&] { return plan::simulate(plan, programs, how), true; },
                 "a correct plan is lowered correctly", text);
  }
}

void run(std::string_view text) {
  const auto plan = if_accepted([&] { return plan::read(text, "fuzzed.plan"); });
  if (!plan) return;
  check_round_trip(*plan);
  const int64_t moves = plan::moves(*plan);
  if (moves > most_moves_checked) return;
  const auto verdict = if_accepted([&] { return plan::check(*plan); });
  if (!verdict) return;
  const Plan fixed = plan::in_fixed_order(*plan);
  const auto same_plan = must_succeed([&] { return plan::check(fixed); },
                                      "a correct plan is correct in fixed order", text);
  require(!same_plan.arrival, "in fixed order nothing depends on arrival", text);
  if (moves <= most_moves_lowered && plan->ranks <= most_ranks_lowered)
    lower_and_simulate(*plan, verdict->in_place);
}

}  // namespace
}  // namespace tutti::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tutti::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
