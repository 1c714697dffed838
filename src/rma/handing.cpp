#include "rma/handing.h"

#include <unistd.h>

#include <cstring>

#include "base/process.h"

namespace tutti::rma {
namespace {

// The same with the blocks of the other side, which is a slot, side by side.
Transfer packed(const Transfer& transfer) {
  Transfer packed = transfer;
  packed.remote_stride = static_cast<int64_t>(transfer.block_bytes);
  return packed;
}

}  // namespace

Handing::Handing(const Domain& domain, int32_t place, const Settings& settings)
    : domain_(domain),
      place_(place),
      servers_(settings.servers),
      heap_(settings.heap),
      policy_(settings.policy),
      made_by_(static_cast<uint64_t>(getpid())),
      learning_(servers_.count) {
  const size_t count = domain.shape().entries;
  for (int32_t nth = 0; nth < servers_.count; ++nth) {
    Entry* const entries = domain.entries(place, servers_.first + nth);
    queues_.emplace_back(entries, count, next_position(entries, count));
    started_.emplace_back(count);
  }
  for (size_t slot = 0; slot < slots_of_client; ++slot) free_slots_.push_back(slot);
}

const Handing::Started& Handing::started_at(uint64_t number) const {
  return started_[nth_of(number)][position_of(number) % domain_.shape().entries];
}

// Makes the transfer as a server gets it. False if the server does not reach the caller's side and
// there is no slot.
bool Handing::prepare(const Transfer& transfer, bool reaches_all, Transfer* handed, size_t* slot) {
  *handed = transfer;
  *slot = no_slot;
  const auto* const local = reinterpret_cast<const std::byte*>(transfer.local);
  if (transfer.may_carry()) {
    handed->carries = 1;
    if (is_put(transfer.kind)) std::memcpy(handed->carried(), local, transfer.block_bytes);
    return true;
  }
  if (reaches_all || is_within(extent_of(transfer.local, transfer.local_stride, transfer), heap_))
    return true;
  if (transfer.bytes() > slot_bytes || free_slots_.empty()) return false;
  *slot = free_slots_.back();
  free_slots_.pop_back();
  handed->staged = 1;
  handed->local = *slot;
  if (is_put(transfer.kind)) copy_blocks(packed(transfer), domain_.slot(place_, *slot), local);
  return true;
}

uint64_t Handing::start(const Transfer& transfer) {
  const auto serve = static_cast<ServeFar>(shm::load_relaxed(domain_.serve_far()));
  if (serve == ServeFar::none || shm::load_relaxed(domain_.enabled()) == 0) return 0;
  const Situation now{.kind = transfer.kind,
                      .bytes = transfer.bytes(),
                      .waiting = phases_.start(),
                      .in_flight = outstanding_};
  Rule rule;
  if (serve == ServeFar::selective) {
    const bool by_map = policy_ != nullptr;
    if (by_map && !is_for_servers(*policy_, now)) return 0;
    rule.batch = learning_.batch(now, by_map);
    if (rule.batch == 0) return 0;
    rule.client_takes_turns = learning_.client_takes_turns();
  }
  turn_ = next_turn(rule, turn_, servers_.count);
  if (turn_.server == servers_.count) return 0;  // the client's turn
  uint64_t& number = order_.emplace_back();
  for (int32_t i = 0; i < servers_.count; ++i) {
    const auto nth = static_cast<size_t>((turn_.server + i) % servers_.count);
    const ServerState& state = server(nth);
    if (!queues_[nth].has_room() || !runs(state) || shm::load_relaxed(state.reaches_nodes) == 0)
      continue;
    Transfer handed;
    size_t slot = no_slot;
    const bool same_process = shm::load_relaxed(state.process) == made_by_;
    if (!prepare(transfer, same_process, &handed, &slot)) continue;
    number = (static_cast<uint64_t>(nth + 1) << number_shift) + queues_[nth].post(handed);
    server(nth).doorbell.wake();
    turn_.server = static_cast<int32_t>(nth);  // places without a server take no turns
    started_at(number) = {transfer, slot};
    ++outstanding_;
    ++counts_.handed;
    return number;
  }
  order_.pop_back();
  if (policy_ != nullptr) learning_.end();  // it is none of the phase's after all
  return 0;
}

bool Handing::is_outstanding(uint64_t number) const {
  return nth_of(number) < queues_.size() &&
         queues_[nth_of(number)].is_outstanding(position_of(number));
}

// True if the server will not complete what it has begun: its process has died, or this one was
// forked from it.
bool Handing::server_is_gone(size_t nth) const {
  const ProcessId process = process_of(server(nth));
  return process.number != getpid() && process_is_gone(process);
}

Handing::State Handing::look(uint64_t number, bool closely) {
  const size_t nth = nth_of(number);
  const uint64_t position = position_of(number);
  Producer& queue = queues_[nth];
  if (queue.is_done(position)) {
    const Code result = queue.content(position).result;
    if (result == Code::ok) return State::done;
    // It then finds out more than a server tells. But a second put could signal twice.
    if (result != Code::dead_peer || transfer(number).kind != Kind::put_signal) return State::own;
    ++counts_.lost;
    return State::lost;
  }
  ServerState& state = server(nth);
  const bool serves = runs(state);
  if (serves && !closely) return State::under_way;
  if (queue.take_back(position)) {
    ++counts_.taken_back;
    if (serves) note_death(state);
    return State::own;
  }
  const uint64_t stamp = queue.stamp(position);
  if (!is_taken(stamp)) return State::under_way;  // done meanwhile
  // If the place was claimed for another server since then, the one that has begun this is gone.
  // One that has ended by itself is about to complete what it has begun.
  const bool is_of_now = is_of(stamp, standing(state).generation);
  if (is_of_now && !server_is_gone(nth)) return State::under_way;
  if (serves && is_of_now) note_death(state);
  if (!queue.take_over(position, stamp)) return State::under_way;
  ++counts_.taken_back;
  if (!is_away(stamp) || transfer(number).kind == Kind::get) return State::own;
  ++counts_.lost;
  return State::lost;
}

void Handing::unpack(uint64_t number) {
  const Started& started = started_at(number);
  const Transfer& transfer = started.transfer;
  if (is_put(transfer.kind)) return;
  if (started.slot != no_slot)
    copy_blocks(packed(transfer), reinterpret_cast<std::byte*>(transfer.local),
                domain_.slot(place_, started.slot));
  else if (transfer.may_carry())
    std::memcpy(reinterpret_cast<void*>(transfer.local),
                queues_[nth_of(number)].content(position_of(number)).carried(),
                transfer.block_bytes);
}

void Handing::end(uint64_t number, bool done) {
  if (done) unpack(number);
  Started& started = started_at(number);
  if (started.slot != no_slot) free_slots_.push_back(started.slot);
  started.slot = no_slot;
  queues_[nth_of(number)].release(position_of(number));
  --outstanding_;
  while (!order_.empty() && !is_outstanding(order_.front())) order_.pop_front();
  phases_.complete();
  learning_.end();
}

std::string Handing::describe(uint64_t number) const {
  const size_t nth = nth_of(number);
  const Transfer& one = transfer(number);
  const uint64_t process = shm::load_relaxed(server(nth).process);
  return "for server " + std::to_string(servers_.first + static_cast<int32_t>(nth)) + " (process " +
         std::to_string(process) + stopped_note(process) + ") to exchange a " +
         (is_put(one.kind) ? "put" : "get") + " of " + std::to_string(one.bytes()) +
         " bytes with rank " + std::to_string(one.far_rank()) + ", on another node";
}

void Handing::note_end() {
  phases_.complete();
  if (policy_ == nullptr) learning_.end();
}

}  // namespace tutti::rma
