#include "group/lanes.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace tutti::group {
namespace {

Group::Settings at(const Lanes::Place& place, Group::Settings settings) {
  settings.areas = place.areas;
  settings.net = place.net;
  settings.first_epoch = place.first_epoch;
  return settings;
}

// Copies the parts of `in`, because results overwrite them.
void set_aside(exec::LaneOperation& made, size_t count) {
  exec::Operation& operation = made.operation;
  const auto* const in = static_cast<const std::byte*>(operation.in);
  if (operation.v_parts == nullptr) {
    made.copied.assign(in, in + operation.bytes * count);
  } else {
    exec::Parts& parts = made.parts.in;
    made.copied.resize(std::accumulate(parts.bytes, parts.bytes + count, size_t{0}));
    made.copied_at.resize(count);
    size_t next = 0;
    for (size_t part = 0; part < count; ++part) {
      made.copied_at[part] = static_cast<ptrdiff_t>(next);
      if (parts.bytes[part] == 0) continue;
      std::memcpy(made.copied.data() + next, in + parts.at[part], parts.bytes[part]);
      next += parts.bytes[part];
    }
    parts.at = made.copied_at.data();
  }
  operation.in = made.copied.data();
}

}  // namespace

Lanes::Lanes(const Group::Settings& settings, const std::vector<Place>& places)
    : described_(places.front().net == nullptr
                     ? std::nullopt
                     : std::optional<Described>(std::in_place, *places.front().net)),
      group_(at({places.front().areas, described_ ? &*described_ : nullptr, 0}, settings)) {
  for (const Place& place : places)
    lanes_.push_back(std::make_unique<exec::Lane>(place.areas, settings.layout, settings.rank,
                                                  channel_settings(at(place, settings))));
}

// The operation is in one segment at all ranks, whatever their lengths, because it has no slots.
Group::Prepared Lanes::prepare(std::shared_ptr<const exec::BoundProgram> bound, const Call& call) {
  Group::Prepared prepared;
  prepared.operation = {call.in, call.out, call.longest, call.longest, nullptr, call.longest};
  prepared.operation.call =
      exec::call_signature(call.collective, exec::bytes_among_neighbours, call.root);
  prepared.parts = exec::VParts{call.parts->in, call.parts->out};
  prepared.bound = std::move(bound);
  return prepared;
}

Lanes::Issued Lanes::issue(const Group::Prepared& prepared) {
  if (prepared.bound == nullptr) return {};
  const Issued issued = issue(issued_ % lanes_.size(), prepared);
  ++issued_;
  return issued;
}

Lanes::Issued Lanes::issue(size_t lane, const Group::Prepared& prepared) {
  if (prepared.bound == nullptr) return {};
  auto made = std::make_shared<exec::LaneOperation>();
  made->bound = prepared.bound;
  made->operation = prepared.operation;
  if (prepared.operation.combine != nullptr) {
    made->combine = *prepared.operation.combine;
    made->operation.combine = &made->combine;
  }
  if (prepared.parts) {
    made->parts = *prepared.parts;
    made->operation.v_parts = &made->parts;
  }
  if (prepared.alias) {
    const bool parted = plan::parted_in(prepared.bound->program->collective);
    set_aside(*made, parted ? static_cast<size_t>(group_.ranks()) : 1);
  }
  lanes_[lane]->issue(made);
  return {std::move(made), lanes_[lane].get()};
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
