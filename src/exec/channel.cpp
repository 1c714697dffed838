// A channel before and between operations: its areas, what fits them, room in the rings, failures.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "base/segments.h"
#include "exec/entered.h"
#include "exec/executor.h"
#include "exec/geometry.h"
#include "exec/reached.h"
#include "exec/wait.h"
#include "shm/segment.h"

namespace tutti::exec {
namespace {

// Sizes found by measuring (docs/performance.md): up to where a message goes in one piece, and the
// segments beyond.
constexpr size_t most_short_slots = 16 * 1024;
constexpr size_t most_whole = 8 * 1024;
constexpr size_t most_whole_of_threads =
    32 * 1024;  // which need no slots, so that there is nothing to overlap
constexpr size_t least_segment = 4 * 1024;
constexpr size_t most_segment = 16 * 1024;
constexpr size_t most_short_beside_deep = 2048;
// Between nodes a message costs more, so they are larger, but not where the transport asks before
// it sends them (Net::prompt); and what no slot bounds, a message's length does.
constexpr size_t most_segment_between = 128 * 1024;
constexpr size_t most_message = size_t{1} << 30;
constexpr size_t reserved_for_failure = 256;  // bytes, for a line that tells that memory ran out

// Halves of the vector, halved again while the ring does not hold enough of them. Two need a
// position each and no more.
size_t halves(const plan::Program& program, size_t element, size_t bytes, size_t slot_bytes) {
  const size_t grain = grain_of(element);
  for (size_t parts = 2;; parts *= 2) {
    const size_t segment = round_up((bytes + parts - 1) / parts, grain);
    const size_t ring = parts == 2 ? 2 * position_bytes_of(program, element, segment)
                                   : ring_bytes_of(program, element, segment);
    if (ring <= slot_bytes || segment == grain) return segment;
  }
}

}  // namespace

ReachFrom reach_from(const Reach& reach, ReachChoice choice) {
  ReachFrom from;
  if (choice == ReachChoice::staged) return from;
  const bool asked = choice == ReachChoice::cma;
  if (!reach.processes.empty() && (asked || reach.cma_unasked))
    from.cma = asked ? direct_from : cma_from;
  from.any = reach.mapped.empty() ? from.cma : direct_from;
  return from;
}

std::string describe_call(uint64_t call) {
  if (call == 0) return "nothing";
  const plan::Collective collective = call_collective(call);
  std::string text{plan::name(collective)};
  const uint64_t bytes = call & ((uint64_t{1} << 40) - 1);
  if (bytes == bytes_not_agreed) {
    text += " of parts of different lengths";
  } else if (collective != plan::Collective::barrier) {
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
      stores_(settings.stores),
      style_(settings.style),
      rank_(rank),
      layout_(layout),
      members_(settings.members),
      net_(settings.net),
      reach_(settings.reach),
      hook_(settings.hook),
      tracer_(settings.tracer),
      communicator_(settings.communicator) {
  failure_.reserve(reserved_for_failure);
  index_ = index_of(rank);
  own_ = &control(index_);
  shm::store_relaxed(own_->process, settings.process);
  short_slots_.size = short_slots_.limit =
      std::min(most_short_slots, layout.slot_bytes / 4 / shm::line_size * shm::line_size);
  long_slots_.size =
      layout.slot_bytes - short_slots_.size;  // its limit is 0: its first use makes room
  most_short_ = long_slots_.size >= shm::deep_ring ? most_short_beside_deep : short_slots_.size / 2;
  lines_.size = lines_.limit = static_cast<uint64_t>(layout.line_count);
}

void Channel::advance(const Counters& by) {
  base_ += by.base;
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

// There may be no memory for the line: what is known for sure fits what was reserved.
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

// A rank that found it at once has not said what it is in, and those that wait for it must learn
// it.
Code Channel::fail_mismatch(int peer, uint64_t call) {
  say_entered(*own_, base_, call);
  return fail(
      Code::mismatch,
      "rank " + std::to_string(rank_) + " called " + describe_call(call) + " while rank " +
          std::to_string(rank_of(peer)) + " called " +
          describe_call(shm::load_relaxed(control(peer).call)) +
          "; all ranks of a communicator must make the same collective calls in the same order");
}

Code Channel::report_stall(int awaited, uint64_t call) {
  const int limit = options().stall_seconds;
  log_line(LogLevel::warning, "no progress for %d s in %s; where the ranks%s stand:", limit,
           describe_call(call).c_str(), net_ != nullptr ? " of this node" : "");
  for (int index = 0; index < layout_.ranks; ++index)
    log_line(LogLevel::warning, "  %s", standing(rank_of(index)).c_str());
  if (options().stall != StallAction::abort_job) return Code::ok;
  stalled_ = true;
  return fail(Code::dead_peer, "stalled for " + std::to_string(limit) + " s waiting for rank " +
                                   std::to_string(awaited) + "; ended because TUTTI_STALL=abort");
}

std::string Channel::standing(int rank) const {
  if (index_of(rank) < 0) return "rank " + std::to_string(rank) + ": on another node";
  const shm::Control& its = control(index_of(rank));
  std::string text = "rank " + std::to_string(rank);
  if (const uint64_t process = shm::load_relaxed(its.process); process != 0)
    text += " (process " + std::to_string(process) + ")";
  const uint64_t word = shm::load_relaxed(its.word);
  const std::string call = describe_call(shm::load_relaxed(its.call));
  if (shm::load_relaxed(its.call) == 0) return text + ": has not entered any collective";
  if (const uint64_t message = shm::load_relaxed(its.waits_for_message); message != 0) {
    if (message == shm::Control::among_leaders)
      return text + ": in " + call + ", in the host MPI's own collective among the nodes' leaders";
    const auto peer = std::to_string((message >> 1) - 1);
    return text + ": in " + call +
           ((message & 1) != 0 ? ", waits for rank " + peer + ", on another node, to take a message"
                               : ", waits for a message of rank " + peer + ", on another node");
  }
  if (const uint64_t peer = shm::load_relaxed(its.waits_for); peer != 0) {
    return text + ": in " + call + ", waits for rank " +
           std::to_string(rank_of(static_cast<int>(peer - 1))) + " to reach " +
           std::to_string(shm::load_relaxed(its.waits_value)) + " (that rank's word is " +
           std::to_string(shm::load_relaxed(control(static_cast<int>(peer - 1)).word)) + ")";
  }
  return text + ": last entered " + call + "; its word is " + std::to_string(word);
}

// Between nodes: of a part or a vector, what the transport sends unasked when messages carry
// several parts at once.
size_t Channel::unasked_bytes(const plan::Program& program) const {
  const auto parts = static_cast<size_t>(program.parted ? std::max(program.message_blocks, 1) : 1);
  return std::max(net_->prompt() / parts, least_segment);
}

size_t Channel::segment_bytes(const plan::Program& program, size_t element, size_t bytes,
                              size_t wanted) const {
  if (bytes <= whole_up_to(program, wanted)) return bytes;
  if (wanted == segment_halves) return halves(program, element, bytes, long_slots_.size);
  const size_t least = net_ != nullptr ? unasked_bytes(program) : least_segment;
  const size_t most = program.slot_blocks == 0 ? most_message
                      : net_ != nullptr        ? most_segment_between
                                               : most_segment;
  // Vectors flow through trees of nodes, so that many segments are worth their messages; parts go
  // once from node to node.
  const size_t segments = net_ == nullptr ? 4 : program.parted ? 8 : 32;
  const size_t target =
      wanted != 0 ? wanted : std::clamp(bytes / segments, least, std::max(least, most));
  const size_t grain = grain_of(element);
  size_t segment = std::max(target / grain, size_t{1}) * grain;
  while (segment > grain && ring_bytes_of(program, element, segment) > long_slots_.size) {
    segment = std::max(segment * 7 / 8 / grain, size_t{1}) * grain;
  }
  return segment;
}

size_t Channel::whole_up_to(const plan::Program& program, size_t wanted) const {
  const bool told = wanted != 0 && wanted != segment_halves;
  if (program.slot_blocks == 0 && net_ == nullptr) return SIZE_MAX;
  const size_t unasked = net_ != nullptr      ? unasked_bytes(program)
                         : reach_.one_process ? most_whole_of_threads
                                              : most_whole;
  const size_t limit = told ? wanted : unasked;
  if (program.slot_blocks == 0) return limit;
  // The largest element makes the largest position; a block may be cut short by one and padded by a
  // line.
  const size_t fits = long_slots_.size / static_cast<size_t>(program.slot_blocks);
  const size_t slack = 2 * shm::line_size;
  const size_t blocks = static_cast<size_t>(program.blocks);
  return fits <= slack ? 0 : std::min(limit, (fits - slack) * blocks);
}

bool Channel::fits(const plan::Program& program, size_t element) const {
  if (program.uses_lines) return static_cast<uint64_t>(program.lines) <= lines_.size;
  return ring_bytes_of(program, element, grain_of(element)) <= long_slots_.size;
}

// A deep ring is hundreds of pages; that they come one by one, each with a fault, is slow for long.
void Channel::populate() {
  populated_ = true;
#ifdef MADV_POPULATE_WRITE
  std::byte* const begin = first_slot_ + static_cast<size_t>(index_) * stride_;
  const auto first =
      (reinterpret_cast<uintptr_t>(begin) + shm::page_size - 1) / shm::page_size * shm::page_size;
  const auto end =
      reinterpret_cast<uintptr_t>(begin + layout_.slot_bytes) / shm::page_size * shm::page_size;
  if (end > first)
    madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE);  // else by faults
#endif
}

Code Channel::make_room(Ring& ring, uint64_t units, bool writes, const Operation& operation) {
  const bool unpopulated = &ring == &long_slots_ && !populated_;
  if (unpopulated && writes) populate();
  const bool room = ring.make_room(units);
  if (unpopulated && !writes)
    ring.limit = std::min(ring.limit, ring.cursor + units);  // its first own write comes here again
  if (room || !writes) return Code::ok;
  Checkpoint past = checkpoint_;
  const uint64_t needed = ring.cursor + units - ring.size;
  const uint64_t passed = &ring == &lines_         ? past.lines
                          : &ring == &short_slots_ ? past.short_slots
                                                   : past.long_slots;
  if (passed < needed) past = here();
  for (int peer = 0; peer < layout_.ranks; ++peer) {
    if (peer == index_) continue;
    const Awaited ended{&control(peer).word, past.base, peer, nullptr};
    if (shm::observe(*ended.word) >= ended.value) continue;
    if (const Code code = wait_for(*this, ended, operation.call); code != Code::ok) return code;
  }
  lines_.safe = std::max(lines_.safe, past.lines);
  short_slots_.safe = std::max(short_slots_.safe, past.short_slots);
  long_slots_.safe = std::max(long_slots_.safe, past.long_slots);
  checkpoint_ = here();
  ring.make_room(units);
  return Code::ok;
}

}  // namespace tutti::exec
