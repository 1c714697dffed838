// Finds out how a team's members reach each other's memory. Each member offers its memory, all
// others try to reach it, and the team keeps the kinds of reach that work for all.
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "shm/process_heap.h"
#include "mpi/job/found_table.h"
#include "mpi/job/team.h"
#include "select/select.h"
#include "shm/readers.h"

namespace tutti::mpi {
namespace {

// Processes know each other by the same numbers if this is the same.
uint64_t namespace_of_processes() {
  struct stat found{};
  return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

// True if this process may read the memory of the process that made the offer.
bool reads(const Offer& offer) {
  uint64_t token[2] = {};
  const iovec here = {token, sizeof token};
  const iovec there = {reinterpret_cast<void*>(offer.address), sizeof token};
  return process_vm_readv(static_cast<pid_t>(offer.process), &here, 1, &there, 1, 0) ==
             sizeof token &&
         std::equal(token, token + 2, offer.token);
}

// The file of a process's memory; -1 if there is none. Later reads need no permission any more
// (exec::Reach).
int open_memory(int64_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/mem";
  const int memory = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return memory < 0 ? -1 : move_high(memory);
}

bool tries_direct() {
  return options().reach == ReachChoice::automatic || options().reach == ReachChoice::direct;
}

}  // namespace

Offer make_offer() {
  static Offer own;  // static, so that the token stays readable
  if (own.address == 0 && getrandom(own.token, sizeof own.token, 0) == sizeof own.token)
    own.address = reinterpret_cast<uint64_t>(&own.token);
  own.process = getpid();
  own.namespace_of_processes = namespace_of_processes();
  const shm::Heap* const heap = tries_direct() ? shm::process_heap() : nullptr;
  own.heap = heap != nullptr ? heap->location() : shm::Heap::Location{};
  own.heap_base = heap != nullptr ? reinterpret_cast<uint64_t>(heap->base()) : 0;
  return own;
}

// Tries every kind of reach to every member, and introduces what works.
void Team::try_reach() {
  const ReachChoice choice = options().reach;
  Introduction& own = introductions_[rank_];
  // Copies by the system are seldom faster (docs/decisions/deep-rings.md), so they are tried only
  // if TUTTI_REACH or a rule may ask for them.
  bool cma = choice == ReachChoice::cma || (choice == ReachChoice::automatic &&
                                            select::may_ask_for_cma(overrides_of_job(of_world_)));
  std::vector<Offer> offers;
  for (int member = 0; member < ranks_; ++member) offers.push_back(introductions_[member].offer);
  const uint64_t here = own.offer.namespace_of_processes;
  for (const Offer& offer : offers)
    told_.push_back(
        {.heap = offer.heap_base,
         .bytes = offer.heap.bytes,
         .process = here != 0 && offer.namespace_of_processes == here ? offer.process : 0,
         .location = offer.heap});
  if (choice == ReachChoice::cma) {
    std::vector<pid_t> others;
    for (const Offer& offer : offers)
      if (offer.process != own.offer.process) others.push_back(static_cast<pid_t>(offer.process));
    shm::let_read(others);
    meet();  // all have given permission before any member tries
  }

  bool direct = own.offer.heap.bytes > 0;
  try {
    for (int member = 0; member < ranks_ && direct; ++member) {
      if (member != rank_) peers_.emplace_back(offers[static_cast<size_t>(member)].heap);
      heaps_.push_back(member != rank_ ? peers_.back().base() : shm::process_heap()->base());
    }
  } catch (const Error& error) {
    log_line(LogLevel::info, "no direct reach: %s", error.what());
    direct = false;
  }
  cma = cma && std::all_of(offers.begin(), offers.end(), reads);
  own.works = {direct, cma, shm::malloc_is_shared()};
}

// Keeps the kinds of reach that work for all members.
void Team::settle_reach() {
  Works works{true, true, true};
  for (int member = 0; member < ranks_; ++member) {
    const Works& there = introductions_[member].works;
    works.direct = works.direct && there.direct;
    works.cma = works.cma && there.cma;
    works.shared_malloc = works.shared_malloc && there.shared_malloc;
  }
  if (!works.direct) {
    heaps_.clear();
    peers_.clear();
  }
  ordinary_ = works.direct && works.shared_malloc;
  for (int member = 0; member < ranks_ && works.cma; ++member) {
    processes_.push_back(introductions_[member].offer.process);
    memories_.push_back(open_memory(processes_.back()));
  }
  if (rank_ == 0 && options().reach == ReachChoice::cma && processes_.empty())
    log_line(LogLevel::warning,
             "TUTTI_REACH=cma: the system does not let every rank read every other's memory "
             "(`tutti doctor` says more); messages go through the slots instead");
  if (rank_ == 0)
    log_line(LogLevel::info, "reach of %d ranks: staged%s%s", ranks_, direct() ? ", direct" : "",
             processes_.empty() ? "" : ", cma");
}

exec::Reach Team::reach(Comm communicator, int ranks) const {
  return reach(places_in(communicator, ranks, group_));
}

exec::Reach Team::reach(const std::vector<int>& members) const {
  exec::Reach reach;
  if (members.empty()) return reach;
  const shm::Heap* const heap = direct() ? shm::process_heap() : nullptr;
  if (heap != nullptr) {
    reach.own_base = heap->base();
    reach.own_bytes = heap->bytes();
    reach.ordinary = ordinary_;
    for (const int member : members) reach.mapped.push_back(heaps_[static_cast<size_t>(member)]);
  }
  reach.cma_unasked = options().reach == ReachChoice::cma;
  if (!processes_.empty())
    for (const int member : members) {
      reach.processes.push_back(processes_[static_cast<size_t>(member)]);
      reach.memories.push_back(memories_[static_cast<size_t>(member)]);
    }
  return reach;
}

}  // namespace tutti::mpi
