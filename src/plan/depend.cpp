// Finds the transfers that each rank must wait for: those that conflict and that no other wait
// implies.
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/blocks.h"
#include "plan/elidable_copies.h"
#include "plan/fault.h"
#include "plan/lists.h"
#include "plan/lower.h"
#include "plan/vector_clocks.h"

namespace tutti::plan {
namespace {

struct Uses {
  int32_t writer = -1;
  Chains::Head readers;  // since the last write
};

// A transfer that conflicts with a later one, through this source of the later one. -1: through
// another region, or all sources of the later one must be there when it begins.
struct Conflict {
  int32_t earlier, source;
};

// The conflicts of all transfers, by the later one.
class Conflicts {
 public:
  Conflicts(const Plan& staged, Carrier carrier)
      : staged_(staged),
        carrier_(carrier),
        table_(staged, Table::Aliasing::none),
        last_of_(static_cast<size_t>(staged.ranks), -1) {
    ends_.reserve(staged.transfers.size());
    for (int32_t i = 0; i < static_cast<int32_t>(staged.transfers.size()); ++i) {
      begin_ = all_.size();
      collect(i);
      ends_.push_back(all_.size());
      last_of_[staged.transfers[i].executor()] = i;
    }
  }

  std::span<const Conflict> operator[](int32_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {all_.data() + begin, ends_[i] - begin};
  }

 private:
  using Table = BlockTable<Uses>;

  void collect(int32_t i) {
    const Transfer& transfer = staged_.transfers[i];
    const int32_t executor = transfer.executor();
    // A barrier moves no data; all of its work is its waits.
    const bool apart = transfer.any_order && has_data(staged_.collective);
    if (transfer.kind == TransferKind::token) {
      for (const Region& src : transfer.src) add(last_of_[src.rank], -1, executor);
    }
    for (size_t k = 0; k < transfer.src.size() && transfer.reads(); ++k) {
      const int32_t source = apart ? static_cast<int32_t>(k) : -1;
      table_.each(transfer.src[k], [&](Uses& uses) {
        add(uses.writer, source, executor);
        if (carrier_ == Carrier::slot) readers_.add(uses.readers, i);
      });
    }
    if (!transfer.writes()) return;
    table_.each(transfer.dst, [&](Uses& uses) {
      if (carrier_ == Carrier::slot) {
        add(uses.writer, -1, executor);
        readers_.each(uses.readers, [&](int32_t reader) { add(reader, -1, executor); });
      }
      uses = {i, {}};
    });
  }

  void add(int32_t earlier, int32_t source, int32_t executor) {
    if (earlier < 0 || staged_.transfers[earlier].executor() == executor) return;
    const bool again =
        all_.size() > begin_ && all_.back().earlier == earlier && all_.back().source == source;
    if (!again) all_.push_back({earlier, source});
  }

  const Plan& staged_;
  const Carrier carrier_;
  Table table_;
  Chains readers_;
  std::vector<int32_t> last_of_;  // indexed by rank: its last transfer so far; -1: none
  LargeVector<Conflict> all_;
  LargeVector<size_t> ends_;
  size_t begin_ = 0;
};

// Walks a staged plan once, when its conflicts are known.
class Finder {
 public:
  Finder(const Plan& staged, Carrier carrier, bool pairs, const Slice* slice)
      : staged_(staged),
        pairs_(pairs),
        node_of_(staged.nodes),
        conflicts_(staged, carrier),
        send_of_(staged.transfers.size() / 4, -1),
        known_(staged, pairs ? LargeVector<int32_t>{} : last_uses(), pairs) {
    if (carrier == Carrier::slot && staged.nodes.one()) elidable_.emplace(staged, pairs, slice);
  }

