#include "plan/inter_node_traffic.h"

#include <algorithm>

#include "plan/blocks.h"

namespace tutti::plan {
namespace {

// Walks over a plan once. The depth of a block, or of a rank's work, is the length of the longest
// chain of messages on which it depends.
class Walk {
 public:
  Walk(const Plan& plan, const std::vector<int32_t>& node_of)
      : plan_(plan),
        node_of_(node_of),
        depths_(plan, BlockTable<int32_t>::Aliasing::none),
        ranks_(static_cast<size_t>(plan.ranks)) {}

  InterNodeTraffic run() {
    for (const Transfer& transfer : plan_.transfers) {
      if (transfer.kind == TransferKind::token) {
        token(transfer);
      } else {
        execute(transfer);
      }
    }
    for (const Rank& rank : ranks_)
      result_.most_messages = std::max(result_.most_messages, rank.sent);
    return result_;
  }

 private:
  struct Rank {
    int32_t held = 0;     // the least depth of its work from now on, by its tokens
    int32_t reached = 0;  // the largest depth of its work so far
    int64_t sent = 0;
  };

  Rank& rank(int32_t number) { return ranks_[static_cast<size_t>(number)]; }

  bool crosses(const Region& from, const Region& to) const {
    return node_of_[static_cast<size_t>(from.rank)] != node_of_[static_cast<size_t>(to.rank)];
  }

  // The root of a bcast has one buffer, its `in` and `out`.
  int32_t& depth(const Region& region, int32_t k) {
    const bool one_buffer = plan::one_buffer(plan_.collective) && region.rank == plan_.root &&
                            region.buffer == Buffer::out;
    return depths_.at(region.rank, one_buffer ? Buffer::in : region.buffer,
                      region.first + k * region.stride);
  }

  int32_t sent(const Region& from, int32_t depth) {
    ++result_.messages;
    result_.blocks += from.count;
    ++rank(from.rank).sent;
    result_.delays = std::max(result_.delays, depth + 1);
    return depth + 1;
  }

  void token(const Transfer& transfer) {
    Rank& taker = rank(transfer.dst.rank);
    for (const Region& src : transfer.src) {
      const int32_t before = std::max(rank(src.rank).reached, rank(src.rank).held);
      taker.held = std::max(taker.held, crosses(src, transfer.dst) ? sent(src, before) : before);
    }
    taker.reached = std::max(taker.reached, taker.held);
  }

  // A message brings all of its blocks at once; data from the same node comes block by block.
  void execute(const Transfer& transfer) {
    const Region& dst = transfer.dst;
    int32_t together = rank(transfer.executor()).held;
    for (const Region& src : transfer.src) {
      if (!crosses(src, dst)) continue;
      int32_t before = rank(src.rank).held;
      for (int32_t k = 0; k < src.count; ++k) before = std::max(before, depth(src, k));
      together = std::max(together, sent(src, before));
    }
    Rank& executor = rank(transfer.executor());
    for (int32_t k = 0; k < dst.count; ++k) {
      int32_t reached = together;
      for (const Region& src : transfer.src) {
        if (!crosses(src, dst)) reached = std::max(reached, depth(src, k));
      }
      depth(dst, k) = reached;
      executor.reached = std::max(executor.reached, reached);
    }
  }

  const Plan& plan_;
  const std::vector<int32_t>& node_of_;
  BlockTable<int32_t> depths_;
  std::vector<Rank> ranks_;
  InterNodeTraffic result_;
};

}  // namespace

InterNodeTraffic inter_node_traffic(const Plan& plan, const std::vector<int32_t>& node_of) {
  return Walk(plan, node_of).run();
}

}  // namespace tutti::plan
