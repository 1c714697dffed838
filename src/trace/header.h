// The header of a trace file (docs/tracing.md): everything that a reader needs besides the records,
// as JSON.
//
// Functions of their arguments, except that describe_rank() asks the system about this process. Any
// thread, while no other thread adds programs to the tracer.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/cores.h"
#include "trace/tracer.h"

namespace tutti::trace {

// A node's clock at one moment: its ticks, and the time by rank 0's clock.
struct Anchor {
  uint64_t ticks;
  double nanoseconds;  // since the first reading
  double error;        // bound of the error of `nanoseconds`
};

struct Node {
  int leader;                     // the world rank of its first rank
  std::array<Anchor, 2> anchors;  // at the start of the trace and at its end
};

struct Job {
  std::string_view mpi;              // the host MPI's ABI
  std::vector<std::string> reasons;  // indexed by number: why a call stayed on the host
  std::vector<Node> nodes;
  std::vector<int> node_of;        // indexed by world rank: an index into `nodes`
  std::vector<std::string> ranks;  // indexed by world rank: from describe_rank()
  std::string_view filter = {};    // the text of TUTTI_TRACE_FILTER; empty: all was recorded
};

// One rank as a JSON object: where it ran and may run, its programs and communicators, and how many
// records its rings hold. `clock` is the name of the clock that gave the ticks.
std::string describe_rank(int rank, std::string_view clock, const placement::CoreMask& cores,
                          const Tracer& tracer);

// The whole header.
std::string describe_job(const Job& job);

}  // namespace tutti::trace
