#include "plan/elidable_copies.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tutti::plan {

bool could_offer(const Plan& staged, const Transfer& transfer) {
  if (!has_data(staged.collective) || transfer.kind != TransferKind::copy) return false;
  const Region& src = transfer.src.front();
  const int32_t executor = transfer.executor();
  return transfer.dst.buffer == Buffer::tmp && transfer.dst.rank == executor &&
         src.buffer != Buffer::tmp && src.rank == executor;
}

namespace {

// True for a copy from a rank's `in` to the same place of its `out`. In place it does nothing, and
// otherwise it does not change `in`, so it conflicts only with reads of `out`.
bool leaves_as_it_is(const Transfer& transfer) {
  const Region& src = transfer.src.front();
  return transfer.kind == TransferKind::copy && src.buffer == Buffer::in &&
         src.rank == transfer.dst.rank && src.first == transfer.dst.first &&
         src.count == transfer.dst.count && src.stride == transfer.dst.stride;
}

// Returns the last transfer that waits for each transfer.
LargeVector<int32_t> last_uses(const Dependences& dependences) {
  LargeVector<int32_t> last(dependences.waits.size(), -1);
  for (const Lists* lists : {&dependences.waits, &dependences.arrivals}) {
    for (size_t i = 0; i < lists->size(); ++i) {
      for (const int32_t earlier : (*lists)[i]) {
        if (earlier >= 0) last[earlier] = std::max(last[earlier], static_cast<int32_t>(i));
      }
    }
  }
  return last;
}

}  // namespace

ElidableCopyFinder::ElidableCopyFinder(const Plan& staged, bool pairs, const Slice* slice)
    : staged_(staged),
      pairs_(pairs),
      slice_(slice),
      readers_(staged.transfers.size()),
      read_before_(staged.transfers.size(), -1),
      read_(staged, BlockTable<Chains::Head>::Aliasing::user_buffers_are_one) {
  found_.copies.resize(staged.transfers.size());
  found_.in_place.assign(static_cast<size_t>(staged.ranks), true);
  found_.returns.resize(static_cast<size_t>(staged.ranks));
  find_readers();
}

void ElidableCopyFinder::find_readers() {
  BlockTable<Held> table(staged_, BlockTable<Held>::Aliasing::tmp_alone);
  for (int32_t i = 0; i < count(); ++i) {
    const Transfer& transfer = staged_.transfers[i];
    for (const Region& src : transfer.src) {
      if (src.buffer == Buffer::tmp) note_read(table, src, i);
    }
    if (transfer.dst.buffer != Buffer::tmp) continue;
    const bool could = could_offer(staged_, transfer);
    found_.copies[i] = could;
    for (int32_t k = 0; k < transfer.dst.count; ++k) {
      Held& held =
          table.at(transfer.dst.rank, Buffer::tmp, transfer.dst.first + k * transfer.dst.stride);
      held = could ? Held{i, transfer.src.front().first + k * transfer.src.front().stride} : Held{};
    }
  }
  for (int32_t i = 0; i < count(); ++i) {
    if (readers_[i].empty() || (slice_ != nullptr && slice_->needed[i])) found_.copies[i] = false;
  }
  if (!pairs_) return;
  found_.any = slice_ != nullptr ? slice_->any_elidable
                                 : std::find(found_.copies.begin(), found_.copies.end(), true) !=
                                       found_.copies.end();
}

// True if several ranks beside the owner read through the copy.
bool ElidableCopyFinder::read_by_several(int32_t copy) const {
  if (slice_ != nullptr) return slice_->read_by_several[copy];
  const int32_t owner = staged_.transfers[copy].executor();
  int32_t other = owner;
  return !chains_.all_of(readers_[copy], [&](int32_t reader) {
    const int32_t executor = staged_.transfers[reader].executor();
    if (other == owner) other = executor;
    return executor == owner || executor == other;
  });
}

// A reader takes all of a region from one copy, or none of it. A run of blocks must be a run in the
// user's buffer, too.
void ElidableCopyFinder::note_read(BlockTable<Held>& table, const Region& src, int32_t reader) {
  if (src.count == 0) return;  // a token
  const Held first = table.at(src.rank, src.buffer, src.first);
  bool whole = !staged_.transfers[reader].any_order;
  for (int32_t k = 0; k < src.count; ++k) {
    const Held& held = table.at(src.rank, src.buffer, src.first + k * src.stride);
    if (held.copy >= 0 && (held.copy != first.copy || held.block != first.block + k * src.stride))
      whole = false;
    if (held.copy < 0 && first.copy >= 0) whole = false;
  }
  for (int32_t k = 0; k < src.count; ++k) {
    const Held& held = table.at(src.rank, src.buffer, src.first + k * src.stride);
    if (held.copy < 0) continue;
    if (!whole) found_.copies[held.copy] = false;
    Chains::Head& readers = readers_[held.copy];
    if (readers.empty() || chains_.latest(readers) != reader) chains_.add(readers, reader);
  }
}

