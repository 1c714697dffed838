#include "rma/client.h"

#include <unistd.h>

#include <cstring>

#include "base/log.h"
#include "base/options.h"
#include "base/process.h"

namespace tutti::rma {
namespace {

// A server that runs begins a transfer sooner; so the client does not take it back too early.
constexpr int polls_before_take_back = 200;
constexpr uint64_t tests_before_look_at_clock = 256;
constexpr auto close_looks_every = std::chrono::milliseconds(100);
constexpr uint64_t taken_before_close_look = 64;

// The transfer as a server gets it.
Transfer packed(const Transfer& transfer) {
  Transfer packed = transfer;
  if (!transfer.may_carry()) return packed;
  packed.carries = 1;
  if (transfer.kind == Kind::put)
    std::memcpy(packed.carried(), reinterpret_cast<const void*>(transfer.local),
                transfer.block_bytes);
  return packed;
}

// Gives the caller what a completed transfer carries to it.
void unpack(const Transfer& transfer) {
  if (transfer.carries != 0 && transfer.kind == Kind::get)
    std::memcpy(reinterpret_cast<void*>(transfer.local), transfer.carried(), transfer.block_bytes);
}

}  // namespace

Client::Client(const Domain& domain, int32_t place, Mover& mover, exec::WaitStyle style,
               const ServerRange& servers)
    : domain_(domain),
      place_(place),
      mover_(mover),
      style_(style),
      first_server_(servers.first),
      made_by_(static_cast<uint64_t>(getpid())) {
  const size_t count = domain.shape().entries;
  for (int32_t server = servers.first; server < servers.first + servers.count; ++server) {
    Entry* const entries = domain.entries(place, server);
    queues_.emplace_back(entries, count, next_position(entries, count));
  }
}

Client::~Client() { wait_for_all(); }

int32_t Client::running_servers() const {
  const auto last = first_server_ + static_cast<int32_t>(queues_.size());
  int32_t count = 0;
  for (int32_t server = first_server_; server < last; ++server)
    count += runs(domain_.server(server)) ? 1 : 0;
  return count;
}

// Gives the transfer to the server whose turn it is, or to the next one that has room. False if it
// is the client's own turn, or if no server runs and has room.
bool Client::hand_over(const Transfer& transfer, const Situation& now, Handle* handle) {
  const auto servers = static_cast<int32_t>(queues_.size());
  turn_ = next_turn(policy_, turn_, servers, now);
  if (turn_.server == servers) return false;
  for (int32_t i = 0; i < servers; ++i) {
    const int32_t nth = (turn_.server + i) % servers;
    const int32_t server = first_server_ + nth;
    Producer& queue = queues_[static_cast<size_t>(nth)];
    if (!queue.has_room() || !runs(domain_.server(server))) continue;
    *handle = {.server = server, .position = queue.post(packed(transfer))};
    domain_.server(server).doorbell.wake();
    turn_.server = nth;  // places without a server take no turns
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
    if (is_for_servers(policy_, now)) {
      Handle& handle = started_.emplace_back();
      if (hand_over(transfer, now, &handle)) {
        ++outstanding_;
        ++counts_.handed;
        return handle;
      }
      started_.pop_back();
    }
  }
  ++counts_.own;
  return {.code = execute(transfer)};
}

bool Client::is_outstanding(const Handle& handle) const {
  const int64_t nth = int64_t{handle.server} - first_server_;
  return handle.server >= 0 && nth >= 0 && nth < static_cast<int64_t>(queues_.size()) &&
         queues_[static_cast<size_t>(nth)].is_outstanding(handle.position);
}

void Client::end(const Handle& handle) {
  late_.reset();
  queue(handle).release(handle.position);
  --outstanding_;
  const auto is_over = [this](const Handle& started) { return !is_outstanding(started); };
  while (!started_.empty() && is_over(started_.front())) started_.pop_front();
}

// Executes a transfer that was handed over, and that no server executes any more.
Code Client::execute_posted(const Handle& handle) {
  Transfer transfer = queue(handle).content(handle.position);
  if (transfer.carries == 0) return execute(transfer);
  const Code code = mover_.move_carried(transfer);
  if (code == Code::ok) unpack(transfer);
  return code;
}

// Executes the transfer if no server has begun it. A server that never begins may have died.
bool Client::take_back(const Handle& handle, Code* code) {
  if (!queue(handle).take_back(handle.position)) return false;
  *code = execute_posted(handle);
  ++counts_.taken_back;
  if (++taken_in_row_ % taken_before_close_look == 0) note_death(domain_.server(handle.server));
  return true;
}

// True if the server will not complete what it has begun: its process has died, or it is a thread
// of the process that this one was forked from.
bool Client::server_is_gone(int32_t server) const {
  const ProcessId process = process_of(domain_.server(server));
  const auto number = static_cast<uint64_t>(process.number);
  const auto here = static_cast<uint64_t>(getpid());
  if (number == made_by_ && here != made_by_) return true;
  return number != here && process_is_gone(process);
}

// Completes a transfer of a server that has ended or died. To execute one again that it had begun
// is right, because the memory is the caller's until the completion. False if the server lives, or
// if it is not known yet what has become of the transfer.
bool Client::complete_without_server(const Handle& handle, bool looks_closely, Code* code) {
  ServerState& state = domain_.server(handle.server);
  if (runs(state)) {
    if (!looks_closely || !server_is_gone(handle.server)) return false;
    note_death(state);  // so that clients do without it
  }
  if (take_back(handle, code)) return true;
  if (queue(handle).is_done(handle.position)) {
    *code = result(handle);
    return true;
  }
  const uint64_t stamp = queue(handle).stamp(handle.position);
  if (!is_taken(stamp)) return false;
  // If the place was claimed for another server since then, the one that has begun this is gone.
  // One that has ended by itself is about to complete what it has begun.
  const bool is_of_now = is_of(stamp, standing(state).generation);
  if (is_of_now && !server_is_gone(handle.server)) return false;
  if (!queue(handle).take_over(handle.position, stamp)) return false;
  *code = execute_posted(handle);
  ++counts_.taken_back;
  return true;
}

// For the usual test this costs a count. A look at the clock follows many tests, and a close look,
// which reads files of the system, follows some of these.
bool Client::test_looks_closely() {
  if (++late_tests_ % tests_before_look_at_clock != 0) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_close_look_) return false;
  next_close_look_ = now + close_looks_every;
  return true;
}

