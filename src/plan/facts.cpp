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

Facts gather_facts(const Plan& staged, const Dependences& dependences) {
  struct Held {
    int32_t writer = -1;
    int32_t extent = 0;
  };
  using Table = BlockTable<Held>;
  Table table(staged, Table::Aliasing::none);
  const size_t count = staged.transfers.size();
  Facts facts{std::vector<int32_t>(count, -1),
              std::vector<bool>(count),
              std::vector<std::vector<int32_t>>(count),
              std::vector<int32_t>(count),
              0,
              find_messages(staged)};
  for (const Facts::Ends& ends : facts.messages)
    facts.message_blocks = std::max(facts.message_blocks,
                                    staged.transfers[static_cast<size_t>(ends.receive)].dst.count);
  for (const auto* awaited : {&dependences.waits, &dependences.arrivals}) {
    for (const auto& transfers : *awaited) {
      for (int32_t earlier : transfers) {
        if (earlier >= 0) facts.awaited[earlier] = true;
      }
    }
  }
  // A transfer that a token waits for stamps a line, if only to report that it is done.
  std::vector<bool> tells(count);
  for (size_t i = 0; i < count; ++i) {
    if (staged.transfers[i].kind != TransferKind::token) continue;
    for (int32_t earlier : dependences.waits[i]) tells[earlier] = true;
  }
  std::vector<int32_t> lines(staged.ranks, 0);
  for (size_t i = 0; i < count; ++i) {
    const Transfer& transfer = staged.transfers[i];
    if (tells[i] || writes_tmp(transfer)) facts.line[i] = lines[transfer.executor()]++;
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
    facts.extent[i] =
        extent_at(transfer.dst.buffer == Buffer::tmp ? transfer.src.front() : transfer.dst, 0);
    for (const Region& src : transfer.src) {
      facts.source_writer[i].push_back(
          src.buffer == Buffer::tmp ? table.at(src.rank, src.buffer, src.first).writer : -1);
    }
    if (transfer.dst.buffer != Buffer::tmp ||
        (is_message(transfer.kind) && transfer.kind != TransferKind::receive))
      continue;
    for (int32_t k = 0; k < transfer.dst.count; ++k) {
      const Region& src = transfer.src.front();
      Held held{static_cast<int32_t>(i), 0};
      if (transfer.kind == TransferKind::receive) {
        // Not that of the source, which may hold another value by now.
        held.extent = facts.messages[transfer.message].extents[static_cast<size_t>(k)];
      } else {
        held.extent = extent_at(src, k);
      }
      table.at(transfer.dst.rank, Buffer::tmp, transfer.dst.first + k * transfer.dst.stride) = held;
    }
  }
  facts.lines = lines.empty() ? 0 : *std::max_element(lines.begin(), lines.end());
  return facts;
}

Reuse find_reuse(const Plan& staged) {
  struct Touches {
    int32_t first_writer = -1;
    std::vector<int32_t> all;  // in plan order; of consecutive ones by one rank only the last
  };
  using Table = BlockTable<Touches>;
  Table table(staged, Table::Aliasing::none);
  const int32_t count = static_cast<int32_t>(staged.transfers.size());
  auto executor = [&](int32_t transfer) { return staged.transfers[transfer].executor(); };
  auto touch = [&](const Region& region, int32_t i, bool writes) {
    if (region.buffer != Buffer::tmp) return;
    table.each(region, [&](Touches& touches) {
      if (writes && touches.first_writer < 0) touches.first_writer = i;
      if (!touches.all.empty() && executor(touches.all.back()) == executor(i))
        touches.all.pop_back();
      touches.all.push_back(i);
    });
  };
  for (int32_t i = 0; i < count; ++i) {
    const Transfer& transfer = staged.transfers[i];
    for (size_t k = 0; k < transfer.src.size() && transfer.reads(); ++k)
      touch(transfer.src[k], i, false);
    if (transfer.writes()) touch(transfer.dst, i, true);
  }
  Reuse reuse{std::vector<std::vector<int32_t>>(count), std::vector<bool>(count), 1};
  for (int32_t i = 0; i < count; ++i) {
    const Transfer& transfer = staged.transfers[i];
    if (transfer.dst.buffer != Buffer::tmp || !transfer.writes()) continue;
    auto& waits = reuse.waits[i];
    table.each(transfer.dst, [&](Touches& touches) {
      if (touches.first_writer != i) return;
      keep_last_of_each_rank(staged, touches.all);
      for (int32_t last : touches.all) {
        reuse.min_positions =
            std::max(reuse.min_positions, staged.transfers[last].stage - transfer.stage + 1);
        if (executor(last) != transfer.executor()) waits.push_back(last);
      }
    });
    std::sort(waits.begin(), waits.end());
    waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    for (int32_t last : waits) reuse.awaited[last] = true;
  }
  return reuse;
}

}  // namespace tutti::plan
