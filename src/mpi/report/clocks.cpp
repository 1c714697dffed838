#include "mpi/report/clocks.h"

#include <algorithm>

#include "mpi/host/private_communicator.h"
#include "mpi/host/ranks.h"

namespace tutti::mpi {
namespace {

constexpr int round_trips = 30;  // with each node; the first ones set up the connection

Reading ask(Messages& messages, int leader) {
  Reading best;
  best.error = UINT64_MAX;
  for (int i = 0; i < round_trips; ++i) {
    uint64_t theirs = 0;
    const uint64_t sent = trace::ticks();
    messages.send(&theirs, sizeof theirs, leader);
    messages.receive(&theirs, sizeof theirs, leader);
    const uint64_t half = (trace::ticks() - sent) / 2;
    if (half < best.error) best = {theirs, sent + half, half};
  }
  return best;
}

void answer(Messages& messages) {
  for (int i = 0; i < round_trips; ++i) {
    uint64_t mine = 0;
    messages.receive(&mine, sizeof mine, 0);
    mine = trace::ticks();
    messages.send(&mine, sizeof mine, 0);
  }
}

}  // namespace

Clocks::Clocks(Comm communicator) : rank_(rank_in(communicator)), ranks_(ranks_in(communicator)) {
  find_nodes(communicator);
}

void Clocks::find_nodes(Comm communicator) {
  const Host& mpi = host();
  int leader = rank_;
  mpi.Bcast(&leader, sizeof leader, mpi.type_byte, 0,
            PrivateCommunicator::split_by_node(communicator, rank_).get());
  const std::vector<int> leader_of = gather(leader, ranks_, communicator);
  leaders_ = leader_of;
  std::sort(leaders_.begin(), leaders_.end());
  leaders_.erase(std::unique(leaders_.begin(), leaders_.end()), leaders_.end());
  for (const int its : leader_of)
    node_of_.push_back(static_cast<int>(std::lower_bound(leaders_.begin(), leaders_.end(), its) -
                                        leaders_.begin()));
}

void Clocks::read(Messages& messages) {
  if (rank_ != 0) {
    if (leaders_[static_cast<size_t>(node_of(rank_))] == rank_) answer(messages);
    return;
  }
  moments_.push_back(moments_.empty() ? trace::now_by_both()
                                      : trace::later_by_both(moments_.front()));
  auto& readings = readings_.emplace_back();
  for (const int leader : leaders_)
    readings.push_back(leader == 0 ? Reading{moments_.back().ticks, moments_.back().ticks, 0}
                                   : ask(messages, leader));
}

trace::Anchor Clocks::anchor(int node, int reading) const {
  const trace::Moment& first = moments_.front();
  const trace::Moment& last = moments_.back();
  const double nanoseconds_per_tick = static_cast<double>(last.nanoseconds - first.nanoseconds) /
                                      static_cast<double>(last.ticks - first.ticks);
  const Reading& read = readings_[static_cast<size_t>(reading)][static_cast<size_t>(node)];
  return {read.node_ticks, static_cast<double>(read.ticks - first.ticks) * nanoseconds_per_tick,
          static_cast<double>(read.error) * nanoseconds_per_tick};
}

}  // namespace tutti::mpi
