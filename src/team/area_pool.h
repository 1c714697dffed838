// The shared memory of a team's communicators: pieces of the node's segment, and of further
// segments.
//
// A communicator takes a piece, in which each of its ranks has an area. When the node's segment has
// none left, a member creates a further segment, from which its later communicators take, and the
// others attach to it. Any thread may call; the functions lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "shm/layout.h"
#include "shm/segment.h"

namespace tutti::team {

// Zeroes all of the areas except the slots, which no rank reads before they are written.
void clear_areas(std::byte* areas, const shm::Layout& layout);
// Touches every page of an area, so that new pages are allocated on the numa region of the calling
// rank. The rank that owns the area calls it, because it writes there. The contents do not change:
// if the memory was used before, rank 0 has already zeroed the areas.
void touch_area(std::byte* area, size_t bytes);

// The place of the areas of a communicator's ranks in shared memory. Rank 0 tells the others, as
// plain bytes.
struct AreaGrant {
  bool granted = false;      // false: shared memory has run out
  bool node_segment = true;  // in the node's segment, to which all members have attached
  bool fresh = false;        // never used before, so all zero
  bool touch = false;        // every rank touches its own area before any rank reads it
  uint32_t page = 0;
  uint32_t missing_types = 0;  // the types that rank 0's host cannot reduce (mpi/host/types.h)
  uint64_t bytes_per_rank = 0;
  uint64_t identity = 0;  // the identity of the communicator in traces
  uint64_t lineage =
      0;  // for the lineage of a communicator that has none (mpi/communicators/lineage.h)
  uint64_t service = 0;     // the identity of the communicator's Service
  bool taken_over = false;  // a parked Service serves the communicator; no further member is set
  bool postponed = false;   // set-up waits for the usual number of calls
  bool refused = false;     // because the host refuses rank 0's call; else for want of memory
  shm::Segment::Location segment{};
};

class AreaPool {
 public:
  // `node` is the segment to which all members have attached; of its bytes the team has taken
  // `taken`. `touch`: members may run on several numa regions.
  AreaPool(shm::Segment& node, int members, size_t taken, bool touch)
      : node_(node), members_(members), taken_(taken), touch_(touch) {}
  AreaPool(const AreaPool&) = delete;

  // Takes a piece of shared memory for a new communicator of this many ranks, whose rank 0 calls
  // it. The result is not `granted` if shared memory has run out. Throws no Error.
  AreaGrant grant(int ranks);
  // The segment of a grant. This process attaches to it if it has not yet; null if it cannot.
  shm::Segment* segment(const AreaGrant& grant);

 private:
  size_t share_of(int ranks) const;
  std::optional<AreaGrant> take(shm::Segment& segment, int ranks, size_t share);

  shm::Segment& node_;
  const int members_;
  const size_t taken_;
  const bool touch_;
  std::mutex mutex_;                                     // guards all below
  std::vector<std::unique_ptr<shm::Segment>> made_;      // further segments of this process
  std::vector<std::unique_ptr<shm::Segment>> attached_;  // further segments of other members
  size_t further_bytes_ = 0;                             // bytes of made_
};

}  // namespace tutti::team
