#include "api/processes.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "api/arguments.h"
#include "api/guard.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "group/group.h"
#include "group/system_copies.h"
#include "topo/description.h"

namespace tutti::api {
namespace {

// Reads the user's table before the team forms, so that nobody waits in the middle if it is broken.
team::NodeTeam::Settings settings_of(int rank, std::chrono::steady_clock::time_point deadline) {
  const exec::SystemCopies asked = group::system_copies_asked(group::overrides_of(options()));
  return {.hook = {},
          .missing_types = 0,
          .reported_as = rank,
          .system_copies = [asked] { return asked; },
          .needs_shape = !options().plans.empty(),
          .deadline = deadline};
}

std::vector<int> all_of(int ranks) {
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The store of a caller of the C API.
class CallersStore final : public team::Store {
 public:
  explicit CallersStore(const tutti_store& store) : store_(store) {}

  std::string name() const override { return "the store"; }
  void set(const std::string& key, const void* data, size_t bytes) override {
    if (store_.set(store_.context, key.c_str(), data, bytes) != 0)
      throw Error(Code::unavailable, "the store's set has failed for " + key);
  }
  bool get(const std::string& key, void* data, size_t bytes, Clock::time_point deadline) override {
    const std::chrono::duration<double> left = deadline - Clock::now();
    return store_.get(store_.context, key.c_str(), data, bytes, std::max(left.count(), 0.0)) == 0;
  }

 private:
  const tutti_store store_;
};

// A store that the library opens, as the C API's functions. A failure of its get is told by the
// error message of the call that uses it.
struct OpenStore : tutti_store {
  explicit OpenStore(std::unique_ptr<team::Store> store) : opened(std::move(store)) {
    set = [](void* own, const char* key, const void* data, size_t bytes) {
      opened_of(own).set(key, data, bytes);
      return 0;
    };
    get = [](void* own, const char* key, void* data, size_t bytes, double seconds) {
      return opened_of(own).get(key, data, bytes, team::Store::Clock::now() + duration_of(seconds))
                 ? 0
                 : 1;
    };
    context = this;
  }
  static team::Store& opened_of(void* own) { return *static_cast<OpenStore*>(own)->opened; }
  static std::chrono::steady_clock::duration duration_of(double seconds) {
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(seconds));
  }
  std::unique_ptr<team::Store> opened;
};

constexpr std::string_view tcp = "tcp://";

std::unique_ptr<team::Store> open_store(const std::string& place, int rank, double seconds) {
  if (place.compare(0, tcp.size(), tcp) != 0) return team::make_directory_store(place);
  const size_t colon = place.rfind(':');
  const std::string host = place.substr(tcp.size(), std::max(colon, tcp.size()) - tcp.size());
  const std::string digits = place.substr(colon + 1);
  char* end = nullptr;
  const long port = std::strtol(digits.c_str(), &end, 10);
  require(!host.empty() && !digits.empty() && *end == '\0' && port > 0 && port < 65536,
          "the place of the store is malformed; pass a directory or tcp://HOST:PORT");
  return team::make_tcp_store(host, static_cast<int>(port), rank == 0,
                              OpenStore::duration_of(seconds));
}

constexpr double longest_seconds = 1e8;  // three years: sums with times of day do not overflow

void require_seconds(double seconds) {
  require(seconds > 0 && seconds <= longest_seconds,
          "the seconds are out of range; more than 0, and at most 1e8, are possible");
}

constexpr size_t longest_name = 128;

}  // namespace

ProcessTeam::ProcessTeam(team::Store& store, const std::string& name, int rank, int ranks,
                         std::chrono::steady_clock::time_point deadline)
    : maker_(getpid()), team_(settings_of(rank, deadline)) {
  team::StoreBootstrap bootstrap(store, name, rank, ranks, deadline);
  std::string why_not;
  if (!team_.form(bootstrap, &why_not)) throw Error(Code::unavailable, why_not);
  team::AreaGrant grant = rank == 0 ? team_.areas().grant(ranks) : team::AreaGrant{};
  bootstrap.broadcast(&grant, sizeof grant);
  segment_ = grant.granted ? team_.areas().segment(grant) : nullptr;
  if (segment_ == nullptr)
    throw Error(Code::unavailable, "the node has no memory for the team \"" + name + "\"");
  page_ = grant.page;
  layout_ = shm::Layout::fit(ranks, grant.bytes_per_rank);
  if (grant.touch)
    team::touch_area(segment_->address(page_) + static_cast<size_t>(rank) * layout_.stride(),
                     layout_.stride());
  team_.meet();
  if (rank == 0 && !team_.levels().one_level())
    log_line(LogLevel::info, "levels of %d ranks: %s", ranks, team_.levels().contents().c_str());
}

bool ProcessTeam::is_own() const { return getpid() == maker_; }

exec::Reach ProcessTeam::reach() const { return team_.memory().reach(all_of(ranks())); }

group::Group::Settings ProcessTeam::group_settings() const {
  group::Group::Settings settings;
  settings.areas = segment_->address(page_);
  settings.layout = layout_;
  settings.rank = rank();
  settings.style = team_.wait_style();
  settings.process = static_cast<uint64_t>(getpid());
  settings.name_of_kind = name_of_reduction;
  settings.check = options().check;
  settings.overrides = group::overrides_of(options());
  settings.reach = reach();
  settings.shape = team_.shape();
  settings.levels = team_.levels();
  return settings;
}

std::unique_ptr<Started> ProcessTeam::start() {
  Started::Settings settings;
  settings.areas = segment_->address(page_);
  settings.layout = layout_;
  settings.rank = rank();
  settings.arena = &team_.arena();
  settings.directory = team_.directory();
  settings.reach = reach();
  settings.style = team_.wait_style();
  for (const team::MemberMemory::Memory& member : team_.memory().memories())
    settings.processes.push_back(member.process);
  return std::make_unique<Started>(std::move(settings));
}

void ProcessTeam::start_servers(int, tutti_serve) {
  throw Error(Code::unavailable,
              "a team of processes without MPI has no servers, because it has no one-sided "
              "transfers; make a team of threads, or use MPI's processes");
}

}  // namespace tutti::api

