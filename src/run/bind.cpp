#include "run/bind.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "run/affinity.h"

namespace tutti::run {
namespace {

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

std::string bind(BindChoice choice, const std::set<int>& kept) {
  if (choice == BindChoice::none && kept.empty()) return {};
  std::set<int> usable = units_of(0);
  if (usable.empty())
    return std::string("the system does not say which cores it may use: ") + strerror(errno);
  if (is_bound()) return {};
  for (const int unit : kept) usable.erase(unit);
  if (choice != BindChoice::none) {
    const auto rank = local_rank();
    if (!rank)
      return "the launcher does not say which rank of its node this is (MPI_LOCALRANKID, "
             "SLURM_LOCALID, ...)";
    const auto units =
        choose_units(choice, *rank, topo::cores_of_node({usable.begin(), usable.end()}));
    usable = {units.begin(), units.end()};
  }
  if (!bind_to(usable)) return std::string("sched_setaffinity: ") + strerror(errno);
  return {};
}

}  // namespace tutti::run