bool Client::test(const Handle& handle, Code* code) {
  phases_.complete();
  Code ended = Code::ok;
  if (queue(handle).is_done(handle.position)) {
    ended = result(handle);
  } else {
    const bool looks_closely = test_looks_closely();
    if (!complete_without_server(handle, looks_closely, &ended)) {
      if (looks_closely) look_at_late(handle);
      return false;
    }
  }
  if (code != nullptr) *code = ended;
  end(handle);
  return true;
}

// How a transfer ended that a server has done. The system may forbid the server what it permits
// this process, which then executes the transfer.
Code Client::result(const Handle& handle) {
  taken_in_row_ = 0;
  const Transfer& transfer = queue(handle).content(handle.position);
  if (transfer.result == Code::unavailable) {
    ++counts_.taken_back;
    return execute_posted(handle);
  }
  if (transfer.result == Code::ok) unpack(transfer);
  return transfer.result;
}

// Tells once which server and transfer a long wait is for.
void Client::say_stall(const Handle& handle) const {
  const Transfer& transfer =
      queues_[static_cast<size_t>(handle.server - first_server_)].content(handle.position);
  const uint64_t process = shm::load_relaxed(domain_.server(handle.server).process);
  log_line(LogLevel::warning,
           "has waited %d s for server %d (process %llu%s) to complete a %s of %zu bytes, target "
           "rank %d",
           options().stall_seconds, handle.server, static_cast<unsigned long long>(process),
           stopped_note(process), transfer.kind == Kind::put ? "put" : "get", transfer.bytes(),
           transfer.target);
}

// Kills a stopped server, so that the client can take over its transfers. Ranks are never killed.
void Client::kill_if_stopped(int32_t server) const {
  const ServerState& state = domain_.server(server);
  const ProcessId process = process_of(state);
  if (!runs(state) || shm::load_relaxed(state.is_process) == 0 || !process_is_stopped(process) ||
      !kill_process(process))
    return;
  log_line(LogLevel::warning,
           "server %d (process %lld) was stopped by a signal and held a transfer, so it was "
           "killed; ranks do its work",
           server, static_cast<long long>(process.number));
}

// test() finds nothing complete for long.
void Client::look_at_late(const Handle& handle) {
  const auto now = std::chrono::steady_clock::now();
  if (!late_) late_.emplace(now);
  late_->look(now);
  if (late_->stalls()) say_stall(handle);
  if (late_->is_too_long()) kill_if_stopped(handle.server);
}

Code Client::wait(const Handle& handle) {
  phases_.complete();
  Code code = Code::ok;
  const auto is_done = [&] { return queue(handle).is_done(handle.position); };
  const bool own_core = style_ == exec::WaitStyle::spin;
  for (int polls = own_core ? polls_before_take_back : 1; polls > 0 && !is_done(); --polls)
    shm::relax();
  bool ends = !is_done() && take_back(handle, &code);
  if (!ends) {
    exec::Waiter waiter(exec::pace_of_copies(style_));
    waiter.until(is_done, [&] {
      ends = complete_without_server(handle, waiter.looks_closely(), &code);
      if (!ends && waiter.stalls()) say_stall(handle);
      if (!ends && waiter.looks_closely() && waiter.watched().is_too_long())
        kill_if_stopped(handle.server);
      return ends ? Code::unavailable : Code::ok;
    });
  }
  if (!ends) code = result(handle);
  end(handle);
  return code;
}

Code Client::wait_for_all() {
  phases_.complete();
  Code first = Code::ok;
  while (!started_.empty()) {
    const Handle oldest = started_.front();
    if (is_outstanding(oldest)) {
      const Code code = wait(oldest);
      if (first == Code::ok) first = code;
    } else {
      started_.pop_front();
    }
  }
  return first;
}

}  // namespace tutti::rma
