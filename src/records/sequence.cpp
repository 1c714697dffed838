#include "records/sequence.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/prefetch.h"

namespace tutti::records {
namespace {

// The arena's memory that this rank's records may hold before it looks whether others are done with
// some of them: as much as stays in a second-level cache.
constexpr size_t held_in_cache = size_t{256} << 10;

// RecordLine::uses.
constexpr uint64_t reader = 1, has_read = uint64_t{1} << 16, withdrawn = uint64_t{1} << 63;
constexpr uint64_t count_mask = 0xffff;

}  // namespace

shm::Ledger* ended_ledger() {
  static shm::Ledger& made = *new shm::Ledger{.issued{UINT64_MAX}, .taken{UINT64_MAX}, .rings{}};
  return &made;
}

Sequence::Sequence(const Settings& settings)
    : rank_(settings.rank),
      source_(settings.source),
      readers_(settings.readers.value_or(std::vector<int>{})),
      arena_(*settings.arena),
      reach_(settings.reach),
      concurrent_(settings.concurrent),
      peers_(settings.ledgers.size()) {
  for (size_t rank = 0; rank < peers_.size(); ++rank)
    shm::store_relaxed(peers_[rank].ledger, reinterpret_cast<uint64_t>(settings.ledgers[rank]));
  if (!settings.readers) {
    readers_.resize(peers_.size());
    std::iota(readers_.begin(), readers_.end(), 0);
  } else if (std::find(readers_.begin(), readers_.end(), rank_) == readers_.end()) {
    readers_.push_back(rank_);
  }
}

Sequence::~Sequence() {
  for (const Held& held : blocks_) arena_.give_back(held.block);
  for (const auto& ring : own_rings_) arena_.give_back(ring.second);
}

shm::Ledger* Sequence::look_for_ledger(int rank) {
  shm::Ledger* known = ledger(rank);
  if (known != nullptr || source_ == nullptr) return known;
  known = source_->find_ledger(rank);
  shm::publish(peers_[static_cast<size_t>(rank)].ledger, reinterpret_cast<uint64_t>(known));
  return known;
}

uint64_t Sequence::issued(int rank) {
  const shm::Ledger* known = ledger(rank);
  if (known == nullptr) {
    const Guard guard(*this);
    known = look_for_ledger(rank);
  }
  return known == nullptr ? 0 : shm::load_relaxed(known->issued);
}

uint64_t Sequence::taken(int rank) const {
  const shm::Ledger* const known = ledger(rank);
  return known == nullptr ? 0 : shm::load_relaxed(known->taken);
}

uint64_t Sequence::least_issued() {
  uint64_t least = UINT64_MAX;
  for (const int reader : readers_) least = std::min(least, issued(reader));
  return least;
}

// Returns the fewest operations that a reader is done with. No reader reads these operations' data
// any more.
uint64_t Sequence::least_taken() {
  uint64_t least = UINT64_MAX;
  for (const int reader : readers_) {
    const shm::Ledger* known = ledger(reader);
    if (known == nullptr) {
      const Guard guard(*this);
      known = look_for_ledger(reader);
    }
    least = std::min(least, known == nullptr ? 0 : shm::observe(known->taken));
  }
  return least;
}

bool Sequence::may_end() { return least_taken() >= next_; }

// Finds out which operations all readers are done with, and gives the memory of their records back.
void Sequence::know_taken() {
  safe_ = std::min(least_taken(), next_);
  size_t held = held_;
  while (!blocks_.empty() && blocks_.front().number < safe_) {
    held -= blocks_.front().block.bytes;
    arena_.give_back(blocks_.front().block);
    blocks_.pop_front();
  }
  shm::store_relaxed(held_, held);
  if (own_ != nullptr) limit_ = std::max(own_->first, safe_) + own_->mask + 1;
}

// Makes the next ring. Rings are never given back before the sequence ends: a rank that does not
// know a newer ring yet looks for new records in the older one.
void Sequence::add_ring() {
  const int index = own_ == nullptr ? 0 : own_->index + 1;
  if (index == shm::Ledger::most_rings)
    throw Error(Code::unavailable, std::to_string(next_ - safe_) +
                                       " operations of one communicator are under way, which is "
                                       "the limit; complete operations earlier");
  const uint64_t lines = shm::Ledger::lines_of(index);
  own_rings_.reserve(own_rings_.size() + 1);
  std::vector<uint8_t> done(2 * lines);
  const Guard guard(*this);
  rings_.emplace_back();
  Arena::Block block;
  try {
    block = arena_.take(lines * sizeof(shm::RecordLine));
  } catch (...) {
    rings_.pop_back();
    throw;
  }
  own_rings_.emplace_back(next_, block);
  Ring& ring = rings_.back();
  ring = {next_, lines - 1, reinterpret_cast<shm::RecordLine*>(block.data), index, own_};
  for (uint64_t i = 0; i < lines; ++i) shm::store_relaxed(ring.lines[i].stamp, 0);
  for (uint64_t number = taken_; number < counted_; ++number)
    done[number % done.size()] = done_[number & (done_.size() - 1)];
  done_ = std::move(done);
  shm::Ledger::Ring& told = own_ledger().rings[index];
  told.lines = block.place;
  shm::publish(told.made, 1 + next_);
  shm::publish(peers_[static_cast<size_t>(rank_)].newest, reinterpret_cast<uint64_t>(&ring));
  own_ = &ring;
  limit_ = next_ + lines;
}

std::byte* Sequence::prepare_slowly(size_t bytes) {
  if (bytes > bytes_mask)
    throw Error(Code::unavailable, "an operation that outlives its call has too many bytes");
  if (next_ >= limit_) know_taken();
  if (next_ >= limit_) add_ring();
  if (bytes <= shm::RecordLine::most_bytes)
    return reinterpret_cast<std::byte*>(line_of(next_).payload);
  if (held() >= held_in_cache) know_taken();
  try {
    prepared_ = arena_.take(bytes);
  } catch (const Error&) {
    know_taken();
    prepared_ = arena_.take(bytes);
  }
  try {
    blocks_.push_back({next_, prepared_});
  } catch (...) {
    arena_.give_back(std::exchange(prepared_, {}));
    throw;
  }
  shm::store_relaxed(held_, held() + prepared_.bytes);
  return prepared_.data;
}

// Returns the place of a buffer as exec::Reach defines it. A buffer lies in one piece of memory, so
// its end need not be checked.
uint64_t Sequence::place_of(const std::byte* buffer) const {
  if (reach_ == nullptr || reach_->mapped.empty()) return 0;
  const uint64_t distance =
      reinterpret_cast<uint64_t>(buffer) - reinterpret_cast<uint64_t>(reach_->own_base);
  return distance < reach_->own_bytes ? distance : 0;
}

uint64_t Sequence::publish(uint64_t call, LongData data) {
  shm::RecordLine& line = line_of(next_);
  if (prepared_.data != nullptr) {
    shm::store_relaxed(line.filled, data.is_filled ? all_filled : 0);
    shm::store_relaxed(line.lent, data.lent == nullptr ? 0 : place_of(data.lent));
    shm::store_relaxed(line.uses, 0);
    shm::store_relaxed(line.tile_bytes, data.tile_bytes);
    const shm::ArenaPlace place = std::exchange(prepared_, {}).place;
    std::memcpy(line.payload, &place, sizeof place);
  }
  const uint64_t number = next_++;
  {
    const Guard guard(*this);
    done_[number & (done_.size() - 1)] = 0;
    counted_ = next_;
  }
  shm::store_relaxed(line.call, call);
  shm::publish(line.stamp, next_);
  shm::store_relaxed(own_ledger().issued, next_);
  prefetch_to_write(&line_of(next_));  // other ranks have read its last record
  return number;
}

void Sequence::done(uint64_t number) {
  const Guard guard(*this);
  done_[number & (done_.size() - 1)] = 1;
  if (number != taken_) return;
  while (taken_ < counted_ && done_[taken_ & (done_.size() - 1)] != 0) ++taken_;
  shm::publish(own_ledger().taken, taken_);
}

void Sequence::abandon() { shm::publish(own_ledger().taken, UINT64_MAX); }

const Sequence::Ring* Sequence::map_ring(int rank, int index, const Ring* before) {
  const shm::Ledger* const known = look_for_ledger(rank);
  if (known == nullptr) return nullptr;
  const shm::Ledger::Ring& told = known->rings[index];
  const uint64_t made = shm::observe(told.made);
  if (made == 0) return nullptr;
  const std::byte* const lines = address(rank, told.lines);
  if (lines == nullptr) return nullptr;
  Ring& ring = rings_.emplace_back();
  ring = {made - 1, shm::Ledger::lines_of(index) - 1,
          reinterpret_cast<shm::RecordLine*>(const_cast<std::byte*>(lines)), index, before};
  return &ring;
}

shm::RecordLine* Sequence::find_slowly(int rank, uint64_t number) {
  const Guard guard(*this);
  shm::Word& newest = peers_[static_cast<size_t>(rank)].newest;
  const auto* ring = reinterpret_cast<const Ring*>(shm::observe(newest));
  while (ring == nullptr || ring->index + 1 < shm::Ledger::most_rings) {
    const Ring* const next = map_ring(rank, ring == nullptr ? 0 : ring->index + 1, ring);
    if (next == nullptr) break;
    ring = next;
    shm::publish(newest, reinterpret_cast<uint64_t>(ring));
  }
  while (ring != nullptr && number < ring->first) ring = ring->before;
  return ring == nullptr ? nullptr : &ring->lines[number & ring->mask];
}

const std::byte* Sequence::address(int rank, const shm::ArenaPlace& place) {
  try {
    return arena_.address(place);
  } catch (const Error&) {
    if (!has_ended(rank)) throw;
    return nullptr;
  }
}

const std::byte* Sequence::data_at(int rank, const shm::ArenaPlace& place) {
  const Guard guard(*this);
  Peer& peer = peers_[static_cast<size_t>(rank)];
  for (const Peer::Seen& seen : peer.seen)
    if (seen.start != nullptr && seen.identity == place.identity[0]) return seen.start + place.at;
  const std::byte* const data = arena_.address(place);
  peer.seen[peer.next_seen++ % peer.seen.size()] = {place.identity[0], data - place.at};
  return data;
}

Sequence::Record Sequence::record(int rank, uint64_t number) {
  const shm::RecordLine& line = *find(rank, number);
  const uint64_t call = shm::load_relaxed(line.call);
  if ((call & bytes_mask) <= shm::RecordLine::most_bytes)
    return {call, reinterpret_cast<const std::byte*>(line.payload), false};
  shm::ArenaPlace place;
  std::memcpy(&place, line.payload, sizeof place);
  return {call, data_at(rank, place), true};
}

const std::byte* Sequence::borrow(int rank, uint64_t number) {
  shm::RecordLine& line = *find(rank, number);
  const uint64_t place = shm::load_relaxed(line.lent);
  if (place == 0) return nullptr;
  if ((shm::add(line.uses, reader) & withdrawn) == 0)
    return reinterpret_cast<const std::byte*>(
        reinterpret_cast<uint64_t>(reach_->mapped[static_cast<size_t>(rank)]) + place);
  shm::add(line.uses, -reader);
  return nullptr;
}

void Sequence::give_back(int rank, uint64_t number) {
  shm::add(find(rank, number)->uses, has_read - reader);
}

bool Sequence::is_returned(uint64_t number, int readers) {
  const uint64_t uses = shm::observe(find(rank_, number)->uses);
  if ((uses & count_mask) != 0) return false;
  return (uses & withdrawn) != 0 ||
         (uses / has_read & count_mask) == static_cast<uint64_t>(readers);
}

void Sequence::withdraw(uint64_t number) { shm::set_bits(find(rank_, number)->uses, withdrawn); }

}  // namespace tutti::records
