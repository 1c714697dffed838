#include "api/processes.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/serving.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
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

// The groups of this process's ranks. A forked child has none of the memory that they map, so it
// must learn that they reach nobody. Never destroyed: a child may be forked at any time.
struct Groups {
  std::mutex mutex;  // the thread that forks holds it
  std::set<tutti_group*> all;
};
Groups& groups() {
  static Groups& made = *new Groups;
  return made;
}

void before_fork() { groups().mutex.lock(); }
void after_fork() { groups().mutex.unlock(); }
void after_fork_in_child() {
  for (tutti_group* const group : groups().all) {
    group->one_sided.become_alone();
    group->processes->become_alone();
  }
  after_fork();
}

struct RankGroup final : tutti_group {
  RankGroup(ProcessTeam& its_team, const group::Group::Settings& settings,
            OneSided::Processes transfers)
      : tutti_group(its_team, settings, std::move(transfers)) {
    [[maybe_unused]] static const int forks =
        pthread_atfork(before_fork, after_fork, after_fork_in_child);
    const std::lock_guard lock(groups().mutex);
    groups().all.insert(this);
  }
  ~RankGroup() override {
    const std::lock_guard lock(groups().mutex);
    groups().all.erase(this);
  }
};

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
  near_side_.emplace(NearSide::Settings{.team = &team_});
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

// A rank that leaves the team is not missing, unless there are no others any more. It may have left
// and ended between two looks, so the look at its process comes first.
std::string ProcessTeam::find_ended() const {
  const std::vector<team::MemberMemory::Memory> members = team_.memory().memories();
  int have_left = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (rank == this->rank()) continue;
    const int64_t process = members[static_cast<size_t>(rank)].process;
    const bool is_gone =
        process != 0 && process != maker_ && process_is_gone(static_cast<uint64_t>(process));
    if (team_.has_left(rank))
      ++have_left;
    else if (is_gone)
      return "rank " + std::to_string(rank) + " has ended";
  }
  return have_left > 0 && have_left == ranks() - 1 ? "all other ranks have left the team" : "";
}

std::unique_ptr<tutti_group> ProcessTeam::join(int rank) {
  require(rank == this->rank(), "the rank is another one's; pass that of tutti_team_create_by");
  require(!joined_, "this rank has joined already; each joins once");
  if (!options().saturation.empty()) saturation_maps();
  OneSided::Processes transfers = near_side().processes(all_of(ranks()), rank, 0);
  transfers.find_ended = [this] { return find_ended(); };
  auto group = std::make_unique<RankGroup>(*this, group_settings(), std::move(transfers));
  joined_ = true;
  return group;
}

NearSide& ProcessTeam::near_side() {
  if (is_own()) return *near_side_;
  throw Error(Code::unavailable, "the team is of the process that this one was forked from");
}

void ProcessTeam::start_servers(int count, tutti_serve serve) {
  NearSide& side = near_side();
  const std::lock_guard lock(mutex_);
  side.start_servers(count, serve, {});
}

void ProcessTeam::stop_servers() {
  NearSide& side = near_side();
  const std::lock_guard lock(mutex_);
  side.stop_servers();
}

void ProcessTeam::enable_servers(bool enabled) { near_side().enable_servers(enabled); }
void ProcessTeam::keep_servers_awake(bool awake) { near_side().keep_servers_awake(awake); }
int ProcessTeam::count_servers() { return is_own() ? near_side_->count_servers() : 0; }

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
