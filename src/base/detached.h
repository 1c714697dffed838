// Starts programs that are no children of this process, so that the program in which this library
// runs does not notice them: wait(-1) does not find them, and neither their start nor their end
// sends a SIGCHLD. The system's first process (or a subreaper above this process) adopts them.
//
// Two processes are made, each with this one's memory, while the calling thread is suspended
// (CLONE_VFORK): one between, whose end sends no signal, and the program. No handler of
// pthread_atfork runs, and no page is copied. Any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tutti {

struct DetachedProgram {
  std::string path;
  std::vector<std::string> arguments{};    // without the name of the program
  std::vector<std::string> environment{};  // as NAME=VALUE; all of it
  // This descriptor becomes descriptor 3. The program also inherits those of this process that exec
  // does not close, and must close them itself.
  int descriptor = -1;
};

// Starts the program, with all signals blocked and with their default actions, and returns its
// number. Throws Error(unavailable) if the system refuses, or if this process would adopt it.
pid_t start_detached(const DetachedProgram& program);

}  // namespace tutti
