#include "run/which_mpi.h"

#include <cstdlib>
#include <deque>
#include <set>
#include <utility>

#include "run/libraries.h"

namespace tutti::run {
namespace {

struct Row {
  std::string_view prefix;   // the beginning of a library's file name
  std::string_view version;  // the text that must follow ".so"; empty: any text
  std::string_view abi;
};

// The first row that matches holds. Intel's libraries with 64-bit integers have MPI's names but
// another ABI.
constexpr Row rows[] = {
    {"libmpi_ilp64", "", "?"},
    {"libmpi_abi", "", "mpiabi"},
    {"libpmpi_abi", "", "mpiabi"},
    {"libmpifort_abi", "", "mpiabi"},
    {"libmpich", ".12", "mpich"},  // and libmpichfort, libmpichcxx: Debian's names
    {"libmpi_mpifh", ".40", "openmpi"},
    {"libmpi_usempi", ".40", "openmpi"},
    {"libmpi_cxx", ".40", "openmpi"},
    {"libmpi", ".40", "openmpi"},
    {"libmpi", ".12", "mpich"},  // and libmpifort, libmpicxx: Intel MPI, MVAPICH, Cray
    {"libmpi.so", "", "?"},
    {"libmpich.so", "", "?"},
    {"libsimgrid.so", "", "?"},
};

constexpr size_t most_libraries = 1000;

bool is_set(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && *value != '\0';
}

// True if the text after ".so" is the version, or begins with the version and a dot.
bool has_version(const std::string& name, std::string_view version) {
  if (version.empty()) return true;
  const size_t at = name.find(".so");
  if (at == std::string::npos) return false;
  const std::string_view rest = std::string_view(name).substr(at + 3);
  return rest == version || (rest.starts_with(version) && rest[version.size()] == '.');
}

}  // namespace

std::string abi_of_library(const std::string& name) {
  const std::string file = name.substr(name.rfind('/') + 1);
  for (const Row& row : rows)
    if (file.starts_with(row.prefix) && has_version(file, row.version)) return std::string(row.abi);
  return {};
}

Choice mpi_of_program(const ElfFile& program, const std::string& path) {
  Choice choice;
  const LibraryFinder finder;
  std::set<std::string> seen;
  std::deque<std::pair<ElfFile, std::string>> open{{program, path}};
  while (!open.empty() && seen.size() < most_libraries) {
    const auto [file, where] = std::move(open.front());
    open.pop_front();
    for (const std::string& name : file.needed) {
      if (!seen.insert(name).second) continue;
      if (const std::string abi = abi_of_library(name); abi == "?") {
        choice.unknown_mpi = name;
      } else if (!abi.empty()) {
        choice.interposers = {abi};
        return choice;
      }
      const std::string found = finder.find(name, file, where);
      if (found.empty()) continue;  // the dynamic linker will say so
      if (auto library = read_elf(found)) open.emplace_back(std::move(*library), found);
    }
  }
  return choice;
}

// Hydra starts programs of MPICH's own ABI and of the standard one; only the library that the
// interpreter loads later tells which. Each interposer passes calls on if the MPI is not its own.
// Only the one of the standard ABI can pass on calls of an unknown ABI (its handles are as wide as
// any), so it comes first.
Choice mpi_of_launcher() {
  if (is_set("OMPI_COMM_WORLD_SIZE") || is_set("OMPI_UNIVERSE_SIZE")) return {{"openmpi"}, {}};
  const bool hydra = is_set("PMI_FD") || is_set("HYDI_CONTROL_FD") || is_set("I_MPI_HYDRA_UUID") ||
                     is_set("HYDRA_LAUNCH_TYPE");
  if (hydra && (is_set("PMI_RANK") || is_set("PMI_SIZE"))) return {{"mpiabi", "mpich"}, {}};
  return {};
}

}  // namespace tutti::run
