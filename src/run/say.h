// The messages of tutti-run before it becomes the program, and which process of a job prints them.
// Pure functions of their arguments and the environment.
#pragma once

#include <string>

#include "base/error.h"
#include "base/launched.h"

namespace tutti::run {

// Ends the process with one line and exit code 2: main() catches the error.
[[noreturn]] inline void fail(const std::string& message) {
  throw Error(Code::invalid_argument, message);
}

// True if this process prints messages: it is rank 0 of its job, or no launcher started it.
inline bool speaks() { return launched_rank() == 0; }

}  // namespace tutti::run
