// A program as JSON, for traces: all that a reader of a trace needs to understand the recorded
// steps.
//
// docs/tracing.md describes the form. Pure; called once for each program, when it is bound and
// steps are recorded.
#pragma once

#include "plan/program.h"
#include "trace/tracer.h"

namespace tutti::exec {

// `collective`: of the calls that the program serves. `steps` is an array of arrays of numbers, one
// for each step.
trace::ProgramText program_text(const plan::Program& program, plan::Collective collective);
inline trace::ProgramText program_text(const plan::Program& program) {
  return program_text(program, program.collective);
}

}  // namespace tutti::exec
