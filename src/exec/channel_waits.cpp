// The slow waits of a channel for peers of its node: the channel says what it waits for, and
// notices peers that are in another call, dead or late.
#include <string>

#include "base/process.h"
#include "exec/entered.h"
#include "exec/executor.h"

namespace tutti::exec {

// One slow wait of a channel. While it lives, the rank's Control says what the rank waits for.
class Channel::PeerWatch final : public Watch {
 public:
  PeerWatch(Channel& channel, const Awaited& first, const Operation& operation)
      : channel_(channel), first_(first), operation_(operation) {
    shm::Control& own = *channel.own_;
    // Operations over lines do not say so before: their lines bear the call, and that is cheaper.
    channel.say_waits(operation);
    shm::store_relaxed(own.waits_value, first.value);
    shm::store_relaxed(own.waits_for, static_cast<uint64_t>(first.peer) + 1);
  }
  ~PeerWatch() { shm::store_relaxed(channel_.own_->waits_for, 0); }
  PeerWatch(const PeerWatch&) = delete;

  Code look(const Awaited& awaited) override {
    const bool differs =
        is_in_other_call(awaited) || (channel_.told_ != 0 && !channel_.tell_alike());
    return differs ? channel_.fail_mismatch(awaited.peer, operation_) : Code::ok;
  }

  Code dead(const Awaited& awaited) override {
    return channel_.fail_gone(awaited.peer, operation_.call);
  }

  Code stalled() override {
    return channel_.report_stall(channel_.rank_of(first_.peer), operation_.call);
  }

 private:
  // True if the peer's line has the stamp of another call, or the peer has entered another
  // operation.
  bool is_in_other_call(const Awaited& awaited) const {
    if (awaited.line != nullptr) {
      const uint64_t stamp = shm::observe(awaited.line->stamp);
      if (stamp > channel_.base_ && stamp != awaited.value &&
          shm::load_relaxed(awaited.line->call) != operation_.call)
        return true;
    }
    return entered_other_call(channel_.control(awaited.peer), channel_.base_, operation_.call);
  }

  Channel& channel_;
  const Awaited& first_;
  const Operation& operation_;
};

// A wait for what a peer passes to a call that this rank has not entered.
class Channel::ToldWatch final : public Watch {
 public:
  ToldWatch(Channel& channel, int peer, uint64_t call)
      : channel_(channel), peer_(peer), call_(call) {
    shm::Control& own = *channel.own_;
    shm::store_relaxed(own.call, call);
    shm::store_relaxed(own.waits_value, 2 * channel.told_);
    shm::store_relaxed(own.waits_for, static_cast<uint64_t>(peer) + 1);
  }
  ~ToldWatch() { shm::store_relaxed(channel_.own_->waits_for, 0); }
  ToldWatch(const ToldWatch&) = delete;

  Code look(const Awaited&) override { return Code::ok; }
  Code dead(const Awaited&) override { return channel_.fail_gone(peer_, call_); }
  Code stalled() override { return channel_.report_stall(channel_.rank_of(peer_), call_); }

