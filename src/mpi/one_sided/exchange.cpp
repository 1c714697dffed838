#include "mpi/one_sided/exchange.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text_or_short.h"
#include "exec/waiter.h"
#include "mpi/host/inside.h"
#include "mpi/job/drive_host.h"
#include "mpi/job/end.h"
#include "mpi/job/servers.h"
#include "mpi/one_sided/at_all.h"
#include "mpi/one_sided/group.h"
#include "rma/look.h"
#include "shm/process_heap.h"

namespace tutti::mpi {
namespace {

// The parts of one side of a call: part i is `bytes` bytes at `at` from the start of the buffer.
struct Part {
  ptrdiff_t at = 0;
  size_t bytes = 0;
};
Part part_of(const group::Exchange::Call& call, const exec::Parts exec::VParts::* side, int rank) {
  const auto i = static_cast<size_t>(rank);
  if (call.parts == nullptr) return {static_cast<ptrdiff_t>(i * call.bytes), call.bytes};
  const exec::Parts& parts = call.parts->*side;
  return {parts.at[i], parts.bytes[i]};
}

bool in_heap(const std::byte* data, size_t bytes) {
  const shm::Heap* const heap = shm::process_heap();
  const auto offset = static_cast<size_t>(data - heap->base());
  return offset < heap->bytes() && bytes <= heap->bytes() - offset;
}

struct GiveBack {
  void operator()(std::byte* memory) const { shm::give_memory(memory); }
};

}  // namespace

struct ServedExchange::Moving final : exec::LaneOperation {
  enum class Phase : uint8_t { tells, gets, has_all, ends };

  Call call;
  std::unique_ptr<std::byte, GiveBack> in_heap;  // copies of the parts; null: they stay
  std::vector<std::byte> copies;                 // the same if the heap is full
  std::vector<uint64_t> own, theirs;             // indexed by rank: its part, or this rank's
  std::vector<tutti_handle> gets;                // indexed by distance from this rank
  int first = 1, next = 1;  // the distances of the gets under way, and of the next one
  Phase phase = Phase::tells;
  Request request{};