  Dependences run() {
    result_.waits.reserve(staged_.transfers.size());
    result_.arrivals.reserve(staged_.transfers.size());
    for (int32_t i = 0; i < count(); ++i) {
      const Transfer& transfer = staged_.transfers[i];
      // The receiver of a message knows all that its sender knew.
      if (transfer.kind == TransferKind::receive)
        known_.wait(transfer.executor(), send_of_[transfer.message]);
      before_.clear();
      arrivals_.clear();
      for (const Conflict& conflict : conflicts_[i]) {
        if (conflict.source < 0) before_.push_back(conflict.earlier);
      }
      if (transfer.any_order && has_data(staged_.collective)) choose_arrivals(i);
      settle_waits(i);
      settle_arrivals(i);
      if (elidable_) elidable_->visit(i, known_);
      known_.execute(transfer.executor(), i);
      if (pairs_) continue;
      for (const Conflict& conflict : conflicts_[i]) known_.end_use(conflict.earlier, i);
      if (transfer.kind == TransferKind::receive) known_.end_use(send_of_[transfer.message], i);
    }
    tokens_of_the_segment_before();
    result_.knows_all.resize(staged_.ranks);
    for (int32_t rank = 0; rank < staged_.ranks; ++rank)
      result_.knows_all[rank] = known_.knows_all(rank, node_of_);
    if (elidable_) result_.elidable = elidable_->take(known_, result_);
    return std::move(result_);
  }

 private:
  int32_t count() const { return static_cast<int32_t>(staged_.transfers.size()); }

  // The last transfer that may wait for each transfer.
  LargeVector<int32_t> last_uses() {
    LargeVector<int32_t> last(staged_.transfers.size(), -1);
    for (int32_t i = 0; i < count(); ++i) {
      const Transfer& transfer = staged_.transfers[i];
      for (const Conflict& conflict : conflicts_[i]) last[conflict.earlier] = i;
      if (transfer.kind == TransferKind::send) send_of_[transfer.message] = i;
      if (transfer.kind == TransferKind::receive) {
        int32_t& of_send = last[send_of_[transfer.message]];
        of_send = std::max(of_send, i);
      }
    }
    return last;
  }

  // If a rank has no transfer before a token in the token's segment, the token waits for the rank's
  // last transfer in the segment before, of the token's stage or an earlier one. Later stages do
  // not count, because their numbers in the segment before are larger than the token's.
  void tokens_of_the_segment_before() {
    std::vector<int32_t> first(static_cast<size_t>(staged_.ranks), count());
    for (int32_t i = count() - 1; i >= 0; --i) first[staged_.transfers[i].executor()] = i;
    std::vector<std::pair<int32_t, int32_t>> awaited;  // a token and a transfer
    std::vector<int32_t> last(static_cast<size_t>(staged_.ranks), -1);
    for (int32_t i = count() - 1; i >= 0; --i) {
      const Transfer& transfer = staged_.transfers[i];
      if (transfer.kind == TransferKind::token) {
        const size_t others = awaited.size();
        for (const Region& src : transfer.src) {
          const int32_t candidate = last[src.rank];
          if (first[src.rank] < i || candidate < 0 ||
              staged_.transfers[candidate].stage != transfer.stage)
            continue;
          awaited.emplace_back(i, candidate);
        }
        std::reverse(awaited.begin() + static_cast<std::ptrdiff_t>(others), awaited.end());
      }
      int32_t& of_stage = last[transfer.executor()];
      if (of_stage < 0 || staged_.transfers[of_stage].stage != transfer.stage) of_stage = i;
    }
    result_.segment_before.reserve(staged_.transfers.size());
    for (int32_t i = 0; i < count(); ++i) {
      for (; !awaited.empty() && awaited.back().first == i; awaited.pop_back())
        result_.segment_before.add(awaited.back().second);
      result_.segment_before.end_list();
    }
  }

  // The latest comes first, because it may imply others, which then need no wait.
  static void sort(std::vector<int32_t>& candidates) {
    std::sort(candidates.begin(), candidates.end(), std::greater<>());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  }

