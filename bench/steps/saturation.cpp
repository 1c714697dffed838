// tutti-saturation: measures the saturation map of a node's memory (rma/saturation.h) among bound
// threads. It needs no MPI.
//
// Usage: tutti-saturation --cores A,B,... --milliseconds N --bytes FIRST,LAST --messages LAST
//
// Each core has a rank. By the numbers of cores (powers of two, and all), the messages of each (1
// to LAST, powers of two) and their bytes (FIRST to LAST, powers of two), so many ranks at once put
// or get so many messages, and wait for them; the others idle. A rank's messages go to or come from
// the rank that is half of all ranks further, and each has memory of its own, up to 4 MiB of a rank
// for all. Before each repetition every rank rewrites its memory. N milliseconds, and three
// repetitions at least, are spent on each combination. The bandwidth is that of the median.
//
// The cost of handing a transfer over is measured between the first core and a server on another
// one, which is awake. Writes the map as JSON to stdout.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "rma/saturation.h"
#include "saturation_json.h"
#include "steps/bound_threads.h"
#include "tutti/tutti.h"

namespace {

using namespace tutti;
using bench::BoundThreads;
using rma::Kind;

constexpr size_t line = 64;  // messages of fewer bytes lie in lines of their own
constexpr size_t side_bytes = size_t{4} << 20;
constexpr int least_repetitions = 3, most_repetitions = 400;

struct Settings {
  std::vector<int> cores;
  int milliseconds = 0;
  size_t first_bytes = 0, last_bytes = 0, messages = 0;
};

void require_ok(tutti_status status) {
  if (status != TUTTI_OK) throw Error(static_cast<Code>(status), tutti_error_message());
}

std::vector<size_t> powers(size_t first, size_t last) {
  std::vector<size_t> numbers;
  for (size_t number = first; number <= last; number *= 2) numbers.push_back(number);
  return numbers;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One combination.
struct Cell {
  Kind kind;
  size_t cores, messages, bytes;

  size_t stride() const { return std::max(bytes, line); }
  size_t places() const { return std::min(messages, std::max<size_t>(1, side_bytes / stride())); }
  size_t extent() const { return places() * stride(); }
};

class Ranks {
 public:
  explicit Ranks(BoundThreads& threads) : threads_(threads), groups_(threads.count()) {
    require_ok(tutti_team_create(threads.count(), &team_));
    mine_.resize(groups_.size());
    theirs_.resize(groups_.size());
    ends_.resize(groups_.size());
    threads.run([&](int me) {  // so that memory is where its owner runs
      const auto at = static_cast<size_t>(me);
      require_ok(tutti_team_join(team_, me, &groups_[at]));
      mine_[at] = bench::memory_of(side_bytes);
      theirs_[at] = bench::memory_of(side_bytes);
    });
  }
  ~Ranks() {
    for (tutti_group* const group : groups_) tutti_group_free(group);
    tutti_team_free(team_);
  }
  Ranks(const Ranks&) = delete;

  // GB/s of all cores together.
  double bandwidth(const Cell& cell, int milliseconds) {
    std::vector<double> times;
    bool ends = false;
    threads_.run([&](int me) {
      const uint64_t first = threads_.now();
      for (int nth = 0; !ends; ++nth) {
        rewrite(cell, me, nth);
        const uint64_t begin = threads_.meet(me);
        if (static_cast<size_t>(me) < cell.cores) transfer(cell, me);
        ends_[static_cast<size_t>(me)].tick = threads_.now();
        threads_.meet(me);
        if (me == 0) {
          times.push_back(duration(cell, begin));
          const double spent = threads_.nanoseconds(threads_.now() - first) / 1e6;
          ends = nth + 1 >= most_repetitions ||
                 (nth + 1 >= least_repetitions && spent >= milliseconds);
        }
        threads_.meet(me);
      }
    });
    const double bytes = static_cast<double>(cell.cores * cell.messages * cell.bytes);
    return std::max(1e-6, bytes / std::max(1.0, median(times)));
  }

 private:
  // The owner has its memory in its caches then.
  void rewrite(const Cell& cell, int me, int nth) {
    const auto at = static_cast<size_t>(me);
    std::memset(mine_[at].get(), nth + me, cell.extent());
    std::memset(theirs_[at].get(), nth - me, cell.extent());
  }
  void transfer(const Cell& cell, int me) {
    const int target = (me + std::max(1, threads_.count() / 2)) % threads_.count();
    std::byte* const mine = mine_[static_cast<size_t>(me)].get();
    std::byte* const theirs = theirs_[static_cast<size_t>(target)].get();
    tutti_group* const group = groups_[static_cast<size_t>(me)];
    const size_t places = cell.places(), stride = cell.stride();
    for (size_t i = 0, place = 0; i < cell.messages; ++i) {
      if (cell.kind == Kind::put)
        tutti_put(group, target, theirs + place * stride, mine + place * stride, cell.bytes,
                  nullptr);
      else
        tutti_get(group, target, mine + place * stride, theirs + place * stride, cell.bytes,
                  nullptr);
      if (++place == places) place = 0;
    }
    require_ok(tutti_wait_all(group));
  }
  double duration(const Cell& cell, uint64_t begin) const {
    uint64_t last = begin;
    for (size_t rank = 0; rank < cell.cores; ++rank) last = std::max(last, ends_[rank].tick);
    return threads_.nanoseconds(last - begin);
  }

  struct alignas(128) End {
    uint64_t tick = 0;
  };
  BoundThreads& threads_;
  tutti_team* team_ = nullptr;
  std::vector<tutti_group*> groups_;
  std::vector<bench::Memory> mine_, theirs_;  // indexed by rank; others reach `theirs` alone
  std::vector<End> ends_;
};

// A client on the first core, whose server gets another one of this process.
class Client {
 public:
  Client() : mine_(bench::memory_of(side_bytes)), theirs_(bench::memory_of(side_bytes)) {
    require_ok(tutti_team_create(1, &team_));
    require_ok(tutti_team_join(team_, 0, &group_));
    require_ok(tutti_servers_start(team_, 1, TUTTI_SERVE_ALL));
    require_ok(tutti_servers_wake(team_));
  }
  ~Client() {
    tutti_group_free(group_);
    tutti_team_free(team_);
  }
  Client(const Client&) = delete;

  struct Times {  // the times of one of `count` puts, in nanoseconds
    double start = 0, completion = 0, whole = 0;
  };
  // Medians. `rests`: the server has done all before the client looks.
  Times puts(const BoundThreads& threads, size_t count, size_t bytes, bool rests) {
    std::vector<double> starts, completions, wholes;
    std::vector<tutti_handle> handles(count);
    for (int nth = 0; nth < 15; ++nth) {
      std::memset(mine_.get(), nth, std::min(side_bytes, count * std::max(bytes, line)));
      const uint64_t begin = threads.now();
      for (size_t i = 0; i < count; ++i) {
        const size_t at = i * std::max(bytes, line) % side_bytes;
        tutti_put(group_, 0, theirs_.get() + at, mine_.get() + at, bytes, &handles[i]);
      }
      const uint64_t started = threads.now();
      while (rests && threads.nanoseconds(threads.now() - started) < 1e5) continue;
      const uint64_t looks = threads.now();
      for (size_t i = count; i-- > 0;) {  // the last one first
        int complete = 0;
        while (complete == 0) require_ok(tutti_test(group_, &handles[i], &complete));
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
    require_ok(served ? tutti_servers_enable(team_) : tutti_servers_disable(team_));
  }

 private:
  tutti_team* team_ = nullptr;
  tutti_group* group_ = nullptr;
  bench::Memory mine_, theirs_;
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
    std::vector<double> served, own;
    for (const size_t bytes : lengths) {
      const size_t some = std::clamp<size_t>((size_t{16} << 20) / bytes, 4, count);
      served.push_back(client.puts(threads, some, bytes, false).whole);
    }
    client.serve(false);
    const double by_caller = client.puts(threads, 1, 8, false).whole;
    for (const size_t bytes : lengths) {
      const size_t some = std::clamp<size_t>((size_t{16} << 20) / bytes, 4, count);
      own.push_back(client.puts(threads, some, bytes, false).whole);
    }
    cost.latency = std::max(0.0, single.whole - cost.client - by_caller);
    for (size_t i = 0; i < lengths.size(); ++i)
      cost.server.push_back(rounded(std::max(0.0, served[i] - own[i]), 1));
  });
  cost.client = rounded(cost.client, 1);
  cost.latency = rounded(cost.latency, 1);
  return cost;
}

rma::SaturationMap measured(const Settings& settings) {
  rma::SaturationMap map;
  BoundThreads threads(settings.cores);
  map.where = rma::this_machine();
  map.cores = powers(1, settings.cores.size());
  if (map.cores.back() != settings.cores.size()) map.cores.push_back(settings.cores.size());
  map.messages = powers(1, settings.messages);
  map.bytes = powers(settings.first_bytes, settings.last_bytes);
  map.hand_over = hand_over(threads, map.bytes);
  Ranks ranks(threads);
  for (const Kind kind : {Kind::put, Kind::get})
    for (const size_t cores : map.cores)
      for (const size_t messages : map.messages)
        for (const size_t bytes : map.bytes)
          (kind == Kind::put ? map.puts : map.gets)
              .push_back(ranks.bandwidth({kind, cores, messages, bytes}, settings.milliseconds));
  return map;
}

size_t number(const char* option, const std::string& text, size_t least, size_t most) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > most)
    throw Error(Code::invalid_argument,
                std::string(option) + ": '" + text + "' is not accepted; numbers from " +
                    std::to_string(least) + " to " + std::to_string(most) + " are");
  return value;
}

