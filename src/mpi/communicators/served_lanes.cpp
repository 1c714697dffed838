#include "mpi/communicators/served_lanes.h"

#include <utility>

#include "records/neighbour_messages.h"
#include "mpi/host/inside.h"
#include "mpi/communicators/topology.h"
#include "mpi/job/servers.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

// Servers call no function of the program, and the host's collectives among leaders take all of a
// rank's time.
group::Group::Settings settings_of_lanes(const NodeAreas& areas, group::Group::Settings settings) {
  settings.layout = areas.layout();
  settings.leaders = nullptr;
  settings.exchange = nullptr;
  settings.hook = {};
  return settings;
}

}  // namespace

int largest_tag() {
  void* value = nullptr;
  int found = 0;
  host().Comm_get_attr(host().comm_world, abi.tag_ub, &value, &found);
  return found != 0 ? *static_cast<int*>(value) : 32767;  // the least that MPI permits
}

std::shared_ptr<ServedLanes> ServedLanes::make(Comm over, const Making& making,
                                               std::string* why_not) {
  const int rank = making.settings.rank;
  constexpr auto count = static_cast<size_t>(group::Lanes::count);
  Parts parts;
  parts.team = making.team;
  *why_not = "the host makes no communicator for their messages";
  parts.messages = PrivateCommunicator::split(over, 0, rank);
  if (!parts.messages) return nullptr;
  parts.messages.return_errors();
  bool has_server = start_server();
  parts.areas = NodeAreas::agree(parts.messages.get(), making.here, parts.team, count, &has_server);
  if (parts.areas.empty()) {
    *why_not = has_server ? "there is no memory for their lanes (TUTTI_SHM_BYTES_PER_RANK)"
                          : "a rank has no server";
    return nullptr;
  }
  const int tags = largest_tag() / group::Lanes::count;
  for (size_t lane = 0; lane < count; ++lane)
    parts.nets.push_back(std::make_unique<net::PointToPoint>(
        parts.messages.get(), net::Tags{static_cast<int>(lane) * tags, tags}, making.machine_nodes,
        rank));
  return std::shared_ptr<ServedLanes>(new ServedLanes(std::move(parts), making));
}

std::vector<group::Lanes::Place> ServedLanes::places_of(const Parts& parts, size_t first_lane) {
  std::vector<group::Lanes::Place> places;
  for (size_t lane = 0; lane < parts.areas.size(); ++lane)
    places.push_back({parts.areas[lane].areas(), parts.nets[lane].get(),
                      trace::first_epoch_of_lane(first_lane + lane)});
  return places;
}

ServedLanes::ServedLanes(Parts parts, const Making& making)
    : parts_(std::move(parts)),
      rank_(making.settings.rank),
      ranks_(making.settings.ranks),
      wait_style_(making.settings.style) {
  lanes_ = std::make_unique<group::Lanes>(settings_of_lanes(parts_.areas.front(), making.settings),
                                          places_of(parts_, making.first_lane));
}

ServedLanes::~ServedLanes() {
  take_from_server(*lanes_);
  lanes_.reset();
  const Inside inside;
  if (report::recording()) record_sent();
  parts_.nets.clear();
}

const ServedLanes::Neighbours* ServedLanes::neighbours() {
  if (neighbours_ != nullptr) return neighbours_.get();
  const Inside inside;
  auto own = neighbourhood_of(communicator());
  if (!own) return nullptr;
  const auto bound = [&](plan::Collective collective) {
    return lanes_->bind(std::make_shared<const plan::Program>(
        records::neighbours_by_messages(collective, rank_, ranks_, *own)));
  };
  auto made = std::make_unique<Neighbours>();
  made->allgather = bound(plan::Collective::allgather);
  made->alltoall = bound(plan::Collective::alltoall);
  made->fault = records::edges_with_one_end(rank_, *own);
  made->own = std::move(*own);
  neighbours_ = std::move(made);
  return neighbours_.get();
}

void ServedLanes::record_sent() {
  if (std::exchange(recorded_, true)) return;
  for (const auto& net : parts_.nets) {
    const net::PointToPoint::Sent& far = net->sent_between_nodes();
    const net::PointToPoint::Sent& near = net->sent_within_node();
    report::record_messages({far.messages, far.bytes}, {near.messages, near.bytes}, {});
  }
}

}  // namespace tutti::mpi
