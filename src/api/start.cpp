// The C API of calls that start: every function is one expression behind a guard.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/arguments.h"
#include "api/collective_call.h"
#include "api/guard.h"
#include "api/requests.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "kernels/parts.h"
#include "tutti/tutti.h"

namespace tutti::api {
namespace {

using plan::Collective;
using Clock = std::chrono::steady_clock;

// A rank that needs nothing of the others waits for them if it has started so many operations that
// some rank has not started, or if their data is so long.
constexpr uint64_t most_ahead = 64;
constexpr size_t most_held_ahead = size_t{1} << 20;

static_assert(max_team <= exec::most_ranks_with_kinds);

constexpr double longest_flush = 1e8;  // three years: sums with times of day do not overflow

constexpr const char* group_was_aborted = "the group was aborted";

std::string name_of(int late) {
  return late < 0 ? "every other rank" : "rank " + std::to_string(late);
}

[[noreturn]] void throw_ended(const tutti_request& request, int late) {
  throw Error(Code::dead_peer,
              name_of(late) + " has ended, or has stalled, before " + request.described());
}

// The rank whose process has ended, or does so within a moment; -1: there is none. A process that
// ends closes its files before it has ended.
int find_ended(const Started& all) {
  constexpr int looks = 100;
  for (int look = 0; look < looks; ++look) {
    for (int rank = 0; rank < all.ranks(); ++rank)
      if (rank != all.rank() && all.is_gone(rank)) return rank;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return -1;
}

// Calls a function that may map memory of other ranks. If a rank was killed before this one has
// mapped its memory, that fails, and the result is Error(dead_peer) with the rank.
template <class Call>
auto name_ended(const tutti_request& request, Call call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.code() != Code::unavailable) throw;
    if (const int ended = find_ended(request.started); ended >= 0) throw_ended(request, ended);
    throw;
  }
}

bool is_ready(tutti_request& request, int* late) {
  return name_ended(request, [&] { return request.is_ready(late); });
}

// A started collective.
class CollectiveRequest final : public tutti_request, private records::Waits {
 public:
  struct Call {
    Collective collective{};
    const void* in = nullptr;
    void* out = nullptr;
    size_t bytes = 0;  // bytes of a block
    int root = 0;
    bool in_place = false;   // `in` and `out` share memory
    bool keeps_own = false;  // the own part of the result is there already
    const Reduction* reduction = nullptr;
  };

  CollectiveRequest(Started& all, const Call& call) : tutti_request(all) {
    describe(call);
    all.start(operation_);
  }
  // A collective whose parts have any lengths.
  CollectiveRequest(Started& all, const Call& call, std::vector<ptrdiff_t> in_at,
                    std::vector<size_t> in_bytes, std::vector<ptrdiff_t> out_at,
                    std::vector<size_t> out_bytes)
      : tutti_request(all),
        at_{std::move(in_at), std::move(out_at)},
        bytes_{std::move(in_bytes), std::move(out_bytes)},
        parts_{{at_[0].data(), bytes_[0].data()}, {at_[1].data(), bytes_[1].data()}} {
    describe(call);
    operation_.parts = &parts_;
    all.start(operation_);
  }

  bool is_ready(int* late) override {
    records::Sequence& sequence = started.sequence();
    if (!records::is_ready(sequence, operation_, late)) return false;
    const bool awaits_all =
        operation_.program->awaits.size() + 1 == static_cast<size_t>(started.ranks());
    if (awaits_all ||
        (sequence.held() <= most_held_ahead && !sequence.leads_by_more_than(most_ahead)))
      return true;
    for (int rank = 0; rank < started.ranks(); ++rank)
      if (sequence.issued(rank) <= operation_.number) {
        *late = rank;
        return false;
      }
    return true;
  }

  void finish() override {
    records::Outcome outcome;
    try {
      outcome = name_ended(
          *this, [&] { return records::take(started.sequence(), operation_, scratch_, *this); });
    } catch (const Error& error) {
      outcome = {.code = error.code(), .failure = described() + ": " + error.what()};
    }
    const std::string unread = end();
    if (outcome.code == Code::ok && unread.empty()) return;
    if (outcome.code == Code::ok) throw Error(Code::dead_peer, unread);
    if (!stuck_.empty()) throw Error(outcome.code, stuck_);
    if (outcome.failure.empty()) outcome.failure = "a rank ended in the midst of " + described();
    throw Error(outcome.code, outcome.failure);
  }