Settings settings_of(int argc, char** argv) {
  std::map<std::string_view, std::string> words;
  for (int i = 1; i + 1 < argc; i += 2) words[argv[i]] = argv[i + 1];
  if (argc != 9 || words.size() != 4 ||
      words.count("--cores") + words.count("--milliseconds") + words.count("--bytes") +
              words.count("--messages") !=
          4)
    throw Error(Code::invalid_argument,
                "give --cores A,B,..., --milliseconds N, --bytes FIRST,LAST and --messages LAST");
  Settings settings;
  settings.cores = bench::read_cores("--cores", words["--cores"].c_str());
  if (settings.cores.size() < 2 || bench::share_cores(settings.cores))
    throw Error(Code::invalid_argument, "--cores needs two or more, each once");
  settings.milliseconds =
      static_cast<int>(number("--milliseconds", words["--milliseconds"], 1, 10000));
  const std::string bytes = words["--bytes"];
  const size_t comma = std::min(bytes.find(','), bytes.size());
  settings.first_bytes = number("--bytes", bytes.substr(0, comma), 1, side_bytes);
  settings.last_bytes = number("--bytes", bytes.substr(std::min(comma + 1, bytes.size())),
                               settings.first_bytes, side_bytes);
  settings.messages = number("--messages", words["--messages"], 1, 4096);
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::puts(json_text(bench::json_of(measured(settings_of(argc, argv)))).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-saturation: %s\n", error.what());
    return 2;
  }
}
