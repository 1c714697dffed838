#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/prefetch.h"
#include "plan/blocks.h"
#include "plan/check.h"
#include "plan/direct_sends.h"
#include "plan/lists.h"
#include "plan/lower.h"

namespace tutti::plan {
namespace {

// True if no rank touches another's user buffers.
bool keeps_out_of_others(const Plan& plan) {
  return std::all_of(plan.transfers.begin(), plan.transfers.end(), [](const Transfer& transfer) {
    const int32_t executor = transfer.executor();
    const auto may = [executor](const Region& region) {
      return region.rank == executor || region.buffer == Buffer::tmp;
    };
    return may(transfer.dst) && std::all_of(transfer.src.begin(), transfer.src.end(), may);
  });
}

// The copies of users' blocks in their owners' slots, through which other ranks read them, and the
// blocks of tmp that staging adds.
class SlotCopies {
 public:
  struct Copy {
    Region src;
    int32_t first;        // the first block of tmp that holds it
    int32_t whose;        // the transfer of the plan that it is made for
    int32_t before = -1;  // the copy before of a region with the same first block; -1: none

    Region region() const { return tmp(src.rank, first, src.count); }
  };

  // `unused`: the first block of each rank's tmp that the plan does not use.
  SlotCopies(const Plan& plan, const NamedBlocks& named, std::vector<int32_t> unused)
      : next_(std::move(unused)), blocks_(plan, BlockTable<Block>::Aliasing::none, named) {}

  // The plan itself uses this region.
  void note_tmp(const Region& region) {
    if (region.buffer == Buffer::tmp)
      next_[region.rank] = std::max(next_[region.rank], region.last() + 1);
  }
  const std::vector<int32_t>& first_unused() const { return next_; }

  Region fresh_at(int32_t rank, const Region& like) {
    Region region = tmp(rank, next_[rank], like.count);
    next_[rank] += like.count;
    return region;
  }

  // Transfer `index` of the plan has written the region.
  void note_written(const Region& dst, int32_t index) {
    if (dst.buffer != Buffer::out) return;
    blocks_.each(dst, [index](Block& block) { block.written = index; });
  }

  // The copy from which transfer `index` reads `src`. A value is copied once for all its readers,
  // until its owner overwrites it; `make` is called for a new copy.
  template <class Make>
  Region copy_for(int32_t index, const Region& src, Make make) {
    int32_t& last = blocks_.at(src.rank, src.buffer, src.first).copied;
    int32_t found = last;
    while (found >= 0 && !(copies_[found].src == src)) found = copies_[found].before;
    if (found >= 0 && !overwritten(src, copies_[found].whose)) return copies_[found].region();
    copies_.push_back({src, fresh_at(src.rank, src).first, index, last});
    last = static_cast<int32_t>(copies_.size()) - 1;
    make(copies_.back());
    return copies_.back().region();
  }

  // In the order in which they were made.
  const LargeVector<Copy>& copies() const { return copies_; }

 private:
  struct Block {
    int32_t written = -1;  // the transfer that wrote it last; only of `out`
    int32_t copied = -1;   // the last copy of a region that begins here
  };

  // True if a block of `src` was written after the copy was made. This is checked when the copy is
  // wanted, and not noted in every copy when a block is written, so that the cost is in proportion
  // to the transfer.
  bool overwritten(const Region& src, int32_t whose) {
    bool found = false;
    if (src.buffer == Buffer::out)
      blocks_.each(src, [&](const Block& block) { found |= block.written >= whose; });
    return found;
  }

  std::vector<int32_t> next_;  // first unused block of each rank's tmp
  LargeVector<Copy> copies_;
  BlockTable<Block> blocks_;
};

// A copy with the place of `transfer` in its text, for error messages.
Transfer copy_at(const Transfer& transfer, const Region& dst, const Region& src) {
  return {TransferKind::copy, false, stage_automatic, transfer.line, dst, {src}, transfer.file};
}

// Rewrites a plan on one node, in place, so that ranks read others' user buffers through `tmp`.
class NodeStager {
 public:
  explicit NodeStager(Plan& plan) : NodeStager(plan, NamedBlocks(plan)) {}

  void run() {
    for (int32_t i = 0; i < static_cast<int32_t>(plan_.transfers.size()); ++i) rewrite(i);
    insert();
  }

 private:
  NodeStager(Plan& plan, const NamedBlocks& named) : plan_(plan), slots_(plan, named, named.tmp) {}

