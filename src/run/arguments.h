// The command line of tutti-run. Most options set a variable of the environment, which the
// interposer reads in its turn (base/options.h); what they name must be there, or it is said at
// once.
#pragma once

#include <string>
#include <vector>

namespace tutti::run {

struct Request {
  std::string mpi;             // --mpi; empty: to be found out
  std::vector<char*> program;  // with its arguments and a null
};

// Does what --help and --version ask for, and then ends the process. Throws for what is not
// accepted.
Request read_arguments(int count, char** arguments);

}  // namespace tutti::run