  // Finds out where others get the parts: in the heap if there is room. Throws bad_alloc.
  void place(int ranks) {
    const auto* const in = static_cast<const std::byte*>(call.in);
    size_t total = 0;
    bool stays = call.in != call.out;
    for (int rank = 0; rank < ranks; ++rank) {
      const Part part = part_of(call, &exec::VParts::in, rank);
      total += part.bytes;
      stays = stays && (part.bytes == 0 || mpi::in_heap(in + part.at, part.bytes));
    }
    std::byte* to = nullptr;
    if (!stays && total > 0) {
      in_heap.reset(static_cast<std::byte*>(shm::take_memory(total, shm::usual_alignment)));
      if (in_heap == nullptr && call.in == call.out) copies.resize(total);
      to = in_heap != nullptr ? in_heap.get() : copies.data();
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const Part part = part_of(call, &exec::VParts::in, rank);
      const std::byte* from = part.bytes > 0 ? in + part.at : nullptr;
      if (to != nullptr && part.bytes > 0) {
        std::memcpy(to, from, part.bytes);
        from = std::exchange(to, to + part.bytes);
      }
      own.push_back(reinterpret_cast<uint64_t>(from));
    }
  }
  // `text` makes the line.
  template <class Text>
  void fail(Code why, Text&& text) {
    if (code != Code::ok) return;
    code = why;
    failure = text_or_short(text);
  }
  void fail_by_host() {
    request = host().request_null;
    fail(Code::unavailable, [] {
      return std::string(
          "the host MPI failed among the ranks of an alltoall by servers; has a "
          "process ended?");
    });
  }
  void fail_as_told() {
    fail(Code::unavailable, [] { return std::string(tutti_error_message()); });
  }
};

std::shared_ptr<group::Exchange> ServedExchange::make(Comm over, int rank, int ranks,
                                                      exec::WaitStyle style) {
  if (simulated || options().servers.count == 0 || options().servers_as != ServersAs::threads)
    return nullptr;
  PrivateCommunicator addresses = PrivateCommunicator::split(over, 0, rank);
  PrivateCommunicator ends = PrivateCommunicator::split(over, 0, rank);
  const bool works = addresses && ends && shm::process_heap() != nullptr;
  if (!true_at_all(over, works && start_server())) return nullptr;
  addresses.return_errors();
  ends.return_errors();
  try {
    std::shared_ptr<ServedExchange> made;
    at_all(over, [&] { made.reset(new ServedExchange(rank, ranks, style)); });
    made->addresses_ = std::move(addresses);
    made->ends_ = std::move(ends);
    made->group_ = make_group(over, ranks, rank);
    return made;
  } catch (const std::exception& error) {  // at all ranks
    log_once("exchange", LogLevel::warning,
             "servers exchange no alltoalls, and plans serve instead: %s", error.what());
    return nullptr;
  }
}

ServedExchange::~ServedExchange() { take_from_server(*this); }

std::shared_ptr<exec::LaneOperation> ServedExchange::start(const Call& call) {
  const auto made = std::make_shared<Moving>();
  const auto ranks = static_cast<size_t>(ranks_);
  made->call = call;
  made->call.at_once = std::clamp<size_t>(call.at_once, 1, group_->one_sided.most_outstanding());
  made->theirs.resize(ranks);
  made->gets.resize(ranks);
  made->own.reserve(ranks);
  made->place(ranks_);
  std::list<std::shared_ptr<Moving>> one{made};
  {
    const Inside inside;
    const std::lock_guard lock(mutex_);
    const auto own = part_of(call, &exec::VParts::out, rank_);
    const auto* const from =
        reinterpret_cast<const std::byte*>(made->own[static_cast<size_t>(rank_)]);
    auto* const to = static_cast<std::byte*>(call.out) + own.at;
    if (own.bytes > 0 && from != to) std::memcpy(to, from, own.bytes);
    if (host().Ialltoall(made->own.data(), 1, host().type_uint64, made->theirs.data(), 1,
                         host().type_uint64, addresses_.get(), &made->request) != success)
      made->fail_by_host();
    if (under_way_.empty()) watched_ = exec::WatchedTime(Clock::now());
    under_way_.splice(under_way_.end(), one);
    shm::publish(moving_, under_way_.size());
    last_moved_ = Clock::now();
  }
  drive();
  if (made->is_over()) return made;
  try {
    hand_to_server(*this);
  } catch (const std::bad_alloc&) {  // the calls that wait for it drive it
  }
  return made;
}

// True if the collective of the host's that is under way is complete.
bool ServedExchange::test(Moving& moving) {
  int done = 0;
  if (host().Test(&moving.request, &done, abi.status_ignore) == success) return done != 0;
  moving.fail_by_host();
  return true;
}

void ServedExchange::get(Moving& moving, int distance) {
  const int from = (rank_ + distance) % ranks_;
  const Part part = part_of(moving.call, &exec::VParts::out, from);
  if (part.bytes == 0 || moving.code != Code::ok) return;
  const void* const there = reinterpret_cast<const void*>(moving.theirs[static_cast<size_t>(from)]);
  if (tutti_get(group_.get(), from, static_cast<std::byte*>(moving.call.out) + part.at, there,
                part.bytes, &moving.gets[static_cast<size_t>(distance)]) != TUTTI_OK)
    moving.fail_as_told();
}

bool ServedExchange::has_arrived(Moving& moving, int distance) {
  tutti_handle& handle = moving.gets[static_cast<size_t>(distance)];
  int complete = 0;
  if (tutti_test(group_.get(), &handle, &complete) == TUTTI_OK) return complete != 0;
  moving.fail_as_told();
  return true;
}

// True if something has moved. An operation that has failed here goes on, because others get their
// parts from this rank.
bool ServedExchange::advance(Moving& moving, bool may_end) {
  using Phase = Moving::Phase;
  bool moved = false;
  if (moving.phase == Phase::tells) {
    if (!test(moving)) return false;
    moving.phase = Phase::gets;
    moved = true;
  }
  if (moving.phase == Phase::gets) {
    const int at_once = static_cast<int>(std::min<size_t>(moving.call.at_once, INT_MAX));
    while (moving.first < ranks_) {
      for (; moving.next < ranks_ && moving.next - moving.first < at_once; ++moving.next)
        get(moving, moving.next);
      if (!has_arrived(moving, moving.first)) return moved;
      ++moving.first;
      moved = true;
    }
    moving.phase = Phase::has_all;
  }
  if (moving.phase == Phase::has_all) {
    if (!may_end) return moved;
    if (host().Ibarrier(ends_.get(), &moving.request) != success) moving.fail_by_host();
    moving.phase = Phase::ends;
    moved = true;
  }
  if (!test(moving)) return moved;
  moving.in_heap.reset();
  shm::publish(moving.over, 1);
  return true;
}

ServedExchange::Turn ServedExchange::drive_for_others() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Turn::taken;
  if (under_way_.empty()) return Turn::idle;
  const Inside inside;
  drive_transfers();
  bool moved = false, may_end = true;
  for (auto moving = under_way_.begin(); moving != under_way_.end();) {
    Moving& one = **moving;
    moved = advance(one, may_end) || moved;
    may_end = may_end && one.phase == Moving::Phase::ends;
    moving = one.is_over() ? under_way_.erase(moving) : std::next(moving);
  }
  const Clock::time_point now = Clock::now();
  if (moved) {
    last_moved_ = now;
    watched_ = exec::WatchedTime(now);
  } else {
    look_for_stall();
  }
  shm::publish(moving_, under_way_.size());
  return moved ? Turn::moved : Turn::waits;
}

std::string ServedExchange::describe(const Moving& moving) const {
  if (moving.phase == Moving::Phase::gets)
    return "a part of rank " + std::to_string((rank_ + moving.first) % ranks_);
  return moving.phase == Moving::Phase::tells ? "other ranks to come to it"
                                              : "other ranks to have their parts";
}

void ServedExchange::look_for_stall() {
  watched_.look(Clock::now());
  if (!watched_.stalls()) return;
  const Moving& oldest = *under_way_.front();
  log_line(LogLevel::warning, "no progress for %d s in alltoall by servers, waits for %s",
           options().stall_seconds, text_or_short([&] { return describe(oldest); }).c_str());
  if (options().stall != StallAction::abort_job) return;
  for (const auto& moving : under_way_) {
    moving->fail(Code::dead_peer, [] {
      return "an alltoall by servers stalled for " + std::to_string(options().stall_seconds) +
             " s; ended because TUTTI_STALL=abort";
    });
    moving->stalled = true;
    shm::publish(moving->over, 1);
  }
}

ServedExchange::Clock::time_point ServedExchange::next_look() const {
  const auto now = Clock::now();
  return now + rma::until_next_look(now - last_moved_.load(), false);
}

void ServedExchange::wait(const exec::LaneOperation& operation) {
  exec::Waiter waiter(exec::pace_of_messages(style_));
  const auto is_over = [&] {
    drive();
    return operation.is_over();
  };
  waiter.until(is_over, [] { return Code::ok; });
  if (!operation.stalled) return;
  log_line(LogLevel::error, "%s", operation.failure.c_str());
  let_launcher_read();
  end_job(ends_.get());
}

}  // namespace tutti::mpi