  void abandon() override { end(); }

  std::string described() const override {
    return "a started " + std::string(plan::name(operation_.program->collective));
  }

 private:
  void describe(const Call& call) {
    operation_.program = &started.program(call.collective, call.root);
    operation_.in = static_cast<const std::byte*>(call.in);
    operation_.out = static_cast<std::byte*>(call.out);
    operation_.bytes = operation_.in_bytes = call.bytes;
    operation_.in_place = call.in_place;
    operation_.keeps_own = call.keeps_own;
    operation_.name_of_kind = name_of_reduction;
    operation_.parallel = started.parallel();
    if (call.reduction == nullptr) return;
    operation_.kind = call.reduction->kind;
    combine_ = call.reduction->combine;
    operation_.combine = &combine_;
    operation_.all = call.reduction->all;
    if (call.reduction->averages) operation_.divisor = started.ranks();
  }

  // This rank is done with the operation, once nobody reads its buffer any more. The result is
  // empty, or says why a rank may still read it.
  std::string end() {
    std::string unread;
    if (operation_.lent) unread = get_buffer_back();
    records::end(started.sequence(), operation_);
    return unread;
  }

  // Waits about as long as a copy takes, and then makes one for the ranks that come later. A rank
  // that reads the buffer at that moment may be stopped.
  std::string get_buffer_back() {
    constexpr size_t bytes_a_nanosecond = 8;
    const std::chrono::nanoseconds patience(records::record_bytes(operation_) / bytes_a_nanosecond);
    const exec::Pace pace = exec::pace_of_copies(started.style());
    const auto returned = [&] { return records::is_returned(started.sequence(), operation_); };
    exec::Waiter patiently(pace);
    const Code code = patiently.until(
        returned, [&] { return patiently.elapsed() < patience ? Code::ok : Code::unavailable; });
    if (code == Code::ok) return {};
    records::withdraw(started.sequence(), operation_);
    exec::Waiter waiter(pace);
    std::string unread;
    waiter.until(returned, [&] {
      if (started.is_aborted()) unread = group_was_aborted;
      if (waiter.elapsed() >= limit) unread = unread_note();
      if (!unread.empty()) return Code::dead_peer;
      if (!waiter.looks_closely()) return Code::ok;
      for (int rank = 0; rank < started.ranks(); ++rank)
        if (started.is_gone(rank)) return Code::dead_peer;
      return Code::ok;
    });
    return unread;
  }

  // Names the first rank that is stopped, if there is one.
  std::string unread_note() const {
    const std::string text = " does not go on with reading the data of " + described();
    for (int rank = 0; rank < started.ranks(); ++rank)
      if (const std::string note = stopped_note(started.process(rank)); !note.empty())
        return name_of(rank) + text + note;
    return "a rank" + text;
  }

  Code wait(int rank, const shm::Word& word, uint64_t value) override {
    exec::Waiter waiter(exec::pace_of_copies(started.style()));
    return waiter.until([&] { return shm::observe(word) >= value; },
                        [&] {
                          if (started.is_aborted()) {
                            stuck_ = group_was_aborted;
                            return Code::dead_peer;
                          }
                          if (waiter.elapsed() >= limit) {
                            stuck_ = "rank " + std::to_string(rank) +
                                     " does not go on with the data of " + described() +
                                     " that it has begun to give" +
                                     stopped_note(started.process(rank));
                            return Code::dead_peer;
                          }
                          const bool gone = waiter.looks_closely() && started.is_gone(rank);
                          return gone ? Code::dead_peer : Code::ok;
                        });
  }

