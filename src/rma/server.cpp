#include "rma/server.h"

#include <sched.h>

#include <algorithm>
#include <new>

#include "rma/look.h"

namespace tutti::rma {
namespace {

// Other clients wait no longer than for so many transfers of one.
constexpr size_t most_of_a_client = 16;

// A sleep that is shorter is not worth its call of the system.
constexpr auto least_sleep = std::chrono::microseconds(20);
// While replies are awaited, the server looks at least so often.
constexpr auto longest_sleep_while_away = std::chrono::microseconds(200);

// The label of a transfer that the endpoint has: its client, and its position in that one's queue.
constexpr int client_shift = 48;
uint64_t label_of(size_t client, uint64_t position) {
  return (static_cast<uint64_t>(client) << client_shift) + position;
}

}  // namespace

Server::Server(const Domain& domain, int32_t place, Mover& mover, int polls, Endpoint* endpoint)
    : domain_(domain),
      state_(domain.server(place)),
      mover_(mover),
      polls_(polls),
      endpoint_(endpoint),
      last_moved_(Clock::now()) {
  if (endpoint_ != nullptr) endpoint_->take();
  const uint64_t generation = standing(state_).generation;
  for (int32_t client = 0; client < domain.shape().clients; ++client)
    queues_.emplace_back(domain.entries(client, place), domain.shape().entries, generation);
}

Server::~Server() {
  if (endpoint_ != nullptr) endpoint_->give_back();
}

// Gives a transfer that was taken to the endpoint. False if this server cannot exchange it. If
// memory has run out or the wire has failed before, the client executes it itself.
bool Server::send_away(size_t client, Transfer& transfer) {
  if (endpoint_ == nullptr) return false;
  std::byte* here = nullptr;
  int64_t stride = static_cast<int64_t>(transfer.block_bytes);
  if (transfer.carries != 0) {
    here = transfer.carried();
  } else if (transfer.staged != 0) {
    here = domain_.slot(static_cast<int32_t>(client), static_cast<size_t>(transfer.local));
  } else {
    here = endpoint_->here(transfer, client);
    stride = transfer.local_stride;
  }
  if (here == nullptr) return false;
  Consumer& queue = queues_[client];
  const uint64_t position = queue.send_away();
  bool started = false;
  try {
    started = endpoint_->start(transfer, here, stride, label_of(client, position));
  } catch (const std::bad_alloc&) {
  }
  if (started) {
    ++away_;
  } else {
    transfer.result = Code::unavailable;
    queue.finish(position);
  }
  return true;
}

// Drives the endpoint, and reports the transfers that are over. True if something has moved.
bool Server::exchange() {
  const auto tell = [this](uint64_t label, Code code) {
    Consumer& queue = queues_[label >> client_shift];
    const uint64_t position = label & ((uint64_t{1} << client_shift) - 1);
    Transfer& transfer = queue.content(position);
    transfer.result = code;
    const uint64_t bytes = transfer.bytes();  // before the client may use the entry again
    queue.finish(position);
    --away_;
    shm::store_relaxed(state_.away, shm::load_relaxed(state_.away) + 1);
    shm::store_relaxed(state_.transfers, shm::load_relaxed(state_.transfers) + 1);
    shm::store_relaxed(state_.bytes, shm::load_relaxed(state_.bytes) + bytes);
  };
  return endpoint_ != nullptr && endpoint_->drive(tell);
}

size_t Server::serve(size_t most) {
  size_t served = 0, begun = 0;
  uint64_t bytes = 0;
  for (size_t client = 0; client < clients(); ++client) {
    Consumer& queue = queues_[client];
    for (size_t i = 0; i < most; ++i) {
      Transfer* const transfer = queue.take();
      if (transfer == nullptr) break;
      if (transfer->is_far()) {
        ++begun;
        if (send_away(client, *transfer)) continue;
        transfer->result = Code::unavailable;  // the client then executes it itself
        queue.finish();
        continue;
      }
      transfer->result = transfer->carries != 0 ? mover_.move_carried(*transfer)
                                                : mover_.move(*transfer, static_cast<int>(client));
      bytes += transfer->bytes();  // before the client may use the entry again
      queue.finish();
      ++served;
    }
  }
  if (served > 0) {
    shm::store_relaxed(state_.transfers, shm::load_relaxed(state_.transfers) + served);
    shm::store_relaxed(state_.bytes, shm::load_relaxed(state_.bytes) + bytes);
  }
  const size_t exchanged = exchange() ? 1 : 0;
  if (endpoint_ != nullptr && begun + exchanged > 0) last_moved_ = Clock::now();
  return served + begun + exchanged;
}

// Nobody wakes it when a message comes.
std::chrono::nanoseconds Server::longest_sleep() const {
  if (endpoint_ == nullptr) return std::chrono::nanoseconds(-1);
  const auto longest = until_next_look(Clock::now() - last_moved_, false);
  if (away_ == 0) return longest;
  return std::min<std::chrono::nanoseconds>(longest, longest_sleep_while_away);
}

size_t Server::clients() const {
  const auto in_use = static_cast<size_t>(shm::observe(domain_.clients_in_use()));
  return in_use == 0 ? queues_.size() : std::min(in_use, queues_.size());
}

bool Server::is_asked_to_stop() const {
  return shm::observe(state_.asked_to_stop) == standing(state_).generation;
}

bool Server::is_kept_awake() const { return shm::observe(domain_.awake()) != 0; }

bool Server::has_work() const {
  return std::any_of(queues_.begin(), queues_.begin() + static_cast<ptrdiff_t>(clients()),
                     [](const Consumer& queue) { return queue.has_next(); });
}

void Server::sleep() {
  const std::chrono::nanoseconds longest = longest_sleep();
  if (endpoint_ != nullptr && longest < least_sleep) {
    sched_yield();
    return;
  }
  const auto begin = Clock::now();
  shm::store_relaxed(state_.sleeps, shm::load_relaxed(state_.sleeps) + 1);
  state_.doorbell.sleep_unless(
      [this] { return has_work() || is_asked_to_stop() || is_kept_awake(); }, longest);
  const auto slept = std::chrono::nanoseconds(Clock::now() - begin).count();
  shm::store_relaxed(state_.slept_nanoseconds,
                     shm::load_relaxed(state_.slept_nanoseconds) + static_cast<uint64_t>(slept));
}

void Server::run() {
  for (int idle = 0;;) {
    // Read before the round, so that the round finds all that was posted before stop().
    const bool ends = is_asked_to_stop();
    if (serve(most_of_a_client) > 0) {
      idle = 0;
      continue;
    }
    if (ends && away_ == 0) break;
    // Whoever keeps it awake wants it to begin at once, also on a core that it shares.
    if (++idle < (is_kept_awake() ? polls_of_own_core : polls_)) {
      shm::relax();
      continue;
    }
    if (is_kept_awake())
      sched_yield();
    else
      sleep();
    idle = 0;
  }
  shm::publish(state_.life, word_of({Life::ended, standing(state_).generation}));
}

void stop(const Domain& domain, const Started& server) {
  ServerState& state = domain.server(server.place);
  for (;;) {
    const uint64_t seen = shm::observe(state.asked_to_stop);
    if (standing(state).generation != server.generation) return;  // another server's place by now
    if (shm::take(state.asked_to_stop, seen, server.generation)) break;
  }
  state.doorbell.wake();
}

void keep_awake(const Domain& domain, bool awake) {
  shm::publish(domain.awake(), awake ? 1 : 0);
  for (int32_t place = 0; awake && place < domain.shape().servers; ++place)
    domain.server(place).doorbell.wake();
}

}  // namespace tutti::rma
