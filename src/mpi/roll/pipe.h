// A pipe by which the handler of a signal tells the watchdog's thread something. Neither end waits.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/descriptors.h"

namespace tutti::mpi::roll {

class Pipe {
 public:
  bool open() {
    if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    for (int& end : ends_) end = move_high(end);
    return true;
  }
  void close() {
    for (int& end : ends_) {
      if (end >= 0) ::close(end);
      end = -1;
    }
  }
  int in() const { return ends_[1]; }
  int out() const { return ends_[0]; }
  // All that was written.
  std::string drain() const {
    std::string text;
    char some[4096];
    for (ssize_t bytes; (bytes = read(ends_[0], some, sizeof some)) > 0;)
      text.append(some, static_cast<size_t>(bytes));
    return text;
  }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace tutti::mpi::roll
