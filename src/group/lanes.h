// The lanes of one rank of a group (exec/lane.h): collectives that outlive their call, which
// servers and waiting ranks drive.
//
// The k-th operation that is issued goes to lane k modulo their number, so all ranks issue the same
// operations in the same order. Any thread may drive lanes; one at a time may issue. The creator
// owns the memory and the nets of the lanes, which outlive the object. All issued operations have
// ended when it is destroyed, and no thread drives it.
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

  // What each lane has of its own, as Group::Settings.
  struct Place {
    std::byte* areas = nullptr;
    exec::Net* net = nullptr;
  };
  // An operation that has been issued, and the lane that it is in.
  struct Issued {
    std::shared_ptr<exec::LaneOperation> operation;
    exec::Lane* lane = nullptr;
  };

  // `settings` are those of a group; the areas and nets of the places take the place of theirs.
  Lanes(const Group::Settings& settings, const std::vector<Place>& places);

  // Issues a call, which is no v-collective, and whose combination has a kernel. Waits for nothing.
  // `kept` is memory to which the call's buffers may point, and which the operation keeps. Throws
  // an Error at all ranks alike, or bad_alloc at this one alone; nothing is issued then.
  Issued issue(const Call& call, std::vector<std::byte> kept = {});

  // A turn of each lane. Returns the best of their results: moved, waits, taken or idle.
  exec::Lane::Turn drive_for_others();
  bool is_idle() const;
  // When drive_for_others() should be called next: the earliest time that a lane asks for which is
  // not idle.
  exec::Lane::Clock::time_point next_look() const;

 private:
  // What a lane's net says of itself. It carries nothing, because the nets belong to those who
  // drive the lanes.
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
