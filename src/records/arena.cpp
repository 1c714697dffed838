#include "records/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/line.h"
#include "base/log.h"
#include "base/prefetch.h"

namespace tutti::records {
namespace {

constexpr size_t usual_piece = size_t{4} << 20;
constexpr size_t largest_carved = size_t{1} << 20;   // larger blocks have pieces of their own
constexpr size_t least_released = size_t{64} << 10;  // smaller free blocks keep their pages
// The most bytes of free blocks that keep their pages: these, or as many as the program has held at
// one time, up to the second. To have pages anew takes longer than to copy into them.
constexpr size_t least_kept = size_t{64} << 20, most_kept = size_t{256} << 20;

}  // namespace

Arena::~Arena() {
  for (const Piece& piece : pieces_)
    if (piece.segment == settings_.shared) piece.segment->leave(piece.page);
}

uint32_t Arena::class_of(size_t bytes) {
  const size_t lines = (std::max(bytes, line_size) + line_size - 1) / line_size;
  const auto log = static_cast<uint32_t>(std::bit_width(lines) - 1);
  const size_t power = size_t{1} << log;
  if (lines == power) return 2 * log;
  return lines <= power + power / 2 ? 2 * log + 1 : 2 * log + 2;
}

size_t Arena::bytes_of(uint32_t size_class) {
  const size_t power = line_size << (size_class / 2);
  return size_class % 2 == 0 ? power : power + std::max(power / 2, line_size);
}

uint32_t Arena::add_piece(size_t bytes) {
  if (pieces_.size() >= UINT32_MAX) throw Error(Code::unavailable, "an arena has too many pieces");
  shm::Segment* segment = settings_.shared;
  if (settings_.kind == shm::Segment::Kind::memfd) {
    try {
      segment = &made_.emplace_back(shm::Segment::create(settings_.kind, bytes));
    } catch (const Error&) {
      if (segment == nullptr || bytes > segment->free_bytes()) throw;
    }
  }
  const auto taken =
      segment != nullptr ? segment->take(bytes, bytes, 1) : std::optional<shm::Segment::Piece>{};
  if (!taken)
    throw Error(Code::unavailable, "the node's shared memory has no " + std::to_string(bytes) +
                                       " bytes for an operation that outlives its call; raise "
                                       "TUTTI_SHM_BYTES_PER_RANK");
  pieces_.push_back({segment, taken->first_page, segment->address(taken->first_page),
                     size_t{taken->pages} * shm::page_size});
  return static_cast<uint32_t>(pieces_.size() - 1);
}

// Makes a piece for several small blocks. A smaller one does if a limit forbids the usual one.
void Arena::open_piece(size_t least) {
  const bool scarce = settings_.kind != shm::Segment::Kind::memfd;
  size_t bytes = scarce ? std::max(least, usual_piece / 64) : usual_piece;
  while (bytes > least && !shm::Segment::fits_file_limit(bytes)) bytes = std::max(least, bytes / 2);
  open_piece_ = add_piece(bytes);
  open_at_ = 0;
  open_bytes_ = pieces_[open_piece_].bytes;
}

Arena::Block Arena::block_at(uint32_t piece, size_t at, uint32_t size_class) const {
  std::byte* const data = pieces_[piece].start + at;
  const shm::Segment& segment = *pieces_[piece].segment;
  const shm::Segment::Location& location = segment.location();
  return {data,
          bytes_of(size_class),
          size_class,
          {{location.identity[0], location.identity[1]},
           location.bytes,
           location.process,
           location.descriptor,
           static_cast<uint64_t>(data - segment.address(0))}};
}

Arena::Block Arena::carve(uint32_t size_class) {
  const size_t bytes = bytes_of(size_class);
  if (bytes > largest_carved) return block_at(add_piece(bytes), 0, size_class);
  if (open_bytes_ - open_at_ < bytes) open_piece(bytes);
  return block_at(open_piece_, std::exchange(open_at_, open_at_ + bytes), size_class);
}

Arena::Block Arena::take(size_t bytes) {
  const uint32_t size_class = class_of(bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (size_class >= size_classes)
    throw Error(Code::unavailable, "no operation may hold " + std::to_string(bytes) + " bytes");
  std::vector<Free>& free = free_[size_class];
  Block block;
  if (!free.empty()) {
    block = free.back().block;
    if (free.back().resident) resident_bytes_ -= block.bytes;
    free.pop_back();
    if (!free.empty())
      prefetch_to_write(free.back().block.data);  // readers have it in their caches
  } else {
    // Giving it back must need no memory.
    if (free.capacity() <= carved_[size_class]) free.reserve(2 * carved_[size_class] + 1);
    block = carve(size_class);
    ++carved_[size_class];
  }
  held_ += block.bytes;
  most_held_ = std::max(most_held_, held_);
  if (held_ > settings_.usual_most)
    log_once("records/arena", LogLevel::warning,
             "operations under way hold %zu bytes of shared memory that other ranks have not read "
             "yet, more than TUTTI_OUTSTANDING_BYTES (%zu); the node may run out of memory: "
             "complete operations earlier, or raise the variable to accept this",
             held_, settings_.usual_most);
  return block;
}

void Arena::give_back(const Block& block) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  held_ -= block.bytes;
  resident_bytes_ += block.bytes;
  free_[block.size_class].push_back({block});  // within the capacity
  used_at_[block.size_class] = ++uses_;
  const size_t kept = std::clamp(most_held_, least_kept, most_kept);
  while (block.bytes >= least_released && resident_bytes_ > kept && release_oldest()) {
  }
}

bool Arena::release_oldest() noexcept {
  Free* oldest = nullptr;
  uint64_t oldest_use = UINT64_MAX;
  for (uint32_t size_class = class_of(least_released); size_class < size_classes; ++size_class) {
    if (used_at_[size_class] >= oldest_use) continue;
    const auto found = std::find_if(free_[size_class].begin(), free_[size_class].end(),
                                    [](const Free& free) { return free.resident; });
    if (found == free_[size_class].end()) continue;
    oldest = &*found;
    oldest_use = used_at_[size_class];
  }
  return oldest != nullptr && release_pages(*oldest);
}

bool Arena::release_pages(Free& free) noexcept {
  const auto start = reinterpret_cast<uintptr_t>(free.block.data);
  const uintptr_t first = (start + shm::page_size - 1) / shm::page_size * shm::page_size;
  const uintptr_t end = (start + free.block.bytes) / shm::page_size * shm::page_size;
  if (end <= first || madvise(reinterpret_cast<void*>(first), end - first, MADV_REMOVE) != 0)
    return false;
  free.resident = false;
  resident_bytes_ -= free.block.bytes;
  return true;
}

const std::byte* Arena::address(const shm::ArenaPlace& place) {
  shm::Segment::Location location{};
  std::copy_n(place.identity, 2, location.identity);
  location.bytes = place.segment_bytes;
  location.process = place.process;
  location.descriptor = place.descriptor;
  location.kind = shm::Segment::Kind::memfd;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (settings_.shared != nullptr && settings_.shared->is(location))
    return settings_.shared->address(0) + place.at;
  for (const auto* const segments : {&made_, &attached_})
    for (const shm::Segment& segment : *segments)
      if (segment.is(location)) return segment.address(0) + place.at;
  return attached_.emplace_back(shm::Segment::attach(location)).address(0) + place.at;
}

size_t Arena::held() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return held_;
}

size_t Arena::most_held() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return most_held_;
}

}  // namespace tutti::records