using namespace tutti::api;

extern "C" {

tutti_status tutti_store_open(const char* place, int rank, double seconds, tutti_store** store) {
  return guarded([&] {
    require(place != nullptr && store != nullptr, "place or store is null");
    require(rank >= 0, "the rank is out of range");
    require_seconds(seconds);
    *store = new OpenStore(open_store(place, rank, seconds));
    return TUTTI_OK;
  });
}

void tutti_store_close(tutti_store* store) { delete static_cast<OpenStore*>(store); }

tutti_status tutti_team_create_by(const tutti_store* store, const char* name, int rank, int ranks,
                                  double seconds, tutti_team** team) {
  return guarded([&] {
    require(store != nullptr && store->set != nullptr && store->get != nullptr,
            "the store, or one of its functions, is null");
    require(name != nullptr && *name != '\0' && std::string_view(name).size() <= longest_name,
            "the team's name is missing or too long; 1 to 128 characters are possible");
    require(team != nullptr, "team is null; pass the address of a tutti_team*");
    require(ranks >= 1 && ranks <= max_team,
            "the number of ranks is out of range; 1 to 4096 are possible");
    require(rank >= 0 && rank < ranks,
            "the rank is out of range; 0 to the team's size - 1 are possible");
    require_seconds(seconds);
    tutti::topo::check_given(tutti::options().topology);
    CallersStore callers(*store);
    *team = new ProcessTeam(callers, name, rank, ranks,
                            tutti::team::Store::Clock::now() + OpenStore::duration_of(seconds));
    return TUTTI_OK;
  });
}

}  // extern "C"
