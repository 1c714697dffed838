#include "plan/symmetric.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan/check.h"
#include "plan/circle.h"
#include "plan/facts.h"
#include "plan/lists.h"

namespace tutti::plan {
namespace {

// Leads every read of another rank's user buffer through `tmp`, as Stager does in the whole plan.
class PatternStager {
 public:
  explicit PatternStager(Symmetric symmetric)
      : symmetric_(std::move(symmetric)), circle_(symmetric_.plan), next_(tmp_blocks()) {
    blocks_.resize(circle_.orbits(next_));
  }

  // False where two copies of one pattern would be numbered differently from place to place, or a
  // copy would get another stage than its reader wants.
  bool run() {
    patterns_ = std::exchange(symmetric_.plan.transfers, {});
    staged().reserve(2 * patterns_.size());
    return std::all_of(patterns_.begin(), patterns_.end(),
                       [this](Transfer& pattern) { return add(pattern); });
  }
  Symmetric take() { return std::move(symmetric_); }

 private:
  struct Block {
    size_t written = 0;  // the number of staged patterns when it was last written; only of `out`
    size_t made = 0;     // the same for its last copy
    int32_t copy = -1;   // the block of tmp with its last copy; -1: none
  };

  LargeVector<Transfer>& staged() { return symmetric_.plan.transfers; }
  int32_t tmp_blocks() const { return symmetric_.plan.largest_tmp(); }

  bool add(Transfer& pattern) {
    const size_t before = staged().size();
    for (Region& src : pattern.src) {
      if (src.rank != pattern.dst.rank && src.buffer != Buffer::tmp) src = staged_copy(src);
    }
    const size_t copies = staged().size() - before;
    if (copies > 1 || (copies == 1 && pattern.stage != stage_automatic)) return false;
    const Region dst = pattern.dst;
    staged().push_back(std::move(pattern));
    if (dst.buffer == Buffer::out) blocks_[circle_.orbit(dst)].written = staged().size();
    return true;
  }

  Region staged_copy(const Region& src) {
    Block& block = blocks_[circle_.orbit(src)];
    if (block.copy < 0 || block.written > block.made) {
      block.copy = next_++;
      block.made = staged().size();
      symmetric_.plan.copy(tmp(src.rank, block.copy), src);
    }
    return tmp(src.rank, block.copy);
  }

  Symmetric symmetric_;
  const Circle circle_;
  int32_t next_;  // the first unused block of tmp
  LargeVector<Transfer> patterns_;
  LargeVector<Block> blocks_;  // indexed by orbit
};

// Gives each pattern its stage, as Scheduler gives one to each transfer of the whole plan.
class PatternScheduler {
 public:
  explicit PatternScheduler(Plan& plan)
      : plan_(plan), circle_(plan), uses_(circle_.orbits(plan.largest_tmp())) {}

  // False where the stages of one pattern might differ from place to place.
  bool run() {
    for (int32_t i = 0; i < static_cast<int32_t>(plan_.transfers.size()); ++i) {
      Transfer& pattern = plan_.transfers[static_cast<size_t>(i)];
      stage_ = std::max(pattern.stage, 0);
      after_uses(i);
      pattern.stage = stage_;
      if (!circle_.aliases_move_on() && !keeps_order(pattern)) return false;
    }
    std::stable_sort(
        plan_.transfers.begin(), plan_.transfers.end(),
        [](const Transfer& one, const Transfer& other) { return one.stage < other.stage; });
    return true;
  }

 private:
  struct Touch {
    int32_t pattern = -1;
    int32_t executor = 0;  // its distance from the rank that has the block
  };
  struct LastUse {
    Touch writer;
    Chains::Head readers;  // in chains_, of touches_
  };

  // The call may be in place.
  LastUse& use_of(const Region& region) {
    const bool has_alias = region.buffer == Buffer::in && circle_.aliases_move_on();
    return uses_[circle_.orbit(has_alias ? circle_.alias(region) : region)];
  }

  void after(const Touch& earlier, const Touch& now) {
    if (earlier.pattern < 0 || earlier.pattern == now.pattern) return;
    const bool handed_over =
        earlier.executor != now.executor && plan_.transfers[now.pattern].stage == stage_automatic;
    stage_ = std::max(stage_, plan_.transfers[earlier.pattern].stage + (handed_over ? 1 : 0));
  }

  void after_uses(int32_t i) {
    const Transfer& pattern = plan_.transfers[i];
    const auto touch = [&](const Region& region) {
      return Touch{i, circle_.place(pattern.dst.rank - region.rank)};
    };
    for (const Region& src : pattern.src) {
      LastUse& use = use_of(src);
      after(use.writer, touch(src));
      touches_.push_back(touch(src));
      chains_.add(use.readers, static_cast<int32_t>(touches_.size()) - 1);
    }
    LastUse& use = use_of(pattern.dst);
    const Touch now = touch(pattern.dst);
    after(use.writer, now);
    chains_.each(use.readers, [&](int32_t reader) { after(touches_[reader], now); });
    use = {now, {}};
  }

