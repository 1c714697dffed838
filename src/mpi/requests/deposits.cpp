#include "mpi/requests/deposits.h"

#include <algorithm>
#include <exception>
#include <new>
#include <numeric>

#include "base/log.h"
#include "shm/layout.h"

namespace tutti::mpi {
namespace {

// Areas and buffers start on lines of their own, so that nobody's words lie beside another's data.
size_t in_lines(size_t bytes) {
  return (bytes + shm::line_size - 1) / shm::line_size * shm::line_size;
}

size_t table_bytes(const Deposits::Announced& rank) {
  return in_lines(rank.blocks * sizeof(Deposits::Block));
}

size_t area_bytes(const Deposits::Announced& rank) {
  return shm::line_size + table_bytes(rank) + 2 * in_lines(rank.bytes);
}

constexpr size_t least_segment = size_t{1} << 20;  // many short operations share one

// Where the memory lies, as rank 0 tells the others. Plain bytes.
struct Offer {
  uint64_t granted = 0;
  uint32_t page = 0;
  shm::Segment::Location segment{};
};

using Segments = std::vector<std::shared_ptr<shm::Segment>>;

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
  made->forget_name();  // others attach through this process
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

std::unique_ptr<Deposits> Deposits::make(Communicator& communicator,
                                         const std::vector<Announced>& all) {
  std::unique_ptr<Deposits> made(new Deposits(all, communicator.group()->rank()));
  size_t at = 0;
  for (const Announced& rank : all) {
    made->at_.push_back(at);
    at += area_bytes(rank);
  }
  return made->share(communicator) ? std::move(made) : nullptr;
}

// Rank 0 takes the piece, all attach, and all learn whether all could.
bool Deposits::share(Communicator& communicator) {
  group::Group& group = *communicator.group();
  Segments& segments = communicator.segments_of_deposits();
  Offer offer;
  try {
    if (rank_ == 0 && (segment_ = take(segments, communicator.segment()->location().kind,
                                       needed(all_), group.ranks(), &offer.page)) != nullptr) {
      offer.granted = 1;
      offer.segment = segment_->location();
      for (int rank = 0; rank < group.ranks(); ++rank)
        new (segment_->address(offer.page) + at_[static_cast<size_t>(rank)]) shm::Word(0);
    }
  } catch (const std::exception& error) {  // of one rank: all learn of it
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

}  // namespace tutti::mpi
