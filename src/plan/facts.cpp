#include "plan/facts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plan/blocks.h"

namespace tutti::plan {
namespace {

std::vector<Facts::Ends> find_messages(const Plan& staged) {
  std::vector<Facts::Ends> messages;
  for (size_t i = 0; i < staged.transfers.size(); ++i) {
    const Transfer& transfer = staged.transfers[i];
    if (!is_message(transfer.kind)) continue;
    const auto message = static_cast<size_t>(transfer.message);
    if (messages.size() <= message) messages.resize(message + 1);
    Facts::Ends& ends = messages[message];
    int32_t* const which[] = {&ends.post, &ends.send, &ends.receive, &ends.sent};
    *which[static_cast<size_t>(transfer.kind) - static_cast<size_t>(TransferKind::post)] =
        static_cast<int32_t>(i);
  }
  return messages;
}

void keep_last_of_each_rank(const Plan& staged, std::vector<int32_t>& touches) {
  auto executor = [&](int32_t transfer) { return staged.transfers[transfer].executor(); };
  std::sort(touches.begin(), touches.end(), [&](int32_t one, int32_t other) {
    return executor(one) != executor(other) ? executor(one) < executor(other) : one > other;
  });
  const auto same_rank = [&](int32_t one, int32_t other) {
    return executor(one) == executor(other);
  };
  touches.erase(std::unique(touches.begin(), touches.end(), same_rank), touches.end());
}

// Walks the transfers of a plan once, in their order, and gathers Facts.
class Gathering {
 public:
  Gathering(const Plan& staged, const Dependences& dependences, const Slice* slice)
      : staged_(staged),
        slice_(slice),
        count_(staged.transfers.size()),
        held_(staged, Table::Aliasing::tmp_alone),
        lines_(static_cast<size_t>(staged.ranks)),
        tells_(count_) {
    facts_.line.assign(count_, -1);
    facts_.awaited.resize(count_);
    facts_.source_writer.reserve(count_);
    facts_.extent.resize(count_);
    facts_.first_out.assign(static_cast<size_t>(staged.ranks), static_cast<int32_t>(count_));
    facts_.messages = find_messages(staged);
    for (const Facts::Ends& ends : facts_.messages)
      facts_.message_blocks = std::max(
          facts_.message_blocks, staged.transfers[static_cast<size_t>(ends.receive)].dst.count);
    note_waits(dependences);
  }

  Facts gathered() {
    for (size_t i = 0; i < count_; ++i) note(i);
    facts_.lines = lines_.empty() ? 0 : *std::max_element(lines_.begin(), lines_.end());
    if (slice_ != nullptr) {
      facts_.line = slice_->lines;
      facts_.lines = slice_->most_lines;
    }
    return std::move(facts_);
  }

 private:
  // The content of a slot's block.
  struct Held {
    int32_t writer = -1;
    int32_t extent = 0;
  };
  using Table = BlockTable<Held>;

  // A transfer that a token waits for stamps a line, if only to report that it is done.
  void note_waits(const Dependences& dependences) {
    for (const auto* awaited : {&dependences.waits, &dependences.arrivals}) {
      for (const int32_t earlier : awaited->values()) {
        if (earlier >= 0) facts_.awaited[earlier] = true;
      }
    }
    for (size_t i = 0; i < count_; ++i) {
      if (staged_.transfers[i].kind != TransferKind::token) continue;
      for (const int32_t earlier : dependences.waits[i]) tells_[earlier] = true;
    }
  }

  void note(size_t i) {
    const Transfer& transfer = staged_.transfers[i];
    if (tells_[i] || writes_tmp(transfer)) facts_.line[i] = lines_[transfer.executor()]++;
    if (transfer.dst.buffer == Buffer::out) {
      int32_t& first = facts_.first_out[transfer.dst.rank];
      first = std::min(first, static_cast<int32_t>(i));
    }
    note_sources(transfer);
    if (transfer.kind == TransferKind::token || transfer.dst.count == 0) return;
    const bool to_tmp = transfer.dst.buffer == Buffer::tmp;
    if (transfer.kind == TransferKind::send) note_extents_of_message(transfer);
    const Region& known = to_tmp ? transfer.src.front() : transfer.dst;
    const bool is_cut = slice_ != nullptr && to_tmp;
    facts_.extent[i] = is_cut ? slice_->extents[i].front() : extent_at(known, 0);
    if (to_tmp && (!is_message(transfer.kind) || transfer.kind == TransferKind::receive)) hold(i);
  }

