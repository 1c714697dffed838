#include "run/bind.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace tutti::run {
namespace {

constexpr size_t most_units = 4096;
constexpr size_t mask_bytes = CPU_ALLOC_SIZE(most_units);

// The number in the first of these variables that holds one.
std::optional<int> number_in(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* const text = getenv(name);
    if (text == nullptr) continue;
    int number = 0;
    const char* const end = text + strlen(text);
    const auto [rest, error] = std::from_chars(text, end, number);
    if (error == std::errc() && rest == end && number >= 0) return number;
  }
  return std::nullopt;
}

// The processing units of a process (0: this one); empty if the system does not tell.
std::vector<int> units_of(pid_t process) {
  std::vector<unsigned long> mask(mask_bytes / sizeof(unsigned long));
  auto* const set = reinterpret_cast<cpu_set_t*>(mask.data());
  std::vector<int> units;
  if (sched_getaffinity(process, mask_bytes, set) != 0) return units;
  for (size_t unit = 0; unit < most_units; ++unit)
    if (CPU_ISSET_S(unit, mask_bytes, set)) units.push_back(static_cast<int>(unit));
  return units;
}

bool bind_to(const std::vector<int>& units) {
  std::vector<unsigned long> mask(mask_bytes / sizeof(unsigned long));
  auto* const set = reinterpret_cast<cpu_set_t*>(mask.data());
  for (const int unit : units) CPU_SET_S(static_cast<size_t>(unit), mask_bytes, set);
  return sched_setaffinity(0, mask_bytes, set) == 0;
}

}  // namespace

std::optional<LocalRank> local_rank() {
  const auto rank = number_in({"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID",
                               "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"});
  if (!rank) return std::nullopt;
  const auto ranks = number_in({"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE",
                                "MV2_COMM_WORLD_LOCAL_SIZE"});
  return LocalRank{*rank, ranks && *ranks > *rank ? *ranks : 0};
}

std::vector<int> choose_units(BindChoice choice, LocalRank rank,
                              const std::vector<topo::NodeCore>& cores) {
  const size_t own = static_cast<size_t>(rank.rank), ranks = static_cast<size_t>(rank.ranks);
  const size_t place = ranks == 0 ? own % cores.size() : own * cores.size() / ranks;
  if (choice == BindChoice::core) return cores[place].units;
  std::vector<int> units;
  for (const topo::NodeCore& core : cores)
    if (core.region == cores[place].region)
      units.insert(units.end(), core.units.begin(), core.units.end());
  return units;
}

std::string bind(BindChoice choice) {
  if (choice == BindChoice::none) return {};
  const std::vector<int> usable = units_of(0);
  if (usable.empty())
    return std::string("the system does not say which cores it may use: ") + strerror(errno);
  if (usable.size() == 1 || usable != units_of(getppid()))
    return {};  // it is bound already, to one unit or by the launcher
  const auto rank = local_rank();
  if (!rank)
    return "the launcher does not say which rank of its node this is (MPI_LOCALRANKID, "
           "SLURM_LOCALID, ...)";
  if (!bind_to(choose_units(choice, *rank, topo::cores_of_node(usable))))
    return std::string("sched_setaffinity: ") + strerror(errno);
  return {};
}

}  // namespace tutti::run
