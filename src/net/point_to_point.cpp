#include "net/point_to_point.h"

#include <algorithm>
#include <utility>

namespace tutti::net {
namespace {

constexpr size_t most_piece = size_t{1} << 30;  // bytes that every host's int counts hold

}  // namespace

PointToPoint::PointToPoint(const Calls& calls, MPI_Comm communicator, MPI_Datatype byte, int largest_tag,
                           std::vector<int32_t> machine_nodes)
    : calls_(calls),
      communicator_(communicator),
      byte_(byte),
      tags_(static_cast<uint64_t>(largest_tag) + 1),
      machine_nodes_(std::move(machine_nodes)) {}

PointToPoint::~PointToPoint() { calls_.Comm_free(&communicator_); }

void PointToPoint::reserve(size_t count) {
  if (requests_.size() < count) requests_.resize(count);
}

template <class Begin>
bool PointToPoint::begin(size_t request, size_t bytes, int rank, bool sends, Begin begin_piece) {
  UnderWay& message = requests_[request];
  const size_t pieces = std::max<size_t>((bytes + most_piece - 1) / most_piece, 1);
  message.pieces.resize(pieces);
  message.done = 0;
  message.peer = rank;
  message.sends = sends;
  for (size_t i = 0; i < pieces; ++i) {
    const size_t at = i * most_piece;
    const int code = begin_piece(at, static_cast<int>(std::min(most_piece, bytes - at)), &message.pieces[i]);
    if (code != MPI_SUCCESS) return fail(message, code);
  }
  return true;
}

bool PointToPoint::receive(size_t request, void* to, size_t bytes, int rank, uint64_t tag) {
  return begin(request, bytes, rank, false, [&](size_t at, int length, MPI_Request* piece) {
    return calls_.Irecv(static_cast<char*>(to) + at, length, byte_, rank, tag_of(tag), communicator_, piece);
  });
}

bool PointToPoint::send(size_t request, const void* from, size_t bytes, int rank, uint64_t tag) {
  const bool across = machine_nodes_[static_cast<size_t>(rank)] != machine_nodes_.back();
  Sent& sent = across ? across_ : within_;
  ++sent.messages;
  sent.bytes += bytes;
  return begin(request, bytes, rank, true, [&](size_t at, int length, MPI_Request* piece) {
    return calls_.Isend(static_cast<const char*>(from) + at, length, byte_, rank, tag_of(tag), communicator_, piece);
  });
}

exec::Net::State PointToPoint::test(size_t request) {
  UnderWay& message = requests_[request];
  while (message.done < message.pieces.size()) {
    int done = 0;
    const int code = calls_.Test(&message.pieces[message.done], &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
      fail(message, code);
      return State::failed;
    }
    if (done == 0) return State::pending;
    ++message.done;
  }
  return State::done;
}

bool PointToPoint::fail(const UnderWay& message, int code) {
  failure_ = std::string("the host MPI failed to ") + (message.sends ? "send to" : "receive from") + " rank " +
             std::to_string(message.peer) + " (its error " + std::to_string(code) +
             "); do all ranks make the same collective calls, with the same lengths?";
  return false;
}

}  // namespace tutti::net
