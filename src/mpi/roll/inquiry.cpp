#include "mpi/roll/inquiry.h"

#include <unistd.h>

#include <cerrno>

namespace tutti::mpi::roll {
namespace {

using Clock = std::chrono::steady_clock;

// A rank's watchdog may wait 0.5 s for its thread twice, and serves nobody meanwhile.
constexpr auto longest_silence = std::chrono::milliseconds(1200);

int error_of(const Descriptor& connection) {
  int error = 0;
  socklen_t bytes = sizeof error;
  return getsockopt(connection.number(), SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

}  // namespace

Inquiry::Inquiry(std::vector<Door> doors, std::string request)
    : doors_(std::move(doors)), request_(std::move(request)) {
  if (!doors_.empty()) try_door();
}

pollfd Inquiry::waits() const {
  const auto events = static_cast<short>(state_ == State::connects ? POLLOUT : POLLIN);
  return {is_open() ? connection_.number() : -1, events, 0};
}

void Inquiry::try_door() {
  for (; at_ < doors_.size(); ++at_) {
    const Door& door = doors_[at_];
    connection_ = begin_connecting(door);
    if (!connection_) continue;
    process_ = door.secret.empty() ? own_users_process(connection_) : 0;
    state_ = State::connects;
    text_.clear();
    begun_ = Clock::now();
    // A connection on this node is complete at once, and the other end waits for the request.
    if (process_ != 0) go_on(POLLOUT);
    return;
  }
  at_ = doors_.size() - 1;
  state_ = State::nobody;
}

void Inquiry::try_next() {
  connection_.close();
  ++at_;
  try_door();
}

void Inquiry::go_on(short events) {
  if (!is_open()) return;
  if (events == 0) {
    const bool is_silent = state_ != State::greeted && Clock::now() > begun_ + longest_silence;
    if (!is_silent) return;
    all_closed_ = false;
    return try_next();
  }
  if (state_ == State::connects) {
    const int error = error_of(connection_);
    all_closed_ = all_closed_ && (error == ECONNREFUSED || error == 0);
    const std::string& secret = doors_[at_].secret;
    const std::string line = (secret.empty() ? "" : secret + " ") + request_ + "\n";
    if (error != 0 || !send_text(connection_, line)) return try_next();
    state_ = State::asked;
    return;
  }
  const bool goes_on = receive_more(connection_, &text_);
  if (state_ == State::asked && text_.starts_with(is_there)) {
    text_.erase(0, is_there.size());
    state_ = State::greeted;
  }
  if (goes_on) return;
  if (state_ == State::asked) return try_next();
  connection_.close();
  state_ = State::answered;
}

}  // namespace tutti::mpi::roll