  bool knows(int32_t i, int32_t earlier) const {
    return known_.knows(staged_.transfers[i].executor(), earlier);
  }

  // A source arrives with its latest writer. A region of several blocks may have other writers, if
  // several ranks pushed to it. The step waits at its start for those that the latest one does not
  // imply.
  void choose_arrivals(int32_t i) {
    const std::span<const Conflict> all = conflicts_[i];
    size_t next = 0;
    for (int32_t k = 0; k < static_cast<int32_t>(staged_.transfers[i].src.size()); ++k) {
      of_source_.clear();
      // Those of one source follow each other, in the order of the sources.
      for (; next < all.size() && all[next].source <= k; ++next) {
        if (all[next].source == k && !knows(i, all[next].earlier))
          of_source_.push_back(all[next].earlier);
      }
      sort(of_source_);
      arrivals_.push_back(of_source_.empty() ? -1 : of_source_.front());
      for (size_t other = 1; other < of_source_.size(); ++other) {
        if (!known_.implied(of_source_[other], of_source_.front()))
          before_.push_back(of_source_[other]);
      }
    }
  }

  void settle_waits(int32_t i) {
    sort(before_);
    settled_.clear();
    for (int32_t earlier : before_) {
      if (knows(i, earlier)) continue;
      if (!node_of_.together(staged_.transfers[earlier].executor(),
                             staged_.transfers[i].executor())) {
        if (!known_.enabled())
          continue;  // a message implies it, as the clocks show in smaller plans
        refuse(place(staged_, i),
               "it waits for another node without a message; this is a fault of lowering");
      }
      known_.wait(staged_.transfers[i].executor(), earlier);
      settled_.push_back(earlier);
    }
    // Waits are in plan order, which is roughly the order of arrival.
    std::reverse(settled_.begin(), settled_.end());
    for (const int32_t earlier : settled_) result_.waits.add(earlier);
    result_.waits.end_list();
  }

  // The wait for one source must not replace the wait for another, so all are settled before any of
  // them counts as known. The waits are settled already.
  void settle_arrivals(int32_t i) {
    for (int32_t& earlier : arrivals_) {
      const bool waited_for = std::binary_search(settled_.begin(), settled_.end(), earlier);
      if (earlier >= 0 && (waited_for || knows(i, earlier))) earlier = -1;
    }
    for (const int32_t earlier : arrivals_) {
      if (earlier >= 0) known_.wait(staged_.transfers[i].executor(), earlier);
      result_.arrivals.add(earlier);
    }
    result_.arrivals.end_list();
  }

  const Plan& staged_;
  const bool pairs_;
  const placement::NodeOf node_of_;
  const Conflicts conflicts_;
  std::vector<int32_t> send_of_;  // indexed by message
  VectorClocks known_;
  std::optional<ElidableCopyFinder> elidable_;
  Dependences result_;
  // The transfers that the present one must wait for, those of them that no other wait implies, and
  // the ones with which its sources arrive if it takes them in any order.
  std::vector<int32_t> before_, settled_, arrivals_;
  std::vector<int32_t> of_source_;
};

}  // namespace

bool pairs_decide(const Plan& staged) {
  if (!staged.nodes.one()) return false;
  size_t uses = 0;
  for (const Transfer& transfer : staged.transfers) {
    if (transfer.kind == TransferKind::token) return false;
    uses += static_cast<size_t>(transfer.dst.count) * (1 + transfer.src.size());
  }
  return uses > most_clocked_uses;
}

Dependences depend(const Plan& staged, Carrier carrier, bool pairs) {
  return Finder(staged, carrier, pairs, nullptr).run();
}
Dependences depend(const Plan& staged, Carrier carrier) {
  return depend(staged, carrier, pairs_decide(staged));
}
Dependences depend(const Slice& slice, Carrier carrier) {
  return Finder(slice.plan, carrier, true, &slice).run();
}

}  // namespace tutti::plan