  records::Operation operation_;
  exec::Combine combine_;
  std::vector<ptrdiff_t> at_[2];
  std::vector<size_t> bytes_[2];
  exec::VParts parts_;
  std::vector<std::byte> scratch_;
  std::string stuck_;  // why a wait within take() has ended, if no process has
};

// A message that is awaited.
class ReceiveRequest final : public tutti_request {
 public:
  ReceiveRequest(Started& all, int from, uint32_t tag, void* data, size_t bytes, int* sender)
      : tutti_request(all), from_(from), tag_(tag), data_(data), bytes_(bytes), sender_(sender) {
    if (from != TUTTI_ANY) number_ = all.letters()->claim(from, tag);
  }

  bool is_ready(int* late) override {
    if (letter_.entry != nullptr) return true;
    *late = from_ == TUTTI_ANY ? -1 : from_;
    if (from_ != TUTTI_ANY) return started.letters()->find(from_, tag_, number_, &letter_);
    for (int rank = 0; rank < started.ranks(); ++rank)
      if (started.letters()->find_next(rank, tag_, &letter_)) {
        from_ = rank;
        return true;
      }
    return false;
  }

  void finish() override {
    const size_t got = letter_.bytes;
    if (got == bytes_) kernels::copy_in_parts(started.parallel(), data_, letter_.data, got);
    records::Letters::close(letter_);
    if (sender_ != nullptr) *sender_ = from_;
    if (got != bytes_)
      throw Error(Code::mismatch,
                  "rank " + std::to_string(from_) + " has sent " + std::to_string(got) +
                      " bytes with tag " + std::to_string(tag_) + " where rank " +
                      std::to_string(started.rank()) + " expects " + std::to_string(bytes_));
  }

  // The message is lost when it comes.
  void abandon() override {
    if (letter_.entry != nullptr) records::Letters::close(letter_);
  }

  std::string described() const override { return "a message with tag " + std::to_string(tag_); }

