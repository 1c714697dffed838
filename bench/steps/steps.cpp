// The costs of a program's steps on this machine, for the model (src/model/machine.h).
//
// Usage: tutti-threads steps --cores 0,1[,...]
//
// Adds the rows of steps/step_costs.h, and those of what two processes pay and threads do not,
// where the system permits it: `yield`, of the first core to another process, and `system`, the
// system's copies by length in bytes, between the first two cores.
#include <vector>

#include "rows.h"
#include "steps/kinds.h"
#include "steps/pair.h"
#include "steps/step_costs.h"

namespace tutti::bench {
namespace {

void add_process_costs(const std::vector<int>& cores) {
  constexpr double nanoseconds = 1e9;
  const StepRows rows;
  const int first[2] = {cores[0], cores[0]};
  if (const auto yield = Pair::run(first, yield_hand_over))
    rows.add("yield", 0, (*yield)[0] * nanoseconds);
  if (cores.size() < 2) return;
  constexpr size_t least = 64;  // below it the call is all
  for (const size_t bytes : step_lengths) {
    if (bytes < least) continue;
    const auto copy =
        Pair::run(cores.data(), [=](Pair& pair) { fetch(pair, nullptr, bytes, Fetch::system); });
    if (!copy) return;
    rows.add("system", bytes, (*copy)[0] * nanoseconds);
  }
}

void measure_steps(int argc, char** argv) {
  const std::vector<int> cores = Options("--cores A,B,...", argc, argv).cores();
  add_process_costs(cores);  // before there are threads
  add_step_costs(cores, {});
}

const Kind kind("steps", measure_steps);

}  // namespace

}  // namespace tutti::bench
