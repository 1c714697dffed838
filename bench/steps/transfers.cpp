// tutti-transfers: what one-sided transfers and servers take, beside what the machine takes for the
// same, among two bound threads. It needs no MPI.
//
// Usage: tutti-transfers --cores A,B --repetitions N
//
// Writes JSON to stdout: for each repetition, in nanoseconds,
//   line          half of a round trip of a line between the two cores
//   store, put    8 bytes into a line that the other core has just rewritten, until they are there:
//                 by a store, and by tutti_put without servers
//   load, get     8 bytes from such a line: by a load, and by tutti_get without servers
//   served_put    tutti_put of 8 bytes through a server on the other core, with its completion
//   served_get    the same of tutti_get
//   ring, queue   a request of 64 bytes through a bare ring for one producer and one consumer, and
//                 through Tutti's queue; both have 128 entries
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "rma/queue.h"
#include "steps/bound_threads.h"
#include "tutti/tutti.h"

namespace {

using namespace tutti;
using bench::BoundThreads;

constexpr int samples = 2000;
constexpr size_t entries = 128;
constexpr uint64_t requests = 200'000;

struct alignas(128) Line {
  std::atomic<uint64_t> value{0};
};

void require_ok(tutti_status status) {
  if (status != TUTTI_OK) throw Error(static_cast<Code>(status), tutti_error_message());
}

// Waits for a value without a pause, as the executor does at first.
void await(const Line& line, uint64_t value) {
  while (line.value.load(std::memory_order_acquire) != value) {
  }
}

double line_of(BoundThreads& threads) {
  constexpr uint64_t trips = 20'000;
  auto there = std::make_unique<Line>(), back = std::make_unique<Line>();
  double result = 0;
  threads.run([&](int me) {
    const uint64_t begin = threads.meet(me);
    for (uint64_t i = 1; i <= trips; ++i) {
      if (me == 0) there->value.store(i, std::memory_order_release);
      await(me == 0 ? *back : *there, i);
      if (me == 1) back->value.store(i, std::memory_order_release);
    }
    if (me == 0) result = threads.nanoseconds(threads.now() - begin) / (2.0 * trips);
  });
  return result;
}

// The middle mean of `access` by thread 0, each after thread 1 has rewritten the line, less that of
// an empty access: reading the clock takes as long as a hand-over.
template <class Access>
double accessed(BoundThreads& threads, Line& line, Access access) {
  double result = 0;
  auto turn = std::make_unique<Line>();
  std::vector<double> empty, times;
  threads.run([&](int me) {
    threads.meet(me);
    for (uint64_t i = 0; i < samples; ++i) {
      if (me == 1) {
        await(*turn, 2 * i);
        line.value.store(i, std::memory_order_release);
        turn->value.store(2 * i + 1, std::memory_order_release);
        continue;
      }
      await(*turn, 2 * i + 1);
      const uint64_t idle = threads.now();
      std::atomic_thread_fence(std::memory_order_seq_cst);
      const uint64_t begin = threads.now();
      access();
      std::atomic_thread_fence(std::memory_order_seq_cst);
      times.push_back(threads.nanoseconds(threads.now() - begin));
      empty.push_back(threads.nanoseconds(begin - idle));
      turn->value.store(2 * i + 2, std::memory_order_release);
    }
  });
  result = bench::middle_mean(times) - bench::middle_mean(empty);
  return std::max(result, 0.1);
}

// A team of one rank, whose calls thread 0 makes.
struct Rank {
  Rank() {
    require_ok(tutti_team_create(1, &team));
    require_ok(tutti_team_join(team, 0, &group));
  }
  ~Rank() {
    tutti_group_free(group);
    tutti_team_free(team);
  }
  Rank(const Rank&) = delete;
  tutti_team* team = nullptr;
  tutti_group* group = nullptr;
};

void by_caller(BoundThreads& threads, Json& json) {
  const Rank rank;
  auto line = std::make_unique<Line>();
  uint64_t mine = 0;
  json["store"] =
      accessed(threads, *line, [&] { line->value.store(++mine, std::memory_order_relaxed); });
  json["put"] = accessed(threads, *line, [&] {
    ++mine;
    tutti_put(rank.group, 0, line.get(), &mine, sizeof mine, nullptr);
  });
  json["load"] =
      accessed(threads, *line, [&] { mine += line->value.load(std::memory_order_relaxed); });
  json["get"] = accessed(
      threads, *line, [&] { tutti_get(rank.group, 0, &mine, line.get(), sizeof mine, nullptr); });
  if (mine == 1) std::puts("");  // so that the loads are made
}

// The rank is thread 0, bound to the first core; its server gets the other one.
void by_server(BoundThreads& threads, Json& json) {
  BoundThreads caller({threads.core(0)});
  caller.run([&](int) {
    const Rank rank;
    require_ok(tutti_servers_start(rank.team, 1, TUTTI_SERVE_ALL));
    require_ok(tutti_servers_wake(rank.team));
    auto line = std::make_unique<Line>();
    uint64_t mine = 0;
    const auto time = [&](auto transfer) {
      std::vector<double> times;
      for (int i = 0; i < samples; ++i) {
        const uint64_t begin = threads.now();
        tutti_handle handle;
        int complete = 0;
        transfer(&handle);
        while (complete == 0) tutti_test(rank.group, &handle, &complete);
        times.push_back(threads.nanoseconds(threads.now() - begin));
      }
      return bench::middle_mean(times);
    };
    json["served_put"] = time([&](tutti_handle* handle) {
      tutti_put(rank.group, 0, line.get(), &mine, sizeof mine, handle);
    });
    json["served_get"] = time([&](tutti_handle* handle) {
      tutti_get(rank.group, 0, &mine, line.get(), sizeof mine, handle);
    });
  });
}

// A bare ring: items of a line, and two counters in lines of their own.
struct Ring {
  struct alignas(64) Item {
    uint64_t words[8];
  };
  std::vector<Item> items = std::vector<Item>(entries);
  Line head, tail;
};

double by_ring(BoundThreads& threads) {
  auto ring = std::make_unique<Ring>();
  double result = 0;
  uint64_t sum = 0;
  threads.run([&](int me) {
    const uint64_t begin = threads.meet(me);
    uint64_t seen = 0;
    for (uint64_t i = 0; i < requests; ++i) {
      Ring::Item& item = ring->items[i % entries];
      if (me == 0) {
        while (i - seen >= entries) seen = ring->tail.value.load(std::memory_order_acquire);
        for (uint64_t& word : item.words) word = i;
        ring->head.value.store(i + 1, std::memory_order_release);
      } else {
        while (seen <= i) seen = ring->head.value.load(std::memory_order_acquire);
        for (const uint64_t word : item.words) sum += word;
        ring->tail.value.store(i + 1, std::memory_order_release);
      }
    }
    if (me == 1) result = threads.nanoseconds(threads.now() - begin) / requests;
  });
  if (sum != 8 * (requests * (requests - 1) / 2)) throw Error(Code::internal, "the ring lost data");
  return result;
}

double by_queue(BoundThreads& threads) {
  auto ring = std::make_unique<rma::Entry[]>(entries);
  double result = 0;
  uint64_t sum = 0;
  threads.run([&](int me) {
    rma::Producer producer(ring.get(), entries);
    rma::Consumer consumer(ring.get(), entries);
    const uint64_t begin = threads.meet(me);
    for (uint64_t i = 0; i < requests; ++i) {
      if (me == 0) {
        if (!producer.has_room()) {
          while (!producer.is_done(i - entries)) {
          }
          producer.release(i - entries);
        }
        producer.post({.local = i});
      } else {
        const rma::Transfer* transfer = consumer.take();
        while (transfer == nullptr) transfer = consumer.take();
        sum += transfer->local;
        consumer.finish();
      }
    }
    if (me == 1) result = threads.nanoseconds(threads.now() - begin) / requests;
  });
  if (sum != requests * (requests - 1) / 2) throw Error(Code::internal, "the queue lost data");
  return result;
}

Json measured(BoundThreads& threads) {
  Json json;
  json["line"] = line_of(threads);
  by_caller(threads, json);
  by_server(threads, json);
  json["ring"] = by_ring(threads);
  json["queue"] = by_queue(threads);
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 5 || std::string_view(argv[1]) != "--cores" ||
        std::string_view(argv[3]) != "--repetitions")
      throw Error(Code::invalid_argument,
                  "give --cores and two cores, and --repetitions and their number");
    const std::vector<int> cores = bench::read_cores("--cores", argv[2]);
    const int repetitions = std::atoi(argv[4]);
    if (cores.size() != 2 || cores[0] == cores[1] || repetitions < 1)
      throw Error(Code::invalid_argument, "--cores needs two, and --repetitions at least 1");
    BoundThreads threads(cores);
    Json json;
    json["format"] = "tutti-transfers 1";
    json["cores"] = cores;
    json["repetitions"] = Json::array();
    for (int i = 0; i < repetitions; ++i) json["repetitions"].push_back(measured(threads));
    std::puts(json_text(json, 1).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-transfers: %s\n", error.what());
    return 2;
  }
}