  void note_sources(const Transfer& transfer) {
    for (const Region& src : transfer.src) {
      if (src.count > 0)
        facts_.source_writer.add(
            src.buffer == Buffer::tmp ? held_.at(src.rank, src.buffer, src.first).writer : -1);
    }
    facts_.source_writer.end_list();
  }

  void note_extents_of_message(const Transfer& send) {
    const Region& known = send.dst.buffer == Buffer::tmp ? send.src.front() : send.dst;
    std::vector<int32_t>& extents = facts_.messages[send.message].extents;
    for (int32_t k = 0; k < send.dst.count; ++k) extents.push_back(extent_at(known, k));
  }

  // The destination, in a slot, holds from now on what the transfer writes.
  void hold(size_t i) {
    const Transfer& transfer = staged_.transfers[i];
    for (int32_t k = 0; k < transfer.dst.count; ++k) {
      const Held held{static_cast<int32_t>(i), written_extent(i, k)};
      held_.at(transfer.dst.rank, Buffer::tmp, transfer.dst.first + k * transfer.dst.stride) = held;
    }
  }

  int32_t written_extent(size_t i, int32_t k) {
    const Transfer& transfer = staged_.transfers[i];
    if (slice_ != nullptr) return slice_->extents[i][static_cast<size_t>(k)];
    // The source of a message may hold another value by now.
    if (transfer.kind == TransferKind::receive)
      return facts_.messages[transfer.message].extents[static_cast<size_t>(k)];
    return extent_at(transfer.src.front(), k);
  }

  int32_t extent_at(const Region& region, int32_t k) {
    const int32_t block = region.first + k * region.stride;
    return region.buffer == Buffer::tmp ? held_.at(region.rank, region.buffer, block).extent
                                        : item_of(staged_, region, block);
  }

  const Plan& staged_;
  const Slice* const slice_;
  const size_t count_;
  Table held_;
  std::vector<int32_t> lines_;  // indexed by rank: the lines that its transfers so far write
  std::vector<bool> tells_;     // indexed by transfer: a token waits for it
  Facts facts_;
};

}  // namespace

Facts gather_facts(const Plan& staged, const Dependences& dependences, const Slice* slice) {
  return Gathering(staged, dependences, slice).gathered();
}

Reuse find_reuse(const Plan& staged) {
  struct Touches {
    int32_t first_writer = -1;
    Chains::Head all;  // all touches; of consecutive ones by one rank only the last
  };
  using Table = BlockTable<Touches>;
  Table table(staged, Table::Aliasing::tmp_alone);
  Chains chains;
  const int32_t count = static_cast<int32_t>(staged.transfers.size());
  auto executor = [&](int32_t transfer) { return staged.transfers[transfer].executor(); };
  auto touch = [&](const Region& region, int32_t i, bool writes) {
    if (region.buffer != Buffer::tmp) return;
    table.each(region, [&](Touches& touches) {
      if (writes && touches.first_writer < 0) touches.first_writer = i;
      if (!touches.all.empty() && executor(chains.latest(touches.all)) == executor(i))
        chains.latest(touches.all) = i;
      else
        chains.add(touches.all, i);
    });
  };
  for (int32_t i = 0; i < count; ++i) {
    const Transfer& transfer = staged.transfers[i];
    for (size_t k = 0; k < transfer.src.size() && transfer.reads(); ++k)
      touch(transfer.src[k], i, false);
    if (transfer.writes()) touch(transfer.dst, i, true);
  }
  Reuse reuse;
  reuse.waits.reserve(staged.transfers.size());
  reuse.awaited.resize(staged.transfers.size());
  std::vector<int32_t> last, waits;
  for (int32_t i = 0; i < count; ++i) {
    const Transfer& transfer = staged.transfers[i];
    waits.clear();
    if (transfer.dst.buffer == Buffer::tmp && transfer.writes()) {
      table.each(transfer.dst, [&](const Touches& touches) {
        if (touches.first_writer != i) return;
        last.clear();
        chains.each(touches.all, [&](int32_t touch) { last.push_back(touch); });
        keep_last_of_each_rank(staged, last);
        for (const int32_t touch : last) {
          reuse.min_positions =
              std::max(reuse.min_positions, staged.transfers[touch].stage - transfer.stage + 1);
          if (executor(touch) != transfer.executor()) waits.push_back(touch);
        }
      });
    }
    std::sort(waits.begin(), waits.end());
    waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    for (const int32_t touch : waits) {
      reuse.awaited[touch] = true;
      reuse.waits.add(touch);
    }
    reuse.waits.end_list();
  }
  return reuse;
}

}  // namespace tutti::plan
