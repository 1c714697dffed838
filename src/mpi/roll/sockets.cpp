#include "mpi/roll/sockets.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <sys/random.h>
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

constexpr int most_waiting = 4096;  // all ranks of a node may ask one at the same time
constexpr size_t longest_job = 80;
constexpr size_t prefix_of_mapped = 12;  // ::ffff:, before an IPv4 address

// Linux keeps O_NONBLOCK with the open file, which both numbers name.
Descriptor new_socket(int family) {
  return Descriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

in6_addr mapped(const in_addr& address) {
  in6_addr six{};
  six.s6_addr[10] = six.s6_addr[11] = 0xff;
  std::memcpy(six.s6_addr + prefix_of_mapped, &address, sizeof address);
  return six;
}

// Addresses by which other machines may reach this one, IPv4 first; that of the loopback interface
// if there is no other.
void find_addresses(Contact* own) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return;
  const auto add = [&](const in6_addr& address) {
    if (own->addresses < Contact::most_addresses) own->address[own->addresses++] = address;
  };
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
      const bool serves = one->ifa_addr != nullptr && one->ifa_addr->sa_family == family &&
                          (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
      if (!serves) continue;
      if (family == AF_INET) {
        add(mapped(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr));
        continue;
      }
      const in6_addr& six = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(&six)) add(six);
    }
  }
  freeifaddrs(all);
  if (own->addresses == 0) add(mapped(in_addr{htonl(INADDR_LOOPBACK)}));
}

bool listens(const Descriptor& listener, const void* address, socklen_t bytes) {
  return listener && bind(listener.number(), static_cast<const sockaddr*>(address), bytes) == 0 &&
         listen(listener.number(), most_waiting) == 0;
}

}  // namespace

// A name in the abstract namespace begins with a null byte. `tutti ps` lists the names that begin
// with tutti-roll/.
Door door_here(const std::string& job, int rank, int ranks) {
  const std::string text = "tutti-roll/" + job.substr(0, longest_job) + "/" + std::to_string(rank) +
                           "/" + std::to_string(ranks);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const size_t length = std::min(text.size(), sizeof name.sun_path - 1);
  std::memcpy(name.sun_path + 1, text.data(), length);
  Door door;
  door.rank = rank;
  std::memcpy(&door.address, &name, sizeof name);
  door.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return door;
}

std::vector<Door> doors_between(int rank, const Contact& contact) {
  std::vector<Door> doors;
  for (size_t i = 0; contact.port != 0 && i < contact.addresses; ++i) {
    const in6_addr& address = contact.address[i];
    Door& door = doors.emplace_back();
    door.rank = rank;
    door.secret = text_of_secret(contact);
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
      sockaddr_in four{};
      four.sin_family = AF_INET;
      four.sin_port = contact.port;
      std::memcpy(&four.sin_addr, address.s6_addr + prefix_of_mapped, sizeof four.sin_addr);
      std::memcpy(&door.address, &four, door.bytes = sizeof four);
    } else {
      sockaddr_in6 six{};
      six.sin6_family = AF_INET6;
      six.sin6_port = contact.port;
      six.sin6_addr = address;
      std::memcpy(&door.address, &six, door.bytes = sizeof six);
    }
  }
  return doors;
}

std::string text_of_secret(const Contact& contact) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : contact.secret) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

Descriptor listen_here(const std::string& job, int rank, int ranks) {
  Descriptor listener = new_socket(AF_UNIX);
  const Door door = door_here(job, rank, ranks);
  if (!listens(listener, &door.address, door.bytes)) listener.close();
  return listener;
}

Descriptor listen_to_nodes(Contact* own) {
  if (getrandom(own->secret.data(), own->secret.size(), 0) !=
      static_cast<ssize_t>(own->secret.size()))
    return {};
  // A socket of IPv6 takes connections of both kinds, where the system has IPv6.
  Descriptor listener = new_socket(AF_INET6);
  const int no = 0;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  const bool has_six =
      setsockopt(listener.number(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) == 0 &&
      listens(listener, &six, sizeof six);
  if (!has_six) {
    listener = new_socket(AF_INET);
    sockaddr_in four{};
    four.sin_family = AF_INET;
    if (!listens(listener, &four, sizeof four)) return {};
  }
  // The port lies at the same place in both kinds of addresses.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  socklen_t bytes = sizeof six;
  if (getsockname(listener.number(), reinterpret_cast<sockaddr*>(&six), &bytes) == 0) {
    own->port = six.sin6_port;
    find_addresses(own);
  }
  return listener;
}

// Root may ask any user's job, and only root may ask root's.
int64_t own_users_process(const Descriptor& connection) {
  ucred other{};
  socklen_t bytes = sizeof other;
  if (getsockopt(connection.number(), SOL_SOCKET, SO_PEERCRED, &other, &bytes) != 0) return 0;
  return other.uid == geteuid() || other.uid == 0 ? other.pid : 0;
}

Descriptor accept_own_user(const Descriptor& listener) {
  Descriptor connection = accept_from_node(listener);
  if (connection && own_users_process(connection) == 0) connection.close();
  return connection;
}

Descriptor accept_from_node(const Descriptor& listener) {
  return Descriptor(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

Descriptor begin_connecting(const Door& door) {
  Descriptor connection = new_socket(door.address.ss_family);
  const auto* const address = reinterpret_cast<const sockaddr*>(&door.address);
  const bool begun = connect(connection.number(), address, door.bytes) == 0 || errno == EINPROGRESS;
  if (!begun || (door.address.ss_family == AF_UNIX && own_users_process(connection) == 0))
    connection.close();
  return connection;
}

bool send_text(const Descriptor& connection, const std::string& text) {
  constexpr int longest_wait = 500;
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t bytes = send(connection.number(), text.data() + sent, text.size() - sent,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
    if (bytes >= 0) {
      sent += static_cast<size_t>(bytes);
      continue;
    }
    pollfd waits{connection.number(), POLLOUT, 0};
    if ((errno != EAGAIN && errno != EINTR) || poll(&waits, 1, longest_wait) <= 0) return false;
  }
  return true;
}

std::string receive_line(const Descriptor& connection, int milliseconds) {
  constexpr size_t longest_line = 4096;
  std::string line;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  while (line.size() < longest_line) {
    pollfd waits{connection.number(), POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int ready = poll(&waits, 1, static_cast<int>(std::max<int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    char byte = 0;
    if (ready <= 0 || recv(connection.number(), &byte, 1, MSG_DONTWAIT) != 1) break;
    if (byte == '\n') return line;
    line += byte;
  }
  return {};
}

bool receive_more(const Descriptor& connection, std::string* text) {
  char some[4096];
  for (;;) {
    const ssize_t bytes = recv(connection.number(), some, sizeof some, MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return errno == EAGAIN;
    if (bytes == 0) return false;
    text->append(some, static_cast<size_t>(bytes));
  }
}

}  // namespace tutti::mpi::roll
