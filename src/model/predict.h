// Predicts how long a collective takes on a machine: the lowered programs of all its ranks run in
// virtual time, with the segments and the reach that the executor would use (plan/semantics.h,
// plan/geometry.h). Accesses that use one link at once share it.
//
// A step waits for a publication plus its hand-over; a copy or a combination reads its sources one
// after another over the innermost link that both ranks share. Messages between nodes follow LogGP:
// the sender's overhead, the adapter's gap, the latency, the receiver's overhead; long ones wait
// for the receiver. If the programs have messages between ranks of one node, because those share no
// memory, these follow MessageCost, and move over the node's memory, which they share. Not
// modelled: other programs, more ranks than cores, and the start of an operation that waits for an
// earlier one.
//
// Source: HMPI, section 2. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/machine.h"
#include "placement/levels.h"
#include "placement/nodes.h"
#include "plan/geometry.h"
#include "plan/program.h"

namespace tutti::model {

struct Question {
  const std::vector<plan::Program>& programs;  // the programs of all ranks
  const plan::Travel& travel;
  size_t element;
  size_t bytes;  // bytes of the vector, or of one part
  const Machine& machine;
  // The units of the nodes that ranks share, from the outside in; a level may have a single group.
  const std::vector<placement::SharedLevel>& levels;
  const placement::Nodes& nodes;
  // The time at which each rank makes the call; empty: all at time 0.
  std::vector<double> arrivals = {};
};

// An action of a rank from `begin` to `end`. A wait that took no time is left out.
struct Event {
  int32_t rank = 0;
  int32_t step = 0;  // the step's index in its program
  int64_t segment = 0;
  double begin = 0, end = 0;
  double bytes = 0;     // moved, of each operand
  int32_t before = -1;  // the rank's event before this one
  int32_t cause = -1;   // a wait's cause: the event that published the awaited number; else -1
};

// A link within a node, or a node's adapter.
struct Load {
  std::string name;  // "numa 1", "adapter of node 0"
  double busy = 0;   // the time with at least one access
  double bytes = 0;
  size_t most = 0;  // accesses at once
};

struct Prediction {
  double time = 0;  // from the first call until the last rank returns
  std::vector<double> ends;
  std::vector<Event> events;
  std::vector<int32_t> critical;  // the events that lead to the last end, in order
  std::vector<Load> loads;        // those that were used
};

// Throws Error(invalid_argument) if the machine lacks the costs of a level that the ranks have, or
// of a network between their nodes.
Prediction predict(const Question& question);

}  // namespace tutti::model
