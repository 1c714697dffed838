// The form of this room's error messages. Internal to src/plan.
//
// A message is one line, "PLACE: what is wrong; what would be right". The place is NAME:LINE if the
// plan was read from a named text or has file names, "line LINE" if only the line is known, and
// "transfer NUMBER" (from 1) for a plan from code that gives neither.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "plan/plan.h"

namespace tutti::plan {

std::string place(const Plan& plan, size_t transfer, std::string_view name = {});

// The transfer as text, shortened if it is long.
std::string shortened(const Transfer& transfer);

[[noreturn]] inline void refuse(const std::string& place, const std::string& message) {
  throw Error(Code::invalid_plan, place + ": " + message);
}

// The message about a wrong label of an algorithm; empty if the label is right.
std::string label_fault(std::string_view label);

// The message about a wrong form of a machine's shape; empty if the form is right.
std::string shape_fault(std::string_view shape);

// Does the same as validate() of plan.h, for a plan that was read from the text `name`.
void validate(const Plan& plan, std::string_view name);

}  // namespace tutti::plan
