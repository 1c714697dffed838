#include "team/member_memory.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "shm/process_heap.h"
#include "shm/readers.h"

namespace tutti::team {
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

// More ranks do not use the system's copies by default: they were not measured.
constexpr size_t most_by_default = 32;

// True if a copy by the system takes less than 1.5 times as long as the two copies through a slot,
// measured once within this process. Between processes a slot's lines also travel from core to core
// twice, which this does not measure. docs/decisions/deep-rings.md has figures of two processors.
bool copies_are_quick() {
  static const bool quick = [] {
    constexpr size_t bytes = 64 * 1024;
    constexpr int repetitions = 8;
    using Clock = std::chrono::steady_clock;
    std::vector<std::byte> from(bytes, std::byte{1}), slot(bytes), to(bytes);
    Clock::duration by_system = Clock::duration::max(), by_slot = Clock::duration::max();
    for (int i = 0; i < repetitions; ++i) {
      const auto start = Clock::now();
      const iovec here = {to.data(), bytes}, there = {from.data(), bytes};
      if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(bytes))
        return false;
      const auto middle = Clock::now();
      std::memcpy(slot.data(), from.data(), bytes);
      std::memcpy(to.data(), slot.data(), bytes);
      by_system = std::min(by_system, middle - start);
      by_slot = std::min(by_slot, Clock::now() - middle);
    }
    return 2 * by_system < 3 * by_slot;
  }();
  return quick;
}

// True if the members try to use the system's copies. `measures`: one member does, for all.
bool tries_system_copies(size_t members, bool measures,
                         const std::function<exec::SystemCopies()>& asked) {
  if (options().reach == ReachChoice::cma) return true;
  if (options().reach != ReachChoice::automatic || !asked) return false;
  switch (asked()) {
    case exec::SystemCopies::never: return false;
    case exec::SystemCopies::always: return true;
    case exec::SystemCopies::where_quick: break;
  }
  return members <= most_by_default && (!measures || copies_are_quick());
}

bool tries_direct() {
  return options().reach == ReachChoice::automatic || options().reach == ReachChoice::direct;
}

}  // namespace

Offer make_offer() {
  static std::mutex mutex;  // threads of a process may form a team
  const std::lock_guard<std::mutex> lock(mutex);
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

MemberMemory::~MemberMemory() {
  for (const exec::Reach::OfProcess& other : others_)
    if (other.file >= 0) close(other.file);
}

void MemberMemory::attempt(std::span<Introduction> members, int own_member,
                           const std::function<exec::SystemCopies()>& system_copies,
                           const std::function<void()>& meet) {
  const ReachChoice choice = options().reach;
  Introduction& own = members[static_cast<size_t>(own_member)];
  bool cma = tries_system_copies(members.size(), own_member == 0, system_copies);
  std::vector<Offer> offers;
  for (const Introduction& member : members) offers.push_back(member.offer);
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
    for (size_t member = 0; member < members.size() && direct; ++member) {
      const bool is_own = member == static_cast<size_t>(own_member) ||
                          told_[member].process == getpid();  // a thread of this process
      if (!is_own) peers_.emplace_back(offers[member].heap);
      heaps_.push_back(is_own ? shm::process_heap()->base() : peers_.back().base());
    }
  } catch (const Error& error) {
    log_line(LogLevel::info, "no direct reach: %s", error.what());
    direct = false;
  }
  cma = cma && std::all_of(offers.begin(), offers.end(), reads);
  own.works = {direct, cma, shm::malloc_is_shared()};
}

void MemberMemory::settle(std::span<const Introduction> members, int own_member) {
  Works works{true, true, true};
  for (const Introduction& member : members) {
    works.direct = works.direct && member.works.direct;
    works.cma = works.cma && member.works.cma;
    works.shared_malloc = works.shared_malloc && member.works.shared_malloc;
  }
  if (!works.direct) {
    heaps_.clear();
    peers_.clear();
  }
  ordinary_ = works.direct && works.shared_malloc;
  for (size_t member = 0; member < members.size() && works.cma; ++member) {
    const int64_t process = members[member].offer.process;
    others_.push_back({process, open_memory(process)});
  }
  if (own_member != 0) return;
  if (options().reach == ReachChoice::cma && others_.empty())
    log_line(LogLevel::warning,
             "TUTTI_REACH=cma: the system does not let every rank read every other's memory "
             "(`tutti doctor` says more); messages go through the slots instead");
  log_line(LogLevel::info, "reach of %zu ranks: staged%s%s", members.size(),
           direct() ? ", direct" : "", others_.empty() ? "" : ", cma");
}

std::vector<MemberMemory::Memory> MemberMemory::memories() const {
  std::vector<Memory> memories = told_;
  for (size_t member = 0; member < heaps_.size(); ++member)
    memories[member].mapped = heaps_[member];
  if (heaps_.empty())
    for (Memory& memory : memories) memory.location.bytes = 0;
  return memories;
}

exec::Reach MemberMemory::reach(const std::vector<int>& members) const {
  exec::Reach reach;
  if (members.empty()) return reach;
  const shm::Heap* const heap = direct() ? shm::process_heap() : nullptr;
  if (heap != nullptr) {
    reach.own_base = heap->base();
    reach.own_bytes = heap->bytes();
    reach.ordinary = ordinary_;
    reach.mapped.reserve(members.size());
    for (const int member : members) reach.mapped.push_back(heaps_[static_cast<size_t>(member)]);
  }
  reach.cma_unasked = options().reach == ReachChoice::cma;
  if (others_.empty()) return reach;
  reach.memories.reserve(members.size());
  for (const int member : members) reach.memories.push_back(others_[static_cast<size_t>(member)]);
  return reach;
}

}  // namespace tutti::team
