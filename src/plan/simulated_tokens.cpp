#include "plan/simulated_tokens.h"

#include <algorithm>

#include "plan/semantics.h"

namespace tutti::plan {
namespace {

// The last transfer of `peer` in [first, end) whose stage is at most `most`; -1: none.
int32_t last_of(const Plan& staged, int32_t peer, int32_t first, int32_t end, int32_t most) {
  for (int32_t i = end - 1; i >= first; --i) {
    if (staged.transfers[i].executor() == peer && staged.transfers[i].stage <= most) return i;
  }
  return -1;
}

}  // namespace

Tokens tokens_of(const Plan& staged) {
  const auto is_token = [](const Transfer& transfer) {
    return transfer.kind == TransferKind::token;
  };
  if (std::none_of(staged.transfers.begin(), staged.transfers.end(), is_token)) return {};
  Tokens tokens(static_cast<size_t>(staged.ranks));
  const auto count = static_cast<int32_t>(staged.transfers.size());
  for (int32_t i = 0; i < count; ++i) {
    const Transfer& token = staged.transfers[i];
    if (!is_token(token)) continue;
    for (const Region& source : token.src) {
      Awaited awaited{i + 1, token.stage, source.rank, 0, 0, false};
      int32_t what = last_of(staged, source.rank, 0, i, token.stage);
      awaited.segment_before = what < 0;
      if (what < 0) what = last_of(staged, source.rank, i + 1, count, token.stage);
      if (what < 0) continue;
      awaited.peer_number = what + 1;
      awaited.peer_stage = staged.transfers[what].stage;
      tokens[static_cast<size_t>(token.executor())].push_back(awaited);
    }
  }
  return tokens;
}

std::string TokenWatch::done(int32_t rank, int64_t base, int64_t number, const Clock& clock,
                             bool tells) {
  std::vector<Done>& done = done_[static_cast<size_t>(rank)];
  if (tells && !done.empty() && done.back().number == number) return {};
  const int64_t from =
      done.empty() ? 0 : done.back().number;  // every token up to there has been checked
  done.push_back({number, clock[static_cast<size_t>(rank)]});
  const auto tick_of = [&](int64_t of) { return (of - base - 1) / transfers_; };
  for (int64_t tick = std::max<int64_t>(tick_of(from), 0); tick <= tick_of(number); ++tick) {
    for (const Awaited& token : tokens_[static_cast<size_t>(rank)]) {
      const int64_t its = base + first_number(transfers_, tick, token.number);
      const int64_t segment = segment_at(tick, token.stage);
      if (its <= from || its > number || segment < 0 || segment >= segments_) continue;
      if (!holds(token, base, tick, clock)) {
        return "goes on behind the token of transfer " + std::to_string(token.number) +
               " without knowing that rank " + std::to_string(token.peer) + " has done transfer " +
               std::to_string(token.peer_number) +
               (token.segment_before ? " of the segment before" : "");
      }
    }
  }
  return {};
}

bool TokenWatch::holds(const Awaited& token, int64_t base, int64_t tick, const Clock& clock) const {
  const int64_t segment = segment_at(tick, token.stage) - (token.segment_before ? 1 : 0);
  if (segment < 0) return true;  // the first segment has none before
  const int64_t first = first_number(transfers_, token.peer_stage, token.peer_number);
  const int64_t number = base + number_in(segment, first, transfers_);
  const std::vector<Done>& done = done_[static_cast<size_t>(token.peer)];
  const auto after = std::partition_point(done.begin(), done.end(),
                                          [&](const Done& one) { return one.number <= number; });
  const bool reached =
      after != done.end() || (after != done.begin() && std::prev(after)->number == number);
  if (!reached) return false;
  return after == done.begin() || std::prev(after)->time <= clock[static_cast<size_t>(token.peer)];
}

}  // namespace tutti::plan
