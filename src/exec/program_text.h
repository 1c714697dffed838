// A program as JSON, for traces: whatever a reader of one needs in order to understand the steps
// that it records.
//
// docs/tracing.md describes the form. Pure; asked for once a program, when it is bound and
// something is being recorded.
#pragma once

#include "plan/program.h"
#include "trace/tracer.h"

namespace tutti::exec {

// The collective is that of the calls which the program serves. `steps` is an array of arrays of
// numbers, one for each step.
trace::ProgramText program_text(const plan::Program& program, plan::Collective collective);
inline trace::ProgramText program_text(const plan::Program& program) {
  return program_text(program, program.collective);
}

}  // namespace tutti::exec
