#include "net/point_to_point.h"

#include <algorithm>
#include <utility>

namespace tutti::net {

using mpi::host;

namespace {

constexpr size_t most_piece = size_t{1} << 30;  // bytes; an int count holds it

constexpr size_t most_copies_bytes = size_t{4} << 20;
constexpr size_t most_copies = 256;

}  // namespace

PointToPoint::PointToPoint(mpi::Comm communicator, Tags tags, placement::PeriodicRow machine_nodes,
                           int own_rank)
    : communicator_(communicator),
      tags_(tags),
      machine_nodes_(std::move(machine_nodes)),
      own_node_(machine_nodes_[static_cast<size_t>(own_rank)]) {}

// All operations of the communicator have ended, so the remaining sends can be waited for. After a
// failure they may never complete, so they are not.
PointToPoint::~PointToPoint() {
  for (Copy& copy : copies_) {
    if (failure_.empty()) host().Wait(&copy.request, mpi::abi.status_ignore);
  }
}

void PointToPoint::reserve(size_t count) {
  if (requests_.size() < count) requests_.resize(count);
}

template <class Begin>
bool PointToPoint::begin(size_t request, size_t bytes, int rank, bool sends, Begin begin_piece) {
  InFlight& message = requests_[request];
  const size_t pieces = std::max<size_t>((bytes + most_piece - 1) / most_piece, 1);
  message.pieces.resize(pieces);
  message.done = 0;
  message.peer = rank;
  message.sends = sends;
  for (size_t i = 0; i < pieces; ++i) {
    const size_t at = i * most_piece;
    const int code =
        begin_piece(at, static_cast<int>(std::min(most_piece, bytes - at)), &message.pieces[i]);
    if (code != mpi::success) return fail(message, code);
  }
  return true;
}

void PointToPoint::clear_copies() {
  while (!copies_.empty()) {
    int done = 0;
    if (host().Test(&copies_.front().request, &done, mpi::abi.status_ignore) != mpi::success ||
        done == 0)
      break;
    copied_bytes_ -= copies_.front().data.size();
    free_.push_back(std::move(copies_.front().data));
    copies_.pop_front();
  }
}

// After a failure messages may never leave.
bool PointToPoint::all_have_left() {
  clear_copies();
  return copies_.empty() || !failure_.empty();
}

PointToPoint::Copy* PointToPoint::take_copy(const void* from, size_t bytes) {
  clear_copies();
  if (bytes > prompt() || copies_.size() == most_copies ||
      copied_bytes_ + bytes > most_copies_bytes)
    return nullptr;
  copies_.emplace_back();
  Copy& copy = copies_.back();
  if (!free_.empty()) {
    copy.data = std::move(free_.back());
    free_.pop_back();
  }
  const auto* const data = static_cast<const char*>(from);
  copy.data.assign(data, data + bytes);
  copied_bytes_ += bytes;
  return &copy;
}

bool PointToPoint::receive(size_t request, void* to, size_t bytes, int rank, uint64_t tag) {
  return begin(request, bytes, rank, false, [&](size_t at, int length, mpi::Request* piece) {
    return host().Irecv(static_cast<char*>(to) + at, length, host().type_byte, rank, tag_of(tag),
                        communicator_, piece);
  });
}

bool PointToPoint::send(size_t request, const void* from, size_t bytes, int rank, uint64_t tag) {
  Sent& sent = is_far(rank) ? between_nodes_ : within_node_;
  ++sent.messages;
  sent.bytes += bytes;
  if (Copy* const copy = take_copy(from, bytes); copy != nullptr) {
    InFlight& message = requests_[request];
    message = {{}, 0, rank, true};
    const int code = host().Isend(copy->data.data(), static_cast<int>(bytes), host().type_byte,
                                  rank, tag_of(tag), communicator_, &copy->request);
    if (code == mpi::success) return true;
    copied_bytes_ -= bytes;
    copies_.pop_back();
    return fail(message, code);
  }
  return begin(request, bytes, rank, true, [&](size_t at, int length, mpi::Request* piece) {
    return host().Isend(static_cast<const char*>(from) + at, length, host().type_byte, rank,
                        tag_of(tag), communicator_, piece);
  });
}

exec::Net::State PointToPoint::test(size_t request) {
  InFlight& message = requests_[request];
  while (message.done < message.pieces.size()) {
    int done = 1;
    // A simulated rank's messages progress without calls of its own, and each test takes simulated
    // time, so it waits.
    const int code =
        mpi::simulated ? host().Wait(&message.pieces[message.done], mpi::abi.status_ignore)
                       : host().Test(&message.pieces[message.done], &done, mpi::abi.status_ignore);
    if (code != mpi::success) {
      fail(message, code);
      return State::failed;
    }
    if (done == 0) return State::pending;
    ++message.done;
  }
  return State::done;
}

bool PointToPoint::fail(const InFlight& message, int code) {
  failure_ = std::string("the host MPI failed to ") + (message.sends ? "send to" : "receive from") +
             " rank " + std::to_string(message.peer) + " (its error " + std::to_string(code) +
             "); do all ranks make the same collective calls, with the same lengths?";
  return false;
}

}  // namespace tutti::net
