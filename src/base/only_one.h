// Chooses one of a job's ranks on a node, so that only one of them reports something. The first
// process that makes an OnlyOne for a purpose is chosen, for as long as the object lives. The
// object owns a socket with an abstract name (a name without a file), which the system frees when
// the process ends. One thread.
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace tutti {

class OnlyOne {
 public:
  explicit OnlyOne(const char* purpose) {
    const char* job = getenv("PMIX_NAMESPACE");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // If the environment does not name the job, the parent process identifies it, because the ranks
    // of a job on a node are children of one process. Its number counts in one namespace of
    // processes: containers that share a network, and with it these names, number their own.
    const int length = job != nullptr && *job != '\0'
                           ? snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                                      "tutti-%s-%s", purpose, job)
                           : snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                                      "tutti-%s-%d-%llu", purpose, getppid(), processes());
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
  // Identifies this process's namespace of processes; 0 without /proc.
  static unsigned long long processes() {
    struct stat status{};
    return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
  }

  int socket_ = -1;
  bool chosen_ = true;
};

}  // namespace tutti
