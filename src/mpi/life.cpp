#include "mpi/life.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "mpi/calls.h"
#include "mpi/communicator.h"
#include "mpi/report.h"

namespace tutti::mpi {
namespace {

// The rank as launchers tell it before MPI does; 0 where none does, so that somebody speaks.
int launched_rank() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (const char* value = getenv(name); value != nullptr && *value != '\0') return atoi(value);
  return 0;
}

// All ranks must decide alike, so their options must be alike.
uint64_t fingerprint(const Options& options) {
  std::string text;
  for (const std::string& word : {options.report.empty() ? std::string("no report") : std::string("report"),
                                  options.algorithm_barrier, options.algorithm_bcast, options.algorithm_reduce,
                                  options.algorithm_allreduce})
    text += word + '\n';
  for (const size_t number : {static_cast<size_t>(options.wait), static_cast<size_t>(options.shm),
                              options.shm_bytes_per_rank, options.segment_bytes,
                              static_cast<size_t>(options.setup_after)})
    text += std::to_string(number) + '\n';
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a: the same in every process
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

bool options_agree() {
  const Host& mpi = host();
  const uint64_t own = fingerprint(options());
  const uint64_t pair[2] = {own, ~own};
  uint64_t least[2] = {0, 0};
  mpi.Allreduce(pair, least, 2, mpi.type_uint64, mpi.op_min, mpi.comm_world);
  return least[0] == ~least[1];
}

// Null where there is none, the reason in *why_not.
std::unique_ptr<Team> form_team(std::string* why_not) {
  if (host_tolerates_faults()) {
    *why_not = "the host MPI's fault tolerance is on, which shared memory has none of; start without --with-ft";
    return nullptr;
  }
  std::unique_ptr<Team> team = Team::form(why_not);
  if (team != nullptr) why_not->clear();
  return team;
}

bool active() { return !host().foreign && !options().disable; }

}  // namespace

void before_init() {
  try {
    options();
    group::overrides_of(options());
  } catch (const Error& error) {
    if (launched_rank() == 0) log_line(LogLevel::error, "%s", error.what());
    _exit(2);
  }
}

void after_init() {
  if (!active() || book_is_open()) return;  // Fortran's may call C's
  const Host& mpi = host();
  const Inside inside;
  int rank = 0;
  mpi.Comm_rank(mpi.comm_world, &rank);
  set_log_rank(rank);
  if (rank == 0)
    for (const std::string& warning : option_warnings()) log_line(LogLevel::warning, "%s", warning.c_str());
  if (!options_agree()) {
    if (rank == 0)
      log_line(LogLevel::warning, "off: the ranks have different TUTTI_* variables; give all of them the same");
    return;
  }
  if (!host_judges_arguments()) tolerate_aliases();
  std::string why_no_team;
  std::unique_ptr<Team> team = form_team(&why_no_team);
  if (team == nullptr) log_line(LogLevel::info, "off on this node: %s", why_no_team.c_str());
  const bool record = !options().report.empty();
  if (record) start_recording();
  open_book(std::move(team), std::move(why_no_team), record);
}

void before_finalize() {
  if (!active() || !book_is_open()) return;
  {
    const Inside inside;
    if (recording()) write_report(options().report, why_no_team());
  }
  close_book();
}

int init(int* argc, char*** argv) {
  before_init();
  const int code = host().Init(argc, argv);
  if (code == MPI_SUCCESS) after_init();
  return code;
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  before_init();
  const int code = host().Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) after_init();
  return code;
}

int finalize() {
  before_finalize();
  return host().Finalize();
}

}  // namespace tutti::mpi
