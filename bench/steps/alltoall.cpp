// tutti-alltoall: the all-to-all of "Exploiting Communication Concurrency", section 5.2, between
// thread ranks: every rank gets its blocks from all others in a loop, with at most 128 of its gets
// outstanding, for all sizes. It needs no MPI.
//
// Usage: tutti-alltoall --cores A,B,... --ranks N --servers N --bytes A,B,... --repetitions N
//
// The ranks are spread over the cores but the last ones, which are left to the servers; over all if
// there are too few. Writes JSON to stdout: for each size and repetition, in microseconds from the
// instant at which all ranks begin until all have all blocks, the median of some rounds,
//   own         each rank executes its gets itself
//   served      it hands all of them to the servers, which poll
//   selective   it hands over what gains: by the saturation map, if TUTTI_SATURATION names one,
//               else by the length
//   collective  tutti_alltoall, which needs no servers
// Every round's blocks are checked.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/options.h"
#include "steps/bound_threads.h"
#include "tutti/tutti.h"

namespace {

using namespace tutti;
using bench::BoundThreads;

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

void require_ok(tutti_status status) {
  if (status != TUTTI_OK) throw Error(static_cast<Code>(status), tutti_error_message());
}

enum class Way { own, served, selective, collective };
constexpr const char* names[] = {"own", "served", "selective", "collective"};

class Ranks {
 public:
  Ranks(const Settings& settings, BoundThreads& threads)
      : settings_(settings), threads_(threads), all_(static_cast<size_t>(settings.ranks)) {
    require_ok(tutti_team_create(settings.ranks, &team_));
    const size_t longest = *std::max_element(settings.bytes.begin(), settings.bytes.end());
    threads.run([&](int me) {
      Rank& rank = all_[static_cast<size_t>(me)];
      require_ok(tutti_team_join(team_, me, &rank.group));
      rank.out = bench::memory_of(longest * all_.size());
      rank.in = bench::memory_of(longest * all_.size());
      require_ok(tutti_barrier(rank.group));
    });
  }
  ~Ranks() {
    for (Rank& rank : all_) tutti_group_free(rank.group);
    tutti_team_free(team_);
  }
  Ranks(const Ranks&) = delete;

  double microseconds(Way way, size_t bytes) {
    if (way == Way::served) start_servers(TUTTI_SERVE_ALL);
    if (way == Way::selective) start_servers(TUTTI_SERVE_SELECTIVE);
    std::vector<double> times;
    bool ends = false;
    threads_.run([&](int me) {
      Rank& rank = all_[static_cast<size_t>(me)];
      const uint64_t first = threads_.now();
      for (int round = 0; !ends; ++round) {
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
        if (me == 0) {
          times.push_back(threads_.nanoseconds(end - begin) / 1000);
          const double spent = threads_.nanoseconds(end - first) / 1e6;
          ends = round + 1 >= most_rounds ||
                 (round + 1 >= least_rounds && spent >= round_milliseconds);
        }
        threads_.meet(me);
      }
    });
    if (way == Way::served || way == Way::selective) require_ok(tutti_servers_stop(team_));
    const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

 private:
  struct Rank {
    tutti_group* group = nullptr;
    bench::Memory out, in;
  };

  void start_servers(tutti_serve serve) {
    require_ok(tutti_servers_start(team_, settings_.servers, serve));
    require_ok(tutti_servers_wake(team_));
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
  tutti_team* team_ = nullptr;
  std::vector<Rank> all_;
};

Json measured(const Settings& settings) {
  BoundThreads threads(settings.cores_of_ranks());
  Ranks ranks(settings, threads);
  Json json;
  json["format"] = "tutti-alltoall 1";
  json["cores"] = settings.cores;
  json["cores_of_ranks"] = settings.cores_of_ranks();
  json["ranks"] = settings.ranks;
  json["servers"] = settings.servers;
  json["saturation_map"] = nullptr;
  if (!options().saturation.empty()) json["saturation_map"] = options().saturation;
  json["cells"] = Json::array();
  for (const size_t bytes : settings.bytes) {
    Json cell;
    cell["bytes"] = bytes;
    for (const char* const name : names) cell[name] = Json::array();
    for (int i = 0; i < settings.repetitions; ++i)
      for (const Way way : {Way::own, Way::served, Way::selective, Way::collective})
        cell[names[static_cast<size_t>(way)]].push_back(rounded(ranks.microseconds(way, bytes), 3));
    json["cells"].push_back(std::move(cell));
  }
  return json;
}

int number(const char* option, const std::string& text, int least, int most) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > most)
    throw Error(Code::invalid_argument,
                std::string(option) + ": '" + text + "' is not accepted; numbers from " +
                    std::to_string(least) + " to " + std::to_string(most) + " are");
  return static_cast<int>(value);
}

Settings settings_of(int argc, char** argv) {
  std::map<std::string_view, std::string> words;
  for (int i = 1; i + 1 < argc; i += 2) words[argv[i]] = argv[i + 1];
  for (const char* const option : {"--cores", "--ranks", "--servers", "--bytes", "--repetitions"})
    if (argc != 11 || words.count(option) == 0)
      throw Error(Code::invalid_argument,
                  "give --cores A,B,..., --ranks N, --servers N, --bytes A,B,... and "
                  "--repetitions N");
  Settings settings;
  settings.cores = bench::read_cores("--cores", words["--cores"].c_str());
  settings.ranks = number("--ranks", words["--ranks"], 1, 1024);
  settings.servers = number("--servers", words["--servers"], 1, 64);
  settings.repetitions = number("--repetitions", words["--repetitions"], 1, 1000);
  const std::string& bytes = words["--bytes"];
  for (size_t at = 0; at <= bytes.size();) {
    const size_t comma = std::min(bytes.find(',', at), bytes.size());
    settings.bytes.push_back(static_cast<size_t>(
        number("--bytes", bytes.substr(at, comma - at), 1, static_cast<int>(most_bytes))));
    at = comma + 1;
  }
  const size_t longest = *std::max_element(settings.bytes.begin(), settings.bytes.end());
  const auto ranks = static_cast<size_t>(settings.ranks);
  if (2 * longest * ranks * ranks > most_memory)
    throw Error(Code::invalid_argument,
                "--ranks and --bytes: the blocks of all ranks need more than 4 GiB; give fewer "
                "ranks or bytes");
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::puts(json_text(measured(settings_of(argc, argv))).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-alltoall: %s\n", error.what());
    return 2;
  }
}
