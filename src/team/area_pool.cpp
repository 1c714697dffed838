#include "team/area_pool.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/only_one.h"
#include "base/options.h"

namespace tutti::team {
namespace {

// The limit for all further segments of one process together, as a multiple of the node's segment.
constexpr size_t further_segments = 4;

// `whole`: the bytes of the node's segment that are for communicators.
Error limit_reached(size_t whole, int members) {
  constexpr size_t kibibyte = 1024;
  const size_t twice = 2 * whole / static_cast<size_t>(members);
  return {Code::unavailable,
          "communicators have taken the node's " + std::to_string(whole / kibibyte) +
              " KiB of shared memory and " + std::to_string(further_segments) +
              " times as much beside it, which is the limit; TUTTI_SHM_BYTES_PER_RANK=" +
              std::to_string((twice + kibibyte - 1) / kibibyte) + "K doubles it"};
}

// Says once in a job's ranks of a node that communicators find no memory: ranks 0 of different
// communicators may find that in different processes.
void say_exhausted(const Error& error) {
  static const OnlyOne& speaker = *new OnlyOne("shared-memory");  // lives until the process ends
  if (speaker.chosen())
    log_once("team/place", LogLevel::warning, "%s; some calls stay on the host MPI", error.what());
}

}  // namespace

void clear_areas(std::byte* areas, const shm::Layout& layout) {
  for (int rank = 0; rank < layout.ranks; ++rank)
    std::memset(areas + static_cast<size_t>(rank) * layout.stride(), 0, layout.slot_offset());
}

void touch_area(std::byte* area, size_t bytes) {
  for (size_t offset = 0; offset < bytes; offset += shm::page_size) shm::touch(area + offset);
}

// The bytes of the node's segment that the next communicator of this many ranks may take.
// shm::first_area is the rule for a communicator of all members if no other has taken any of the
// segment. Any other takes a quarter of what is left, in proportion to its ranks, so that there is
// always something left for the next. None takes more than deep rings need, unless
// TUTTI_SHM_BYTES_PER_RANK is set.
size_t AreaPool::share_of(int ranks) const {
  const auto all = static_cast<size_t>(members_), some = static_cast<size_t>(ranks);
  const size_t asked = options().shm_bytes_per_rank;
  const size_t whole = node_.usable_bytes();
  const size_t left = node_.free_bytes();
  const size_t deep = shm::deep_area(members_);
  if (ranks == members_ && left == whole - taken_)
    return shm::first_area(ranks, asked, whole / 2 < deep * all) * all;
  const size_t fair = left / 4 * some / all;
  return asked != 0 ? fair : std::min(fair, deep * some);
}

AreaGrant AreaPool::grant(int ranks) {
  try {
    if (const auto grant = take(node_, ranks, share_of(ranks))) return *grant;

    const std::lock_guard<std::mutex> lock(mutex_);
    log_once("team/further", LogLevel::info,
             "the node's shared memory for communicators is used up; further ones have %zu bytes a "
             "rank, in which long messages are slow; a larger TUTTI_SHM_BYTES_PER_RANK avoids it",
             shm::comfortable_area);
    const size_t whole = node_.usable_bytes();
    const size_t comfortable = shm::comfortable_area * static_cast<size_t>(ranks);
    for (const auto& segment : made_)
      if (const auto grant = take(*segment, ranks, comfortable)) return *grant;
    const size_t bytes = std::max(whole / 4, comfortable);
    if (further_bytes_ + bytes > further_segments * whole)
      throw limit_reached(whole - taken_, members_);
    made_.push_back(
        std::make_unique<shm::Segment>(shm::Segment::create(node_.location().kind, bytes)));
    made_.back()->forget_name();  // others attach through this process
    further_bytes_ += bytes;
    if (const auto grant = take(*made_.back(), ranks, comfortable)) return *grant;
    throw Error(Code::unavailable, "/dev/shm has no room for further communicators; enlarge it");
  } catch (const Error& error) {
    say_exhausted(error);
  }
  return {};
}

std::optional<AreaGrant> AreaPool::take(shm::Segment& segment, int ranks, size_t share) {
  const size_t least = round_up(shm::smallest_area * static_cast<size_t>(ranks), shm::page_size);
  const size_t comfortable = shm::comfortable_area * static_cast<size_t>(ranks);
  const auto piece =
      segment.take(least, std::max(share, comfortable), static_cast<uint32_t>(ranks));
  if (!piece) return std::nullopt;
  // All ranks of the communicator use the same number: rank 0 sends its number to the others of one
  // node, and several nodes use the least of theirs.
  const size_t bytes_per_rank =
      std::min(static_cast<size_t>(piece->pages) * shm::page_size, shm::most_bytes) /
      static_cast<size_t>(ranks);
  AreaGrant grant;
  grant.granted = true;
  grant.node_segment = &segment == &node_;
  grant.fresh = piece->fresh;
  grant.touch = touch_;
  grant.page = piece->first_page;
  grant.bytes_per_rank = bytes_per_rank;
  grant.segment = segment.location();
  if (!piece->fresh)
    clear_areas(segment.address(piece->first_page), shm::Layout::fit(ranks, bytes_per_rank));
  return grant;
}

shm::Segment* AreaPool::segment(const AreaGrant& grant) {
  if (grant.node_segment) return &node_;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto* list : {&made_, &attached_})
    for (const auto& segment : *list)
      if (segment->is(grant.segment)) return segment.get();
  try {
    attached_.push_back(std::make_unique<shm::Segment>(shm::Segment::attach(grant.segment)));
    return attached_.back().get();
  } catch (const Error& error) {
    log_line(LogLevel::info, "%s", error.what());
    return nullptr;
  }
}

}  // namespace tutti::team
