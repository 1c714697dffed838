#include "mpi/one_sided/answering.h"

#include <unistd.h>

#include <cstring>
#include <utility>

namespace tutti::mpi {
namespace {

// Requests beyond that stay with the host until replies have left, so that memory is bounded
// however many clients there are.
constexpr size_t most_bytes = size_t{16} << 20;
constexpr size_t most_answers = 4096;
// The most bytes of free buffers that are kept: as many as one client has under way.
constexpr size_t most_kept_bytes = size_t{4} << 20;
constexpr int new_at_once = 32;

constexpr int buffer = 0, target = 1;  // ranks of the mover

std::vector<rma::Peer> peers(const rma::Extent& heap) {
  const rma::Peer own{
      .first = heap.first, .bytes = heap.bytes, .process = static_cast<int32_t>(getpid())};
  return {rma::own_memory, own};
}

}  // namespace

Answering::Answering(Comm communicator, const rma::Extent& heap)
    : communicator_(communicator),
      peers_(peers(heap)),
      mover_(peers_, {buffer}),
      buffers_(most_kept_bytes) {}

// After a failure the host may still use the memory of its messages, so that stays.
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
  int done = 0;
  int code = host().Test(&answer.message, &done, abi.status_ignore);
  if (code == success && done != 0) {
    if (answer.replies) return true;
    code = reply(answer);
  }
  if (code != success) fail(answer.client, code);
  return false;
}

// Moves the data of a request that has arrived, and sends the reply.
int Answering::reply(Answer& answer) {
  Asked request;
  std::memcpy(&request, answer.request.data(), sizeof request);
  const bool puts = request.kind == rma::Kind::put;
  const size_t bytes = request.block_bytes * request.blocks;
  answer.reply = buffers_.take(sizeof(Reply) + (puts ? 0 : bytes));
  std::byte* const data =
      puts ? answer.request.data() + sizeof request : answer.reply.data() + sizeof(Reply);
  const rma::Transfer transfer{.local = reinterpret_cast<uint64_t>(data),
                               .remote = request.address,
                               .block_bytes = request.block_bytes,
                               .local_stride = static_cast<int64_t>(request.block_bytes),
                               .remote_stride = request.stride,
                               .blocks = request.blocks,
                               .kind = request.kind,
                               .target = target};
  const Reply result{.code = static_cast<uint32_t>(mover_.move(transfer, buffer))};
  std::memcpy(answer.reply.data(), &result, sizeof result);
  bytes_ += answer.reply.size();
  answer.replies = true;
  ++answered_;
  return host().Isend(answer.reply.data(), static_cast<int>(answer.reply.size()), host().type_byte,
                      answer.client, first_reply_tag + static_cast<int>(request.place),
                      communicator_, &answer.message);
}

// Only one thread at a time receives on the communicator, so the message that was found is the one
// that is received.
bool Answering::take_new() {
  const Host& mpi = host();
  bool found_any = false;
  for (int i = 0; i < new_at_once && bytes_ < most_bytes && answers_.size() < most_answers; ++i) {
    int found = 0, bytes = 0;
    Status status;
    int code = mpi.Iprobe(abi.any_source, request_tag, communicator_, &found, &status);
    if (code == success && found == 0) return found_any;
    Answer* answer = nullptr;
    if (code == success) code = mpi.Get_count(&status, mpi.type_byte, &bytes);
    if (code == success) {
      answer = &answers_.emplace_back();
      answer->client = source_of(status);
      answer->request = buffers_.take(static_cast<size_t>(bytes));
      bytes_ += answer->request.size();
      code = mpi.Irecv(answer->request.data(), bytes, mpi.type_byte, answer->client, request_tag,
                       communicator_, &answer->message);
    }
    if (code != success) {
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

}  // namespace tutti::mpi