  // Behind a transfer into another rank's user buffer: from the slot to that buffer.
  struct Arrival {
    Region dst, src;
    int32_t whose;
  };

  void rewrite(int32_t index) {
    Transfer& transfer = plan_.transfers[index];
    const int32_t executor = transfer.executor();
    for (Region& src : transfer.src) {
      if (src.rank != executor && src.buffer != Buffer::tmp)
        src = slots_.copy_for(index, src, [](const SlotCopies::Copy&) {});
    }
    const Region dst = transfer.dst;
    if (dst.rank != executor && dst.buffer != Buffer::tmp) {
      transfer.dst = slots_.fresh_at(dst.rank, dst);
      arrivals_.push_back({dst, transfer.dst, index});
    }
    slots_.note_written(dst, index);
  }

  // Puts the copies before, and the arrivals behind, the transfers that they are for. From the last
  // to the first, because everything moves back: a second plan would take much memory.
  void insert() {
    LargeVector<Transfer>& transfers = plan_.transfers;
    const LargeVector<SlotCopies::Copy>& copies = slots_.copies();
    auto from = static_cast<int32_t>(transfers.size());
    size_t copy = copies.size(), arrival = arrivals_.size();
    transfers.resize(transfers.size() + copy + arrival);
    for (size_t to = transfers.size(); copy + arrival > 0;) {
      const int32_t index = --from;
      const Transfer place = copy_at(transfers[index], {}, {});
      for (; arrival > 0 && arrivals_[arrival - 1].whose == index; --arrival)
        transfers[--to] = copy_at(place, arrivals_[arrival - 1].dst, arrivals_[arrival - 1].src);
      transfers[--to] = std::move(transfers[index]);
      for (; copy > 0 && copies[copy - 1].whose == index; --copy)
        transfers[--to] = copy_at(place, copies[copy - 1].region(), copies[copy - 1].src);
    }
  }

  Plan& plan_;
  SlotCopies slots_;
  std::vector<Arrival> arrivals_;
};

// Writes a plan on several nodes anew, so that ranks read others' user buffers through `tmp`, and
// other nodes' buffers by messages.
class Stager {
 public:
  Stager(const Plan& plan, const placement::Nodes& nodes, Buffers buffers)
      : plan_(plan),
        staged_(without_transfers(plan)),
        direct_(direct_sends(plan, nodes, buffers)),
        node_of_(nodes),
        slots_(plan, NamedBlocks(plan), std::vector<int32_t>(static_cast<size_t>(plan.ranks), 0)),
        leaving_(plan, aliasing_of<std::vector<int32_t>>(buffers)) {
    staged_.nodes = nodes;
    staged_.transfers.reserve(plan.transfers.size() * 4);
    for (int32_t i = 0; i < static_cast<int32_t>(plan.transfers.size()); ++i) {
      const Transfer& transfer = plan.transfers[static_cast<size_t>(i)];
      if (direct_.readers.contains(i)) continue;
      slots_.note_tmp(transfer.dst);
      for (size_t at = 0; at < transfer.src.size(); ++at) {
        if (copy_sent(i, at) < 0) slots_.note_tmp(transfer.src[at]);
      }
    }
    first_fresh_ = slots_.first_unused();
  }

  // Adds the transfer with this index in the plan.
  void add(int32_t index) {
    index_ = index;
    if (direct_.readers.contains(index)) return send_to_readers(index);
    Transfer transfer = plan_.transfers[static_cast<size_t>(index)];
    for (size_t at = 0; at < transfer.src.size(); ++at) {
      const int32_t copy = copy_sent(index, at);
      if (copy < 0) continue;
      if (transfer.kind == TransferKind::copy) return;  // the message has gone to its destination
      transfer.src[at] = arrived_.at({copy, transfer.executor()});
    }
    if (transfer.kind == TransferKind::token) return add_token(std::move(transfer));
    const int32_t executor = transfer.executor();
    if (transfer.kind == TransferKind::copy && crosses(transfer.src.front(), transfer.dst)) {
      return add_message(transfer, transfer.dst, transfer.src.front());
    }
    for (Region& src : transfer.src) {
      if (node_of_.together(src.rank, executor)) continue;
      const Region come = slots_.fresh_at(executor, src);
      add_message(transfer, come, src);
      src = come;
    }
    if (node_of_.together(transfer.dst.rank, executor)) return add_on_node(std::move(transfer));
    const Region dst = transfer.dst;
    const Transfer written = transfer;  // for the places that error messages name
    transfer.dst = slots_.fresh_at(executor, dst);
    const Region result = transfer.dst;
    add_on_node(std::move(transfer));
    add_message(written, dst, result);
  }

