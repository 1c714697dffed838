// A link that several accesses use at once, in virtual time: the cache of a socket, or the path
// between sockets. An access that takes b for each byte alone, where the link can move a byte in B,
// needs the share B / b of the link. Accesses that together need more than the link slow down
// alike, so t equal ones take max(b, t B) a byte. Source: HMPI, section 2.1.
//
// As all slow down alike, one number tells how much work an access that was there from the start
// would have done, in the time that it takes alone; an access ends when that number has grown by
// its work. A value; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

namespace tutti::model {

class SharedLink {
 public:
  // An access begins that takes `work` ns alone and then needs `share` of the link. `now` never
  // decreases.
  void begin(double now, double work, double share, double bytes, size_t user) {
    move_to(now);
    ends_.push({done_ + work, share, user});
    needed_ += share;
    bytes_ += bytes;
    most_ = std::max(most_, ends_.size());
  }
  bool is_idle() const { return ends_.empty(); }
  // When the next access ends, if none begins before. There must be one.
  double next_end() const { return now_ + (ends_.top().at - done_) * slowness(); }
  // Ends that access, at that time, and returns its user.
  size_t end(double now) {
    move_to(now);
    const End ended = ends_.top();
    ends_.pop();
    done_ = ended.at;  // without the error of rounding
    needed_ = ends_.empty() ? 0 : needed_ - ended.share;
    return ended.user;
  }

  double busy() const { return busy_; }    // the time with one access or more
  double bytes() const { return bytes_; }  // the bytes of all accesses
  size_t most() const { return most_; }    // accesses at once

 private:
  struct End {
    double at;  // the value of done_ at which the access ends
    double share;
    size_t user;
    bool operator<(const End& other) const { return at > other.at; }  // the first is on top
  };

  double slowness() const { return std::max(1.0, needed_); }
  void move_to(double now) {
    if (!ends_.empty() && now > now_) {
      done_ += (now - now_) / slowness();
      busy_ += now - now_;
    }
    now_ = now;
  }

  double now_ = 0, done_ = 0, needed_ = 0, busy_ = 0, bytes_ = 0;
  size_t most_ = 0;
  std::priority_queue<End> ends_;
};

}  // namespace tutti::model
