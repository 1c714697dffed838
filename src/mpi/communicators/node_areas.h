// The areas of the ranks of one node, for a group or a lane of a communicator over several nodes.
//
// On every node the first member takes the areas of the node's members and sends them the place.
// All ranks learn whether every node had memory, and all use areas as large as the smallest, so
// that every rank cuts messages alike. A rank that shares memory with no other has its areas in the
// memory of this process alone. The object gives its share of the memory back when it is destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/host/host.h"
#include "mpi/job/team.h"
#include "shm/layout.h"
#include "shm/segment.h"

namespace tutti::mpi {

class NodeAreas {
 public:
  // Makes so many of them, of one layout, which is that of the smallest at any rank. Collective
  // over the private communicator. `here`: the ranks of it that share memory with this one, `team`
  // the team that they are in (unused if this rank is alone). Empty if some rank has no memory for
  // them or is not willing, or if the host fails; then at all ranks. *willing is this rank's will
  // at first, and then whether all ranks are willing.
  static std::vector<NodeAreas> agree(Comm messages, const std::vector<int32_t>& here,
                                      const std::shared_ptr<Team>& team, size_t count,
                                      bool* willing);
  NodeAreas() = default;
  ~NodeAreas();
  NodeAreas(NodeAreas&& other) noexcept { swap(other); }
  NodeAreas& operator=(NodeAreas&& other) noexcept {
    swap(other);
    return *this;
  }

  // The start of the areas, zeroed except for the slots; null: none.
  std::byte* areas() const { return areas_; }
  const shm::Layout& layout() const { return layout_; }
  // The team's segment that they are in; null if they are in this process's memory alone.
  shm::Segment* segment() const { return segment_; }
  uint32_t page() const { return page_; }

 private:
  struct Free {
    void operator()(std::byte* area) const;
  };
  void swap(NodeAreas& other) noexcept;
  bool take(const std::vector<int32_t>& here, const AreaGrant& grant);
  void forgo(const std::vector<int32_t>& here, int rank);
  void ready(const std::vector<int32_t>& here, int rank, const AreaGrant& grant);

  std::shared_ptr<Team> team_;  // owns the segment
  std::byte* areas_ = nullptr;
  shm::Layout layout_;
  shm::Segment* segment_ = nullptr;
  uint32_t page_ = 0;
  std::unique_ptr<std::byte, Free> own_;
};

}  // namespace tutti::mpi
