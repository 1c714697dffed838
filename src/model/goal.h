// A call as a GOAL schedule, the text that LogGOPSim and its relatives simulate: for each rank the
// messages that it sends and receives, what it computes, and what requires what. Source: Hoefler,
// Schneider and Lumsdaine, LogGOPSim (2010), section 3.
//
// A step that waits for another rank's publication receives a message of it, with the bytes that
// the rank reads from that one until it waits for it again. So shared memory becomes messages,
// which are sent as soon as the data is published. Copies and combinations of the rank's own are
// computations, with the machine's costs. A rank's operations require each other in the order of
// its program, except for sends, which only require the publication.
//
// Pure; any thread.
#pragma once

#include <string>

#include "model/predict.h"

namespace tutti::model {

// The schedule's text. `arrivals` of the question become a computation at the start of a rank.
std::string goal_of(const Question& question);

}  // namespace tutti::model
