// Groups of thread ranks on several nodes, for tests. Only ranks of one node share areas.
#pragma once

#include <memory>
#include <vector>

#include "exec/test_mailboxes.h"
#include "group/test_ranks.h"

namespace tutti::group::test {

// Runs `body` as with_groups does, with one rank for each entry of `nodes`, which is the number of
// the rank's node. `leaders` has an entry for each rank, for collectives in which the nodes'
// leaders use the host MPI; empty: there are none. Returns how many messages each rank sent;
// `most_leaving` gets Box::most_leaving of each rank.
inline std::vector<int64_t> with_nodes(const std::vector<int32_t>& nodes,
                                       const select::Overrides& overrides,
                                       const std::function<void(Group&)>& body,
                                       size_t slot_bytes = 64 * 1024,
                                       const placement::Levels& levels = {}, bool check = false,
                                       const std::vector<Leaders*>& leaders = {},
                                       trace::Tracer* tracer = nullptr,
                                       std::vector<size_t>* most_leaving = nullptr) {
  struct Free {
    void operator()(std::byte* areas) const {
      ::operator delete(areas, std::align_val_t{shm::page_size});
    }
  };
  const auto ranks = static_cast<int32_t>(nodes.size());
  const placement::Nodes apart(nodes);
  exec::Mailboxes mailboxes;
  std::vector<std::unique_ptr<exec::Mailboxes::Box>> boxes;
  std::map<int32_t, std::unique_ptr<std::byte, Free>> areas;  // indexed by node
  std::vector<std::unique_ptr<Group>> groups;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    const std::vector<int32_t> here = apart.members(rank, ranks);
    Group::Settings settings;
    settings.layout = shm::Layout::fit(static_cast<int32_t>(here.size()), slot_bytes);
    std::unique_ptr<std::byte, Free>& of_node = areas[here.front()];
    if (of_node == nullptr) {
      of_node.reset(static_cast<std::byte*>(
          ::operator new(settings.layout.bytes(), std::align_val_t{shm::page_size})));
      std::memset(of_node.get(), 0, settings.layout.bytes());
    }
    settings.areas = of_node.get();
    settings.rank = rank;
    settings.ranks = ranks;
    settings.nodes = apart;
    boxes.push_back(std::make_unique<exec::Mailboxes::Box>(mailboxes, rank));
    settings.net = boxes.back().get();
    if (!leaders.empty()) settings.leaders = leaders[static_cast<size_t>(rank)];
    settings.style = exec::WaitStyle::yield;
    settings.overrides = overrides;
    settings.levels = levels;
    settings.check = check;
    settings.tracer = tracer;
    groups.push_back(std::make_unique<Group>(settings));
  }
  std::vector<std::thread> threads;
  for (const auto& group : groups) threads.emplace_back([&body, &group] { body(*group); });
  for (std::thread& thread : threads) thread.join();
  std::vector<int64_t> sent;
  for (const auto& box : boxes) sent.push_back(box->sent());
  if (most_leaving != nullptr)
    for (const auto& box : boxes) most_leaving->push_back(box->most_leaving());
  return sent;
}

}  // namespace tutti::group::test
