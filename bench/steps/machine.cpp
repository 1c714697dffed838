// tutti-machine: measures what the steps of a program cost on this machine, for the model
// (src/model/machine.h). It needs no MPI.
//
// Usage: tutti-machine --cores 0,1[,...]
//
// Writes JSON to stdout: the format, and the members of steps/step_costs.h.
#include <cstdio>
#include <string_view>

#include "base/error.h"
#include "steps/bound_threads.h"
#include "steps/step_costs.h"

namespace {

using namespace tutti;

std::vector<int> cores_of(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--cores")
    throw Error(Code::invalid_argument, "give --cores and a list of cores, as in --cores 0,1");
  return bench::read_cores("--cores", argv[2]);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Json json;
    json["format"] = "tutti-steps 1";
    json.update(bench::step_costs(cores_of(argc, argv)));
    std::puts(json_text(json, 1).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-machine: %s\n", error.what());
    return 2;
  }
}
