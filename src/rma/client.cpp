#include "rma/client.h"

#include <unistd.h>

#include "base/process.h"

namespace tutti::rma {
namespace {

// A server that runs begins a transfer sooner; so the client does not take it back too early.
constexpr int polls_before_take_back = 200;
constexpr uint64_t tests_before_close_look = 256;

}  // namespace

Client::Client(const Domain& domain, int32_t place, Mover& mover, exec::WaitStyle style)
    : domain_(domain),
      place_(place),
      mover_(mover),
      style_(style),
      made_by_(static_cast<uint64_t>(getpid())) {
  for (int32_t server = 0; server < domain.shape().servers; ++server)
    queues_.emplace_back(domain.entries(place, server), domain.shape().entries);
}

Client::~Client() { wait_for_all(); }

bool Client::serves(int32_t server) const {
  return shm::observe(domain_.server(server).life) == static_cast<uint64_t>(Life::running);
}

// Gives the transfer to the server whose turn it is, or to the next one that has room. False if it
// is the client's own turn, or if no server runs and has room.
bool Client::hand_over(const Transfer& transfer, const Situation& now, Handle* handle) {
  const auto servers = static_cast<int32_t>(queues_.size());
  turn_ = next_turn(policy_, turn_, servers, now);
  if (turn_.server == servers) return false;
  for (int32_t i = 0; i < servers; ++i) {
    const int32_t server = (turn_.server + i) % servers;
    Producer& queue = queues_[static_cast<size_t>(server)];
    if (!queue.has_room() || !serves(server)) continue;
    *handle = {server, queue.post(transfer)};
    domain_.server(server).doorbell.wake();
    return true;
  }
  return false;
}

Handle Client::start(const Transfer& transfer) {
  if (!queues_.empty() && shm::load_relaxed(domain_.enabled()) != 0) {
    const Situation now{.kind = transfer.kind,
                        .bytes = transfer.bytes(),
                        .waiting = phases_.start(),
                        .in_flight = outstanding_};
    Handle handle;
    if (is_for_servers(policy_, now) && hand_over(transfer, now, &handle)) {
      started_.push_back(handle);
      ++outstanding_;
      ++counts_.handed;
      return handle;
    }
  }
  execute(transfer);
  ++counts_.own;
  return {};
}

bool Client::is_outstanding(const Handle& handle) const {
  return handle.server >= 0 && static_cast<size_t>(handle.server) < queues_.size() &&
         queues_[static_cast<size_t>(handle.server)].is_outstanding(handle.position);
}

void Client::end(const Handle& handle) {
  queue(handle).release(handle.position);
  --outstanding_;
  const auto is_over = [this](const Handle& started) { return !is_outstanding(started); };
  while (!started_.empty() && is_over(started_.front())) started_.pop_front();
}

// Executes the transfer if no server has begun it.
bool Client::take_back(const Handle& handle) {
  if (!queue(handle).take_back(handle.position)) return false;
  execute(queue(handle).content(handle.position));
  ++counts_.taken_back;
  return true;
}

// True if the server will not complete what it has begun: its process has died, or it is a thread
// of the process that this one was forked from.
bool Client::server_is_gone(int32_t server) const {
  const uint64_t process = shm::load_relaxed(domain_.server(server).process);
  const auto here = static_cast<uint64_t>(getpid());
  if (process == made_by_ && here != made_by_) return true;
  return process != here && process_is_gone(process);
}

// Completes a transfer of a server that has ended or died. To execute one again that it had begun
// is right, because the memory is the caller's until the completion. False if the server lives.
bool Client::complete_without_server(const Handle& handle, bool looks_closely) {
  if (!serves(handle.server) || (looks_closely && server_is_gone(handle.server))) {
    if (take_back(handle)) return true;
    if (queue(handle).is_done(handle.position)) return true;
    if (!server_is_gone(handle.server)) return false;  // it is about to complete it
    execute(queue(handle).content(handle.position));
    return true;
  }
  return false;
}

bool Client::test(const Handle& handle) {
  phases_.complete();
  if (!queue(handle).is_done(handle.position)) {
    const bool looks_closely = ++late_tests_ % tests_before_close_look == 0;
    if (!complete_without_server(handle, looks_closely)) return false;
  }
  end(handle);
  return true;
}

void Client::wait(const Handle& handle) {
  phases_.complete();
  const auto is_done = [&] { return queue(handle).is_done(handle.position); };
  const bool own_core = style_ == exec::WaitStyle::spin;
  for (int polls = own_core ? polls_before_take_back : 1; polls > 0 && !is_done(); --polls)
    shm::relax();
  if (!is_done() && !take_back(handle)) {
    exec::Waiter waiter(exec::pace_of_copies(style_));
    waiter.until(is_done, [&] {
      const bool ends = complete_without_server(handle, waiter.looks_closely());
      return ends ? Code::unavailable : Code::ok;
    });
  }
  end(handle);
}

void Client::wait_for_all() {
  phases_.complete();
  while (!started_.empty()) {
    const Handle oldest = started_.front();
    if (is_outstanding(oldest))
      wait(oldest);
    else
      started_.pop_front();
  }
}

}  // namespace tutti::rma
