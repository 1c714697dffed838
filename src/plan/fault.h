// How the messages of this room name what is at fault. Internal to src/plan.
//
// A message is "PLACE: what is wrong; what would be right", one line. The place is NAME:LINE where
// the plan was read from a named text or says its files, "line LINE" where only the line is known,
// and "transfer NUMBER" (from 1) for a plan from code that says neither.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "plan/plan.h"

namespace tutti::plan {

std::string place(const Plan& plan, size_t transfer, std::string_view name = {});

// The transfer as text, cut where it is long.
std::string shortened(const Transfer& transfer);

[[noreturn]] inline void refuse(const std::string& place, const std::string& message) {
  throw Error(Code::invalid_plan, place + ": " + message);
}

// What a label of an algorithm must be, for the message; empty where this one is right.
std::string label_fault(std::string_view label);

// Likewise of a machine's shape, by its form alone.
std::string shape_fault(std::string_view shape);

// validate() of plan.h for a plan that was read from the text `name`.
void validate(const Plan& plan, std::string_view name);

}  // namespace tutti::plan
