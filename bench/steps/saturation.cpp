// The saturation map of a node's memory (rma/saturation.h), among bound threads.
//
// Usage: tutti-threads saturation --cores A,B,... --milliseconds N --bytes FIRST,LAST --messages
// LAST
//
// Each core has a rank. By the numbers of cores (powers of two, and all), the messages of each (1
// to LAST, powers of two) and their bytes (FIRST to LAST, powers of two), so many ranks at once put
// or get so many messages, and wait for them; the others idle. A rank's messages go to or come from
// the rank that is half of all ranks further, and each has memory of its own, up to 4 MiB of a rank
// for all. Before each repetition every rank rewrites its memory. N milliseconds, and three
// repetitions at least, are spent on each combination. The bandwidth is that of the median.
//
// The cost of handing a transfer over is measured between the first core and a server on another
// one, which is awake.
#include <algorithm>
#include <cstring>
#include <vector>

#include "rows.h"
#include "saturation_map.h"
#include "steps/bound_threads.h"
#include "steps/kinds.h"
#include "steps/teams.h"

namespace tutti::bench {
namespace {

using rma::Kind;

class Ranks {
 public:
  explicit Ranks(BoundThreads& threads)
      : threads_(threads),
        team_(threads),
        mine_(static_cast<size_t>(threads.count())),
        theirs_(mine_.size()) {
    threads.run([&](int me) {  // so that memory is where its owner runs
      mine_[static_cast<size_t>(me)] = memory_of(side_bytes);
      theirs_[static_cast<size_t>(me)] = memory_of(side_bytes);
    });
  }

  // The median of the nanoseconds in which all cores of a combination transfer.
  double time(const Combination& cell, int milliseconds) {
    return median_of_rounds(
        threads_,
        [&](int me, int nth) {
          rewrite(cell, me, nth);
          const int target = (me + std::max(1, threads_.count() / 2)) % threads_.count();
          return threads_.slowest(me, static_cast<int>(cell.cores), [&] {
            transfer(team_.group(me), target, cell, mine_[static_cast<size_t>(me)].get(),
                     theirs_[static_cast<size_t>(target)].get());
          });
        },
        [&](int rounds, double spent) { return is_enough(rounds, spent, milliseconds); });
  }

 private:
  // The owner has its memory in its caches then.
  void rewrite(const Combination& cell, int me, int nth) {
    const auto at = static_cast<size_t>(me);
    std::memset(mine_[at].get(), nth + me, cell.extent());
    std::memset(theirs_[at].get(), nth - me, cell.extent());
  }

  BoundThreads& threads_;
  ThreadTeam team_;
  std::vector<Memory> mine_, theirs_;  // indexed by rank; others reach `theirs` alone
};

// A client on the first core, whose server gets another one of this process.
class Client {
 public:
  Client() : mine_(memory_of(side_bytes)), theirs_(memory_of(side_bytes)) { rank_.start_server(); }

  struct Times {  // the times of one of `count` puts, in nanoseconds
    double start = 0, completion = 0, whole = 0;
  };
  // Medians. `rests`: the server has done all before the client looks.
  Times puts(const BoundThreads& threads, size_t count, size_t bytes, bool rests) {
    std::vector<double> starts, completions, wholes;
    std::vector<tutti_handle> handles(count);
    const size_t stride = Combination{Kind::put, 1, count, bytes}.stride();
    for (int nth = 0; nth < 15; ++nth) {
      std::memset(mine_.get(), nth, std::min(side_bytes, count * stride));
      const uint64_t begin = threads.now();
      for (size_t i = 0; i < count; ++i) {
        const size_t at = i * stride % side_bytes;
        tutti_put(rank_.group, 0, theirs_.get() + at, mine_.get() + at, bytes, &handles[i]);
      }
      const uint64_t started = threads.now();
      while (rests && threads.nanoseconds(threads.now() - started) < 1e5) continue;
      const uint64_t looks = threads.now();
      for (size_t i = count; i-- > 0;) {  // the last one first
        int complete = 0;
        while (complete == 0) require_ok(tutti_test(rank_.group, &handles[i], &complete));
      }
      const uint64_t end = threads.now();
      const auto each = static_cast<double>(count);
      starts.push_back(threads.nanoseconds(started - begin) / each);
      completions.push_back(threads.nanoseconds(end - looks) / each);
      wholes.push_back(threads.nanoseconds(end - begin) / each);
    }
    return {median(starts), median(completions), median(wholes)};
  }
  void serve(bool served) {
    require_ok(served ? tutti_servers_enable(rank_.team) : tutti_servers_disable(rank_.team));
  }

 private:
  OneRank rank_;
  Memory mine_, theirs_;
};

// The server's time includes that of a client whose posts are slower than the server.
rma::HandOver hand_over(const BoundThreads& threads, const std::vector<size_t>& lengths) {
  rma::HandOver cost;
  BoundThreads caller({threads.core(0)});
  caller.run([&](int) {
    constexpr size_t count = 64;
    Client client;
    const Client::Times rested = client.puts(threads, count, 8, true),
                        single = client.puts(threads, 1, 8, false);
    cost.client = rested.start + rested.completion;
    const auto times = [&] {
      std::vector<double> of_each;
      for (const size_t bytes : lengths) {
        const size_t some = std::clamp<size_t>((size_t{16} << 20) / bytes, 4, count);
        of_each.push_back(client.puts(threads, some, bytes, false).whole);
      }
      return of_each;
    };
    const std::vector<double> served = times();
    client.serve(false);
    const double by_caller = client.puts(threads, 1, 8, false).whole;
    const std::vector<double> own = times();
    cost.latency = std::max(0.0, single.whole - cost.client - by_caller);
    for (size_t i = 0; i < lengths.size(); ++i)
      cost.server.push_back(std::max(0.0, served[i] - own[i]));
  });
  return cost;
}

void measure_saturation(int argc, char** argv) {
  const Options options("--cores A,B,... --milliseconds N --bytes FIRST,LAST --messages LAST", argc,
                        argv);
  const std::vector<int> cores = options.cores(2);
  const int milliseconds = options.number("--milliseconds", 1, 10000);
  const auto [first, last] = options.range(1, side_bytes);
  const auto messages = static_cast<size_t>(options.number("--messages", 1, 4096));
  rma::SaturationMap map = empty_map(cores.size(), messages, first, last, rma::Scope::node);
  BoundThreads threads(cores);
  map.hand_over = hand_over(threads, map.bytes);
  Ranks ranks(threads);
  fill_map(map, [&](const Combination& one) { return ranks.time(one, milliseconds); });
  add_rows(map);
}

const bench::Kind kind("saturation", measure_saturation);

}  // namespace

}  // namespace tutti::bench