void ElidableCopyFinder::visit(int32_t i, const VectorClocks& known) {
  const Transfer& transfer = staged_.transfers[i];
  if (transfer.dst.buffer != Buffer::tmp) {
    const bool harmless = leaves_as_it_is(transfer);
    read_.each(transfer.dst, [&](Chains::Head copies) {
      chains_.each(copies, [&](int32_t copy) {
        const Buffer buffer = staged_.transfers[copy].src.front().buffer;
        if (!harmless || buffer == transfer.dst.buffer) check_overwriting(known, i, copy);
      });
    });
  }
  if (!found_.copies[i]) return;
  read_.each(transfer.src.front(), [&](Chains::Head& copies) { chains_.add(copies, i); });
}

void ElidableCopyFinder::check_overwriting(const VectorClocks& known, int32_t writer,
                                           int32_t copy) {
  const Transfer& transfer = staged_.transfers[writer];
  const int32_t executor = transfer.executor();
  const bool same_buffer = staged_.transfers[copy].src.front().buffer == transfer.dst.buffer;
  const bool settled = same_buffer ? !found_.copies[copy] : !found_.in_place[transfer.dst.rank];
  if (settled || read_before_[copy] == executor) return;
  // A reader's slice does not show what the owner knows of the other readers.
  if (pairs_ && same_buffer && read_by_several(copy)) {
    found_.copies[copy] = false;
    return;
  }
  const bool all_read = chains_.all_of(readers_[copy], [&](int32_t reader) {
    return staged_.transfers[reader].executor() == executor
               ? reader < writer || (reader == writer && transfer.src.size() == 1)
               : known.knows(executor, reader);
  });
  if (all_read)
    read_before_[copy] = executor;
  else if (same_buffer)
    found_.copies[copy] = false;
  else
    found_.in_place[transfer.dst.rank] = false;
}

ElidableCopies ElidableCopyFinder::take(const VectorClocks& known, const Dependences& dependences) {
  found_.returns = last_readings(known);
  if (pairs_) return std::move(found_);
  const auto several = [](const std::vector<int32_t>& readings) { return readings.size() > 1; };
  if (std::any_of(found_.returns.begin(), found_.returns.end(), several))
    leave_out_implied(dependences);
  return std::move(found_);
}

// Returns a list for each owner of elidable copies: the last transfer of each other rank that reads
// through one of them, in plan order, unless the owner knows of it at its end.
std::vector<std::vector<int32_t>> ElidableCopyFinder::last_readings(const VectorClocks& known) {
  std::vector<std::vector<int32_t>> last(static_cast<size_t>(staged_.ranks));
  for (int32_t i = 0; i < count(); ++i) {
    if (!found_.copies[i]) continue;
    found_.any = true;
    const int32_t owner = staged_.transfers[i].executor();
    chains_.each(readers_[i], [&](int32_t reader) {
      if (staged_.transfers[reader].executor() != owner && !known.knows(owner, reader))
        last[owner].push_back(reader);
    });
  }
  // Indexed by reading rank: the last owner that has a reading of it.
  std::vector<int32_t> read_of(static_cast<size_t>(staged_.ranks), -1);
  for (int32_t owner = 0; owner < staged_.ranks; ++owner) {
    std::vector<int32_t>& readings = last[owner];
    std::sort(readings.begin(), readings.end(), std::greater<>());
    std::erase_if(readings, [&](int32_t reader) {
      return std::exchange(read_of[staged_.transfers[reader].executor()], owner) == owner;
    });
    std::reverse(readings.begin(), readings.end());
  }
  return last;
}

// Leaves out the readings that others of the same owner imply, in a second walk over the plan.
void ElidableCopyFinder::leave_out_implied(const Dependences& dependences) {
  Chains chains;
  LargeVector<Chains::Head> owners(staged_.transfers.size());  // indexed by reading
  for (int32_t owner = 0; owner < staged_.ranks; ++owner) {
    for (const int32_t reading : found_.returns[owner]) chains.add(owners[reading], owner);
  }
  VectorClocks known(staged_, last_uses(dependences), false);
  for (int32_t i = 0; i < count(); ++i) {
    const int32_t executor = staged_.transfers[i].executor();
    for (const int32_t earlier : dependences.waits[i]) known.wait(executor, earlier);
    for (const int32_t earlier : dependences.arrivals[i]) {
      if (earlier >= 0) known.wait(executor, earlier);
    }
    known.execute(executor, i);
    for (const int32_t earlier : dependences.waits[i]) known.end_use(earlier, i);
    for (const int32_t earlier : dependences.arrivals[i]) {
      if (earlier >= 0) known.end_use(earlier, i);
    }
    chains.each(owners[i], [&](int32_t owner) {
      std::vector<int32_t>& readings = found_.returns[owner];
      if (known.latest_of_others(executor) <= readings.front()) return;
      std::erase_if(readings, [&](int32_t reading) {
        return reading < i && staged_.transfers[reading].executor() != executor &&
               known.knows(executor, reading);
      });
    });
  }
}

}  // namespace tutti::plan
