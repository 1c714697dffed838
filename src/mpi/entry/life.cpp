#include "mpi/entry/life.h"

#include <unistd.h>

#include <exception>
#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/gpu.h"
#include "base/launched.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/idle.h"
#include "exec/stalls.h"
#include "group/programs.h"
#include "mpi/job/agreement.h"
#include "mpi/job/gathered_placement.h"
#include "mpi/collectives/serve.h"
#include "mpi/collectives/verify.h"
#include "mpi/communicators/communicator.h"
#include "mpi/communicators/registry.h"
#include "mpi/job/end.h"
#include "mpi/job/found_table.h"
#include "mpi/host/known_types.h"
#include "mpi/host/ledger.h"
#include "mpi/host/private_communicator.h"
#include "mpi/host/probe.h"
#include "mpi/host/ranks.h"
#include "mpi/host/tools.h"
#include "mpi/job/self.h"
#include "mpi/job/servers.h"
#include "mpi/progress/host_waits.h"
#include "mpi/requests/idle_ranks.h"
#include "mpi/report/report.h"
#include "mpi/requests/lane_nonblocking.h"
#include "mpi/requests/nonblocking.h"
#include "mpi/roll/watchdog.h"
#include "mpi/entry/children.h"
#include "mpi/entry/spawn.h"
#include "mpi/one_sided/exchange.h"
#include "mpi/one_sided/node.h"
#include "mpi/job/threads.h"
#include "mpi/job/thrown.h"
#include "mpi/report/tracing.h"
#include "mpi/host/types.h"
#include "report/tally.h"
#include "shm/process_heap.h"

