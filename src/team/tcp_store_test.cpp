// The TCP store among strangers: whoever can reach the port may send anything at any time.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "base/error.h"
#include "team/store.h"

namespace tutti::team {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = Store::Clock;

sockaddr_in local(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A socket that listens on a port that the system chooses.
struct Listener {
  int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  int port = 0;
  Listener() {
    sockaddr_in address = local(0);
    socklen_t bytes = sizeof address;
    EXPECT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(listen(socket, 16), 0);
    getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes);
    port = ntohs(address.sin_port);
  }
  ~Listener() { close(socket); }
};

int free_port() { return Listener().port; }

int connect_to(int port) {
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = local(port);
  EXPECT_EQ(connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return made;
}

void say(int to, const void* data, size_t bytes) {
  (void)!send(to, data, bytes, MSG_NOSIGNAL);  // the other side may have closed
}

// A client of the store begins each request with it.
struct Header {
  uint64_t magic = 0x6f74732069747475;
  uint32_t sets = 0, key_bytes = 0, value_bytes = 0;
};

void send_noise(int to, std::mt19937& random) {
  std::array<unsigned char, 64> noise{};
  for (unsigned char& byte : noise) byte = static_cast<unsigned char>(random());
  say(to, noise.data(), random() % noise.size());
}

// A request that is wrong, incomplete, or right and given up.
void be_stranger(int port, unsigned seed) {
  std::mt19937 random(seed);
  const int to = connect_to(port);
  Header header;
  switch (random() % 5) {
    case 0: send_noise(to, random); break;
    case 1:  // lengths at the limits and beyond
      header.sets = random() % 3;
      header.key_bytes =
          random() % 2 ? static_cast<uint32_t>(random()) : longest_key + random() % 2;
      header.value_bytes = random() % 2 ? UINT32_MAX : longest_value;
      say(to, &header, sizeof header);
      send_noise(to, random);
      break;
    case 2:  // a header that ends too soon, or whose bytes have changed
      reinterpret_cast<unsigned char*>(&header)[random() % sizeof header] ^= 1U << random() % 8;
      say(to, &header, random() % sizeof header);
      break;
    case 3:  // waits for what nobody sets
      header.key_bytes = 5;
      say(to, &header, sizeof header);
      say(to, "never", 5);
      break;
    case 4:  // sets, and is gone before the answer
      header = {.sets = 1, .key_bytes = 7, .value_bytes = 4};
      say(to, &header, sizeof header);
      say(to, "strange", 7);
      say(to, &seed, sizeof seed);
      break;
  }
  if (random() % 2) shutdown(to, SHUT_WR);
  close(to);
}

size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

TEST(TcpStore, ServesAmongStrangers) {
  const int port = free_port();
  const auto server = make_tcp_store("127.0.0.1", port, true, seconds(10));
  const auto client = make_tcp_store("127.0.0.1", port, false, seconds(10));
  for (unsigned seed = 0; seed < 300; ++seed) {
    be_stranger(port, seed);
    const std::string key = "key " + std::to_string(seed);
    Store& from = seed % 2 ? *server : *client;
    Store& to = seed % 2 ? *client : *server;
    from.set(key, &seed, sizeof seed);
    unsigned got = 0;
    ASSERT_TRUE(to.get(key, &got, sizeof got, Clock::now() + seconds(10)));
    ASSERT_EQ(got, seed);
  }
  char longer[16];
  EXPECT_THROW(client->get("key 1", longer, sizeof longer, Clock::now() + seconds(10)), Error);
}

TEST(TcpStore, KeepsNoConnectionThatHasEnded) {
  const int port = free_port();
  const auto server = make_tcp_store("127.0.0.1", port, true, seconds(10));
  const size_t before = descriptors();
  for (int i = 0; i < 50; ++i) close(connect_to(port));
  const auto deadline = Clock::now() + seconds(20);
  while (descriptors() > before + 2 && Clock::now() < deadline) {  // each one that comes sweeps
    std::this_thread::sleep_for(milliseconds(10));
    close(connect_to(port));
  }
  EXPECT_LE(descriptors(), before + 2);
}

// A server that is no store: the client says that the connection is lost, or waits until its
// deadline.
TEST(TcpStore, RefusesStrangeAnswers) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Listener listener;
    std::thread server([&] {
      std::mt19937 random(seed);
      const int client = accept(listener.socket, nullptr, nullptr);
      Header answer;
      answer.value_bytes = random() % 2 ? UINT32_MAX : longest_value + 1;
      if (random() % 3) say(client, &answer, random() % 2 ? sizeof answer : 7);
      send_noise(client, random);
      shutdown(client, SHUT_WR);
      char byte;
      while (recv(client, &byte, 1, 0) > 0) {
      }
      close(client);
    });
    const auto store = make_tcp_store("127.0.0.1", listener.port, false, seconds(10));
    int got = 0;
    EXPECT_THROW((void)store->get("key", &got, sizeof got, Clock::now() + seconds(20)), Error)
        << seed;
    server.join();
  }
}

// A connection that comes while the process has no free descriptor waits until it has.
TEST(TcpStore, WaitsForDescriptors) {
  const int port = free_port();
  const auto served = make_tcp_store("127.0.0.1", port, true, seconds(60));
  const auto client = make_tcp_store("127.0.0.1", port, false, seconds(60));
  const int value = 7;
  client->set("key", &value, sizeof value);  // it has been accepted
  const int late = socket(AF_INET, SOCK_STREAM, 0);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const sockaddr_in address = local(port);
  const int connected = connect(late, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  std::this_thread::sleep_for(milliseconds(50));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_EQ(connected, 0);
  const auto third = make_tcp_store("127.0.0.1", port, false, seconds(60));
  int got = 0;
  EXPECT_TRUE(third->get("key", &got, sizeof got, Clock::now() + seconds(60)));
  EXPECT_EQ(got, value);
  close(late);
}

}  // namespace
}  // namespace tutti::team
