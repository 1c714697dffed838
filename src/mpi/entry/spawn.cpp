#include "mpi/entry/spawn.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "mpi/host/ranks.h"
#include "mpi/job/agreement.h"
#include "mpi/communicators/registry.h"
#include "mpi/job/thrown.h"
#include "mpi/progress/host_waits.h"

namespace tutti::mpi {
namespace {

// Not one of the TUTTI_* variables, which users set.
constexpr const char* told_by = "SPAWNED_BY_TUTTI";
constexpr const char* env_program = "/usr/bin/env";

bool is_program(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// The path of tutti-run if the command is tutti-run and this process finds it, else an empty text:
// the command is then left as it is.
std::string path_of_tutti_run(const char* command) {
  const std::string_view name = command == nullptr ? "" : command;
  if (name.substr(name.rfind('/') + 1) != "tutti-run" || !is_program(env_program)) return {};
  if (name.find('/') != name.npos) return is_program(command) ? command : std::string();
  const char* path = getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');)
    if (const std::string candidate = directory + "/" + command; is_program(candidate))
      return candidate;
  return {};
}

// True, at all ranks of the communicator alike, if they are ranks of MPI_COMM_WORLD, which agreed
// in MPI_Init, so that all of them take part in a collective call of Tutti.
bool may_tell(Comm communicator, int root) {
  const Host& mpi = host();
  if (mpi.foreign || !registry_is_open() || !may_set_up() || Inside::depth > 0 ||
      communicator == mpi.comm_null)
    return false;
  const Inside inside;
  int inter = 0;
  if (mpi.Comm_test_inter(communicator, &inter) != success || inter != 0) return false;
  const int ranks = ranks_in(communicator);
  return root >= 0 && root < ranks && in_world(communicator, ranks);
}

// The root tells all parents whether it starts tutti-run, and every rank returns that; false if the
// parents may not be called collectively.
bool tell_spawn(Comm communicator, int root, bool through_us) {
  if (!may_tell(communicator, root)) return false;
  const Inside inside;
  unsigned char word = through_us ? 1 : 0;
  return host().Bcast(&word, 1, host().type_byte, root, communicator) == success && word != 0;
}

int spawn_through_us(const char* command, char** arguments, int processes, Info info, int root,
                     Comm communicator, Comm* children, int* error_codes) {
  const Host& mpi = host();
  std::string tutti_run;
  if (may_tell(communicator, root) && rank_in(communicator) == root)
    tutti_run = path_of_tutti_run(command);
  const bool through_us = tell_spawn(communicator, root, !tutti_run.empty());
  std::string variable = std::string(told_by) + "=1";
  std::vector<char*> words;
  if (through_us && !tutti_run.empty()) {
    words = {variable.data(), tutti_run.data()};
    for (char** word = arguments; word != nullptr && *word != nullptr; ++word)
      words.push_back(*word);
    words.push_back(nullptr);
    command = env_program;
    arguments = words.data();
  }
  const int code = mpi.Comm_spawn(command, arguments, processes, info, root, communicator, children,
                                  error_codes);
  const Inside inside;
  if (code == success && through_us && agree_with_others(*children, true)) trust(*children);
  return code;
}

}  // namespace

int spawn(const char* command, char** arguments, int processes, Info info, int root,
          Comm communicator, Comm* children, int* error_codes) {
  return guarded(communicator, [&] {
    return sleeping([&] {
      return spawn_through_us(command, arguments, processes, info, root, communicator, children,
                              error_codes);
    });
  });
}

void meet_parents(bool on) {
  if (getenv(told_by) == nullptr) return;
  unsetenv(told_by);  // the children of this process have other parents
  Comm parents = host().comm_null;
  if (host().Comm_get_parent(&parents) != success || parents == host().comm_null) return;
  if (agree_with_others(parents, on)) trust(parents);
}

int merge(Comm inter, int high, Comm* merged) {
  const int code = sleeping([&] { return host().Intercomm_merge(inter, high, merged); });
  if (code == success && !host().foreign && registry_is_open() && Inside::depth == 0 &&
      trusted(inter))
    trust(*merged);
  return code;
}

}  // namespace tutti::mpi
