#include "rma/answering.h"

#include <cstring>
#include <utility>

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
      buffers_(most_kept_bytes) {}

// After a failure the wire may still use the memory of its messages, so that stays.
Answering::~Answering() {
  if (!answers_.empty()) new std::list<Answer>(std::move(answers_));
}

bool Answering::drive() {
  if (!failure_.empty()) return false;
  bool moved = false;
  for (auto answer = answers_.begin(); answer != answers_.end() && failure_.empty();) {
    const bool replied = answer->replies;
    const bool over = advance(*answer);
    moved = moved || over || replied != answer->replies;
    if (over) {
      release(*answer);
      answer = answers_.erase(answer);
    } else {
      ++answer;
    }
  }
  return take_new() || moved;
}

// True if the answer is complete.
bool Answering::advance(Answer& answer) {
  bool done = false;
  int code = wire_.test(&answer.message, &done);
  if (code == Wire::success && done) {
    if (answer.replies) return true;
    code = reply(answer);
  }
  if (code != Wire::success) fail(answer.client, code);
  return false;
}

// Moves the data of a request that has arrived, and sends the reply.
int Answering::reply(Answer& answer) {
  Asked request;
  std::memcpy(&request, answer.request.data(), sizeof request);
  const bool puts = request.kind == Kind::put;
  const size_t bytes = request.block_bytes * request.blocks;
  answer.reply = buffers_.take(sizeof(Reply) + (puts ? 0 : bytes));
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
  constexpr int buffers = 0;  // the mover's only client
  const Reply result{.code = static_cast<uint32_t>(mover_.move(transfer, buffers))};
  std::memcpy(answer.reply.data(), &result, sizeof result);
  bytes_ += answer.reply.size();
  answer.replies = true;
  ++answered_;
  return wire_.send(answer.reply.data(), answer.reply.size(), answer.client,
                    first_reply_tag + static_cast<int>(request.place), &answer.message);
}

// Only one thread at a time receives at this end, so the message that was found is the one
// that is received.
bool Answering::take_new() {
  bool found_any = false;
  for (int i = 0; i < new_at_once && bytes_ < most_bytes && answers_.size() < most_answers; ++i) {
    Wire::Found found;
    int code = wire_.probe(request_tag, &found);
    if (code == Wire::success && found.rank < 0) return found_any;
    Answer* answer = nullptr;
    if (code == Wire::success) {
      answer = &answers_.emplace_back();
      answer->client = found.rank;
      answer->request = buffers_.take(found.bytes);
      bytes_ += answer->request.size();
      code = wire_.receive(answer->request.data(), found.bytes, found.rank, request_tag,
                           &answer->message);
    }
    if (code != Wire::success) {
      fail(answer == nullptr ? -1 : answer->client, code);
      return true;
    }
    found_any = true;
    if (advance(*answer)) {
      release(*answer);
      answers_.pop_back();
    }
    if (!failure_.empty()) return true;
  }
  return found_any;
}

void Answering::release(Answer& answer) {
  bytes_ -= answer.request.size() + answer.reply.size();
  buffers_.give(std::move(answer.request));
  buffers_.give(std::move(answer.reply));
}

void Answering::fail(int client, int code) {
  failure_ =
      "the host MPI failed to exchange messages with " +
      (client < 0 ? std::string("the ranks of other nodes") : "rank " + std::to_string(client)) +
      " (its error " + std::to_string(code) + "); has its process ended?";
}

}  // namespace tutti::rma