 private:
  Channel& channel_;
  const int peer_;
  const uint64_t call_;
};

void Channel::tell(const Passed& own, bool runs_at_once) {
  shm::Control::Told& told = own_->told[++told_ % 2];
  for (size_t i = 0; i < own.size(); ++i) shm::store_relaxed(told.words[i], own[i]);
  shm::publish(told.number, 2 * told_ + (runs_at_once ? 1 : 0));
  if (style_ == WaitStyle::yield) wake_sleepers(*own_);
}

Code Channel::await_told(uint64_t call) {
  for (int peer = 0; peer < layout_.ranks; ++peer) {
    const Awaited awaited{&told(peer).number, 2 * told_, peer, nullptr};
    if (awaited.here() || poll_eagerly(&awaited, 1, style_)) continue;
    ToldWatch watch(*this, peer, call);
    const Code code =
        wait_slowly(&awaited, 1, {areas_, stride_}, style_, net_ != nullptr, hook_, watch);
    if (code != Code::ok) return code;
  }
  return Code::ok;
}

bool Channel::tell_alike() const {
  const shm::Control::Told& own = told(index_);
  for (int peer = 0; peer < layout_.ranks; ++peer) {
    if (!has_told(peer)) continue;
    const shm::Control::Told& its = told(peer);
    for (size_t i = 0; i < Passed{}.size(); ++i)
      if (shm::load_relaxed(its.words[i]) != shm::load_relaxed(own.words[i])) return false;
  }
  return true;
}

Passed Channel::told_by(int rank) const {
  const shm::Control::Told& its = told(index_of(rank));
  return {shm::load_relaxed(its.words[0]), shm::load_relaxed(its.words[1]),
          shm::load_relaxed(its.words[2])};
}

bool Channel::any_runs_at_once() const {
  for (int peer = 0; peer < layout_.ranks; ++peer)
    if (shm::load_relaxed(told(peer).number) % 2 != 0) return true;
  return false;
}

bool Channel::is_gone(int peer) const {
  const uint64_t process = shm::load_relaxed(control(peer).process);
  return process != 0 && process_is_gone(process);
}

Code Channel::fail_gone(int peer, uint64_t call) {
  return fail(Code::dead_peer, "rank " + std::to_string(rank_of(peer)) + " (process " +
                                   std::to_string(shm::load_relaxed(control(peer).process)) +
                                   ") is gone; rank " + std::to_string(rank_) +
                                   " waited for it in " + describe(call));
}

Code Channel::wait_for_late(const Awaited* awaited, int count, const Operation& operation) {
  PeerWatch watch(*this, *awaited, operation);
  return wait_slowly(awaited, count, {areas_, stride_}, style_, net_ != nullptr, hook_, watch);
}

Code Channel::wait_for(const Awaited& awaited, const Operation& operation) {
  return poll_eagerly(&awaited, 1, style_) ? Code::ok : wait_for_late(&awaited, 1, operation);
}

Code Channel::wait_for_any(const Awaited* awaited, int count, const Operation& operation) {
  return poll_eagerly(awaited, count, style_) ? Code::ok : wait_for_late(awaited, count, operation);
}

Code Channel::wait_for_line(const shm::Line& line, uint64_t number, int32_t peer,
                            const Operation& operation) {
  return wait_for({&line.stamp, number, peer, &line}, operation);
}

Code Channel::suspend(const Awaited& awaited, uint64_t call) {
  const Awaited& before = suspended_.awaited;
  if (before.word == awaited.word && before.value == awaited.value) return would_wait;
  resume();
  suspended_.awaited = awaited;
  say_entered(*own_, base_, call);
  shm::store_relaxed(own_->waits_value, awaited.value);
  shm::store_relaxed(own_->waits_for, static_cast<uint64_t>(awaited.peer) + 1);
  return would_wait;
}

Code Channel::suspend_for_message(int32_t peer, bool takes, uint64_t call) {
  if (suspended_.message_peer == peer) return would_wait;
  resume();
  suspended_.message_peer = peer;
  shm::store_relaxed(own_->call, call);
  shm::store_relaxed(own_->waits_for_message,
                     (static_cast<uint64_t>(peer) + 1) << 1 | (takes ? 1 : 0));
  return would_wait;
}

void Channel::resume() {
  if (suspended_.awaited.word != nullptr) shm::store_relaxed(own_->waits_for, 0);
  if (suspended_.message_peer >= 0) shm::store_relaxed(own_->waits_for_message, 0);
  suspended_ = {};
}

Code Channel::look_at_suspended(const Operation& operation, bool stalls) {
  if (suspended_.message_peer >= 0)
    return stalls ? report_stall(suspended_.message_peer, operation.call) : Code::ok;
  if (suspended_.awaited.word == nullptr) return Code::ok;
  const Awaited awaited = suspended_.awaited;
  if (awaited.here()) return Code::ok;
  PeerWatch watch(*this, awaited, operation);
  if (const Code code = watch.look(awaited); code != Code::ok) return code;
  if (is_gone(awaited.peer) && !awaited.here()) return watch.dead(awaited);
  return stalls ? watch.stalled() : Code::ok;
}

}  // namespace tutti::exec
