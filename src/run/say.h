// What tutti-run says before it becomes the program, and which of a job's processes says it.
#pragma once

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace tutti::run {

// Ends the process, by way of main(), with one line and exit code 2.
[[noreturn]] inline void fail(const std::string& message) {
  throw Error(Code::invalid_argument, message);
}

// Of a job's many ranks one speaks; a process that no launcher started speaks for itself.
inline bool speaks() {
  for (const char* name :
       {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID", "SLURM_PROCID"})
    if (const char* value = getenv(name); value != nullptr && *value != '\0')
      return atoi(value) == 0;
  return true;
}

}  // namespace tutti::run
