// A network switch in user space, for slow links between emulated nodes of this machine.
//
//   switch serve SOCKET FILE
//       forwards frames between the devices that FILE names, until it is killed
//   switch reload SOCKET
//       tells it to read FILE again; returns once the new numbers are used
//
// switch_file.h describes FILE. Each port is a packet socket on a device that the kernel does not
// forward from. A frame has the time at which the kernel received it. Delays count from that time,
// however late this process runs. The process wakes EARLY before a frame is due and polls until
// then. Frames are forwarded as the kernel gives them: several packets of a stream in one frame
// (with virtio_net_hdr, which says how to split it), so that long messages cost little. A frame
// occupies a link for the time of all its packets.
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "switch_file.h"

namespace {

constexpr Nanoseconds EARLY = 30'000;  // about what it takes to be woken
constexpr std::size_t QUEUE_BYTES =
    4 << 20;  // what waits for a limited link; more is lost, as in any switch
constexpr int SOCKET_BYTES = 16 << 20;
constexpr std::size_t HEADER = 10;  // virtio_net_hdr; Linux's own definition is not C++
constexpr std::size_t FRAME_BYTES = HEADER + ETH_HLEN + 65536;

Nanoseconds now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * SECOND + time.tv_nsec;
}

int checked(int result, const std::string& what) {
  if (result < 0) fail(what);
  return result;
}

// A frame on its way to a port: header and bytes.
struct Frame {
  Nanoseconds due;
  std::uint64_t number;  // frames that are due at the same time keep their order
  int to;
  std::vector<char> bytes;
};

bool later(const Frame& left, const Frame& right) {
  return std::pair(left.due, left.number) > std::pair(right.due, right.number);
}

int open_port(const std::string& device) {
  const int port =
      checked(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "packet socket");
  const int on = 1;
  const auto set = [&](int level, int option, const int& value) {
    checked(setsockopt(port, level, option, &value, sizeof value), device);
  };
  set(SOL_PACKET, PACKET_VNET_HDR, on);
  set(SOL_PACKET, PACKET_IGNORE_OUTGOING, on);
  set(SOL_SOCKET, SO_TIMESTAMPNS, on);
  set(SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_BYTES);
  set(SOL_SOCKET, SO_SNDBUFFORCE, SOCKET_BYTES);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(device.c_str()));
  if (address.sll_ifindex == 0) fail(device);
  checked(bind(port, reinterpret_cast<sockaddr*>(&address), sizeof address), device);
  return port;
}

sockaddr_un address_of(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) throw std::runtime_error(name + ": name too long");
  std::copy(name.begin(), name.end(), address.sun_path);
  return address;
}

int control_socket() {
  return checked(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "control socket");
}

class Switch {
 public:
  Switch(const std::string& socket_name, std::string file)
      : file_(std::move(file)), numbers_(read_file(file_)) {
    for (Port& port : numbers_.ports) {
      port.socket = open_port(port.device);
      watch(port.socket, static_cast<int>(&port - numbers_.ports.data()));
    }
    const sockaddr_un address = address_of(socket_name);
    checked(bind(control_, reinterpret_cast<const sockaddr*>(&address), sizeof address),
            socket_name);
    checked(listen(control_, 8), socket_name);
    watch(control_, CONTROL);
  }

  void serve() {
    while (true) {
      const Nanoseconds wait = send_due();
      std::array<epoll_event, 64> events{};
      const timespec limit{wait / SECOND, wait % SECOND};
      const int count =
          epoll_pwait2(epoll_, events.data(), events.size(), wait < 0 ? nullptr : &limit, nullptr);
      if (count < 0 && errno != EINTR) fail("epoll_pwait2");
      for (int i = 0; i < count; ++i) {
        const int port = events[static_cast<std::size_t>(i)].data.fd;
        port == CONTROL ? answer() : receive(port);
      }
    }
  }

 private:
  static constexpr int CONTROL = -1;

