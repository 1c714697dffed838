// The times of one-sided transfers and servers, beside the machine's own for the same, among two
// bound threads.
//
// Usage: tutti-threads transfers --cores A,B --repetitions N
//
// For each repetition there is a row of each call:
//   line          half of a round trip of a line between the two cores
//   store, put    8 bytes into a line that the other core has just rewritten, until they are there:
//                 by a store, and by tutti_put without servers
//   load, get     8 bytes from such a line: by a load, and by tutti_get without servers
//   served_put    tutti_put of 8 bytes through a server on the other core, with its completion
//   served_get    the same of tutti_get
//   ring, queue   a request of 64 bytes through a bare ring for one producer and one consumer, and
//                 through Tutti's queue; both have 128 entries
#include <atomic>
#include <memory>
#include <vector>

#include "rma/queue.h"
#include "steps/bound_threads.h"
#include "steps/kinds.h"
#include "steps/teams.h"
#include "transfer_times.h"

namespace tutti::bench {
namespace {

constexpr size_t entries = 128;
constexpr uint64_t requests = 200'000;

void measure_accesses(BoundThreads& threads, int repetition) {
  const OneRank rank;  // thread 0 makes its calls
  auto lines = std::make_unique<Lines>(), theirs = std::make_unique<Lines>();
  threads.run([&](int me) {
    Side side(*lines, me, threads.clock(), repetition);
    threads.meet(me);
    side.add_line();
    if (!side.add_accesses(rank.group, 0, theirs->data.value))
      throw Error(Code::internal, "a get has read what its owner had not written");
  });
}

// The rank is thread 0, bound to the first core; its server gets the other one.
void measure_served(const BoundThreads& threads, int repetition) {
  BoundThreads caller({threads.core(0)});
  caller.run([&](int) {
    const OneRank rank;
    rank.start_server();
    auto lines = std::make_unique<Lines>();
    Side side(*lines, 0, threads.clock(), repetition);
    side.add_served("served_put", "served_get", transfer_samples, 0, rank.group, 0,
                    lines->data.value);
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

void measure_transfers(int argc, char** argv) {
  const Options options("--cores A,B --repetitions N", argc, argv);
  const std::vector<int> cores = options.cores(2);
  if (cores.size() != 2) throw Error(Code::invalid_argument, "--cores needs two");
  BoundThreads threads(cores);
  threads.job_row();
  const int repetitions = options.number("--repetitions", 1, 1000);
  for (int i = 0; i < repetitions; ++i) {
    measure_accesses(threads, i);
    measure_served(threads, i);
    add_transfer("ring", i, by_ring(threads));
    add_transfer("queue", i, by_queue(threads));
  }
}

const Kind kind("transfers", measure_transfers);

}  // namespace

}  // namespace tutti::bench
