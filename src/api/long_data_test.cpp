// Data of more than 2^32 bytes between processes. Most pages of the buffers are the same few pages
// again, so that the test needs little memory. The pages about 2^31 and 2^32 bytes, the first and
// the last have memory and contents of their own, which a length or an offset of 32 bits would
// miss.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "api/test_processes.h"
#include "tutti/tutti.h"

namespace {

using namespace tutti::test;

constexpr size_t same_bytes = size_t{16} << 20, own_bytes = size_t{1} << 20;
constexpr size_t all_bytes = (size_t{1} << 32) + 2 * same_bytes;
// Where the pages begin that are not the same.
constexpr std::array<size_t, 4> own_places = {
    0, (size_t{1} << 31) - own_bytes / 2, (size_t{1} << 32) - own_bytes / 2, all_bytes - own_bytes};

class LongBuffer {
 public:
  LongBuffer() {
    constexpr int access = PROT_READ | PROT_WRITE;
    const int file = memfd_create("long-data", MFD_CLOEXEC);
    REQUIRE(file >= 0 && ftruncate(file, same_bytes) == 0);
    data = static_cast<unsigned char*>(
        mmap(nullptr, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    REQUIRE(data != MAP_FAILED);
    for (size_t at = 0; at < all_bytes; at += same_bytes)
      REQUIRE(mmap(data + at, same_bytes, access, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED);
    for (const size_t at : own_places)
      REQUIRE(mmap(data + at, own_bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
              MAP_FAILED);
    close(file);
  }
  ~LongBuffer() { munmap(data, all_bytes); }

  // The pages that are the same, seen between the first and the second of the others.
  unsigned char* same() const { return data + same_bytes; }

  // The content of a byte of its own pages. It is never 1.
  static unsigned char content(size_t place, size_t i) {
    return static_cast<unsigned char>(2 + (place * 61 + i * 7 + i / 4096) % 250);
  }
  void fill() const {
    std::memset(same(), 1, same_bytes);
    for (size_t place = 0; place < own_places.size(); ++place)
      for (size_t i = 0; i < own_bytes; ++i) data[own_places[place] + i] = content(place, i);
  }
  // True if the first `bytes` bytes are, which end with pages of their own.
  bool is_filled(size_t bytes) const {
    if (std::any_of(same(), same() + same_bytes, [](unsigned char one) { return one != 1; }))
      return false;
    for (size_t place = 0; place < own_places.size() && own_places[place] < bytes; ++place)
      for (size_t i = 0; i < own_bytes; ++i)
        if (data[own_places[place] + i] != content(place, i)) return false;
    return true;
  }

  unsigned char* data = nullptr;
};

size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (size_t kib = 0; file >> name >> kib; file.ignore(80, '\n'))
    if (name == "MemAvailable:") return kib << 10;
  return 0;
}

// Rank 1 gives its data; the other has none of it before.
void broadcast(size_t bytes, const std::function<void(const Rank&, void*)>& call) {
  const Directory directory;
  in_processes(2, directory.path, [&](Rank& own) {
    const LongBuffer buffer;
    const bool gives = tutti_group_rank(own.group) == 1;
    if (gives) buffer.fill();
    REQUIRE(buffer.is_filled(bytes) == gives);
    call(own, buffer.data);
    REQUIRE(buffer.is_filled(bytes));
    REQUIRE(tutti_barrier(own.group) == TUTTI_OK);
  });
}

TEST(LongData, IsBroadcast) {
  broadcast(all_bytes, [](const Rank& own, void* data) {
    REQUIRE(tutti_bcast(own.group, data, all_bytes, 1) == TUTTI_OK);
  });
}

// The data is copied into shared memory, so there is less of it.
TEST(LongData, IsBroadcastInTwoCalls) {
  constexpr size_t bytes = own_places[1] + own_bytes, needed = size_t{4} << 30;
  if (const size_t free = available_memory(); free < needed)
    GTEST_SKIP() << "needs 4 GiB of free memory, and there are " << (free >> 20) << " MiB";
  broadcast(bytes, [](const Rank& own, void* data) {
    tutti_request* request = nullptr;
    REQUIRE(tutti_ibcast(own.group, data, bytes, 1, &request) == TUTTI_OK);
    complete(request);
  });
}

}  // namespace
