#include "mpi/roll/sockets.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "base/descriptors.h"

namespace tutti::mpi::roll {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_waiting = 128;
constexpr size_t longest_job = 80;

struct Address {
  sockaddr_un name{};
  socklen_t bytes = 0;
};

// A name in the abstract namespace begins with a null byte. `tutti ps` lists the names that begin
// with tutti-roll/.
Address address_of(const std::string& job, int rank, int ranks) {
  const std::string text = "tutti-roll/" + job.substr(0, longest_job) + "/" + std::to_string(rank) +
                           "/" + std::to_string(ranks);
  Address address;
  address.name.sun_family = AF_UNIX;
  const size_t length = std::min(text.size(), sizeof address.name.sun_path - 1);
  std::memcpy(address.name.sun_path + 1, text.data(), length);
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

int new_socket() {
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return made < 0 ? -1 : move_high(made);
}

// The user of the process at the other end; root may ask for any user's job.
bool is_own_user(int connection, int64_t* process) {
  ucred other{};
  socklen_t bytes = sizeof other;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &other, &bytes) != 0) return false;
  *process = other.pid;
  return other.uid == geteuid() || other.uid == 0 || geteuid() == 0;
}

}  // namespace

int listen_as(const std::string& job, int rank, int ranks) {
  const int listener = new_socket();
  if (listener < 0) return -1;
  const Address address = address_of(job, rank, ranks);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address.name), address.bytes) == 0 &&
      listen(listener, most_waiting) == 0)
    return listener;
  close(listener);
  return -1;
}

int accept_own_user(int listener) {
  int64_t process = 0;
  int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection < 0) return -1;
  connection = move_high(connection);
  // Linux keeps O_NONBLOCK with the open file, which both numbers name.
  if (is_own_user(connection, &process)) return connection;
  close(connection);
  return -1;
}

int connect_to(const std::string& job, int rank, int ranks, int64_t* process) {
  const int connection = new_socket();
  if (connection < 0) return -1;
  const Address address = address_of(job, rank, ranks);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address.name), address.bytes) == 0 &&
      is_own_user(connection, process))
    return connection;
  close(connection);
  return -1;
}

bool send_text(int connection, const std::string& text) {
  constexpr int longest_wait = 500;
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t bytes =
        send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (bytes >= 0) {
      sent += static_cast<size_t>(bytes);
      continue;
    }
    pollfd waits{connection, POLLOUT, 0};
    if ((errno != EAGAIN && errno != EINTR) || poll(&waits, 1, longest_wait) <= 0) return false;
  }
  return true;
}

std::string receive_line(int connection, int milliseconds, bool* in_time) {
  constexpr size_t longest_line = 4096;
  std::string line;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  *in_time = true;
  while (line.size() < longest_line) {
    pollfd waits{connection, POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int ready = poll(&waits, 1, static_cast<int>(std::max<int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;  // the watchdog asks this thread where it is
    if (ready <= 0) break;
    char byte = 0;
    if (recv(connection, &byte, 1, MSG_DONTWAIT) != 1) return {};
    if (byte == '\n') return line;
    line += byte;
  }
  *in_time = false;
  return {};
}

bool receive_more(int connection, std::string* text) {
  char some[4096];
  for (;;) {
    const ssize_t bytes = recv(connection, some, sizeof some, MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return errno == EAGAIN;
    if (bytes == 0) return false;
    text->append(some, static_cast<size_t>(bytes));
  }
}

}  // namespace tutti::mpi::roll
