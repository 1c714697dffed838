#include "mpi/communicators/served_lanes.h"

#include <utility>

#include "mpi/abi/inside.h"
#include "mpi/job/servers.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

std::vector<group::Lanes::Place> places_of(const ServedLanes::Parts& parts) {
  std::vector<group::Lanes::Place> places;
  for (size_t lane = 0; lane < parts.areas.size(); ++lane)
    places.push_back({parts.areas[lane].areas(), parts.nets[lane].get()});
  return places;
}

// Servers call no function of the program, the host's collectives among leaders take all of a
// rank's time, and nothing is recorded in steps.
group::Group::Settings settings_of_lanes(const ServedLanes::Parts& parts,
                                         group::Group::Settings settings) {
  settings.layout = parts.areas.front().layout();
  settings.leaders = nullptr;
  settings.tracer = nullptr;
  settings.hook = {};
  return settings;
}

}  // namespace

ServedLanes::ServedLanes(Parts parts, group::Group::Settings settings)
    : parts_(std::move(parts)), wait_style_(settings.style) {
  lanes_ = std::make_unique<group::Lanes>(settings_of_lanes(parts_, std::move(settings)),
                                          places_of(parts_));
}

ServedLanes::~ServedLanes() {
  take_from_server(*lanes_);
  lanes_.reset();
  const Inside inside;
  if (report::recording()) record_sent();
  parts_.nets.clear();
  host().Comm_free(&parts_.messages);
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
