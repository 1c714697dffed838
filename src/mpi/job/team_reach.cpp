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

// A member's offer of its memory, which it sends to the others.
struct Offer {
  shm::Heap::Location heap{};
  // Random, and stored at `address` in the process. A member that reads it there has reached the
  // right process.
  uint64_t token[2]{};
  uint64_t address = 0;
  int64_t process = 0;
  uint64_t namespace_of_processes = 0;  // 0: unknown
  uint64_t heap_base = 0;
};

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

// The file of a process's memory; -1 if there is none. What is read from it later needs no
// permission any more (exec::Reach).
int open_memory(int64_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/mem";
  const int memory = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return memory < 0 ? -1 : move_high(memory);
}

}  // namespace

// Tries every kind of reach to every member, and keeps those that work for all members.
void Team::agree_on_reach() {
  static Offer own;  // static, so that the token stays readable
  const Host& mpi = host();
  const ReachChoice choice = options().reach;
  const bool try_direct = choice == ReachChoice::automatic || choice == ReachChoice::direct;
  // Copies by the system are seldom faster (docs/decisions/deep-rings.md), so they are tried only
  // if TUTTI_REACH or a rule may ask for them.
  const bool try_cma =
      choice == ReachChoice::cma ||
      (choice == ReachChoice::automatic && select::may_ask_for_cma(overrides_of_job(of_world_)));
  if (own.address == 0 && getrandom(own.token, sizeof own.token, 0) == sizeof own.token)
    own.address = reinterpret_cast<uint64_t>(&own.token);
  own.process = getpid();
  own.namespace_of_processes = namespace_of_processes();
  const shm::Heap* const heap = try_direct ? shm::process_heap() : nullptr;
  own.heap = heap != nullptr ? heap->location() : shm::Heap::Location{};
  own.heap_base = heap != nullptr ? reinterpret_cast<uint64_t>(heap->base()) : 0;
  std::vector<Offer> offers(static_cast<size_t>(ranks_));
  mpi.Allgather(&own, sizeof own, mpi.type_byte, offers.data(), sizeof own, mpi.type_byte,
                private_communicator_.get());
  for (const Offer& offer : offers)
    told_.push_back({.heap = offer.heap_base,
                     .bytes = offer.heap.bytes,
                     .process = own.namespace_of_processes != 0 &&
                                        offer.namespace_of_processes == own.namespace_of_processes
                                    ? offer.process
                                    : 0,
                     .location = offer.heap});
  if (choice == ReachChoice::cma) {
    std::vector<pid_t> others;
    for (const Offer& offer : offers)
      if (offer.process != own.process) others.push_back(static_cast<pid_t>(offer.process));
    shm::let_read(others);
    mpi.Barrier(private_communicator_.get());  // all have given permission before any member tries
  }

  uint64_t works[3] = {own.heap.bytes > 0 ? 1u : 0u, try_cma ? 1u : 0u,
                       shm::malloc_is_shared() ? 1u : 0u},
           works_for_all[3] = {};
  try {
    for (int member = 0; member < ranks_ && works[0] == 1; ++member) {
      if (member != rank_) peers_.emplace_back(offers[static_cast<size_t>(member)].heap);
      heaps_.push_back(member != rank_ ? peers_.back().base() : heap->base());
    }
  } catch (const Error& error) {
    log_line(LogLevel::info, "no direct reach: %s", error.what());
    works[0] = 0;
  }
  if (works[1] == 1 && !std::all_of(offers.begin(), offers.end(), reads)) works[1] = 0;
  mpi.Allreduce(works, works_for_all, 3, mpi.type_uint64, mpi.op_min, private_communicator_.get());
  if (works_for_all[0] == 0) {
    heaps_.clear();
    peers_.clear();
  }
  ordinary_ = works_for_all[0] == 1 && works_for_all[2] == 1;
  if (works_for_all[1] == 1)
    for (const Offer& offer : offers) {
      processes_.push_back(offer.process);
      memories_.push_back(open_memory(offer.process));
    }
  if (rank_ == 0 && choice == ReachChoice::cma && processes_.empty())
    log_line(LogLevel::warning,
             "TUTTI_REACH=cma: the system does not let every rank read every other's memory "
             "(`tutti doctor` says more); messages go through the slots instead");
  if (rank_ == 0)
    log_line(LogLevel::info, "reach of %d ranks: staged%s%s", ranks_, direct() ? ", direct" : "",
             processes_.empty() ? "" : ", cma");
}

exec::Reach Team::reach(MPI_Comm communicator, int ranks) const {
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
