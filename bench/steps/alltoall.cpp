// The all-to-all of "Exploiting Communication Concurrency", section 5.2, between
// thread ranks: every rank gets its blocks from all others in a loop, with at most 128 of its gets
// outstanding, for all sizes.
//
// Usage: tutti-threads alltoall --cores A,B,... --ranks N --servers N --bytes A,B,... --repetitions
// N
//
// The ranks are spread over the cores but the last ones, which are left to the servers; over all if
// there are too few. For each size, repetition and call there is a row with the time from the
// instant at which all ranks begin until all have all blocks, the median of some rounds:
//   own         each rank executes its gets itself
//   served      it hands all of them to the servers, which poll
//   selective   it hands over what gains: by the saturation map, if TUTTI_SATURATION names one,
//               else by the length
//   collective  tutti_alltoall, which needs no servers
// Every round's blocks are checked.
#include <algorithm>
#include <string>
#include <vector>

#include "base/options.h"
#include "rows.h"
#include "steps/bound_threads.h"
#include "steps/kinds.h"
#include "steps/teams.h"

namespace tutti::bench {
namespace {

constexpr size_t most_outstanding = 128;
constexpr double round_milliseconds = 10;  // the time of one way, size and repetition
constexpr int least_rounds = 5, most_rounds = 300;
constexpr size_t most_memory = size_t{4} << 30;
constexpr size_t most_bytes = size_t{1} << 20;

struct Settings {
  std::vector<int> cores;
  int ranks = 0, servers = 0, repetitions = 0;
  std::vector<size_t> bytes;

  // Returns the core of each rank.
  std::vector<int> cores_of_ranks() const {
    const int all = static_cast<int>(cores.size()), left = all - servers;
    std::vector<int> of_ranks;
    for (int rank = 0; rank < ranks; ++rank)
      of_ranks.push_back(cores[static_cast<size_t>(rank % (left > 0 ? left : all))]);
    return of_ranks;
  }
};

enum class Way { own, served, selective, collective };
constexpr const char* names[] = {"own", "served", "selective", "collective"};

class Ranks {
 public:
  Ranks(const Settings& settings, BoundThreads& threads)
      : settings_(settings),
        threads_(threads),
        team_(threads),
        all_(static_cast<size_t>(settings.ranks)) {
    const size_t longest = *std::max_element(settings.bytes.begin(), settings.bytes.end());
    threads.run([&](int me) {
      Rank& rank = all_[static_cast<size_t>(me)];
      rank.group = team_.group(me);
      rank.out = memory_of(longest * all_.size());
      rank.in = memory_of(longest * all_.size());
      require_ok(tutti_barrier(rank.group));
    });
  }

  double nanoseconds(Way way, size_t bytes) {
    if (way == Way::served) start_servers(TUTTI_SERVE_ALL);
    if (way == Way::selective) start_servers(TUTTI_SERVE_SELECTIVE);
    const auto once = [&](int me, int round) {
      Rank& rank = all_[static_cast<size_t>(me)];
      fill(me, bytes, round);
      const uint64_t begin = threads_.meet(me);
      if (way == Way::collective)
        require_ok(tutti_alltoall(rank.group, rank.out.get(), rank.in.get(), bytes));
      else
        get_all(me, bytes);
      require_ok(tutti_barrier(rank.group));
      const uint64_t end = threads_.now();
      check(me, bytes, round);
      threads_.meet(me);
      return threads_.nanoseconds(end - begin);
    };
    const double median = median_of_rounds(threads_, once, [](int rounds, double spent) {
      return rounds >= most_rounds || (rounds >= least_rounds && spent >= round_milliseconds);
    });
    if (way == Way::served || way == Way::selective) require_ok(tutti_servers_stop(team_.team()));
    return median;
  }

 private:
  struct Rank {
    tutti_group* group = nullptr;
    Memory out, in;
  };

  void start_servers(tutti_serve serve) {
    require_ok(tutti_servers_start(team_.team(), settings_.servers, serve));
    require_ok(tutti_servers_wake(team_.team()));
  }

