#include "plan/facts.h"

#include <algorithm>

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

}  // namespace

Facts gather_facts(const Plan& staged, const Dependences& dependences, const Slice* slice) {
  struct Held {
    int32_t writer = -1;
    int32_t extent = 0;
  };
  using Table = BlockTable<Held>;
  Table table(staged, Table::Aliasing::tmp_alone);
  const size_t count = staged.transfers.size();
  Facts facts;
  facts.line.assign(count, -1);
  facts.awaited.resize(count);
  facts.source_writer.reserve(count);
  facts.extent.resize(count);
  facts.first_out.assign(static_cast<size_t>(staged.ranks), static_cast<int32_t>(count));
  facts.messages = find_messages(staged);
  for (const Facts::Ends& ends : facts.messages)
    facts.message_blocks = std::max(facts.message_blocks,
                                    staged.transfers[static_cast<size_t>(ends.receive)].dst.count);
  for (const auto* awaited : {&dependences.waits, &dependences.arrivals}) {
    for (const int32_t earlier : awaited->values()) {
      if (earlier >= 0) facts.awaited[earlier] = true;
    }
  }
  // A transfer that a token waits for stamps a line, if only to report that it is done.
  std::vector<bool> tells(count);
  for (size_t i = 0; i < count; ++i) {
    if (staged.transfers[i].kind != TransferKind::token) continue;
    for (int32_t earlier : dependences.waits[i]) tells[earlier] = true;
  }
  const auto note_sources = [&](size_t i) {
    for (const Region& src : staged.transfers[i].src) {
      if (src.count > 0)
        facts.source_writer.add(
            src.buffer == Buffer::tmp ? table.at(src.rank, src.buffer, src.first).writer : -1);
    }
    facts.source_writer.end_list();
  };
  std::vector<int32_t> lines(staged.ranks, 0);
  for (size_t i = 0; i < count; ++i) {
    const Transfer& transfer = staged.transfers[i];
    if (tells[i] || writes_tmp(transfer)) facts.line[i] = lines[transfer.executor()]++;
    if (transfer.dst.buffer == Buffer::out) {
      int32_t& first = facts.first_out[transfer.dst.rank];
      first = std::min(first, static_cast<int32_t>(i));
    }
    note_sources(i);
    if (transfer.kind == TransferKind::token || transfer.dst.count == 0) continue;
    auto extent_at = [&](const Region& region, int32_t k) {
      const int32_t block = region.first + k * region.stride;
      return region.buffer == Buffer::tmp ? table.at(region.rank, region.buffer, block).extent
                                          : item_of(staged, region, block);
    };
    if (transfer.kind == TransferKind::send) {
      const Region& known =
          transfer.dst.buffer == Buffer::tmp ? transfer.src.front() : transfer.dst;
      std::vector<int32_t>& extents = facts.messages[transfer.message].extents;
      for (int32_t k = 0; k < transfer.dst.count; ++k) extents.push_back(extent_at(known, k));
    }
    const bool to_tmp = transfer.dst.buffer == Buffer::tmp;
    facts.extent[i] = extent_at(to_tmp ? transfer.src.front() : transfer.dst, 0);
    if (slice != nullptr && to_tmp) facts.extent[i] = slice->extents[i].front();
    if (transfer.dst.buffer != Buffer::tmp ||
        (is_message(transfer.kind) && transfer.kind != TransferKind::receive))
      continue;
    for (int32_t k = 0; k < transfer.dst.count; ++k) {
      const Region& src = transfer.src.front();
      Held held{static_cast<int32_t>(i), 0};
      if (slice != nullptr) {
        held.extent = slice->extents[i][static_cast<size_t>(k)];
      } else if (transfer.kind == TransferKind::receive) {
        // Not that of the source, which may hold another value by now.
        held.extent = facts.messages[transfer.message].extents[static_cast<size_t>(k)];
      } else {
        held.extent = extent_at(src, k);
      }
      table.at(transfer.dst.rank, Buffer::tmp, transfer.dst.first + k * transfer.dst.stride) = held;
    }
  }
  facts.lines = lines.empty() ? 0 : *std::max_element(lines.begin(), lines.end());
  if (slice != nullptr) {
    facts.line = slice->lines;
    facts.lines = slice->most_lines;
  }
  return facts;
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
