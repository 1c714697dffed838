// The text form of plans: readable, diffable and versioned, with one transfer on each line, and the
// same for built-in plans and users' plans. docs/plan-format.md has the grammar. Text is untrusted
// input: its sizes are bounded, and nothing in it is executed.
//
//   tutti-plan 1
//   collective allreduce
//   algorithm  flat
//   ranks      3
//   blocks     1
//   reduce out[0] <- in[0], in[1], in[2]
//   copy out[1] <- out[0]
//   push out[2] <- out[0]               # executed by the owner of the source
//   copy out[1].2+3 <- tmp[0].0+3       # blocks 2, 3, 4 from blocks 0, 1, 2: .FIRST+COUNT or
//                                       # .FIRST+COUNT/STRIDE
//   copy @2 out[1] <- out[0]            # an explicit stage
//   token 2 <- 1                        # rank 2 goes on when rank 1 has done its transfers above
//   reduce any out[0] <- in[0], in[1]   # takes its sources as they arrive; needs `commutative yes`
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"

namespace tutti::plan {

// read(print(plan)) == plan, except that its transfers then have the lines of that text.
std::string print(const Plan& plan);
std::string print(const Transfer& transfer);
std::string print(const Region& region);

// Throws Error(invalid_plan) "NAME:LINE: what is wrong; what would be right". The result is
// validated, and has the name in Plan::files. If the name is empty, messages of this function have
// "plan" in its place, and later messages have "line LINE".
Plan read(std::string_view text, std::string_view name = {});

}  // namespace tutti::plan
