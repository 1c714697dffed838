// tutti-server: a server as a process of its own, started by a rank (rma/server_processes.h).
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/version.h"
#include "rma/server_processes.h"

namespace {

constexpr const char* usage =
    "tutti-server moves data for the ranks of a node. Ranks start it under `tutti-run --servers N "
    "--servers-as processes`;\nit cannot be started by hand. Its arguments tell whose it is: "
    "tutti-server --owner PROCESS.\n";

}  // namespace

int main(int count, char** arguments) {
  const char* const word = count > 1 ? arguments[1] : "";
  if (std::strcmp(word, "--version") == 0) {
    std::printf("tutti-server %s\n", tutti::tutti_version());
    return 0;
  }
  if (std::strcmp(word, "--help") == 0) {
    std::fputs(usage, stdout);
    return 0;
  }
  if (std::strcmp(word, "--owner") != 0) {
    std::fputs(usage, stderr);
    return 2;
  }
  _exit(tutti::rma::run_ordered_server(3));  // its other thread waits for the owner's end
}
