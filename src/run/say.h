// The messages of tutti-run before it becomes the program, and which process of a job prints them.
// Pure functions of their arguments and the environment.
#pragma once

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace tutti::run {

// Ends the process with one line and exit code 2: main() catches the error.
[[noreturn]] inline void fail(const std::string& message) {
  throw Error(Code::invalid_argument, message);
}

// True if this process prints messages: it is rank 0 of its job, or no launcher started it.
inline bool speaks() {
  for (const char* name :
       {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID", "SLURM_PROCID"})
    if (const char* value = getenv(name); value != nullptr && *value != '\0')
      return atoi(value) == 0;
  return true;
}

}  // namespace tutti::run
