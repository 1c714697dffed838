// A store over TCP (store.h). Rank 0's process has a server thread for each connection. A request
// is a header, the key, and the value to set. The answer to a get is the value, once there is one;
// the answer to a set is an empty value. Both sides close a connection whose header is not theirs.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptors.h"
#include "base/error.h"
#include "team/store.h"

namespace tutti::team {
namespace {

constexpr uint64_t magic = 0x6f74732069747475;  // "utti sto"

struct Header {
  uint64_t magic;
  uint32_t sets;  // 1: set, 0: get
  uint32_t key_bytes, value_bytes;
};

using Clock = Store::Clock;

// Both return false if the other side has closed the connection, or the deadline has come.
bool send_all(const Descriptor& socket, const void* data, size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(socket.number(), from, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    from += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return true;
}

bool receive_all(const Descriptor& socket, void* data, size_t bytes, Clock::time_point deadline) {
  auto* to = static_cast<std::byte*>(data);
  while (bytes > 0) {
    pollfd waits{socket.number(), POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    const int ready =
        poll(&waits, 1, static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3'600'000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && Clock::now() < deadline) continue;
    if (ready <= 0) return false;
    const ssize_t got = recv(socket.number(), to, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};

std::unique_ptr<addrinfo, FreeAddresses> addresses_of(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0)
    throw Error(Code::unavailable, "no address of host " + host + ": " + gai_strerror(error));
  return std::unique_ptr<addrinfo, FreeAddresses>(found);
}

class Server {
 public:
  Server(const std::string& host, int port) {
    const auto addresses = addresses_of(host, port);
    socket_ = Descriptor(socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket_) throw_errno("no socket for the store");
    const int on = 1;
    setsockopt(socket_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(socket_.number(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
        listen(socket_.number(), 128) != 0)
      throw_errno("rank 0 cannot serve the store at tcp://" + host + ":" + std::to_string(port));
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~Server() {
    shutdown(socket_.number(), SHUT_RDWR);
    accepting_.join();
    socket_.close();
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      for (const Client& client : clients_) shutdown(client.socket.number(), SHUT_RDWR);
    }
    came_.notify_all();
    for (Client& client : clients_) client.thread.join();
  }
  Server(const Server&) = delete;

  void set(const std::string& key, std::vector<std::byte> value) {
    {
      const std::lock_guard lock(mutex_);
      values_[key] = std::move(value);
    }
    came_.notify_all();
  }
  bool get(const std::string& key, std::vector<std::byte>* value, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    const auto is_here = [&] { return ending_ || values_.count(key) > 0; };
    if (!came_.wait_until(lock, deadline, is_here) || ending_) return false;
    *value = values_[key];
    return true;
  }

 private:
  struct Client {
    explicit Client(Descriptor its) : socket(std::move(its)) {}
    const Descriptor socket;
    std::atomic<bool> ended{false};
    std::thread thread;
  };

  // Frees the connections that have ended. Called with the lock.
  void sweep() {
    for (auto client = clients_.begin(); client != clients_.end();) {
      if (!client->ended) {
        ++client;
        continue;
      }
      client->thread.join();
      client = clients_.erase(client);
    }
  }

  void accept_all() {
    for (;;) {
      Descriptor client(accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      const int error = client ? 0 : errno;
      if (error == EINTR || error == ECONNABORTED) continue;
      if (is_shortage(error)) {  // the connection waits until there is room for it
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const std::lock_guard lock(mutex_);
        sweep();
        continue;
      }
      if (!client) return;
      const std::lock_guard lock(mutex_);
      sweep();
      Client& made = clients_.emplace_back(std::move(client));
      try {
        made.thread = std::thread([this, &made] {
          serve(made.socket);
          shutdown(made.socket.number(), SHUT_RDWR);
          made.ended = true;
        });
      } catch (const std::system_error&) {
        clients_.pop_back();  // no thread can be made: the client learns that it is not served
      }
    }
  }
  static bool is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
  }

  void serve(const Descriptor& client) {
    for (;;) {
      Header header{};
      if (!receive_all(client, &header, sizeof header, Clock::time_point::max())) return;
      if (header.magic != magic || header.key_bytes > longest_key ||
          header.value_bytes > longest_value)
        return;
      std::string key(header.key_bytes, '\0');
      std::vector<std::byte> value(header.value_bytes);
      if (!receive_all(client, key.data(), key.size(), Clock::time_point::max()) ||
          !receive_all(client, value.data(), value.size(), Clock::time_point::max()))
        return;
      if (header.sets != 0) {
        set(key, std::move(value));
        value.clear();
      } else if (!get(key, &value, Clock::now() + std::chrono::hours(24))) {
        return;
      }
      header.value_bytes = static_cast<uint32_t>(value.size());
      if (!send_all(client, &header, sizeof header) ||
          !send_all(client, value.data(), value.size()))
        return;
    }
  }

  Descriptor socket_;
  std::thread accepting_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable came_;
  bool ending_ = false;
  std::map<std::string, std::vector<std::byte>> values_;
  std::list<Client> clients_;
};

class TcpStore final : public Store {
 public:
  TcpStore(const std::string& host, int port, bool serves, Clock::duration limit)
      : name_("tcp://" + host + ":" + std::to_string(port)) {
    if (serves)
      server_ = std::make_unique<Server>(host, port);
    else
      connect_to(host, port, Clock::now() + limit);
  }

  std::string name() const override { return "the store at " + name_; }

  void set(const std::string& key, const void* data, size_t bytes) override {
    const auto* from = static_cast<const std::byte*>(data);
    if (server_) return server_->set(key, {from, from + bytes});
    std::vector<std::byte> answer;
    if (!ask({magic, 1, static_cast<uint32_t>(key.size()), static_cast<uint32_t>(bytes)}, key, data,
             &answer, Clock::now() + std::chrono::seconds(60)))
      throw_lost();
  }

  // The answer to a get that came too late would be taken for that of the next one, so the store
  // cannot be used after that.
  bool get(const std::string& key, void* data, size_t bytes, Clock::time_point deadline) override {
    std::vector<std::byte> value;
    const bool is_here = server_ ? server_->get(key, &value, deadline)
                                 : ask({magic, 0, static_cast<uint32_t>(key.size()), 0}, key,
                                       nullptr, &value, deadline);
    if (!is_here && Clock::now() >= deadline) return false;
    if (!is_here) throw_lost();
    if (value.size() != bytes)
      throw Error(Code::unavailable, name() + " has a value of another program's under " + key +
                                         "; use another team's name");
    std::memcpy(data, value.data(), bytes);
    return true;
  }

 private:
  [[noreturn]] void throw_lost() const {
    throw Error(Code::unavailable, "the connection to " + name() + " is lost; has rank 0 ended?");
  }

  void connect_to(const std::string& host, int port, Clock::time_point deadline) {
    for (;;) {
      const auto addresses = addresses_of(host, port);
      for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
        Descriptor made(socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (made && connect(made.number(), one->ai_addr, one->ai_addrlen) == 0) {
          socket_ = std::move(made);
          const int on = 1;
          setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
          return;
        }
      }
      if (Clock::now() >= deadline)
        throw Error(Code::unavailable, "nobody serves " + name() + "; start rank 0 there");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  bool ask(const Header& header, const std::string& key, const void* value,
           std::vector<std::byte>* answer, Clock::time_point deadline) {
    if (!socket_) return false;
    Header answered{};
    bool is_here = send_all(socket_, &header, sizeof header) &&
                   send_all(socket_, key.data(), key.size()) &&
                   send_all(socket_, value, header.value_bytes) &&
                   receive_all(socket_, &answered, sizeof answered, deadline) &&
                   answered.magic == magic && answered.value_bytes <= longest_value;
    answer->resize(is_here ? answered.value_bytes : 0);
    is_here = is_here && receive_all(socket_, answer->data(), answer->size(), deadline);
    if (!is_here) socket_.close();
    return is_here;
  }

  const std::string name_;
  std::unique_ptr<Server> server_;
  Descriptor socket_;
};

}  // namespace

std::unique_ptr<Store> make_tcp_store(const std::string& host, int port, bool serves,
                                      std::chrono::steady_clock::duration limit) {
  return std::make_unique<TcpStore>(host, port, serves, limit);
}

}  // namespace tutti::team
