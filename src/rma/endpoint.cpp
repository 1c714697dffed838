#include "rma/endpoint.h"

namespace tutti::rma {

bool Endpoint::start(const Transfer& transfer, std::byte* here, int64_t stride, uint64_t label) {
  Transfer between = transfer;
  between.local = reinterpret_cast<uint64_t>(here);
  between.local_stride = stride;
  const Way& way = ways_[static_cast<size_t>(transfer.far_rank())];
  const std::lock_guard lock(mutex_);
  if (!asking_.failure().empty()) return false;
  asking_.start(between,
                {.answers = way.answers, .number = way.number, .rank = transfer.far_rank()}, label);
  return true;
}

std::byte* Endpoint::here(const Transfer& transfer, size_t client) const {
  const Peer& caller = callers_[client % callers_.size()];
  const Extent extent = extent_of(transfer.local, transfer.local_stride, transfer);
  if (caller.here(extent.first, extent.bytes) == nullptr) return nullptr;
  return reinterpret_cast<std::byte*>(transfer.local + caller.shift);
}

bool Endpoint::drive_all() {
  const uint64_t before = answering_.answered();
  const bool asked = asking_.drive();
  const bool moved = answering_.drive() || asked;
  shm::store_relaxed(answered_, shm::load_relaxed(answered_) + answering_.answered() - before);
  return moved;
}

bool Endpoint::drive_without_server() {
  if (is_taken()) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && drive_all();
}

bool Endpoint::is_idle() {
  const std::lock_guard lock(mutex_);
  const bool failed = !asking_.failure().empty() || !answering_.failure().empty();
  return failed || (asking_.is_idle() && answering_.is_idle());
}

}  // namespace tutti::rma
