// A program as JSON, for traces: whatever a reader of one needs in order to understand the steps
// that it records.
//
// docs/tracing.md describes the form. Pure; asked for once a program, when it is bound and
// something is being recorded.
#pragma once

#include <string>

#include "plan/program.h"

namespace tutti::exec {

// Members of an object, without the braces. The collective is that of the calls which the program
// serves.
std::string program_head(const plan::Program& program, plan::Collective collective);
inline std::string program_head(const plan::Program& program) {
  return program_head(program, program.collective);
}

// An array of arrays of numbers, a step each.
std::string program_steps(const plan::Program& program);

}  // namespace tutti::exec
