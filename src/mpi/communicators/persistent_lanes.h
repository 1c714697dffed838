// The lanes of the persistent collectives of a communicator over several nodes.
//
// Ranks may start their persistent collectives in different orders (MPI 4.1, section 6.13), and the
// operations of a lane run in one order at all ranks. So each persistent collective has a lane of
// its own, in which its rounds run one after another. The collective call that makes it takes the
// lane, by an agreement of all ranks: MPI lets that call wait. A rank gives the lane back when its
// program frees the request, without asking others. A later call takes a lane again that all ranks
// have given back, and makes new ones if there is none.
//
// The communicator owns the object. A lease keeps its lane, also after the communicator has ended.
// One thread at a time takes; any thread may give back.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/communicators/served_lanes.h"

namespace tutti::mpi {

class PersistentLanes {
 public:
  // One lane of which the holder is the only user at this rank. No operation may be under way in it
  // when the lease ends. A lane that has failed is never used again.
  class Lease {
   public:
    Lease() = default;
    Lease(std::shared_ptr<ServedLanes> lanes, size_t index) : lanes_(std::move(lanes)), at_(index) {
      lanes_->reserve(at_);
    }
    ~Lease() {
      if (lanes_ != nullptr) lanes_->release(at_);
    }
    Lease(Lease&& other) noexcept : lanes_(std::move(other.lanes_)), at_(other.at_) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(lanes_, other.lanes_);
      std::swap(at_, other.at_);
      return *this;
    }

    // Null: no lane.
    const std::shared_ptr<ServedLanes>& lanes() const { return lanes_; }
    size_t index() const { return at_; }

   private:
    std::shared_ptr<ServedLanes> lanes_;
    size_t at_ = 0;
  };

  explicit PersistentLanes(ServedLanes::Making making) : making_(std::move(making)) {}

  // Collective over `over`, a private communicator of the same ranks. `serves`: this rank can use a
  // lane. Without lanes at all ranks if one of them cannot, or if there is no memory for another
  // lane. `communicator` is the program's.
  Lease take(Comm over, Comm communicator, bool serves);
  // The functions of ServedLanes, for all lanes.
  void serve(Comm communicator);
  void decide_by(const select::Table* table);
  void record_sent();

 private:
  ServedLanes::Making making_;
  std::vector<std::shared_ptr<ServedLanes>> made_;
  bool exhausted_ = false;  // no more can be made; the same at all ranks
};

}  // namespace tutti::mpi
