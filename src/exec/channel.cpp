// A channel before and between operations: its areas, room in the rings, and failures.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/entered.h"
#include "exec/executor.h"
#include "exec/stalls.h"
#include "shm/segment.h"

namespace tutti::exec {
namespace {

constexpr size_t reserved_for_failure = 256;  // bytes, for a line that tells that memory ran out

// The memory of the areas, and what the ranks found beside it.
plan::Resources resources_of(const shm::Layout& layout, const Channel::Settings& settings) {
  plan::Resources resources = plan::resources_of(layout.slot_bytes, layout.line_count);
  const Reach& reach = settings.reach;
  resources.threads = reach.one_process;
  resources.mapped = !reach.mapped.empty();
  resources.system_copies = !reach.memories.empty();
  resources.system_copies_unasked = reach.cma_unasked;
  if (settings.net != nullptr) resources.prompt = settings.net->prompt();
  return resources;
}

}  // namespace

std::string describe_call(uint64_t call, bool with_bytes, NameOfKind name_of_kind) {
  if (call == 0) return "nothing";
  if (name_of_kind != nullptr && call_kind(call) != 0)
    return describe_call(without_kind(call), with_bytes) + ", " + name_of_kind(call_kind(call));
  const plan::Collective collective = call_collective(call);
  std::string text{plan::name(collective)};
  const uint64_t bytes = call & ((uint64_t{1} << 40) - 1);
  if (bytes == bytes_not_agreed) {
    text += " of parts of different lengths";
  } else if (bytes == bytes_among_neighbours) {
    text += " among neighbours";
  } else if (plan::has_data(collective) && with_bytes) {
    text += " of " + std::to_string(bytes) + " bytes";
  }
  if (plan::rooted(collective)) text += ", root " + std::to_string(call_root(call));
  return text;
}

Channel::Channel(std::byte* areas, const shm::Layout& layout, int rank, const Settings& settings)
    : first_line_(areas + layout.lines_offset()),
      first_slot_(areas + layout.slot_offset()),
      areas_(areas),
      stride_(layout.stride()),
      epoch_(settings.first_epoch),
      stores_(settings.stores),
      style_(settings.style),
      rank_(rank),
      layout_(layout),
      resources_(resources_of(layout, settings)),
      members_(settings.members),
      net_(settings.net),
      reach_(settings.reach),
      hook_(settings.hook),
      tracer_(settings.tracer),
      communicator_(settings.communicator),
      name_of_kind_(settings.name_of_kind) {
  failure_.reserve(reserved_for_failure);
  index_ = index_of(rank);
  own_ = &control(index_);
  shm::store_relaxed(own_->process, settings.process);
  short_slots_.size = short_slots_.limit = resources_.short_slots;
  long_slots_.size = resources_.long_slots;  // its limit is 0: its first use makes room
  most_short_ = resources_.most_short;
  lines_.size = lines_.limit = static_cast<uint64_t>(layout.line_count);
}

void Channel::advance(const Counters& by) {
  base_ += by.base;
  messages_base_ += by.base;
  reaching_ += by.reaching;
  for (Ring* ring : {&lines_, &short_slots_, &long_slots_})
    for (uint64_t* count : {&ring->cursor, &ring->limit, &ring->lap, &ring->safe})
      *count += by.units;
  checkpoint_.lines += by.units;
  checkpoint_.short_slots += by.units;
  checkpoint_.long_slots += by.units;
  shm::publish(own_->word, base_);
}

int Channel::index_of(int rank) const {
  if (members_.empty()) return rank;
  const auto found = std::lower_bound(members_.begin(), members_.end(), rank);
  return found != members_.end() && *found == rank ? static_cast<int>(found - members_.begin())
                                                   : -1;
}

Code Channel::fail(Code code, std::string message) {
  failed_ = code;
  failure_ = std::move(message);
  return code;
}

// There may be no memory for the message: the part that is always there fits into the memory that
// was reserved.
Code Channel::fail_thrown(uint64_t call) noexcept {
  failed_ = Code::unavailable;
  failure_.clear();
  failure_.append("rank ").append(std::to_string(rank_)).append(" gave up in the middle of ");
  failure_.append(plan::name(call_collective(call))).append(": ");
  try {
    throw;
  } catch (const std::bad_alloc&) {
    failure_ += "memory ran out";
  } catch (const std::exception& error) {
    failure_.append(error.what(), std::min(std::strlen(error.what()), reserved_for_failure / 2));
  } catch (...) {
    failure_ += "an exception of no known type";
  }
  failure_ += "; this communicator can be used no more";
  return failed_;
}

// A rank that finds the mismatch at once has not yet said which call it is in, and ranks that wait
// for it must learn that. Those that made the same call as this rank must learn that it will not go
// on, so it enters a call that no rank makes.
Code Channel::fail_mismatch(int peer, const Operation& operation) {
  if (told_ != 0 && has_told(peer) && tell_alike()) return Code::ok;
  say_waits(operation);
  constexpr uint64_t call_of_nobody = 1;
  say_entered(*own_, base_, call_of_nobody);
  const uint64_t theirs = shm::load_relaxed(control(peer).call);
  const std::string other = "rank " + std::to_string(rank_of(peer));
  const std::string how = theirs == operation.call
                              ? ", as " + other + " did, which met another call of a third rank"
                              : " while " + other + " called " + describe(theirs);
  return fail(
      Code::mismatch,
      "rank " + std::to_string(rank_) + " called " + describe(operation.call) + how +
          "; all ranks of a communicator must make the same collective calls in the same order");
}

Code Channel::report_stall(int awaited, uint64_t call) {
  const int limit = options().stall_seconds;
  // The roll call knows the call that waits, but not an operation that outlives its call.
  const bool outlives_call = suspended_.message_peer >= 0;
  if (outlives_call || shm::load_relaxed(roll_is_called) == 0) {
    log_line(LogLevel::warning, "no progress for %d s in %s; where the ranks%s stand:", limit,
             describe(call).c_str(), net_ != nullptr ? " of this node" : "");
    // Each rank says it, so with many ranks one tells only of itself and of the one it awaits.
    constexpr int most_listed = 8;
    for (int index = 0; index < layout_.ranks; ++index) {
      const int rank = rank_of(index);
      if (layout_.ranks <= most_listed || &control(index) == own_ || rank == awaited)
        log_line(LogLevel::warning, "  %s", standing(rank).c_str());
    }
  }
  if (options().stall != StallAction::abort_job) return Code::ok;
  stalled_ = true;
  return fail(Code::dead_peer, "stalled for " + std::to_string(limit) + " s waiting for rank " +
                                   std::to_string(awaited) + "; ended because TUTTI_STALL=abort");
}

void Channel::say_waits(const Operation& operation) {
  shm::store_relaxed(own_->kind, kind_of(operation));
  say_entered(*own_, base_, operation.call);
}

Channel::Waiting Channel::waits_in() const {
  const bool waits =
      shm::load_relaxed(own_->waits_for) != 0 || shm::load_relaxed(own_->waits_for_message) != 0;
  if (!waits && failed_ == Code::ok) return {};
  return {shm::load_relaxed(own_->call), static_cast<uint32_t>(shm::load_relaxed(own_->kind))};
}

std::string Channel::standing(int rank) const {
  if (index_of(rank) < 0) return "rank " + std::to_string(rank) + ": on another node";
  const shm::Control& its = control(index_of(rank));
  std::string text = "rank " + std::to_string(rank);
  if (const uint64_t process = shm::load_relaxed(its.process); process != 0)
    text += " (process " + std::to_string(process) + stopped_note(process) + ")";
  const uint64_t word = shm::load_relaxed(its.word);
  const std::string call = describe(shm::load_relaxed(its.call));
  if (shm::load_relaxed(its.call) == 0) return text + ": has not entered any collective";
  if (const uint64_t message = shm::load_relaxed(its.waits_for_message); message != 0) {
    if (message == shm::Control::among_leaders && call.starts_with("alltoall"))
      return text + ": in " + call + ", whose parts servers exchange";
    if (message == shm::Control::among_leaders)
      return text + ": in " + call + ", in the host MPI's own collective among the nodes' leaders";
    const auto peer = static_cast<int>((message >> 1) - 1);
    const std::string name = "rank " + std::to_string(peer);
    const char* const elsewhere = index_of(peer) < 0 ? ", on another node" : "";
    return text + ": in " + call +
           ((message & 1) != 0 ? ", waits for " + name + elsewhere + ", to take a message"
                               : ", waits for a message of " + name + elsewhere);
  }
  if (const uint64_t peer = shm::load_relaxed(its.waits_for); peer != 0) {
    return text + ": in " + call + ", waits for rank " +
           std::to_string(rank_of(static_cast<int>(peer - 1))) + " to reach " +
           std::to_string(shm::load_relaxed(its.waits_value)) + " (that rank's word is " +
           std::to_string(shm::load_relaxed(control(static_cast<int>(peer - 1)).word)) + ")";
  }
  return text + ": last entered " + call + "; its word is " + std::to_string(word);
}

// A deep ring has hundreds of pages. If each came by a fault of its own, a rank would be slow for
// many calls; if all came at once, a communicator of few calls would pay for pages that it never
// uses. So each step doubles what is there.
void Channel::populate(uint64_t needed) {
  if (needed <= populated_) return;
  constexpr uint64_t least = 64 * 1024;
  const uint64_t before = populated_;
  populated_ = std::min(std::max({needed, 2 * before, least}), long_slots_.size);
#ifdef MADV_POPULATE_WRITE
  const auto ring = reinterpret_cast<uintptr_t>(
      first_slot_ + static_cast<size_t>(index_) * stride_ + short_slots_.size);
  const uintptr_t first = (ring + before) / shm::page_size * shm::page_size;
  const uintptr_t end = (ring + populated_) / shm::page_size * shm::page_size;
  if (end > first)
    madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE);  // else by faults
#endif
}

