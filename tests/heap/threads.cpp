// Threads pass memory to each other: all of it is in the heap, and any thread may free it. Threads
// end while memory that they have allocated is still in use.
#include <utility>
#include <array>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "heap.h"

namespace {

std::mutex mutex;
std::vector<std::unique_ptr<std::vector<int>>> exchange;

void work(unsigned state, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    state = state * 1664525 + 1013904223;
    const size_t length = 1 + (state >> 12) % 20000;
    auto vector = std::make_unique<std::vector<int>>(length, static_cast<int>(length));
    CHECK(in_heap(vector.get()) && in_heap(vector->data()));
    std::unique_ptr<std::vector<int>> other;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      exchange.push_back(std::move(vector));
      if (exchange.size() > 50) {
        other = std::move(exchange[state % exchange.size()]);
        std::swap(exchange[state % exchange.size()], exchange.back());
        exchange.pop_back();
      }
    }
    if (other != nullptr) {
      CHECK(other->front() == static_cast<int>(other->size()) && other->back() == other->front());
      other->resize(other->size() * 2);
    }
  }
}

struct alignas(256) Wide {
  std::array<double, 64> values;
};

}  // namespace

int main() {
  in_heap(nullptr);  // it reads the mappings once, before there are threads
  for (int generation = 0; generation < 10; ++generation) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 8; ++i)
      threads.emplace_back(work, i + 8 * static_cast<unsigned>(generation), 200);
    for (std::thread& thread : threads) thread.join();
  }
  const auto wide = std::make_unique<Wide>();
  CHECK(in_heap(wide.get()) && reinterpret_cast<uintptr_t>(wide.get()) % 256 == 0);
  try {
    throw std::bad_alloc();
  } catch (const std::bad_alloc&) {
    puts("ok");
  }
}
