#include "rma/answering.h"

#include <cstring>
#include <new>
#include <utility>

#include "base/text_or_short.h"
#include "shm/order.h"

namespace tutti::rma {
namespace {

// Requests beyond that stay with the host until replies have left, so that memory is bounded
// however many clients there are.
constexpr size_t most_bytes = size_t{16} << 20;
constexpr size_t most_answers = 4096;
// The most bytes of free buffers that are kept: as many as one client has under way.
constexpr size_t most_kept_bytes = size_t{4} << 20;
constexpr int new_at_once = 32;

std::vector<Peer> with_buffers(std::vector<Peer> targets) {
  targets.push_back(own_memory);
  return targets;
}

}  // namespace

Answering::Answering(Wire& wire, std::vector<Peer> targets)
    : wire_(wire),
      targets_(targets.size()),
      peers_(with_buffers(std::move(targets))),
      mover_(peers_, {static_cast<int>(targets_)}),
      requests_(most_kept_bytes, sizeof(Asked) + wire.most_piece()),
      replies_(most_kept_bytes, sizeof(Reply) + wire.most_piece()),
      free_(1) {}

// After a failure the wire may still use the memory of its messages, so that stays.
Answering::~Answering() {
  if (!answers_.empty()) new std::list<Answer>(std::move(answers_));
}

bool Answering::drive() noexcept {
  if (!failure_.empty()) return false;
  bool moved = false;
  for (auto answer = answers_.begin(); answer != answers_.end() && failure_.empty();) {
    const auto one = answer++;
    const bool replied = one->replies;
    const bool over = advance(*one);
    moved = moved || over || replied != one->replies;
    if (over) release(one);
  }
  return take_new() || moved;
}

// True if the answer is complete.
bool Answering::advance(Answer& answer) {
  bool done = answer.has_arrived && !answer.replies;
  int code = done ? Wire::success : wire_.test(&answer.message, &done);
  if (code == Wire::success && done) {
    if (answer.replies) return true;
    answer.has_arrived = true;
    code = reply(answer);
  }
  if (code != Wire::success) fail(answer.client, code);
  return false;
}

// Moves the data of a put, and then signals. Moves nothing if this process has not mapped the
// signal.
Code Answering::move_and_signal(const Transfer& put) {
  const Peer& target = peers_[static_cast<size_t>(put.target)];
  std::byte* const signal =
      target.here(static_cast<uint64_t>(put.remote_stride), sizeof(shm::Word));
  if (signal == nullptr) return Code::unavailable;
  const Code code = move(put);
  if (code == Code::ok) shm::add(*reinterpret_cast<shm::Word*>(signal), put.bytes());
  return code;
}

// Moves the data of a request that has arrived, and sends the reply. Does nothing if memory has run
// out and other replies use the spare one.
int Answering::reply(Answer& answer) {
  Asked request;
  std::memcpy(&request, answer.request.data(), sizeof request);
  const bool puts = is_put(request.kind);
  const size_t bytes = request.block_bytes * request.blocks;
  answer.reply = replies_.take(sizeof(Reply) + (puts ? 0 : bytes));
  if (answer.reply.data() == nullptr) return Wire::success;
  std::byte* const data =
      puts ? answer.request.data() + sizeof request : answer.reply.data() + sizeof(Reply);
  const Transfer transfer{.local = reinterpret_cast<uint64_t>(data),
                          .remote = request.address,
                          .block_bytes = request.block_bytes,
                          .local_stride = static_cast<int64_t>(request.block_bytes),
                          .remote_stride = request.stride,
                          .blocks = request.blocks,
                          .kind = request.kind,
                          .target = static_cast<int32_t>(request.target)};
  const Code code = transfer.kind == Kind::put_signal ? move_and_signal(transfer) : move(transfer);
  const Reply result{.code = static_cast<uint32_t>(code)};
  std::memcpy(answer.reply.data(), &result, sizeof result);
  bytes_ += answer.reply.size();
  answer.replies = true;
  ++answered_;
  return wire_.send(answer.reply.data(), answer.reply.size(), answer.client,
                    first_reply_tag + static_cast<int>(request.place), &answer.message);
}

// Puts an answer with a buffer for a request at the front of free_. False if memory has run out and
// others use the spare one.
bool Answering::prepare(size_t bytes) {
  try {
    if (free_.empty()) free_.emplace_back();
  } catch (const std::bad_alloc&) {
    return false;
  }
  free_.front().request = requests_.take(bytes);
  return free_.front().request.data() != nullptr;
}

// Only one thread at a time receives at this end, so the message that was found is the one
// that is received.
bool Answering::take_new() {
  bool found_any = false;
  for (int i = 0; i < new_at_once && bytes_ < most_bytes && answers_.size() < most_answers; ++i) {
    Wire::Found found;
    int code = wire_.probe(request_tag, &found);
    if (code == Wire::success && (found.rank < 0 || !prepare(found.bytes))) return found_any;
    const auto answer = free_.begin();
    if (code == Wire::success) {
      answers_.splice(answers_.end(), free_, answer);
      answer->client = found.rank;
      bytes_ += answer->request.size();
      code = wire_.receive(answer->request.data(), found.bytes, found.rank, request_tag,
                           &answer->message);
    }
    if (code != Wire::success) {
      fail(found.rank, code);
      return true;
    }
    found_any = true;
    if (advance(*answer)) release(answer);
    if (!failure_.empty()) return true;
  }
  return found_any;
}

void Answering::release(std::list<Answer>::iterator answer) {
  bytes_ -= answer->request.size() + answer->reply.size();
  requests_.give(std::move(answer->request));
  replies_.give(std::move(answer->reply));
  *answer = {};
  free_.splice(free_.end(), answers_, answer);
}

void Answering::fail(int client, int code) {
  failure_ = text_or_short([&] {
    return "the host MPI failed to exchange messages with " +
           (client < 0 ? std::string("the ranks of other nodes")
                       : "rank " + std::to_string(client)) +
           " (its error " + std::to_string(code) + "); has its process ended?";
  });
}

}  // namespace tutti::rma
