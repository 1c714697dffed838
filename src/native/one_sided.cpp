#include "native/one_sided.h"

#include <cstring>
#include <new>

#include "base/error.h"

namespace tutti::native {
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

}  // namespace

Service::Service(int ranks, const rma::ServerThreads::Settings& servers, const rma::Policy& policy)
    : memory_(zeroed(shape(ranks, servers.count).bytes())),
      domain_(memory_.get(), shape(ranks, servers.count)),
      policy_(policy) {
  shm::store_relaxed(domain_.enabled(), 1);
  if (servers.count > 0) threads_.emplace(domain_, mover_, servers);
}

Services::Services(int ranks, exec::WaitStyle style) : ranks_(ranks), style_(style) {
  all_.push_back(
      std::make_unique<Service>(ranks, rma::ServerThreads::Settings{.count = 0}, rma::Policy{}));
  now_ = all_.back().get();
}

void Services::start(const rma::ServerThreads::Settings& servers, const rma::Policy& policy) {
  const std::lock_guard lock(mutex_);
  if (now().servers() > 0)
    throw Error(Code::invalid_argument,
                "the team has servers already; tutti_servers_stop ends them");
  all_.push_back(std::make_unique<Service>(ranks_, servers, policy));
  now_.store(all_.back().get());
}

void Services::stop() {
  const std::lock_guard lock(mutex_);
  now().stop();
}

int Services::servers() {
  const std::lock_guard lock(mutex_);
  return now().servers();
}

OneSided::OneSided(Services& services, int rank) : services_(services), rank_(rank) {}

rma::Client& OneSided::client() {
  static std::atomic<uint64_t> tags{0};
  Service& now = services_.now();
  if (service_ != &now) [[unlikely]] {
    client_.reset();  // completes what is outstanding
    client_.emplace(now.domain(), rank_, now.mover(), services_.style());
    client_->set_policy(now.policy());
    service_ = &now;
    tag_ = ++tags;
  }
  return *client_;
}

}  // namespace tutti::native
