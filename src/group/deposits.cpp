#include "group/deposits.h"

#include <algorithm>
#include <exception>
#include <new>
#include <numeric>

#include "base/log.h"
#include "plan/geometry.h"
#include "shm/layout.h"

namespace tutti::group {
namespace {

// Areas and buffers start at cache lines, so that no rank's word shares a line with another's data.
size_t in_lines(size_t bytes) { return plan::round_up(bytes, shm::line_size); }

size_t table_bytes(const Deposits::Announced& rank) {
  return in_lines(rank.blocks * sizeof(Deposits::Block));
}

size_t area_bytes(const Deposits::Announced& rank) {
  return shm::line_size + table_bytes(rank) + 2 * in_lines(rank.bytes);
}

constexpr size_t least_segment = size_t{1} << 20;  // many short operations share a segment

// Where the memory is. Rank 0 sends it to the others as plain bytes.
struct Offer {
  uint64_t granted = 0;
  uint32_t page = 0;
  shm::Segment::Location segment{};
};

using Segments = Deposits::Segments;

std::shared_ptr<shm::Segment> take(Segments& segments, shm::Segment::Kind kind, size_t bytes,
                                   int ranks, uint32_t* page) {
  const auto from = [&](shm::Segment& segment) {
    const auto piece = segment.take(bytes, bytes, static_cast<uint32_t>(ranks));
    if (piece) *page = piece->first_page;
    return piece.has_value();
  };
  for (const auto& segment : segments)
    if (from(*segment)) return segment;
  auto made = std::make_shared<shm::Segment>(
      shm::Segment::create(kind, std::max(least_segment, bytes + shm::page_size)));
  made->forget_name();  // others open this process's descriptor
  if (!from(*made)) return nullptr;
  segments.push_back(made);
  return made;
}

std::shared_ptr<shm::Segment> attach(Segments& segments, const shm::Segment::Location& location) {
  for (const auto& segment : segments)
    if (segment->is(location)) return segment;
  segments.push_back(std::make_shared<shm::Segment>(shm::Segment::attach(location)));
  return segments.back();
}

}  // namespace

size_t Deposits::needed(const std::vector<Announced>& all) {
  return std::accumulate(all.begin(), all.end(), size_t{0},
                         [](size_t sum, const Announced& rank) { return sum + area_bytes(rank); });
}

std::unique_ptr<Deposits> Deposits::make(Group& group, Segments& segments, shm::Segment::Kind kind,
                                         const std::vector<Announced>& all) {
  std::unique_ptr<Deposits> made(new Deposits(all, group.rank()));
  return made->share(group, segments, kind) ? std::move(made) : nullptr;
}

Deposits::Deposits(const std::vector<Announced>& all, int rank) : all_(all), rank_(rank) {
  size_t at = 0;
  for (const Announced& announced : all) {
    at_.push_back(at);
    at += area_bytes(announced);
  }
}

// Rank 0 takes the piece, and all ranks attach to its segment. Returns true at all ranks if all
// could.
bool Deposits::share(Group& group, Segments& segments, shm::Segment::Kind kind) {
  Offer offer;
  try {
    if (rank_ == 0) segment_ = take(segments, kind, needed(all_), group.ranks(), &offer.page);
    if (segment_ != nullptr) {
      offer.granted = 1;
      offer.segment = segment_->location();
      for (int rank = 0; rank < group.ranks(); ++rank)
        new (segment_->address(offer.page) + at_[static_cast<size_t>(rank)]) shm::Word(0);
    }
  } catch (const std::exception& error) {  // at rank 0 alone: its broadcast tells the others
    log_once("deposits", LogLevel::info, "%s; some persistent collectives stay on the host MPI",
             error.what());
  }
  if (group.run({plan::Collective::bcast, &offer, &offer, sizeof offer, 0}) != Code::ok ||
      offer.granted == 0)
    return false;
  try {
    if (rank_ != 0) segment_ = attach(segments, offer.segment);
  } catch (const std::exception& error) {
    segment_ = nullptr;
    log_line(LogLevel::info, "%s", error.what());
  }
  page_ = offer.page;
  if (segment_ != nullptr) memory_ = segment_->address(page_);
  const uint64_t own = segment_ != nullptr ? 1 : 0;
  std::vector<uint64_t> attached(all_.size());
  if (group.run({plan::Collective::allgather, &own, attached.data(), sizeof own}) != Code::ok)
    return false;
  return std::find(attached.begin(), attached.end(), uint64_t{0}) == attached.end();
}

Deposits::~Deposits() {
  if (segment_ != nullptr) segment_->leave(page_);
}

Deposits::Block* Deposits::table_of(int rank) const {
  return reinterpret_cast<Block*>(area(rank) + shm::line_size);
}

std::byte* Deposits::buffer_of(int rank, uint64_t round) const {
  const Announced& announced = all_[static_cast<size_t>(rank)];
  return area(rank) + shm::line_size + table_bytes(announced) +
         (round % 2) * in_lines(announced.bytes);
}

}  // namespace tutti::group