  void watch(int descriptor, int port) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = port;
    checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
  }

  // Reads the file again, for a client that waits for the reply; what cannot be read changes
  // nothing.
  void answer() {
    const int client = accept4(control_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    std::string reply = "ok";
    try {
      Numbers numbers = read_file(file_);
      const auto same = [](const Port& left, const Port& right) {
        return left.device == right.device;
      };
      if (!std::equal(numbers.ports.begin(), numbers.ports.end(), numbers_.ports.begin(),
                      numbers_.ports.end(), same)) {
        throw std::runtime_error(file_ + ": other ports than before");
      }
      for (std::size_t i = 0; i < numbers.ports.size(); ++i)
        numbers.ports[i].socket = numbers_.ports[i].socket;
      numbers_ = std::move(numbers);
    } catch (const std::exception& error) {
      reply = error.what();
    }
    [[maybe_unused]] const auto sent = send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
    close(client);
  }

  // Forwards what has come; not for ever, since frames may be due.
  void receive(int from) {
    for (int frames = 0; frames < 64; ++frames) {
      iovec buffer{buffer_.data(), buffer_.size()};
      alignas(cmsghdr) std::array<char, 256> control{};
      msghdr message{};
      message.msg_iov = &buffer;
      message.msg_iovlen = 1;
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      const ssize_t length = recvmsg(port(from).socket, &message, MSG_DONTWAIT);
      if (length < 0)
        return;  // no more frames; or the device is down, and the socket works again when it is up
                 // again
      if (static_cast<std::size_t>(length) < HEADER + ETH_HLEN ||
          (message.msg_flags & MSG_TRUNC) != 0)
        continue;
      forward(from, static_cast<std::size_t>(length), now() - age(message));
    }
  }

  // How long ago the kernel took in a frame. It says so by a clock that somebody may have set
  // meanwhile.
  static Nanoseconds age(msghdr& message) {
    for (cmsghdr* entry = CMSG_FIRSTHDR(&message); entry != nullptr;
         entry = CMSG_NXTHDR(&message, entry)) {
      if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_TIMESTAMPNS) continue;
      timespec stamp{};
      std::memcpy(&stamp, CMSG_DATA(entry), sizeof stamp);
      return std::clamp<Nanoseconds>(now(CLOCK_REALTIME) - stamp.tv_sec * SECOND - stamp.tv_nsec, 0,
                                     SECOND / 10);
    }
    return 0;
  }

  // To the port where its target was last seen; to all others where it was not, or is for all.
  void forward(int from, std::size_t length, Nanoseconds arrived) {
    std::array<char, ETH_ALEN> target{}, source{};
    std::memcpy(target.data(), &buffer_[HEADER], ETH_ALEN);
    std::memcpy(source.data(), &buffer_[HEADER + ETH_ALEN], ETH_ALEN);
    stations_[source] = from;
    const auto known = stations_.find(target);
    if (known != stations_.end()) {
      if (known->second != from) pass(from, known->second, length, arrived);
      return;
    }
    for (int to = 0; to < static_cast<int>(numbers_.ports.size()); ++to) {
      if (to != from) pass(from, to, length, arrived);
    }
  }

  // Sends a frame, now or when it is due.
  void pass(int from, int to, std::size_t length, Nanoseconds arrived) {
    const int a = port(from).group, b = port(to).group;
    Nanoseconds due = arrived + (a == 0 || b == 0 ? 0 : numbers_.delay);
    const auto found = numbers_.between.find({a, b});
    if (found != numbers_.between.end()) {
      Way& way = found->second;
      const Nanoseconds begins = std::max(arrived, way.free_at);
      if (way.bits_per_second > 0 && begins - arrived > way.time(QUEUE_BYTES)) return;
      way.free_at = begins + way.time(length - HEADER);
      due += way.free_at - arrived + way.delay;
    }
    if (due <= arrived) {
      send_frame(to, buffer_.data(), length);
      return;
    }
    frames_.push_back({due,
                       ++number_,
                       to,
                       {buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(length)}});
    std::push_heap(frames_.begin(), frames_.end(), later);
  }

  // A frame that cannot be sent is lost: the node is disconnected, or a queue is full.
  void send_frame(int to, const char* bytes, std::size_t length) {
    [[maybe_unused]] const auto sent = send(port(to).socket, bytes, length, MSG_DONTWAIT);
  }

  // Sends the frames that are due, or so soon that sleeping does not pay; returns how long to sleep
  // (-1: until one comes).
  Nanoseconds send_due() {
    while (!frames_.empty()) {
      const Nanoseconds left = frames_.front().due - now();
      if (left > EARLY) return left - EARLY;
      if (left > 0) continue;
      std::pop_heap(frames_.begin(), frames_.end(), later);
      send_frame(frames_.back().to, frames_.back().bytes.data(), frames_.back().bytes.size());
      frames_.pop_back();
    }
    return -1;
  }

  const Port& port(int number) const { return numbers_.ports[static_cast<std::size_t>(number)]; }

  std::string file_;
  Numbers numbers_;
  int epoll_ = checked(epoll_create1(EPOLL_CLOEXEC), "epoll");
  int control_ = control_socket();
  std::map<std::array<char, ETH_ALEN>, int> stations_;  // hardware address -> port
  std::vector<Frame> frames_;                           // a heap, the next one first
  std::uint64_t number_ = 0;
  std::vector<char> buffer_ = std::vector<char>(FRAME_BYTES);
};

// Tells a switch to read its file; its answer goes to stderr if it is not "ok".
int reload(const std::string& socket_name) {
  const int control = control_socket();
  const sockaddr_un address = address_of(socket_name);
  checked(connect(control, reinterpret_cast<const sockaddr*>(&address), sizeof address),
          socket_name);
  std::array<char, 512> reply{};
  const ssize_t length = checked(
      static_cast<int>(recv(control, reply.data(), reply.size(), MSG_WAITALL)), socket_name);
  const std::string text(reply.data(), static_cast<std::size_t>(length));
  if (text != "ok") throw std::runtime_error(text.empty() ? "the switch has ended" : text);
  return 0;
}

int serve(const std::string& socket_name, const std::string& file) {
  // Nodes' programs may keep all cores busy; frames go first. Where that is not permitted delays
  // are less exact.
  setpriority(PRIO_PROCESS, 0, -20);
  prctl(PR_SET_TIMERSLACK, 1);
  Switch(socket_name, file).serve();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() == 3 && words[0] == "serve") return serve(words[1], words[2]);
    if (words.size() == 2 && words[0] == "reload") return reload(words[1]);
    std::fputs("usage: switch serve SOCKET FILE | switch reload SOCKET\n", stderr);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "switch: %s\n", error.what());
    return 1;
  }
}