  Plan take() {
    for (Transfer& sent : under_way_) {
      if (sent.message >= 0) staged_.transfers.push_back(std::move(sent));
    }
    return std::move(staged_);
  }

 private:
  // The copy that is left out, of which a transfer's source is read; -1: none.
  int32_t copy_sent(int32_t index, size_t source) const {
    const auto found = direct_.copies.find(index);
    return found == direct_.copies.end() ? -1 : found->second[source];
  }

  // In place of a copy that is left out: sends its source to each rank that reads it.
  void send_to_readers(int32_t index) {
    const Transfer& copy = plan_.transfers[static_cast<size_t>(index)];
    const Region& src = copy.src.front();
    for (const int32_t number : direct_.readers.at(index)) {
      const Transfer& reader = plan_.transfers[static_cast<size_t>(number)];
      if (reader.kind == TransferKind::copy) {
        add_message(reader, reader.dst, src);
        continue;
      }
      const auto [entry, is_new] = arrived_.try_emplace({index, reader.executor()});
      if (!is_new) continue;
      entry->second = slots_.fresh_at(reader.executor(), src);
      add_message(reader, entry->second, src);
    }
  }

  void add_on_node(Transfer transfer) {
    const int32_t executor = transfer.executor();
    for (Region& src : transfer.src) {
      if (src.rank == executor || src.buffer == Buffer::tmp) continue;
      src = slots_.copy_for(index_, src, [&](const SlotCopies::Copy& copy) {
        staged_.transfers.push_back(copy_at(transfer, copy.region(), copy.src));
      });
    }
    const Region dst = transfer.dst;
    await_leaving(dst);
    if (dst.rank != executor && dst.buffer != Buffer::tmp) {
      transfer.dst = slots_.fresh_at(dst.rank, dst);
      Transfer arrive = copy_at(transfer, dst, transfer.dst);
      staged_.transfers.push_back(std::move(transfer));
      staged_.transfers.push_back(std::move(arrive));
    } else {
      staged_.transfers.push_back(std::move(transfer));
    }
    slots_.note_written(dst, index_);
  }

  bool crosses(const Region& one, const Region& other) const {
    return !node_of_.together(one.rank, other.rank);
  }

  // Adds a copy between nodes, which transfer `whose` needs.
  void add_message(const Transfer& whose, const Region& dst, const Region& src) {
    await_leaving(dst);
    Transfer end{TransferKind::post, false, stage_automatic, whose.line, dst, {src}, whose.file};
    const auto message = static_cast<int32_t>(under_way_.size());
    end.message = message;
    staged_.transfers.push_back(end);
    end.kind = TransferKind::send;
    end.push = true;
    end.stage = whose.stage;
    staged_.transfers.push_back(end);
    end.kind = TransferKind::receive;
    end.push = false;
    end.stage = stage_automatic;
    staged_.transfers.push_back(end);
    end.kind = TransferKind::sent;
    end.push = true;
    under_way_.push_back(std::move(end));
    if (is_original(src))
      leaving_.each(src, [&](std::vector<int32_t>& messages) { messages.push_back(message); });
    slots_.note_written(dst, index_);
  }

  // Before a region is written, the messages that are under way from it must have ended.
  void await_leaving(const Region& dst) {
    if (!is_original(dst)) return;
    leaving_.each(dst, [&](std::vector<int32_t>& messages) {
      for (const int32_t message : messages) {
        Transfer& sent = under_way_[static_cast<size_t>(message)];
        if (sent.message < 0) continue;
        staged_.transfers.push_back(std::move(sent));
        sent.message = -1;
      }
      messages.clear();
    });
  }

  void end_messages_of(int32_t rank) {
    for (Transfer& sent : under_way_) {
      if (sent.message < 0 || sent.executor() != rank) continue;
      staged_.transfers.push_back(sent);
      sent.message = -1;
    }
  }

  // Blocks of tmp that staging added are not original; they are written once.
  bool is_original(const Region& region) const {
    return region.buffer != Buffer::tmp || region.first < first_fresh_[region.rank];
  }

