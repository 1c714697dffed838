#include "base/launched.h"

#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <optional>

#include "base/log.h"
#include "base/process.h"

namespace tutti {
namespace {

constexpr useconds_t microseconds_of_silent_ranks = 500'000;

// The number in the first of these variables that is set.
std::optional<int> first_of(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = getenv(name); value != nullptr && *value != '\0') return atoi(value);
  return {};
}

std::optional<int> rank_of_launcher() {
  return first_of({"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID", "SLURM_PROCID"});
}

}  // namespace

int launched_rank() { return rank_of_launcher().value_or(0); }

int launched_rank_on_node() {
  return first_of(
             {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_LOCAL_RANK", "SLURM_LOCALID"})
      .value_or(0);
}

int launched_ranks_on_node() {
  return first_of({"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_LOCAL_SIZE"}).value_or(0);
}

// A process's number counts in one namespace of processes: containers that share a network, and
// with it the names of sockets, number their own.
std::string job_on_node() {
  if (const char* job = getenv("PMIX_NAMESPACE"); job != nullptr && *job != '\0') return job;
  return std::to_string(getppid()) + "-" + std::to_string(process_namespace());
}

void let_reporter_first(bool reported) {
  if (!rank_of_launcher()) return;
  if (reported)
    let_launcher_read();
  else
    usleep(microseconds_of_silent_ranks);
}

}  // namespace tutti