  // Where a block of `out` is the same memory as another block of `in` at each place, the order of
  // the stages must be right whichever it is.
  bool keeps_order(const Transfer& pattern) {
    const bool writes_out = pattern.dst.buffer == Buffer::out;
    const bool reads_in = std::any_of(pattern.src.begin(), pattern.src.end(),
                                      [](const Region& src) { return src.buffer == Buffer::in; });
    const bool kept =
        (!writes_out || pattern.stage >= in_read_) && (!reads_in || pattern.stage >= out_written_);
    if (reads_in) in_read_ = std::max(in_read_, pattern.stage);
    if (writes_out) out_written_ = std::max(out_written_, pattern.stage);
    return kept;
  }

  Plan& plan_;
  const Circle circle_;
  LargeVector<LastUse> uses_;  // indexed by orbit
  LargeVector<Touch> touches_;
  Chains chains_;
  int32_t stage_ = 0;                        // the present pattern's
  int32_t in_read_ = -1, out_written_ = -1;  // the last stages that read `in` and write `out`
};

// True if patterns are as symmetric.h says.
bool well_formed(const Plan& plan) {
  const Circle circle(plan);
  return std::all_of(plan.transfers.begin(), plan.transfers.end(), [&](const Transfer& pattern) {
    const auto apart = [&](const Region& src) {
      return src.count == 1 &&
             (src.rank == pattern.dst.rank || circle.orbit(src) != circle.orbit(pattern.dst));
    };
    const bool plain = pattern.kind == TransferKind::copy || pattern.kind == TransferKind::reduce;
    return plain && !pattern.push && !pattern.any_order && pattern.dst.count == 1 &&
           std::all_of(pattern.src.begin(), pattern.src.end(), apart);
  });
}

}  // namespace

Symmetric in_rank_order(Plan patterns, bool sources_by_rank) {
  std::vector<int32_t> order(static_cast<size_t>(patterns.ranks));
  std::iota(order.begin(), order.end(), 0);
  return {std::move(patterns), std::move(order), sources_by_rank};
}

Plan& plan_in(Written& written) {
  auto* const symmetric = std::get_if<Symmetric>(&written);
  return symmetric != nullptr ? symmetric->plan : std::get<Plan>(written);
}

Plan whole(const Symmetric& symmetric) {
  const Circle circle(symmetric.plan);
  Plan plan = without_transfers(symmetric.plan);
  plan.transfers.reserve(symmetric.plan.transfers.size() * symmetric.order.size());
  for (const Transfer& pattern : symmetric.plan.transfers) {
    for (int32_t place = 0; place < plan.ranks; ++place) {
      Transfer& transfer = plan.transfers.emplace_back(pattern);
      transfer.dst = circle.of_ranks(circle.moved(pattern.dst, place), symmetric.order);
      for (Region& src : transfer.src)
        src = circle.of_ranks(circle.moved(src, place), symmetric.order);
      if (symmetric.sources_by_rank) sort_by_rank(transfer.src);
    }
  }
  return plan;
}

Plan whole(Written written) {
  if (const auto* const symmetric = std::get_if<Symmetric>(&written)) return whole(*symmetric);
  return std::get<Plan>(std::move(written));
}

std::optional<Symmetric> stage(Symmetric symmetric, const placement::Nodes& nodes) {
  const int64_t moved = moves(symmetric.plan) * symmetric.plan.ranks;
  if (!nodes.one() || moved > max_moves || !well_formed(symmetric.plan)) return std::nullopt;
  PatternStager stager(std::move(symmetric));
  if (!stager.run()) return std::nullopt;
  Symmetric staged = stager.take();
  staged.plan.nodes = nodes;
  if (!PatternScheduler(staged.plan).run()) return std::nullopt;
  return staged;
}

bool pairs_decide(const Symmetric& staged) {
  return static_cast<size_t>(moves(staged.plan)) * staged.order.size() > most_clocked_uses;
}

bool lines_serve(const Symmetric& staged, int32_t lines) {
  if (staged.plan.blocks > 1 && !parted(staged.plan.collective)) return false;
  return std::count_if(staged.plan.transfers.begin(), staged.plan.transfers.end(), writes_tmp) <=
         lines;
}

Program program_of(const Symmetric& staged, int32_t rank, Carrier carrier) {
  const Slice own = slice(staged, rank);
  return lower(own, depend(own, carrier), carrier);
}

Written stage_for_one(Written written, const placement::Nodes& nodes, Buffers buffers) {
  if (const auto* const symmetric = std::get_if<Symmetric>(&written)) {
    std::optional<Symmetric> staged = stage(*symmetric, nodes);
    if (staged && pairs_decide(*staged)) return std::move(*staged);
  }
  return stage(whole(std::move(written)), nodes, buffers);
}

bool lines_serve(const Written& staged, int32_t lines) {
  return std::visit([&](const auto& plan) { return lines_serve(plan, lines); }, staged);
}

Program program_of(const Written& staged, int32_t rank, Carrier carrier) {
  return std::visit([&](const auto& plan) { return program_of(plan, rank, carrier); }, staged);
}

}  // namespace tutti::plan
