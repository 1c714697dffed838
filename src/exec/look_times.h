// When to look for something that cannot wake the thread that waits for it, such as a message of
// the host MPI.
//
// Every look takes time of a core that the program may need, and what is there is found as late as
// the next look comes. So the first look of a wait comes when such waits usually end, and each
// further one after an eighth of the time that the wait has lasted. A long wait is then found to be
// over at most an eighth late, after few looks.
//
// The usual length follows what is seen. A wait that had further looks and lasted little longer is
// the new usual one; one that lasted much longer moves it by a quarter. While first looks find what
// they look for, it goes down, because that may have been there earlier: by a 32nd, a 16th, and an
// eighth each further time. So waits of one length take 4 looks in 3 waits, and after a single long
// wait the usual length is soon what it was.
//
// A look that drives what it looks for cannot wait until such waits usually end, because they last
// the longer for it. Such looks are at most some hundred microseconds apart.
//
// One thread at a time; times are passed in, and never decrease.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace tutti::exec {

class LookTimes {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;
  static constexpr Duration shortest = std::chrono::microseconds(20);
  static constexpr Duration longest = std::chrono::milliseconds(1);
  static constexpr Duration longest_first = std::chrono::milliseconds(4);
  static constexpr Duration longest_driving = std::chrono::microseconds(250);
  static constexpr Duration longest_first_driving = std::chrono::microseconds(500);

  // A look found nothing. The first such look begins a wait. `drives`: what is awaited moves on
  // only by looks.
  void missed(Clock::time_point now, bool drives = false) {
    if (!waits_) {
      waits_ = true;
      first_ = true;
      since_ = now;
      next_ = now + (drives ? std::min(usual_, longest_first_driving) : usual_);
      return;
    }
    if (now < next_) return;  // somebody looked earlier than was asked for
    first_ = false;
    next_ = now + std::clamp((now - since_) / 8, shortest, drives ? longest_driving : longest);
  }
  // A look found something. Has no effect outside a wait.
  void found(Clock::time_point now) {
    if (!waits_) return;
    const Duration lasted = std::clamp(now - since_, shortest, longest_first);
    if (first_) {
      const Duration shorter = std::min(usual_, lasted);
      usual_ = std::max(shortest, shorter - shorter / share_);
      share_ = std::max(share_ / 2, 8);
    } else {
      usual_ = lasted <= usual_ * 3 / 2 ? lasted : usual_ + (lasted - usual_) / 4;
      share_ = 32;
    }
    waits_ = false;
  }

  bool waits() const { return waits_; }
  // The begin of the wait, and the time of the next look; only while waits().
  Clock::time_point since() const { return since_; }
  Clock::time_point next() const { return next_; }
  Duration usual() const { return usual_; }

 private:
  bool waits_ = false;
  bool first_ = false;  // no look at its time has missed
  Clock::time_point since_{}, next_{};
  Duration usual_ = shortest;
  int share_ = 32;  // the next decrease is 1/share_ of the usual length
};

// The same for the waits of one operation after another. Each place in an operation has a usual
// length of its own: the first message of a rank comes a delay of the network after the start, and
// a second one of the same rank shortly after the first.
class LookTimesByPlace {
 public:
  using Clock = LookTimes::Clock;

  void operation_begins() { place_ = 0; }
  void missed(Clock::time_point now, bool drives = false) { times_[place_].missed(now, drives); }
  // Ends the wait, if there is one; the next one is that of the next place.
  void found(Clock::time_point now) {
    if (!here().waits()) return;
    times_[place_].found(now);
    place_ = std::min(place_ + 1, times_.size() - 1);
  }
  const LookTimes& here() const { return times_[place_]; }

 private:
  std::array<LookTimes, 6> times_;  // the last one is that of all further places
  size_t place_ = 0;
};

}  // namespace tutti::exec