  void get_all(int me, size_t bytes) {
    const int ranks = settings_.ranks;
    const Rank& own = all_[static_cast<size_t>(me)];
    tutti_handle handles[most_outstanding] = {};
    for (int i = 1; i <= ranks; ++i) {  // the own block comes last
      const auto from = static_cast<size_t>((me + i) % ranks);
      tutti_handle& handle = handles[static_cast<size_t>(i) % most_outstanding];
      require_ok(tutti_wait(own.group, &handle));
      require_ok(tutti_get(own.group, static_cast<int>(from), own.in.get() + from * bytes,
                           all_[from].out.get() + static_cast<size_t>(me) * bytes, bytes, &handle));
    }
    require_ok(tutti_wait_all(own.group));
  }

  static std::byte mark(size_t from, size_t to, size_t at, int round) {
    return static_cast<std::byte>(7 * from + 3 * to + at + static_cast<size_t>(round));
  }
  // Calls body(rank, position in a block) for the first, the last and some bytes of all blocks.
  template <class Body>
  void each(size_t bytes, Body body) {
    const size_t step = std::max<size_t>(1, bytes / 8);
    for (size_t rank = 0; rank < all_.size(); ++rank) {
      for (size_t at = 0; at < bytes; at += step) body(rank, at);
      body(rank, bytes - 1);
    }
  }
  void fill(int me, size_t bytes, int round) {
    const auto own = static_cast<size_t>(me);
    each(bytes, [&](size_t to, size_t at) {
      all_[own].out.get()[to * bytes + at] = mark(own, to, at, round);
    });
  }
  void check(int me, size_t bytes, int round) {
    const auto own = static_cast<size_t>(me);
    each(bytes, [&](size_t from, size_t at) {
      if (all_[own].in.get()[from * bytes + at] != mark(from, own, at, round))
        throw Error(Code::internal, "rank " + std::to_string(me) + " has not the block of rank " +
                                        std::to_string(from) + " of " + std::to_string(bytes) +
                                        " bytes");
    });
  }

  const Settings& settings_;
  BoundThreads& threads_;
  ThreadTeam team_;
  std::vector<Rank> all_;
};

Settings settings_of(int argc, char** argv) {
  const Options options("--cores A,B,... --ranks N --servers N --bytes A,B,... --repetitions N",
                        argc, argv);
  Settings settings{.cores = options.cores(),
                    .ranks = options.number("--ranks", 1, 1024),
                    .servers = options.number("--servers", 1, 64),
                    .repetitions = options.number("--repetitions", 1, 1000),
                    .bytes = numbers_of("--bytes", options["--bytes"], 1, most_bytes)};
  const size_t longest = *std::max_element(settings.bytes.begin(), settings.bytes.end());
  const auto ranks = static_cast<size_t>(settings.ranks);
  if (2 * longest * ranks * ranks > most_memory)
    throw Error(Code::invalid_argument,
                "--ranks and --bytes: the blocks of all ranks need more than 4 GiB; give fewer "
                "ranks or bytes");
  return settings;
}

void add_job(const Settings& settings) {
  const std::vector<int> of_ranks = settings.cores_of_ranks();
  row_begin("job");
  row_integers("cores", settings.cores.data(), static_cast<int>(settings.cores.size()));
  row_integers("cores_of_ranks", of_ranks.data(), static_cast<int>(of_ranks.size()));
  row_integer("ranks", settings.ranks);
  row_integer("servers", settings.servers);
  row_text("saturation_map", options().saturation.c_str());
  row_end();
}

void measure_alltoall(int argc, char** argv) {
  const Settings settings = settings_of(argc, argv);
  BoundThreads threads(settings.cores_of_ranks());
  Ranks ranks(settings, threads);
  add_job(settings);
  for (const size_t bytes : settings.bytes)
    for (int repetition = 0; repetition < settings.repetitions; ++repetition)
      for (const Way way : {Way::own, Way::served, Way::selective, Way::collective}) {
        const double taken = ranks.nanoseconds(way, bytes);
        row_begin_call("alltoall", names[static_cast<size_t>(way)], bytes);
        row_integer("repetition", repetition);
        row_number("ns", taken);
        row_end();
      }
}

const Kind kind("alltoall", measure_alltoall);

}  // namespace

}  // namespace tutti::bench
