// A prediction as a trace file (docs/tracing.md), so that it opens where measured traces open and
// both can lie side by side. A tick is a picosecond of virtual time.
#pragma once

#include <string>

#include "model/predict.h"

namespace tutti::model {

// Writes the trace of a prediction to a file. Throws Error(invalid_argument), one line with the
// name and the reason, if the file cannot be written.
void write_trace(const Question& question, const Prediction& prediction, const std::string& file);

}  // namespace tutti::model
