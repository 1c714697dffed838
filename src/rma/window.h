// How many bytes of one-sided transfers are under way at once to one rank of another node. Their
// messages travel at the same time, so a network is busy only if the bytes under way are its
// bandwidth times the time of a round trip. Nobody tells that product, so the window grows until
// messages delay each other. It shrinks again if they delay each other much, because then others
// use the network or the target too, and all that is under way to a rank takes its memory. Plain
// values; one thread at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace tutti::rma {

class Window {
 public:
  using Duration = std::chrono::nanoseconds;

  // The limit begins at `first` bytes, which is also the least, and grows to `most`. If both are
  // equal, it stays as it is.
  Window(size_t first, size_t most) : limit_(first), least_(first), most_(most) {}

  // True if a further message may be sent, which may exceed the limit by its own length.
  bool has_room() const { return under_way_ < limit_; }
  size_t limit() const { return limit_; }
  size_t most() const { return most_; }
  size_t under_way() const { return under_way_; }

  // A message of so many bytes is sent. Returns the limit if the message takes the last room, else
  // 0; the caller keeps it for answered().
  size_t sent(size_t bytes) {
    under_way_ += bytes;
    return has_room() ? 0 : limit_;
  }

  // The message was answered so long after it was sent. If it had taken the last room and was
  // nevertheless answered in little more than the time of the quickest one so far, the limit
  // doubles; if it took far longer, the limit halves. It does so once for all messages of one full
  // window, which travel at the same time.
  void answered(size_t bytes, Duration took, size_t filled) {
    under_way_ -= std::min(bytes, under_way_);
    quickest_ = std::min(quickest_, took);
    if (filled != limit_) return;
    if (took <= little * quickest_)
      limit_ = std::min(most_, 2 * limit_);
    else if (took > far * quickest_)
      limit_ = std::max(least_, limit_ / 2);
  }

 private:
  static constexpr int little = 4, far = 16;

  size_t limit_;
  size_t least_;
  size_t most_;
  size_t under_way_ = 0;
  Duration quickest_ = Duration::max();
};

}  // namespace tutti::rma
