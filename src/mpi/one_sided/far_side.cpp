#include "mpi/one_sided/far_side.h"

#include <algorithm>

#include "base/options.h"
#include "mpi/host/interfaces.h"
#include "api/serving.h"
#include "rma/saturation.h"
#include "shm/process_heap.h"

namespace tutti::mpi {

int FarSide::most_groups(int members) {
  return options().servers.count == 0 ? 0 : std::clamp(32 / members, 2, 16);
}

std::vector<rma::Endpoint*> FarSide::endpoints() const {
  return endpoints_ == nullptr ? std::vector<rma::Endpoint*>() : endpoints_->all();
}

void FarSide::hand_over_idle_ones() {
  if (endpoints_ != nullptr) endpoints_->hand_over_idle_ones();
}

std::unique_ptr<rma::Handing> FarSide::handing(const rma::Domain& domain, int first_client,
                                               const rma::ServerRange& servers, int* place) {
  *place = -1;
  if (endpoints_ == nullptr || !free_.any()) return nullptr;
  *place = free_.take();
  const int client = first_client + *place * members_;
  // The clients of a row of places, one of each process, come into use together.
  const auto in_use = static_cast<uint64_t>((client / members_ + 1) * members_);
  if (shm::load_relaxed(domain.clients_in_use()) < in_use)
    shm::publish(domain.clients_in_use(), in_use);
  rma::Handing::Settings settings;
  settings.servers = servers;
  const std::optional<rma::SaturationMap>& map = api::saturation_maps().between_nodes;
  if (map && !map->served.empty() && !policy_) {
    const int domains = domain.shape().servers / servers.count;
    policy_ = rma::policy_between_nodes(*map, static_cast<size_t>(members_),
                                        static_cast<size_t>(options().servers.count * domains));
  }
  if (policy_) settings.policy = &*policy_;
  if (const auto* const heap = shm::process_heap(); heap != nullptr)
    settings.heap = {reinterpret_cast<uint64_t>(heap->base()), heap->bytes()};
  return std::make_unique<rma::Handing>(domain, client, settings);
}

void FarSide::record(report::TransfersBetweenNodes& far) const {
  if (endpoints_ == nullptr) return;
  for (const rma::Endpoint* const endpoint : endpoints_->all())
    far.by_servers += endpoint->answered();
  report::record_interfaces(interfaces_of_host());
}

void FarSide::leave() {
  if (endpoints_ != nullptr) endpoints_->leave();
}

}  // namespace tutti::mpi