Code Channel::make_room(Ring& ring, uint64_t units, bool writes, const Operation& operation,
                        bool suspends) {
  if (!ring.make_room(units) && writes) {
    if (const Code code = await_readers(ring, units, operation, suspends); code != Code::ok)
      return code;
    ring.make_room(units);
  }
  if (&ring == &long_slots_ && populated_ < ring.size) {
    if (writes) populate(ring.position() + units);
    // The next operation comes here again if it needs more pages.
    ring.limit = std::min(ring.limit, std::max(ring.lap + populated_, ring.cursor + units));
  }
  return Code::ok;
}

Code Channel::await_readers(const Ring& ring, uint64_t units, const Operation& operation,
                            bool suspends) {
  Checkpoint past = checkpoint_;
  const uint64_t needed = ring.cursor + units - ring.size;
  uint64_t passed = past.long_slots;
  if (&ring == &lines_) passed = past.lines;
  if (&ring == &short_slots_) passed = past.short_slots;
  if (passed < needed) past = here();
  for (int peer = 0; peer < layout_.ranks; ++peer) {
    if (peer == index_) continue;
    const Awaited ended{&control(peer).word, past.base, peer, nullptr};
    if (shm::observe(*ended.word) >= ended.value) continue;
    if (suspends) return suspend(ended, operation.call);
    if (const Code code = wait_for(ended, operation); code != Code::ok) return code;
  }
  lines_.safe = std::max(lines_.safe, past.lines);
  short_slots_.safe = std::max(short_slots_.safe, past.short_slots);
  long_slots_.safe = std::max(long_slots_.safe, past.long_slots);
  checkpoint_ = here();
  return Code::ok;
}

}  // namespace tutti::exec
