// The built-in algorithms: each a short function that writes a plan, one family a file.
//
// A generator is pure: (ranks, root, parameters) -> plan, the same at all ranks. It knows nothing of bytes, memory or
// time; select decides when it is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace tutti::algo {

struct Algorithm {
  std::string_view name;      // as users write it; "nary" takes a parameter: "nary:4"
  std::string_view summary;   // one line for lists
  bool takes_degree = false;
  int default_degree = 0;
  std::vector<plan::Collective> collectives;
  plan::Plan (*generate)(plan::Collective collective, int ranks, int root, int degree);
};

const std::vector<Algorithm>& algorithms();

// `spec` is a name or name:degree. Throws Error(invalid_argument) naming what is accepted.
plan::Plan generate(plan::Collective collective, std::string_view spec, int ranks, int root);

}  // namespace tutti::algo
