#include "group/lanes.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tutti::group {
namespace {

Group::Settings at(const Lanes::Place& place, Group::Settings settings) {
  settings.areas = place.areas;
  settings.net = place.net;
  return settings;
}

}  // namespace

Lanes::Lanes(const Group::Settings& settings, const std::vector<Place>& places)
    : described_(places.front().net == nullptr
                     ? std::nullopt
                     : std::optional<Described>(std::in_place, *places.front().net)),
      group_(at({places.front().areas, described_ ? &*described_ : nullptr}, settings)) {
  for (const Place& place : places)
    lanes_.push_back(std::make_unique<exec::Lane>(place.areas, settings.layout, settings.rank,
                                                  channel_settings(at(place, settings))));
}

Lanes::Issued Lanes::issue(const Call& call, std::vector<std::byte> kept) {
  auto made = std::make_shared<exec::LaneOperation>();
  Group::Prepared prepared = group_.prepare(call);
  made->bound = std::move(prepared.bound);
  made->operation = prepared.operation;
  made->kept = std::move(kept);
  if (call.combine != nullptr) {
    made->combine = *call.combine;
    made->operation.combine = &made->combine;
  }
  if (prepared.alias) {
    const auto* const in = static_cast<const std::byte*>(made->operation.in);
    const bool parts = plan::parted_in(call.collective);
    made->copied.assign(
        in, in + made->operation.bytes * (parts ? static_cast<size_t>(group_.ranks()) : 1));
    made->operation.in = made->copied.data();
  }
  exec::Lane& lane = *lanes_[issued_ % lanes_.size()];
  lane.issue(made);
  ++issued_;
  return {std::move(made), &lane};
}

exec::Lane::Turn Lanes::drive_for_others() {
  using Turn = exec::Lane::Turn;
  Turn best = Turn::idle;
  for (const auto& lane : lanes_) {
    const Turn turn = lane->drive_for_others();
    if (turn == Turn::moved || best == Turn::idle) best = turn;
  }
  return best;
}

bool Lanes::is_idle() const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](const auto& lane) { return lane->is_idle(); });
}

exec::Lane::Clock::time_point Lanes::next_look() const {
  auto earliest = exec::Lane::Clock::time_point::max();
  for (const auto& lane : lanes_)
    if (!lane->is_idle()) earliest = std::min(earliest, lane->next_look());
  return earliest;
}

}  // namespace tutti::group
