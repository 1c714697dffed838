// The lanes of one rank of a group (exec/lane.h): collectives that outlive their call, which
// servers and waiting ranks drive.
//
// Operations are issued in one of two ways. Either the k-th goes to lane k modulo their number, and
// all ranks issue the same operations in the same order; or each names its lane, and all ranks
// issue the same operations in the same order to each lane. Any thread may drive lanes; one at a
// time may prepare and issue. The creator owns the memory and the nets of the lanes, which outlive
// the object. All issued operations have ended when it is destroyed, and no thread drives it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/lane.h"
#include "exec/net.h"
#include "group/group.h"

namespace tutti::group {

class Lanes {
 public:
  // How many lanes a group has: so many operations run at once.
  static constexpr int count = 4;

  // Each lane's own members of Group::Settings.
  struct Place {
    std::byte* areas = nullptr;
    exec::Net* net = nullptr;
    uint64_t first_epoch = 0;
  };
  // An operation that has been issued, and the lane that it is in.
  struct Issued {
    std::shared_ptr<exec::LaneOperation> operation;
    exec::Lane* lane = nullptr;
  };

  // `settings` are those of a group; the areas and nets of the places take the place of theirs.
  Lanes(const Group::Settings& settings, const std::vector<Place>& places);

  // Chooses and binds the program of a call, whose combination has a kernel. The result may be
  // issued any number of times, as long as its buffers, its combination and the arrays of its parts
  // last. Throws as Group::prepare.
  Group::Prepared prepare(const Call& call) { return group_.prepare(call); }
  // Binds a program of the caller's own, which has no plan: that of a collective among neighbours
  // (records/neighbour_messages.h). It may be used for any number of calls.
  std::shared_ptr<const exec::BoundProgram> bind(std::shared_ptr<const plan::Program> own) const {
    return group_.bind(std::move(own));
  }
  // The same as prepare(call) with such a program. The call has parts, one for each block of the
  // rank's buffers, and `longest` is the longest of them. Throws nothing.
  static Group::Prepared prepare(std::shared_ptr<const exec::BoundProgram> bound, const Call& call);
  // Issues a call to the next lane, or to this one. Waits for nothing. Throws bad_alloc, and has
  // then issued nothing. The result has no operation if the call has no data. While calls are
  // issued to different lanes of the object by number, several threads may do it at a time.
  Issued issue(const Group::Prepared& prepared);
  Issued issue(size_t lane, const Group::Prepared& prepared);
  Issued issue(const Call& call) { return issue(prepare(call)); }
  // Does the same as Group's function, for calls that are prepared from now on.
  void decide_by(const select::Table* table) { group_.decide_by(table); }
  // True if an operation of the lane has failed. Call it while none is under way in it.
  bool has_failed(size_t lane) const { return !lanes_[lane]->channel().failure().empty(); }

  // A turn of each lane. Returns the best of their results: moved, waits, taken or idle.
  exec::Lane::Turn drive_for_others();
  bool is_idle() const;
  // The time at which drive_for_others() should be called next: the earliest that a lane which is
  // not idle asks for.
  exec::Lane::Clock::time_point next_look() const;

 private:
  // Describes the net of a lane. It carries nothing, because the nets belong to those who drive the
  // lanes.
  class Described final : public exec::Net {
   public:
    explicit Described(const exec::Net& lanes) : lanes_(lanes) {}
    void reserve(size_t) override {}
    size_t prompt() const override { return lanes_.prompt(); }
    bool is_far(int rank) const override { return lanes_.is_far(rank); }
    bool receive(size_t, void*, size_t, int, uint64_t) override { return false; }
    bool send(size_t, const void*, size_t, int, uint64_t) override { return false; }
    State test(size_t) override { return State::failed; }
    std::string failure() const override { return "the group of lanes sends no messages"; }

   private:
    const exec::Net& lanes_;
  };

  std::optional<Described> described_;  // unset on one node
  Group group_;                         // chooses and binds programs, and runs nothing
  std::vector<std::unique_ptr<exec::Lane>> lanes_;
  uint64_t issued_ = 0;
};

}  // namespace tutti::group
