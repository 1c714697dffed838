// The command line of tutti-run. Most options set an environment variable, which the interposer
// reads later (base/options.h). Files and directories named by options must exist; if one does not,
// tutti-run fails before the program starts. Called once, by the only thread.
#pragma once

#include <string>
#include <vector>

namespace tutti::run {

struct Request {
  // How the user has given the servers, for messages.
  const char* servers_typed_before = "TUTTI_SERVERS=";
  std::vector<char*> program;  // its name, its arguments and a null; main owns the texts
};

// For --help and --version it prints the answer and ends the process. Throws
// Error(invalid_argument) for anything that is not accepted.
Request read_arguments(int count, char** arguments);

}  // namespace tutti::run
