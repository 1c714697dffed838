// Finds the transfers that each rank must wait for: those that conflict and that no other wait
// implies.
#include <algorithm>
#include <functional>
#include <utility>

#include "plan/blocks.h"
#include "plan/fault.h"
#include "plan/vector_clocks.h"
#include "plan/lower.h"
#include "plan/elidable_copies.h"

namespace tutti::plan {
namespace {

struct Uses {
  int32_t writer = -1;
  std::vector<int32_t> readers;  // since the last write
};

// Walks a staged plan once.
class Finder {
 public:
  Finder(const Plan& staged, Carrier carrier)
      : staged_(staged),
        node_of_(staged.nodes),
        carrier_(carrier),
        table_(staged, Table::Aliasing::none),
        known_(staged),
        first_of_(static_cast<size_t>(staged.ranks), static_cast<int32_t>(staged.transfers.size())),
        last_of_(static_cast<size_t>(staged.ranks), -1),
        send_of_(staged.transfers.size() / 4, -1) {}

  Dependences run() {
    const auto count = static_cast<int32_t>(staged_.transfers.size());
    result_.waits.resize(staged_.transfers.size());
    result_.arrivals.resize(staged_.transfers.size());
    for (int32_t i = 0; i < count; ++i) {
      collect(i);
      choose_arrivals(i);
      settle_waits(i);
      settle_arrivals(i);
      const int32_t executor = staged_.transfers[i].executor();
      known_.execute(executor, i);
      first_of_[executor] = std::min(first_of_[executor], i);
      last_of_[executor] = i;
    }
    result_.segment_before = tokens_of_the_segment_before();
    result_.knows_all.resize(staged_.ranks);
    for (int32_t rank = 0; rank < staged_.ranks; ++rank)
      result_.knows_all[rank] = known_.knows_all(rank, node_of_);
    return std::move(result_);
  }

 private:
  using Table = BlockTable<Uses>;

  // Collects the transfers that conflict with this one. Those that conflict with a source that may
  // arrive by itself go to the list of the source, all others to `before_`.
  void collect(int32_t i) {
    const Transfer& transfer = staged_.transfers[i];
    // A barrier moves no data; all of its work is its waits.
    const bool apart = transfer.any_order && has_data(staged_.collective);
    before_.clear();
    if (transfer.kind == TransferKind::token) {
      for (const Region& src : transfer.src) add(before_, last_of_[src.rank], i);
    }
    if (transfer.kind == TransferKind::send) send_of_[transfer.message] = i;
    // The receiver of a message knows all that its sender knew.
    if (transfer.kind == TransferKind::receive)
      known_.wait(transfer.executor(), send_of_[transfer.message]);
    by_source_.assign(apart ? transfer.src.size() : 0, {});
    for (size_t k = 0; k < transfer.src.size() && transfer.reads(); ++k) {
      std::vector<int32_t>& candidates = apart ? by_source_[k] : before_;
      table_.each(transfer.src[k], [&](Uses& uses) {
        add(candidates, uses.writer, i);
        uses.readers.push_back(i);
      });
    }
    if (!transfer.writes()) return;
    table_.each(transfer.dst, [&](Uses& uses) {
      if (carrier_ == Carrier::slot) {
        add(before_, uses.writer, i);
        for (int32_t reader : uses.readers) add(before_, reader, i);
      }
      uses.writer = i;
      uses.readers.clear();
    });
  }

  // If a rank has no transfer before a token in the token's segment, the token waits for the rank's
  // last transfer in the segment before, of the token's stage or an earlier one. Later stages do
  // not count, because their numbers in the segment before are larger than the token's.
  std::vector<std::vector<int32_t>> tokens_of_the_segment_before() {
    std::vector<std::vector<int32_t>> awaited(staged_.transfers.size());
    std::vector<int32_t> last(static_cast<size_t>(staged_.ranks), -1);
    for (int32_t i = static_cast<int32_t>(staged_.transfers.size()) - 1; i >= 0; --i) {
      const Transfer& transfer = staged_.transfers[i];
      if (transfer.kind == TransferKind::token) {
        for (const Region& src : transfer.src) {
          const int32_t candidate = last[src.rank];
          if (first_of_[src.rank] < i || candidate < 0 ||
              staged_.transfers[candidate].stage != transfer.stage)
            continue;
          awaited[i].push_back(candidate);
        }
      }
      int32_t& of_stage = last[transfer.executor()];
      if (of_stage < 0 || staged_.transfers[of_stage].stage != transfer.stage) of_stage = i;
    }
    return awaited;
  }

  void add(std::vector<int32_t>& candidates, int32_t earlier, int32_t i) const {
    if (earlier >= 0 && staged_.transfers[earlier].executor() != staged_.transfers[i].executor()) {
      candidates.push_back(earlier);
    }
  }

  // The latest comes first, because it may imply others, which then need no wait.
  static void sort(std::vector<int32_t>& candidates) {
    std::sort(candidates.begin(), candidates.end(), std::greater<>());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  }

  bool knows(int32_t i, int32_t earlier) const {
    return known_.knows(staged_.transfers[i].executor(), staged_, earlier);
  }

  // A source arrives with its latest writer. A region of several blocks may have other writers, if
  // several ranks pushed to it. The step waits at its start for those that the latest one does not
  // imply.
  void choose_arrivals(int32_t i) {
    for (std::vector<int32_t>& candidates : by_source_) {
      std::erase_if(candidates, [&](int32_t earlier) { return knows(i, earlier); });
      sort(candidates);
      result_.arrivals[i].push_back(candidates.empty() ? -1 : candidates.front());
      for (size_t k = 1; k < candidates.size(); ++k) {
        if (!known_.implied(candidates[k], staged_, candidates.front()))
          before_.push_back(candidates[k]);
      }
    }
  }

  void settle_waits(int32_t i) {
    sort(before_);
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
      result_.waits[i].push_back(earlier);
    }
    // Waits are in plan order, which is roughly the order of arrival.
    std::reverse(result_.waits[i].begin(), result_.waits[i].end());
  }

  // The wait for one source must not replace the wait for another, so all are settled before any of
  // them counts as known. `waits` is settled already, and in plan order.
  void settle_arrivals(int32_t i) {
    const std::vector<int32_t>& waits = result_.waits[i];
    for (int32_t& earlier : result_.arrivals[i]) {
      const bool waited_for = std::binary_search(waits.begin(), waits.end(), earlier);
      if (earlier >= 0 && (waited_for || knows(i, earlier))) earlier = -1;
    }
    for (int32_t earlier : result_.arrivals[i]) {
      if (earlier >= 0) known_.wait(staged_.transfers[i].executor(), earlier);
    }
  }

  const Plan& staged_;
  const placement::NodeOf node_of_;
  const Carrier carrier_;
  Table table_;
  VectorClocks known_;
  Dependences result_;
  std::vector<int32_t> first_of_;  // by rank: its first transfer so far; past the end: none
  std::vector<int32_t> last_of_;   // by rank: its last transfer so far; -1: none
  std::vector<int32_t> send_of_;   // by message
  // The conflicts of the present transfer: those to wait for before it, and those of each source,
  // which are empty if it takes its sources in order.
  std::vector<int32_t> before_;
  std::vector<std::vector<int32_t>> by_source_;
};

}  // namespace

Dependences depend(const Plan& staged, Carrier carrier) {
  Dependences dependences = Finder(staged, carrier).run();
  if (carrier == Carrier::slot && staged.nodes.one())
    dependences.elidable = find_elidable_copies(staged, dependences);
  return dependences;
}

}  // namespace tutti::plan
