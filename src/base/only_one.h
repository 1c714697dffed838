// Chooses one of a job's ranks on a node, so that only one of them reports something. The first
// process that makes an OnlyOne for a purpose is chosen, for as long as the object lives. The
// object owns a socket with an abstract name (a name without a file), which the system frees when
// the process ends. One thread.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "base/launched.h"

namespace tutti {

class OnlyOne {
 public:
  explicit OnlyOne(const char* purpose) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "tutti-%s-%s",
                                purpose, job_on_node().c_str());
    const size_t bytes = std::min<size_t>(static_cast<size_t>(length), sizeof address.sun_path - 2);
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
    chosen_ = socket_ < 0 || bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0;
  }
  ~OnlyOne() {
    if (socket_ >= 0) close(socket_);
  }
  OnlyOne(const OnlyOne&) = delete;
  bool chosen() const { return chosen_; }

 private:
  int socket_ = -1;
  bool chosen_ = true;
};

}  // namespace tutti
