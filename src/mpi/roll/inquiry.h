// A question to one of several ranks: to the first that is there to answer.
//
// A rank that is there says so at once, and may need time for its answer. The doors are tried in
// their order; the next one is tried if a rank does not say that it is there. The object does not
// wait itself: its owner waits for the descriptor, for several questions at once, and then calls
// go_on(). One thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/roll/sockets.h"

namespace tutti::mpi::roll {

// A rank's first line.
inline constexpr std::string_view is_there = "here\n";

class Inquiry {
 public:
  enum class State : uint8_t {
    connects,
    asked,
    greeted,   // the rank is there; its answer has not ended
    answered,  // text() has the whole answer
    nobody,    // no rank is there
  };

  Inquiry(std::vector<Door> doors, std::string request);

  State state() const { return state_; }
  bool is_open() const { return state_ < State::answered; }
  // The rank that is asked, or was last.
  int rank() const { return at_ < doors_.size() ? doors_[at_].rank : -1; }
  // Its process, if it is on this node; else 0.
  int64_t process() const { return process_; }
  // No rank listens at any door: all have ended.
  bool all_closed() const { return state_ == State::nobody && all_closed_; }
  // The answer without the first line.
  const std::string& text() const { return text_; }

  // For the poll of the owner. The descriptor is -1, which poll ignores, if nothing is to come.
  pollfd waits() const;
  void go_on(short events);
  // Gives the connection of a rank that has greeted to the caller, with what has come behind the
  // first line, because both may come at once.
  std::pair<Descriptor, std::string> release() {
    return {std::move(connection_), std::move(text_)};
  }

 private:
  void try_door();
  void try_next();

  std::vector<Door> doors_;
  std::string request_, text_;
  size_t at_ = 0;
  State state_ = State::nobody;
  bool all_closed_ = true;
  Descriptor connection_;
  int64_t process_ = 0;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace tutti::mpi::roll