 private:
  int from_;
  const uint32_t tag_;
  void* const data_;
  const size_t bytes_;
  int* const sender_;
  uint64_t number_ = 0;
  records::Letters::Letter letter_;
};

// For waits: true if the process of the rank has ended; late = -1: those of all other ranks.
bool has_ended(const Started& all, int late) {
  if (late >= 0) return all.is_gone(late);
  for (int rank = 0; rank < all.ranks(); ++rank)
    if (rank != all.rank() && !all.is_gone(rank)) return false;
  return true;
}

void require_not_aborted(const Started& all) {
  if (all.is_aborted()) throw Error(Code::unavailable, group_was_aborted);
}

// True if the request is ready. Looks every 100 ms whether it can still become so; throws
// Error(dead_peer) if not.
bool poll(tutti_request& request) {
  constexpr auto between_looks = std::chrono::milliseconds(100);
  int late = -1;
  if (is_ready(request, &late)) return true;
  require_not_aborted(request.started);
  const Clock::time_point now = Clock::now();
  if (now < request.next_look) return false;
  const bool is_first = request.next_look == Clock::time_point();
  request.next_look = now + between_looks;
  if (is_first || !has_ended(request.started, late)) return false;
  if (!is_ready(request, &late)) throw_ended(request, late);
  return true;
}

// Waits until the request is ready. False: it is not after so many seconds (negative: no limit).
// Throws Error(dead_peer).
bool await(tutti_request& request, double seconds) {
  Started& all = request.started;
  int late = -1;
  exec::Waiter waiter(exec::pace_between_calls(all.style()));
  const Code code = waiter.until(
      [&] { return is_ready(request, &late); },
      [&]() -> Code {
        if (late >= 0) waiter.note_peer(all.process(late));
        require_not_aborted(all);
        if (seconds >= 0 && waiter.elapsed() >= std::chrono::duration<double>(seconds))
          return Code::unavailable;
        if (!waiter.looks_closely()) return Code::ok;
        if (has_ended(all, late) && !is_ready(request, &late)) return Code::dead_peer;
        if (!waiter.stalls()) return Code::ok;
        log_line(LogLevel::warning, "no progress for %d s in %s: %s has not started it",
                 options().stall_seconds, request.described().c_str(), name_of(late).c_str());
        return options().stall == StallAction::abort_job ? Code::dead_peer : Code::ok;
      });
  if (code == Code::dead_peer) throw_ended(request, late);
  return code == Code::ok;
}

Started& started(tutti_group* group) {
  require_group(group);
  std::call_once(group->started_once, [&] {
    require_collectives(group);
    group->started = start_of(*group);
  });
  return *group->started;
}

Started& started_not_aborted(tutti_group* group) {
  Started& all = started(group);
  require_not_aborted(all);
  return all;
}

tutti_status start(tutti_group* group, CollectiveRequest::Call call, tutti_request** request) {
  require(request != nullptr, "request is null; pass the address of a tutti_request*");
  *request = new CollectiveRequest(started_not_aborted(group), call);
  return TUTTI_OK;
}

void require_request(tutti_request* const* request) {
  require(request != nullptr && *request != nullptr,
          "the request is null: it was completed before, or none was started");
}

// Completes a request that is ready; it is gone afterwards in any case.
tutti_status complete(tutti_request** request) {
  const std::unique_ptr<tutti_request> ended(std::exchange(*request, nullptr));
  ended->finish();
  return TUTTI_OK;
}

// The request ends if its wait fails.
template <class Wait>
bool wait_or_end(tutti_request** request, Wait wait) {
  try {
    return wait();
  } catch (...) {
    const std::unique_ptr<tutti_request> ended(std::exchange(*request, nullptr));
    ended->abandon();
    throw;
  }
}

Buffer all_parts(const tutti_group* group, const void* data, size_t part_bytes) {
  return {data, bytes_of(part_bytes, 1, group->ranks),
          static_cast<size_t>(group->rank) * part_bytes};
}

bool is_own_part(const tutti_group* group, const void* part, const void* all, size_t part_bytes) {
  const size_t own = static_cast<size_t>(group->rank) * part_bytes;
  return part != nullptr && part == static_cast<const std::byte*>(all) + own;
}

// The arguments of one side of an alltoallv, copied; the lengths are within bounds.
std::vector<size_t> lengths(const tutti_group* group, const void* data, const ptrdiff_t* at,
                            const size_t* bytes) {
  require(at != nullptr && bytes != nullptr, "an array of places or lengths is null");
  std::vector<size_t> copied(bytes, bytes + group->ranks);
  const bool is_empty = std::all_of(copied.begin(), copied.end(), [](size_t n) { return n == 0; });
  require(data != nullptr || is_empty, "in or out is null while it has parts that are not empty");
  require(std::all_of(copied.begin(), copied.end(), [](size_t n) { return n <= SIZE_MAX / 2; }),
          "the length of a part is out of range");
  return copied;
}

void require_other(const tutti_group* group, int rank, const char* message) {
  require(rank >= 0 && rank < group->ranks, message);
}

void require_letters(tutti_group* group) {
  require(started(group).letters() != nullptr,
          "messages are between processes; the ranks of this team are threads, which share memory");
}

}  // namespace
}  // namespace tutti::api

using namespace tutti::api;
using tutti::plan::Collective;