  // A token for a rank on another node becomes a message without data. A rank hands a token on when
  // its messages have ended: until then they load the link.
  void add_token(Transfer transfer) {
    std::vector<Region> here;
    for (const Region& src : transfer.src) {
      end_messages_of(src.rank);
      if (crosses(src, transfer.dst)) {
        add_message(transfer, transfer.dst, src);
      } else {
        here.push_back(src);
      }
    }
    if (here.empty()) return;
    transfer.src = std::move(here);
    staged_.transfers.push_back(std::move(transfer));
  }

  const Plan& plan_;
  Plan staged_;
  const DirectSends direct_;
  // Indexed by copy that is left out and by rank that reads it: where its message arrives, unless
  // that is the destination of the rank's own copy.
  std::map<std::pair<int32_t, int32_t>, Region> arrived_;
  const placement::NodeOf node_of_;
  SlotCopies slots_;
  int32_t index_ = 0;                 // the transfer that is being added
  std::vector<int32_t> first_fresh_;  // indexed by rank
  // Indexed by message: the transfer that ends it; its `message` is -1 once it has been staged.
  std::vector<Transfer> under_way_;
  BlockTable<std::vector<int32_t>> leaving_;  // messages under way from a block
};

// The last uses of a block, for stages. A call may be in place unless the plan excludes it.
struct LastUse {
  int32_t writer = -1;
  Chains::Head readers;
};

// While a message is under way, its two ends work on later segments. These are the stages between
// its send and its receive, the most stages between its post and its receive, and the stages
// between its send and the end of the send.
constexpr int32_t stages_until_come = 4;
constexpr int32_t most_stages_ahead = 6;
constexpr int32_t stages_until_sent = 4;

// A rank's transfers so far, for the stages of tokens and of the transfers after them.
struct Reached {
  int32_t latest = -1;  // the largest stage of its transfers
  int32_t least = 0;    // the stage of its last token, the least for the transfers after it
  int32_t token = -1;   // the last token
};

// Sorts transfers by stage, and within a stage in the order of the plan, except that a send comes
// right after the transfer that made its data. Otherwise a leader that receives several messages in
// one stage would send nothing on before all of them have come.
void put_in_order(LargeVector<Transfer>& transfers, const LargeVector<int32_t>& behind) {
  const auto count = static_cast<int32_t>(transfers.size());
  std::vector<int32_t> next;  // indexed by stage: where its next transfer goes
  for (const Transfer& transfer : transfers) {
    const auto stage = static_cast<size_t>(transfer.stage);
    if (next.size() < stage + 2) next.resize(stage + 2);
    ++next[stage + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  LargeVector<int32_t> order(transfers.size());
  for (int32_t i = 0; i < count; ++i) order[next[transfers[i].stage]++] = i;
  if (std::any_of(behind.begin(), behind.end(), [](int32_t other) { return other >= 0; })) {
    const auto place = [&](int32_t i) {
      return std::pair(transfers[i].stage, behind[i] < 0 ? i : behind[i]);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t one, int32_t other) { return place(one) < place(other); });
  }
  // In place, because a second plan would take much memory: each cycle of moves begins at a free
  // place.
  for (int32_t begin = 0; begin < count; ++begin) {
    if (order[begin] == begin) continue;
    Transfer first = std::move(transfers[begin]);
    int32_t to = begin;
    while (order[to] != begin) {
      const int32_t from = std::exchange(order[to], to);
      prefetch<0, sizeof(Transfer)>(&transfers[order[from]]);
      transfers[to] = std::move(transfers[from]);
      to = from;
    }
    transfers[to] = std::move(first);
    order[to] = to;
  }
}

// Gives each transfer the least stage that the rules allow, then sorts the transfers by stage.
class Scheduler {
 public:
  Scheduler(Plan& plan, Buffers buffers)
      : plan_(plan),
        table_(plan, buffers == Buffers::two ? Table::Aliasing::none : Table::Aliasing::in_place),
        reached_(static_cast<size_t>(plan.ranks)),
        behind_(plan.transfers.size(), -1) {}

  void run() {
    auto& transfers = plan_.transfers;
    for (int32_t i = 0; i < static_cast<int32_t>(transfers.size()); ++i) {
      Transfer& transfer = transfers[i];
      Reached& reached = reached_[transfer.executor()];
      int32_t stage = std::max(transfer.stage, reached.least);
      stage = after_uses(i, stage);
      stage = after_message(transfer, i, stage);
      // A message without data replaces a token.
      const bool has_data = transfer.dst.count > 0;
      if (transfer.kind == TransferKind::send && !has_data && reached.latest >= 0)
        stage = std::max(stage, reached.latest);
      if (transfer.kind == TransferKind::token ||
          (transfer.kind == TransferKind::receive && !has_data)) {
        if (transfer.kind == TransferKind::token) stage = after_peers(transfer, stage);
        reached.least = stage;
        reached.token = i;
      }
      if (transfer.kind == TransferKind::send && has_data)
        behind_[i] = made_by(transfer, reached, stage);
      reached.latest = std::max(reached.latest, stage);
      transfer.stage = stage;
    }
    put_in_order(transfers, behind_);
  }

 private:
  using Table = BlockTable<LastUse>;

  // After the earlier transfers that use the same blocks, if one of the two writes. A block that
  // another rank has used is handed over, which takes a stage.
  int32_t after_uses(int32_t i, int32_t stage) {
    const Transfer& transfer = plan_.transfers[i];
    const int32_t executor = transfer.executor();
    const auto after = [&](int32_t earlier) {
      if (earlier < 0 || earlier == i) return;
      const Transfer& before = plan_.transfers[earlier];
      const bool handed_over = before.executor() != executor && transfer.stage == stage_automatic;
      stage = std::max(stage, before.stage + (handed_over ? 1 : 0));
    };
    for (const Region& src : transfer.src) {
      if (!transfer.reads()) break;
      table_.each(src, [&](LastUse& use) {
        after(use.writer);
        readers_.add(use.readers, i);
      });
    }
    if (transfer.writes()) {
      table_.each(transfer.dst, [&](LastUse& use) {
        after(use.writer);
        readers_.each(use.readers, after);
        use = {i, {}};
      });
    }
    return stage;
  }

  // A send may not end before its message has been posted, and a message takes some stages to come.
  // It is posted as late as that allows.
  int32_t after_message(const Transfer& transfer, int32_t i, int32_t stage) {
    auto& transfers = plan_.transfers;
    if (transfer.kind == TransferKind::post) post_of_.push_back(i);
    if (transfer.kind == TransferKind::send) send_of_.push_back(i);
    if (transfer.kind == TransferKind::sent) {
      stage = std::max({stage, transfers[send_of_[transfer.message]].stage + stages_until_sent,
                        transfers[post_of_[transfer.message]].stage});
    }
    if (transfer.kind == TransferKind::receive) {
      stage = std::max(stage, transfers[send_of_[transfer.message]].stage + stages_until_come);
      Transfer& post = transfers[post_of_[transfer.message]];
      post.stage = std::max(post.stage, stage - most_stages_ahead);
    }
    return stage;
  }

  // After the last transfers of a token's peers.
  int32_t after_peers(const Transfer& token, int32_t stage) const {
    for (const Region& src : token.src) {
      const int32_t latest = reached_[src.rank].latest;
      if (latest >= 0) stage = std::max(stage, latest + (token.stage == stage_automatic ? 1 : 0));
    }
    return stage;
  }

  // The transfer of its stage that a send is sorted behind, because it makes the data or is the
  // token that the send follows; -1: none.
  int32_t made_by(const Transfer& sent, const Reached& reached, int32_t stage) {
    int32_t last = reached.token;
    table_.each(sent.src.front(), [&](LastUse& use) { last = std::max(last, use.writer); });
    return last >= 0 && plan_.transfers[last].stage == stage ? last : -1;
  }

  Plan& plan_;
  Table table_;
  Chains readers_;
  std::vector<Reached> reached_;
  std::vector<int32_t> post_of_, send_of_;  // indexed by message
  LargeVector<int32_t> behind_;             // indexed by send; as made_by says
};

}  // namespace

void schedule(Plan& plan, Buffers buffers) { Scheduler(plan, buffers).run(); }

Plan stage(Plan plan, const placement::Nodes& nodes, Buffers buffers) {
  if (const int64_t moved = moves(plan); moved > max_moves) {
    throw Error(Code::invalid_plan, "the plan moves " + std::to_string(moved) +
                                        " blocks, more than the " + std::to_string(max_moves) +
                                        " that a program is made of; use fewer, larger blocks");
  }
  if (nodes.one()) {
    plan.nodes = nodes;
    if (!keeps_out_of_others(plan)) NodeStager(plan).run();
    schedule(plan, buffers);
    return plan;
  }
  Stager stager(plan, nodes, buffers);
  for (int32_t i = 0; i < static_cast<int32_t>(plan.transfers.size()); ++i) stager.add(i);
  Plan staged = stager.take();
  plan.transfers = {};
  schedule(staged, buffers);
  return staged;
}

}  // namespace tutti::plan