namespace tutti::mpi {
namespace {

// Returns null, with the reason in *why_not, if there is no team.
std::unique_ptr<Team> form_team(bool one_node, std::string* why_not) {
  if (simulated) return nullptr;  // simulated ranks can wait for each other only inside the host
  if (host_tolerates_faults()) {
    *why_not =
        "the host MPI's fault tolerance is on, but shared memory tolerates no faults; start "
        "without --with-ft";
    return nullptr;
  }
  std::unique_ptr<Team> team = Team::form_of_world(one_node, why_not);
  if (team != nullptr) why_not->clear();
  return team;
}

// Simulated ranks share one process's memory, but not its global variables: rank 0 makes a store of
// programs and sends the others its address.
void share_programs(int rank) {
  group::CommonPrograms* programs = rank == 0 ? group::make_common_programs() : nullptr;
  host().Bcast(&programs, sizeof programs, host().type_byte, 0, host().comm_world);
  group::use_common_programs(programs);
}

// The thread level that the program has been told, if the host has granted another; else negative.
// Set inside MPI_Init.
int program_level = -1;

// The parts of MPI that this process has begun and not ended. `mutex` orders MPI_Init and
// MPI_Finalize with sessions, which any thread may begin and end.
struct Life {
  std::mutex mutex;
  bool settled = false;  // MPI_Init has called settle()
  bool world = false;    // Tutti is on, and MPI_Finalize has not been called
  bool off = false;      // MPI_Init has found that Tutti is off in this job
};

Life& life() {
  static Life& made = *new Life;
  return made;
}

void warn_of_options() {
  if (options().disable) return;
  for (const std::string& warning : option_warnings())
    log_once(warning, LogLevel::warning, "%s", warning.c_str());
}

void start_recording() {
  report::start_recording();
  report::record_begin();
  if (simulated) return;  // simulated ranks share a thread, and their waits cost no real time
  waits_are_timed = true;
  watch_messages();
  watch_polls_of_open_mpi();
}

void open() {
  spare_children();
  const bool record = !options().report.empty() && !options().disable;
  if (record) start_recording();
  if (record && hides_any()) report::record_hidden(hidden_text());
  if (const auto* const table = table_of_job(true); record && table != nullptr)
    report::record_table({table->name, options().table.empty()});
  if (!options().disable) look_at_saturation_maps();
  make_exchange = ServedExchange::make;
  verifies_calls = options().verify && !options().disable && !simulated;
  if (verifies_calls) report::start_observing();
  open_registry(record || verifies_calls);
  gpu::look_after_start();
}

void go_on_without_tutti() {
  life().off = true;
  switch_off();
  meet_parents(false);
}

void note_what_was_sent() {
  for (const Communicator* communicator : known_communicators())
    if (communicator->several_nodes() != nullptr) communicator->several_nodes()->record_sent();
  record_server();
}

void close() {
  end_one_sided();
  if (report::recording() && !life().settled) {
    note_what_was_sent();
    write_report_of_sessions(options().report);
  }
  settle_records();
  settle_announcements();
  stop_server();
  end_nonblocking();
  end_lane_requests();
  free_handles();
  close_registry();
  shm::end_unused_heap();
  forget_types();
}

// The ranks of this node, as far as this process knows.
std::vector<int> ranks_here(const Team* team, int rank, int ranks) {
  std::vector<int> here;
  if (team != nullptr) {
    const std::vector<int> members = team->members_among(host().comm_world, ranks);
    for (int one = 0; one < ranks; ++one)
      if (members[static_cast<size_t>(one)] >= 0) here.push_back(one);
  } else if (launched_ranks_on_node() == ranks) {
    for (int one = 0; one < ranks; ++one) here.push_back(one);
  }
  return here.empty() ? std::vector<int>{rank} : here;
}

void start_roll(int rank, int ranks, std::vector<int> here, int64_t spawned,
                const roll::Exchange& exchange) {
  roll::begin_roll(rank, ranks, std::move(here), spawned, exchange);
  shm::store_relaxed(exec::roll_is_called, call_the_roll != nullptr ? 1 : 0);
}

// Collective over MPI_COMM_WORLD if it has `several_nodes`.
void begin_roll_of_world(int rank, bool several_nodes) {
  const int ranks = ranks_in(host().comm_world);
  const auto exchange = [ranks](const roll::Contact& own) {
    return gather(own, ranks, host().comm_world);
  };
  ranks_to_meet = 0;
  Comm parent = host().comm_null;
  host().Comm_get_parent(&parent);
  int64_t spawned = getpid();
  if (parent != host().comm_null)
    host().Bcast(&spawned, sizeof spawned, host().type_byte, 0, host().comm_world);
  else
    spawned = 0;
  start_roll(rank, ranks, ranks_here(world_team().get(), rank, ranks), spawned,
             several_nodes ? roll::Exchange(exchange) : nullptr);
}

// For a job of sessions alone, whose ranks cannot exchange contacts inside MPI_Init: they do so in
// the set-up of the first communicator of all of them. So the roll begins again.
void begin_roll_of_sessions(Comm all) {
  const int rank = launched_rank(), ranks = ranks_in(all);
  struct OfRank {
    int rank = -1;
    roll::Contact contact;
  };
  const auto exchange = [&](const roll::Contact& own) {
    std::vector<roll::Contact> contacts(static_cast<size_t>(ranks));
    for (const OfRank& one : gather(OfRank{rank, own}, ranks, all))
      if (one.rank >= 0 && one.rank < ranks) contacts[static_cast<size_t>(one.rank)] = one.contact;
    return contacts;
  };
  // Threads may set up two communicators of all ranks at the same time. The second exchange is for
  // nothing then, but the others take part in it.
  if (ranks_to_meet.exchange(0) == 0) {
    exchange({});
    return;
  }
  roll::end_roll();
  start_roll(rank, ranks, {rank}, 0, exchange);
}

// True from the end of Tutti's use of the host until the ledger is checked.
bool to_check_ledger = false;

// Call it after close(). The watchdog stays while the host's MPI_Finalize may wait.
void end_use_of_host() {
  may_free_handles(false);
  to_check_ledger = true;
}

void end_watchdog() {
  if (!std::exchange(to_check_ledger, false)) return;
  shm::store_relaxed(exec::roll_is_called, 0);
  roll::end_roll();
  check_ledger();
}

void before_init() {
  try {
    options();
    check_topology();
    check_trace_filter();
    group::overrides_of(options());  // reads the user's plans
    if (options().disable) return;
    make_room_for_high_descriptors();  // the host's threads start in its MPI_Init
    if (own_cluster() >= 0) return;
    // Only the ranks of a node know that it is in no cluster.
    const bool reports = launched_rank_on_node() == 0;
    if (reports)
      log_line(LogLevel::error, "%s: host '%s' is in no cluster; add it to one",
               options().clusters.c_str(), host_name().c_str());
    let_reporter_first(reports);
    end_before_init();
  } catch (const std::exception& error) {
    const bool reports = launched_rank() == 0;
    if (reports) log_line(LogLevel::error, "%s", error.what());
    let_reporter_first(reports);
    _exit(2);
  }
}

void settle() {
  // A tool around which this is done may have called PMPI_Init itself, which then finds all done.
  if (host().foreign || std::exchange(life().settled, true)) return;
  const Inside inside;
  may_free_handles(true);
  const int rank = rank_in(host().comm_world);
  set_log_rank(rank);
  if (rank == 0) warn_of_options();
  std::string found = rank == 0 ? look_for_table() : "";
  std::string culprits;
  // MPICH 4.0 compares unsigned numbers as signed ones, so none may be larger.
  const Common common = agree_in_init(rank == 0 ? found.size() : INT64_MAX, &culprits);
  if (rank == 0 && !culprits.empty())
    log_line(LogLevel::warning, "off: the ranks have different %s; give all of them the same",
             culprits.c_str());
  if (common.verdict != Verdict::alike) return go_on_without_tutti();
  if (common.hides && !agree_on_hidden(common.hides_needed)) {
    if (rank == 0)
      log_line(LogLevel::warning, "off: a tool takes calls that do not come back by PMPI_*: %s",
               hidden_text().c_str());
    return go_on_without_tutti();
  }
  share_table(std::move(found), common.least);
  if (simulated) share_programs(rank);
  const HostTraits traits = probe_host();
  if (!traits.judges_arguments) tolerate_aliases();
  if (int level = 0; query_thread(&level) == success) calls_at_once = level == abi.thread_multiple;
  set_missing_types(traits.missing_types);
  std::string why_no_team;
  std::unique_ptr<Team> team = form_team(common.one_node, &why_no_team);
  if (team == nullptr) log_line(LogLevel::info, "off on this node: %s", why_no_team.c_str());
  std::shared_ptr<const GatheredPlacement> placement = GatheredPlacement::gather(team.get());
  const bool several_nodes = placement != nullptr;
  if (team != nullptr) rest_in_host_waits(team->wait_style());
  if (options().wait == WaitChoice::sleep && !options().disable) sleep_when_idle(team.get());
  if (!options().trace.empty() && !options().disable) start_tracing();
  {
    const std::lock_guard<std::mutex> lock(life().mutex);
    open();
    leave_report_of_sessions();
    enter_world(std::move(team), std::move(why_no_team), std::move(placement));
    life().world = true;
    note_world_of_self(true);
  }
  if (!options().disable && !simulated) begin_roll_of_world(rank, several_nodes);
  set_up_if_due(host().comm_world);
  meet_parents(true);
}

// Rank 0 warns of files of the user's that decided nothing, most likely because their rules have
// other sizes or numbers of ranks than the calls. It knows its own calls alone.
void warn_of_unused_files() {
  if (rank_in(host().comm_world) != 0 || options().disable || !why_no_team().empty()) return;
  for (const std::string& file : group::unmatched_files(options()))
    log_line(LogLevel::warning,
             "no call of rank 0 matched a rule of %s; `tutti-run --report` lists the calls, and "
             "`tutti explain` says which rules they meet",
             file.c_str());
}

bool write_what_was_counted() {
  if (!report::recording()) return true;
  note_what_was_sent();
  const std::shared_ptr<Team> team = world_team();
  if (team == nullptr) return write_report(options().report, why_no_team(), {}, 0, {});
  return write_report(options().report, why_no_team(), team->board(), team->ranks(),
                      team->progress_hook());
}

// Finds out which ranks of this node have died.
std::function<bool(int)> who_died() {
  const std::shared_ptr<Team> team = world_team();
  records::Directory* const directory = team == nullptr ? nullptr : team->directory();
  if (directory == nullptr) return [](int) { return false; };
  const Comm world = host().comm_world;
  return [team, directory, members = team->members_among(world, ranks_in(world))](int rank) {
    const int member = members[static_cast<size_t>(rank)];
    return member >= 0 && process_is_gone(shm::load_relaxed(directory->page(member).process));
  };
}

void write_what_was_recorded() {
  const Inside inside;
  warn_of_unused_files();
  if (write_what_was_counted() && write_trace(who_died())) return;
  sleep(1);  // the others that wait have time to write what they know
  end_stalled_job(host().comm_world);
}

void before_finalize() {
  if (!life().world) return;
  // Others may wait for this rank's part in transfers before they enter, so this comes before what
  // the host's collectives gather.
  end_one_sided();
  // An error does not stop MPI_Finalize: the program's error handler may return.
  (void)guarded(host().comm_world, []() -> int {
    end_verifying();
    write_what_was_recorded();
    return success;
  });
  const std::lock_guard<std::mutex> lock(life().mutex);
  life().world = false;
  if (any_session()) {
    leave_world();
    note_world_of_self(false);
    return;
  }
  close();
  note_world_of_self(false);
  end_use_of_host();
}

// Makes no collective call, because the other ranks may be anywhere.
void before_abort() {
  static std::atomic<bool> begun{false};
  // A tool may call PMPI_Abort, which then finds that this has begun.
  if (!report::recording() || !life().world || begun.exchange(true)) return;
  end_soon();  // in case the report never ends: the program may be in any state
  const Inside inside;
  try {
    write_own_report(options().report, why_no_team());
    let_launcher_read();
  } catch (...) {
  }
}

bool servers_are_asked_for() {
  return !simulated && !options().disable && options().servers.count > 0;
}

// Begins MPI for servers.
int begin_host(int* argc, char*** argv, int required, int* provided) {
  int granted = abi.thread_single;
  const int code = host().Init_thread(argc, argv, abi.thread_multiple, &granted);
  if (code != success) return code;
  permit_servers(granted == abi.thread_multiple);
  *provided = std::min(required, granted);
  program_level = *provided;
  return code;
}

// Begins MPI by the host's function, which `by_host` calls, unless servers are asked for.
template <class ByHost>
int begin(int* argc, char*** argv, int required, int* provided, ByHost by_host) {
  before_init();
  rest_in_first_host_waits();
  const int code = servers_are_asked_for() ? begin_host(argc, argv, required, provided) : by_host();
  if (code != success) return code;
  return guarded(host().comm_world, []() -> int {
    settle();
    return success;
  });
}

}  // namespace

int abort(Comm communicator, int code) {
  before_abort();
  roll::expect_exit();
  return host().Abort(communicator, code);
}

int query_thread(int* provided) {
  if (program_level < 0) return host().Query_thread(provided);
  *provided = program_level;
  return success;
}

int init(int* argc, char*** argv) {
  using Init = int (*)(int*, char***);
  (void)host();  // finds the tools
  if (const auto tools = reinterpret_cast<Init>(take_tools_beginning(Interposed::Init)))
    return tools(argc, argv);
  int provided = 0;
  return begin(argc, argv, abi.thread_single, &provided, [&] { return host().Init(argc, argv); });
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  using Init = int (*)(int*, char***, int, int*);
  (void)host();  // finds the tools
  if (const auto tools = reinterpret_cast<Init>(take_tools_beginning(Interposed::Init_thread)))
    return tools(argc, argv, required, provided);
  return begin(argc, argv, required, provided,
               [&] { return host().Init_thread(argc, argv, required, provided); });
}

int finalize() {
  before_finalize();
  const bool sleeps = sleep_in_finalize();
  const int code = sleeping([] { return host().Finalize(); });
  if (sleeps) exec::wake_when_idle();
  end_watchdog();
  return code;
}

namespace {

constexpr const char* processes_of_this_job = "mpi://WORLD";

uint64_t key_of(Session session) { return (uint64_t)session; }

void settle_session(Session session) {
  if (host().foreign || host_tolerates_faults() || host().Group_from_session_pset == nullptr)
    return;
  const std::lock_guard<std::mutex> lock(life().mutex);
  // A process with TUTTI_DISABLE goes on: it takes part in what the ranks agree on.
  if (life().off || knows_session(key_of(session))) return;
  const Inside inside;
  may_free_handles(true);
  Group made;
  if (host().Group_from_session_pset(session, processes_of_this_job, &made) != success) return;
  PrivateGroup processes(made);
  if (launched_rank() == 0) warn_of_options();
  open();
  const int ranks = processes.size();
  if (report::recording() && !life().settled) enter_report_of_sessions(ranks);
  note_session(key_of(session), std::move(processes));
  note_session_of_self(session);
  if (options().disable) return;
  start_roll(launched_rank(), ranks, ranks_here(nullptr, launched_rank(), ranks), 0, nullptr);
  static bool is_first = true;  // they meet once, if each makes further sessions whenever it likes
  if (std::exchange(is_first, false) && !life().settled) {
    meet_for_roll = begin_roll_of_sessions;
    ranks_to_meet = ranks;
  }
}

void before_session_finalize(Session session) {
  const std::lock_guard<std::mutex> lock(life().mutex);
  const Inside inside;
  if (!forget_session(key_of(session))) return;
  const bool last = !life().world && !any_session();
  if (last) close();
  leave_session_of_self(session);
  if (last) end_use_of_host();
}

}  // namespace

int session_init(Info info, Errhandler handler, Session* session) {
  before_init();
  if (host().Session_init == nullptr)
    return abi.err_other;  // the program was compiled for a newer MPI than the host
  const int code = host().Session_init(info, handler, session);
  if (code != success) return code;
  try {
    settle_session(*session);
    return success;
  } catch (...) {  // there may be no communicator yet whose handler could be called
    return abi.err_no_mem;
  }
}

int session_finalize(Session* session) {
  if (host().Session_finalize == nullptr) return abi.err_other;
  before_session_finalize(*session);
  const int code = host().Session_finalize(session);
  end_watchdog();
  return code;
}

}  // namespace tutti::mpi
