// A link that several accesses use at once, in virtual time: the cache of a socket, or the path
// between sockets. Each of t accesses gets an equal share, and takes max(b, t B) for each byte.
// Source: HMPI, section 2.1.
//
// As all accesses go on at the same speed, one number tells how many bytes an access that was there
// from the start would have moved; an access ends when that number has grown by its bytes. A value;
// one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace tutti::model {

class SharedLink {
 public:
  // The time of a byte of one access alone, and the least time of a byte of the link.
  SharedLink(double alone, double shared) : alone_(alone), shared_(shared) {}

  // An access of so many bytes begins. `now` never decreases.
  void begin(double now, double bytes, int32_t rank) {
    move_to(now);
    ends_.push({moved_ + bytes, rank});
    bytes_ += bytes;
    most_ = std::max(most_, ends_.size());
  }
  bool is_idle() const { return ends_.empty(); }
  // When the next access ends, if none begins before. There must be one.
  double next_end() const { return now_ + (ends_.top().first - moved_) * time_of_byte(); }
  // Ends that access, at that time, and returns its rank.
  int32_t end(double now) {
    move_to(now);
    moved_ = ends_.top().first;  // without the error of rounding
    const int32_t rank = ends_.top().second;
    ends_.pop();
    return rank;
  }

  double busy() const { return busy_; }    // the time with one access or more
  double bytes() const { return bytes_; }  // the bytes of all accesses
  size_t most() const { return most_; }    // accesses at once

 private:
  double time_of_byte() const {
    return std::max(alone_, shared_ * static_cast<double>(ends_.size()));
  }
  void move_to(double now) {
    if (!ends_.empty() && now > now_) {
      const double time = time_of_byte();
      if (time > 0) moved_ += (now - now_) / time;
      busy_ += now - now_;
    }
    now_ = now;
  }

  using End = std::pair<double, int32_t>;
  double alone_, shared_;
  double now_ = 0, moved_ = 0, busy_ = 0, bytes_ = 0;
  size_t most_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace tutti::model