extern "C" {

tutti_status tutti_ibarrier(tutti_group* group, tutti_request** request) {
  return guarded([&] { return start(group, {.collective = Collective::barrier}, request); });
}

tutti_status tutti_ibcast(tutti_group* group, void* data, size_t bytes, int root,
                          tutti_request** request) {
  return guarded([&] {
    require_group(group);
    require_root(group, root);
    require(data != nullptr || bytes == 0, "data is null while bytes is not 0");
    return start(group,
                 {.collective = Collective::bcast,
                  .in = data,
                  .out = data,
                  .bytes = bytes,
                  .root = root,
                  .keeps_own = is_root(group, root)},
                 request);
  });
}

tutti_status tutti_ireduce(tutti_group* group, const void* in, void* out, size_t count,
                           tutti_type type, tutti_op op, int root, tutti_request** request) {
  return guarded([&] {
    require_group(group);
    require_root(group, root);
    const Reduction reduction = reduction_of(type, op);
    const size_t bytes = bytes_of(count, reduction.combine.element, 1);
    if (!is_root(group, root)) out = nullptr;
    require_buffers({in, bytes}, is_root(group, root) ? Buffer{out, bytes} : Buffer{});
    return start(group,
                 {.collective = Collective::reduce,
                  .in = in,
                  .out = out,
                  .bytes = bytes,
                  .root = root,
                  .in_place = in == out,
                  .reduction = &reduction},
                 request);
  });
}

tutti_status tutti_iallreduce(tutti_group* group, const void* in, void* out, size_t count,
                              tutti_type type, tutti_op op, tutti_request** request) {
  return guarded([&] {
    require_group(group);
    const Reduction reduction = reduction_of(type, op);
    const size_t bytes = bytes_of(count, reduction.combine.element, 1);
    require_buffers({in, bytes}, {out, bytes});
    return start(group,
                 {.collective = Collective::allreduce,
                  .in = in,
                  .out = out,
                  .bytes = bytes,
                  .in_place = in == out,
                  .reduction = &reduction},
                 request);
  });
}

tutti_status tutti_igather(tutti_group* group, const void* in, void* out, size_t part_bytes,
                           int root, tutti_request** request) {
  return guarded([&] {
    require_group(group);
    require_root(group, root);
    const Buffer all = all_parts(group, out, part_bytes);
    if (!is_root(group, root)) out = nullptr;
    require_buffers({in, part_bytes}, is_root(group, root) ? all : Buffer{},
                    "in = out + rank * part_bytes");
    return start(group,
                 {.collective = Collective::gather,
                  .in = in,
                  .out = out,
                  .bytes = part_bytes,
                  .root = root,
                  .in_place = is_root(group, root) && is_own_part(group, in, out, part_bytes)},
                 request);
  });
}

tutti_status tutti_iscatter(tutti_group* group, const void* in, void* out, size_t part_bytes,
                            int root, tutti_request** request) {
  return guarded([&] {
    require_group(group);
    require_root(group, root);
    const Buffer all = all_parts(group, in, part_bytes);
    if (!is_root(group, root)) in = nullptr;
    require_buffers(is_root(group, root) ? all : Buffer{}, {out, part_bytes},
                    "out = in + rank * part_bytes");
    const bool in_place = is_root(group, root) && is_own_part(group, out, in, part_bytes);
    return start(group,
                 {.collective = Collective::scatter,
                  .in = in,
                  .out = out,
                  .bytes = part_bytes,
                  .root = root,
                  .in_place = in_place,
                  .keeps_own = in_place},
                 request);
  });
}

tutti_status tutti_iallgather(tutti_group* group, const void* in, void* out, size_t part_bytes,
                              tutti_request** request) {
  return guarded([&] {
    require_group(group);
    require_buffers({in, part_bytes}, all_parts(group, out, part_bytes),
                    "in = out + rank * part_bytes");
    return start(group,
                 {.collective = Collective::allgather,
                  .in = in,
                  .out = out,
                  .bytes = part_bytes,
                  .in_place = is_own_part(group, in, out, part_bytes)},
                 request);
  });
}

tutti_status tutti_ialltoall(tutti_group* group, const void* in, void* out, size_t part_bytes,
                             tutti_request** request) {
  return guarded([&] {
    require_group(group);
    require_buffers(all_parts(group, in, part_bytes), all_parts(group, out, part_bytes));
    return start(group,
                 {.collective = Collective::alltoall,
                  .in = in,
                  .out = out,
                  .bytes = part_bytes,
                  .in_place = in == out},
                 request);
  });
}

tutti_status tutti_ialltoallv(tutti_group* group, const void* in, const ptrdiff_t* in_at,
                              const size_t* in_bytes, void* out, const ptrdiff_t* out_at,
                              const size_t* out_bytes, tutti_request** request) {
  return guarded([&] {
    require_group(group);
    require(request != nullptr, "request is null; pass the address of a tutti_request*");
    std::vector<size_t> in_lengths = lengths(group, in, in_at, in_bytes);
    std::vector<size_t> out_lengths = lengths(group, out, out_at, out_bytes);
    const CollectiveRequest::Call call{
        .collective = Collective::alltoall, .in = in, .out = out, .in_place = in == out};
    *request = new CollectiveRequest(started_not_aborted(group), call,
                                     {in_at, in_at + group->ranks}, std::move(in_lengths),
                                     {out_at, out_at + group->ranks}, std::move(out_lengths));
    return TUTTI_OK;
  });
}

tutti_status tutti_ireduce_scatter(tutti_group* group, const void* in, void* out, size_t count,
                                   tutti_type type, tutti_op op, tutti_request** request) {
  return guarded([&] {
    require_group(group);
    const Reduction reduction = reduction_of(type, op);
    const size_t bytes = bytes_of(count, reduction.combine.element, 1);
    require_buffers({in, bytes_of(count, reduction.combine.element, group->ranks)}, {out, bytes});
    return start(group,
                 {.collective = Collective::reduce_scatter,
                  .in = in,
                  .out = out,
                  .bytes = bytes,
                  .in_place = in == out,
                  .reduction = &reduction},
                 request);
  });
}

tutti_status tutti_send(tutti_group* group, int to, uint32_t tag, const void* data, size_t bytes) {
  return guarded([&] {
    require_group(group);
    require_letters(group);
    require_other(group, to, "the receiver's rank is out of range");
    require(data != nullptr || bytes == 0, "data is null while bytes is not 0");
    Started& all = started_not_aborted(group);
    all.letters()->send(to, tag, data, bytes, all.parallel());
    return TUTTI_OK;
  });
}

tutti_status tutti_irecv(tutti_group* group, int from, uint32_t tag, void* data, size_t bytes,
                         int* sender, tutti_request** request) {
  return guarded([&] {
    require_group(group);
    require_letters(group);
    require(request != nullptr, "request is null; pass the address of a tutti_request*");
    require(data != nullptr || bytes == 0, "data is null while bytes is not 0");
    if (from != TUTTI_ANY)
      require_other(group, from, "the sender's rank is out of range; TUTTI_ANY is any");
    *request = new ReceiveRequest(started_not_aborted(group), from, tag, data, bytes, sender);
    return TUTTI_OK;
  });
}

tutti_status tutti_request_test(tutti_request** request, int* is_complete) {
  return guarded([&] {
    require_request(request);
    require(is_complete != nullptr, "complete is null; pass the address of an int");
    *is_complete = 1;
    const bool ready = wait_or_end(request, [&] { return poll(**request); });
    *is_complete = ready ? 1 : 0;
    return ready ? complete(request) : TUTTI_OK;
  });
}

tutti_status tutti_request_wait(tutti_request** request, double seconds) {
  return guarded([&] {
    require_request(request);
    if (wait_or_end(request, [&] { return await(**request, seconds); })) return complete(request);
    last_error = "not complete in time: " + (*request)->described();
    return TUTTI_TIMEOUT;
  });
}

tutti_status tutti_request_free(tutti_request** request) {
  return guarded([&] {
    require_request(request);
    if (!(*request)->started.is_own()) {
      *request = nullptr;  // the parent's
      return TUTTI_OK;
    }
    const std::unique_ptr<tutti_request> ended(std::exchange(*request, nullptr));
    ended->abandon();
    return TUTTI_OK;
  });
}

tutti_status tutti_request_limit(tutti_request* request, double seconds) {
  return guarded([&] {
    require_request(&request);
    require(seconds >= 0, "the seconds are negative");
    request->limit = std::chrono::duration<double>(seconds);
    return TUTTI_OK;
  });
}

tutti_status tutti_group_abort(tutti_group* group) {
  return guarded([&] {
    started(group).abort();
    return TUTTI_OK;
  });
}

tutti_status tutti_group_set_parallel(tutti_group* group, const tutti_parallel* parallel) {
  return guarded([&] {
    require_group(group);
    require(parallel != nullptr && parallel->threads != nullptr && parallel->run != nullptr,
            "parallel, or one of its functions, is null");
    started(group).set_parallel({parallel->threads, parallel->run, parallel->context});
    return TUTTI_OK;
  });
}

tutti_status tutti_group_flush(tutti_group* group, double seconds) {
  return guarded([&] {
    require(seconds >= 0 && seconds <= longest_flush,
            "the seconds are out of range; 0 to 1e8 are possible");
    if (started(group).flush(std::chrono::duration_cast<tutti::exec::Pace::Duration>(
            std::chrono::duration<double>(seconds))))
      return TUTTI_OK;
    last_error = "ranks have not read all that this rank has given";
    return TUTTI_TIMEOUT;
  });
}

}  // extern "C"
