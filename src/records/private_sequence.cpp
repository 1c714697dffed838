#include "records/private_sequence.h"

#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "base/error.h"

namespace tutti::records {
namespace {

constexpr int call_shift = 40;  // the lowest bit of the call in exec::call_signature
constexpr size_t note_at = sizeof(shm::Ledger) + sizeof(uint64_t);

}  // namespace

PrivateSequence::PrivateSequence(const Settings& settings)
    : openings_(*settings.openings),
      arena_(*settings.arena),
      call_(settings.call << call_shift | sizeof(Opening)),
      peers_(static_cast<size_t>(settings.openings->ranks())) {
  Sequence::Settings its;
  its.rank = openings_.rank();
  its.ledgers.resize(peers_.size());
  its.source = this;
  its.readers = settings.readers;
  its.arena = &arena_;
  its.reach = openings_.reach();
  its.concurrent = settings.concurrent;
  memory_ = arena_.take(note_at + settings.note.size());
  try {
    auto* const ledger = new (memory_.data) shm::Ledger{};
    its.ledgers[static_cast<size_t>(its.rank)] = ledger;
    const uint64_t length = settings.note.size();
    std::memcpy(memory_.data + sizeof(shm::Ledger), &length, sizeof length);
    if (length > 0) std::memcpy(memory_.data + note_at, settings.note.data(), length);
    sequence_.emplace(its);
    own_ = new (openings_.prepare(sizeof(Opening))) Opening{memory_.place, 0};
  } catch (...) {
    arena_.give_back(memory_);
    throw;
  }
  number_ = openings_.publish(call_);
  peers_[static_cast<size_t>(its.rank)] = {memory_.data, own_, false};
}

PrivateSequence::~PrivateSequence() {
  sequence_.reset();
  arena_.give_back(memory_);
}

// The caller holds the lock. After the end nothing is looked for, because records may be gone.
PrivateSequence::Peer& PrivateSequence::look_at(int rank) {
  Peer& peer = peers_[static_cast<size_t>(rank)];
  if (peer.opening != nullptr || ended_ || !openings_.has(rank, number_)) return peer;
  const Sequence::Record record = openings_.record(rank, number_);
  if (record.call != call_)
    throw Error(Code::mismatch,
                "rank " + std::to_string(rank) +
                    " makes another persistent collective, or one with another root, than rank " +
                    std::to_string(openings_.rank()) +
                    "; all ranks of a communicator must make the same persistent collectives in "
                    "the same order");
  const auto* const opening = reinterpret_cast<const Opening*>(record.data);
  peer.memory = openings_.address(rank, opening->place);
  if (peer.memory != nullptr) peer.opening = opening;
  return peer;
}

shm::Ledger* PrivateSequence::find_ledger(int rank) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::byte* const memory = look_at(rank).memory;
  if (memory == nullptr) return has_ended(rank) ? ended_ledger() : nullptr;
  // The memory is shared and writable; only its owner writes.
  return reinterpret_cast<shm::Ledger*>(const_cast<std::byte*>(memory));
}

bool PrivateSequence::find_note(int rank, std::span<const std::byte>* note) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::byte* const memory = look_at(rank).memory;
  if (memory == nullptr) return false;
  uint64_t length = 0;
  std::memcpy(&length, memory + sizeof(shm::Ledger), sizeof length);
  *note = {memory + note_at, length};
  return true;
}

bool PrivateSequence::try_close() {
  if (closed_ || !closing_ || !sequence_->may_end()) return closed_;
  shm::publish(own_->closed, 1);
  return closed_ = true;
}

// Memory of the rank need not be mapped to see that it has closed. A rank that has opened another
// one reads no memory of this one. The caller holds the lock.
bool PrivateSequence::has_closed(int rank) {
  Peer& peer = peers_[static_cast<size_t>(rank)];
  if (peer.opening == nullptr) {
    if (!openings_.has(rank, number_)) return has_ended(rank);
    const Sequence::Record record = openings_.record(rank, number_);
    if (record.call != call_) return true;
    peer.opening = reinterpret_cast<const Opening*>(record.data);
  }
  return shm::observe(peer.opening->closed) != 0 || has_ended(rank);
}

bool PrivateSequence::try_end() {
  if (!try_close() || ended_) return ended_;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& peer = peers_[rank];
    peer.closed = peer.closed || has_closed(static_cast<int>(rank));
    if (!peer.closed) return false;
  }
  openings_.done(number_);
  return ended_ = true;
}

}  // namespace tutti::records
