#include "api/one_sided.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text_or_short.h"
#include "api/serving.h"
#include "rma/signal.h"

namespace tutti::api {
namespace {

// Each queue has so many entries.
constexpr size_t entries = 128;

std::byte* zeroed(size_t bytes) {
  auto* const memory = new (std::align_val_t{line_size}) std::byte[bytes];
  std::memset(memory, 0, bytes);
  return memory;
}

rma::DomainShape shape(int ranks, int servers) {
  return {.clients = ranks, .servers = servers, .entries = entries};
}

uint64_t new_tag() {
  static std::atomic<uint64_t> tags{0};
  return ++tags;
}

}  // namespace

Service::Service(int ranks, const rma::ServerSettings& servers, uint64_t least_bytes)
    : memory_(zeroed(shape(ranks, servers.count).bytes())),
      domain_(memory_.get(), shape(ranks, servers.count)),
      least_bytes_(least_bytes) {
  shm::store_relaxed(domain_.enabled(), 1);
  if (servers.count > 0) threads_.emplace(domain_, mover_, servers);
}

Services::Services(int ranks, exec::WaitStyle style) : ranks_(ranks), style_(style) {
  all_.push_back(std::make_unique<Service>(ranks, rma::ServerSettings{.count = 0}, UINT64_MAX));
  now_ = all_.back().get();
}

void Services::start(const rma::ServerSettings& servers, uint64_t least_bytes) {
  const std::lock_guard lock(mutex_);
  if (now().servers() > 0)
    throw Error(Code::invalid_argument,
                "the team has servers already; tutti_servers_stop ends them");
  all_.push_back(std::make_unique<Service>(ranks_, servers, least_bytes));
  now_.store(all_.back().get());
  tell();
}

void Services::stop() {
  const std::lock_guard lock(mutex_);
  now().stop();
  tell();
}

void Services::enable(bool enabled) {
  const std::lock_guard lock(mutex_);
  shm::store_relaxed(now().domain().enabled(), enabled ? 1 : 0);
  tell();
}

// A rank that still has an older service finds the new one by its next transfer of so many bytes.
void Services::tell() {
  const bool any = now().servers() > 0 && shm::load_relaxed(now().domain().enabled()) != 0;
  shm::store_relaxed(served_from_, any ? now().least_bytes() : UINT64_MAX);
}

int Services::servers() {
  const std::lock_guard lock(mutex_);
  return now().servers();
}

OneSided::OneSided(Services& services, int rank)
    : peers_(&services.memory()),
      mask_(0),
      served_from_(&services.served_from()),
      services_(&services),
      rank_(rank),
      style_(services.style()) {}

OneSided::OneSided(Processes processes)
    : mask_(SIZE_MAX),
      served_from_(processes.served_from),
      own_peers_(std::move(processes.peers)),
      targets_(std::move(processes.targets)),
      process_client_(std::move(processes.client)),
      crew_(processes.crew),
      own_heap_(processes.heap),
      progress_(processes.progress),
      style_(processes.style),
      find_ended_(std::move(processes.find_ended)) {
  peers_ = own_peers_.data();
  tag_ = new_tag();
}

rma::Client& OneSided::client() {
  if (services_ == nullptr) {
    require_begun();
    const uint64_t least = shm::load_relaxed(*served_from_);
    if (policy_is_for_ != least) [[unlikely]] {
      crew_.servers = std::max(1, process_client_->running_servers());
      process_client_->set_policy(policy_for(least, crew_));
      policy_is_for_ = least;
    }
    return *process_client_;
  }
  Service& now = services_->now();
  if (service_ != &now) [[unlikely]] {
    client_.reset();  // completes what is outstanding
    client_.emplace(now.domain(), rank_, now.mover(), services_->style());
    client_->set_policy(policy_for(now.least_bytes(), now.crew()));
    service_ = &now;
    tag_ = new_tag();
  }
  return *client_;
}

void OneSided::require_begun() const {
  if (services_ == nullptr && process_client_ == nullptr)
    throw Error(Code::unavailable,
                "the group has no one-sided transfers any more: MPI_Finalize was called, or this "
                "process was forked from the rank");
}

rma::Outcome OneSided::wait_for_signal(const shm::Word& signal, uint64_t least) const {
  if (far_ != nullptr) return far_->wait_for_signal(signal, least);
  const auto has_come = [&] { return shm::observe(signal) >= least; };
  if (has_come()) return {};
  rma::Outcome outcome;
  exec::Waiter waiter(exec::pace_between_calls(style_), progress_);
  waiter.until(has_come, [&] {
    const std::string ended = waiter.looks_closely() && find_ended_ ? find_ended_() : "";
    if (!ended.empty() && !has_come()) {
      outcome = {Code::dead_peer,
                 ended + ", while this rank waited " + rma::describe_signal(signal, least)};
      return outcome.code;
    }
    if (!waiter.stalls()) return Code::ok;
    const std::string what = text_or_short([&] { return rma::describe_signal(signal, least); });
    log_line(LogLevel::warning, "has waited %d s %s", options().stall_seconds, what.c_str());
    if (options().stall != StallAction::abort_job) return Code::ok;
    outcome = {Code::dead_peer, "stalled " + what + "; ended because TUTTI_STALL=abort"};
    return outcome.code;
  });
  return outcome;
}

size_t OneSided::most_outstanding() const {
  if (services_ != nullptr) return services_->now().domain().shape().entries;
  return process_client_ == nullptr ? 0 : process_client_->most_outstanding();
}

namespace {

const shm::Word no_servers{UINT64_MAX};

}  // namespace

void OneSided::end() {
  if (process_client_ == nullptr) return;
  if (far_ != nullptr) far_->wait_for_all();
  far_ = nullptr;
  process_client_->wait_for_all();
  add_to(ended_);
  ended_.own -= copied_;  // add_to adds it again
  process_client_.reset();
  for (rma::Peer& peer : own_peers_) peer = {};
  served_from_ = &no_servers;
}

// The queues are the parent's, so the client is left as it is.
void OneSided::become_alone() {
  static_cast<void>(process_client_.release());
  far_ = nullptr;
  rma::forget_others(own_peers_);
  served_from_ = &no_servers;
}

void OneSided::add_to(Counts& counts) const {
  const rma::Client* const client = process_client_.get();
  const rma::Client::Counts now = client == nullptr ? rma::Client::Counts{} : client->counts();
  counts.own += ended_.own + copied_ + now.own;
  counts.handed += ended_.handed + now.handed;
  counts.taken_back += ended_.taken_back + now.taken_back;
}

}  // namespace tutti::api
