// tutti-machine: measures what the steps of a program cost on this machine, for the model
// (src/model/machine.h). It needs no MPI.
//
// Usage: tutti-machine --cores 0,1[,...]
//
// Writes JSON to stdout: the format, the members of steps/step_costs.h, and, in nanoseconds, those
// that processes pay (steps/process_costs.h), where the system permits them: `yield` on the first
// core, and `system`, by length in bytes, between the first two.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "steps/bound_threads.h"
#include "steps/process_costs.h"
#include "steps/step_costs.h"

namespace {

using namespace tutti;

std::vector<int> cores_of(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--cores")
    throw Error(Code::invalid_argument, "give --cores and a list of cores, as in --cores 0,1");
  return bench::read_cores("--cores", argv[2]);
}

void add_process_costs(const std::vector<int>& cores, Json& json) {
  constexpr double nanoseconds = 1e9;
  const double yield = process_yield(cores[0]);
  if (yield >= 0) json["yield"] = rounded(yield * nanoseconds, 2);
  if (cores.size() < 2) return;
  constexpr size_t least = 64;  // below it the call is all
  for (const size_t bytes : bench::step_lengths) {
    if (bytes < least) continue;
    const double copy = process_system_copy(cores[0], cores[1], bytes);
    if (copy < 0) return;
    json["system"][std::to_string(bytes)] = rounded(copy * nanoseconds, 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Json json;
    json["format"] = "tutti-steps 1";
    const std::vector<int> cores = cores_of(argc, argv);
    add_process_costs(cores, json);  // before there are threads
    json.update(bench::step_costs(cores));
    std::puts(json_text(json, 1).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-machine: %s\n", error.what());
    return 2;
  }
}
