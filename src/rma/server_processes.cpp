#include "rma/server_processes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/descriptors.h"
#include "base/detached.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "base/version.h"
#include "exec/waiter.h"
#include "rma/server.h"
#include "rma/server_order.h"
#include "shm/readers.h"

namespace tutti::rma {
namespace {

// A program that has not answered after so long will not answer.
constexpr auto longest_start = std::chrono::seconds(20);

// Random, and at the same address as long as the process lives: a server that reads it there has
// reached this process's memory.
const uint64_t* token() {
  static const uint64_t* const made = [] {
    auto* const value = new uint64_t{1};
    if (getrandom(value, sizeof *value, 0) != sizeof *value) *value = 1;
    return value;
  }();
  return made;
}

// A server that is being started: its order, and its process.
class Start {
 public:
  // It delegates, so that the destructor also runs if it throws.
  Start(const Domain& domain, const ServerHome& home, const ServerSettings& settings, int32_t nth,
        int32_t place)
      : Start() {
    const std::vector<int> units = settings.units_of(nth);
    bytes_ = ServerOrder::bytes_for(static_cast<int32_t>(units.size()),
                                    static_cast<int32_t>(home.ranks.size()));
    map();
    std::strncpy(order_->version, tutti_version(), sizeof order_->version - 1);
    order_->bytes = bytes_;
    const ProcessId here = this_process();
    order_->owner = here.number;
    order_->owner_started = here.started;
    order_->token = reinterpret_cast<uint64_t>(token());
    order_->token_value = *token();
    order_->segment = home.segment;
    order_->offset = home.offset;
    order_->shape = domain.shape();
    order_->place = place;
    order_->polls = settings.own_units ? polls_of_own_core : polls_of_shared_core;
    order_->own_rank = home.owner;
    order_->ranks = static_cast<int32_t>(home.ranks.size());
    order_->units = static_cast<int32_t>(units.size());
    std::copy(home.ranks.begin(), home.ranks.end(), order_->rank_memory());
    std::copy(units.begin(), units.end(), order_->unit_list());
    launch(home.program);
  }
  ~Start() {
    if (!runs_ && process_.number != 0) end_process();
    if (order_ != nullptr) munmap(order_, bytes_);
    if (descriptor_ >= 0) close(descriptor_);
  }
  Start(const Start&) = delete;

  int64_t process() const { return process_.number; }
  void permit() { shm::publish(order_->permitted, 1); }
  // Throws Error(unavailable) if the server cannot run.
  void await() {
    const auto answer = [this] { return static_cast<Answer>(shm::observe(order_->answer)); };
    exec::Waiter waiter(exec::pace_of_set_up());
    waiter.until([&] { return answer() != Answer::none; },
                 [&] {
                   const bool ends = waiter.watched().time() > longest_start ||
                                     (waiter.looks_closely() && process_is_gone(process_));
                   return ends ? Code::unavailable : Code::ok;
                 });
    runs_ = answer() == Answer::runs;
    if (runs_) return;
    order_->reason[sizeof order_->reason - 1] = '\0';
    throw Error(Code::unavailable, answer() == Answer::cannot
                                       ? std::string(order_->reason)
                                       : "a server's process does not answer, or has ended");
  }

 private:
  Start() = default;
  void map() {
    const int low = memfd_create("tutti-server", MFD_CLOEXEC);
    if (low < 0) throw_errno("memory for a server's order");
    descriptor_ = move_high(low);
    void* memory = MAP_FAILED;
    if (ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0)
      memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) throw_errno("memory for a server's order");
    order_ = static_cast<ServerOrder*>(memory);
  }

  // Others may get the place when it has ended.
  void end_process() {
    kill_process(process_);
    for (int tries = 0; tries < 1000 && !process_is_gone(process_); ++tries) usleep(1000);
  }

  // Variables of Tutti alone: no other is the server's business, least of all LD_PRELOAD.
  void launch(const std::string& program) {
    DetachedProgram detached{.path = program,
                             .arguments = {"--owner", std::to_string(getpid())},
                             .descriptor = descriptor_};
    for (const auto& [name, value] : process_environment())
      detached.environment.push_back(name + "=" + value);
    const pid_t process = start_detached(detached);
    process_ = {process, start_of_process(process)};
  }

  size_t bytes_ = 0;
  int descriptor_ = -1;
  ServerOrder* order_ = nullptr;
  ProcessId process_;
  bool runs_ = false;
};

}  // namespace

ServerProcesses::ServerProcesses(const Domain& domain, const ServerHome& home,
                                 const ServerSettings& settings)
    : domain_(domain), made_by_(getpid()) {
  const std::vector<int32_t> places =
      settings.places.empty() ? claim_all(domain, settings.count) : settings.places;
  try {
    std::vector<std::unique_ptr<Start>> starts;
    std::vector<pid_t> processes;
    std::vector<Started> servers;
    for (int32_t nth = 0; nth < settings.count; ++nth) {
      const int32_t place = places.at(static_cast<size_t>(nth));
      servers.push_back({place, standing(domain.server(place)).generation});
      starts.push_back(std::make_unique<Start>(domain, home, settings, nth, place));
      processes.push_back(static_cast<pid_t>(starts.back()->process()));
    }
    shm::let_read(processes);
    for (const auto& start : starts) start->permit();
    for (size_t nth = 0; nth < starts.size(); ++nth) {
      starts[nth]->await();
      started_.push_back(servers[nth]);
    }
  } catch (...) {
    stop_all();
    if (settings.places.empty())
      release_places(domain, places);
    else
      for (const int32_t place : places) claim_again(domain.server(place));
    throw;
  }
}

ServerProcesses::~ServerProcesses() { stop_all(); }

// A process that is stopped by a signal would not end before it is continued. To kill it loses
// nothing: clients take over what it holds. If a server has died, its place may be another rank's.
void ServerProcesses::stop_all() {
  if (getpid() != made_by_) return;  // a forked child: they are its parent's
  for (const Started& server : started_) stop(domain_, server);
  for (const auto& [place, generation] : started_) {
    ServerState& state = domain_.server(place);
    const uint64_t running = word_of({Life::running, generation});
    const ProcessId process = process_of(state);
    exec::Waiter waiter(exec::pace_of_set_up());
    waiter.until([&] { return shm::observe(state.life) != running; },
                 [&] {
                   if (!waiter.looks_closely() || note_death(state)) return Code::ok;
                   if (process_is_stopped(process)) kill_process(process);
                   if (waiter.stalls())
                     log_line(
                         LogLevel::warning, "has waited %d s for server %d (process %lld) to end",
                         options().stall_seconds, place, static_cast<long long>(process.number));
                   return Code::ok;
                 });
  }
  started_.clear();
}

}  // namespace tutti::rma
