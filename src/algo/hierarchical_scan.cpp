#include "algo/hierarchical_phases.h"

#include <algorithm>

#include "algo/form.h"

namespace tutti::algo {
namespace {

using plan::Collective;
using plan::Plan;
using plan::Region;

// A run is a set of consecutive ranks on one node. Each run scans by itself; then it needs the
// combination of all runs before it. If every node is one run, an exscan among the nodes' leaders
// gives it. Else leaders exchange the totals of their runs, and each leader combines those before
// each of its runs.
class Scan {
 public:
  explicit Scan(Hierarchy& nodes)
      : nodes_(nodes), plan_(nodes.plan()), inclusive_(plan_.collective == Collective::scan) {
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
      const int32_t node = nodes.node_of(rank);
      if (runs_.empty() || runs_.back().node != node) runs_.push_back({node, {}, {}});
      runs_.back().ranks.push_back(rank);
    }
  }

  void run() {
    for (size_t i = 0; i < runs_.size(); ++i) within(runs_[i], i == 0, i + 1 == runs_.size());
    if (nodes_.in_runs()) {
      by_leaders();
    } else {
      by_all_runs();
    }
    finish_first();
    for (size_t i = 1; i < runs_.size(); ++i) finish(runs_[i]);
  }

 private:
  struct Run {
    int32_t node;
    std::vector<int32_t> ranks;
    std::vector<Region> scanned;  // indexed by rank of the run: the inclusive scan within the run
    Region before = {};           // the combination of all runs before it, at the node's leader
  };

  // The rank that has the total of its node's last run.
  int32_t leader(int32_t node) const { return nodes_.members(node).back(); }

  // In an exscan the total of the last run is not needed.
  void within(Run& run, bool first, bool last) {
    const bool all = inclusive_ || !last || !nodes_.in_runs();
    const std::vector<int32_t> ranks(run.ranks.begin(), run.ranks.end() - (all ? 0 : 1));
    if (ranks.size() == 1) run.scanned.push_back(plan::in(ranks.front()));
    if (ranks.size() < 2) return;
    std::vector<Regions> in, out;
    for (const int32_t rank : ranks) {
      const bool has_own = rank == ranks.front();
      if (inclusive_ && first) {
        run.scanned.push_back(plan::out(rank));
      } else {
        run.scanned.push_back(has_own ? plan::in(rank) : nodes_.composer().scratch(rank, 1));
      }
      in.push_back({plan::in(rank)});
      out.push_back({run.scanned.back()});
    }
    nodes_.embed_within(Collective::scan, ranks, ranks.front(), in, out);
  }

  const Region& total(const Run& run) const { return run.scanned.back(); }

  void by_leaders() {
    std::vector<int32_t> leaders;
    std::vector<Regions> in, out;
    for (Run& run : runs_) {
      leaders.push_back(run.ranks.back());
      in.push_back({run.scanned.empty() ? plan::in(leaders.back()) : total(run)});
      const bool is_result = !inclusive_ && run.ranks.size() == 1;
      run.before =
          is_result ? plan::out(leaders.back()) : nodes_.composer().scratch(leaders.back(), 1);
      out.push_back({run.before});
    }
    // In an exscan a rank that is alone on its node gets its result in this step, and its `in` and
    // `out` may be one buffer.
    const bool in_stays = inclusive_;
    nodes_.composer().embed(
        {nodes_.between(Collective::exscan), leaders, cut(in, 1), cut(out, 1), in_stays, true});
  }

  // Brings the totals of all runs to every leader, node by node.
  void by_all_runs() {
    std::vector<int32_t> firsts, leaders;
    std::vector<Region> totals;
    const std::vector<std::vector<size_t>> of_nodes = runs_of_nodes();
    for (int32_t node = 0, first = 0; node < nodes_.nodes(); ++node) {
      firsts.push_back(first);
      first += static_cast<int32_t>(of_nodes[static_cast<size_t>(node)].size());
      leaders.push_back(leader(node));
      totals.push_back(
          nodes_.composer().scratch(leaders.back(), static_cast<int32_t>(runs_.size())));
    }
    std::vector<int32_t> places(runs_.size());
    for (int32_t node = 0; node < nodes_.nodes(); ++node) {
      int32_t place = firsts[static_cast<size_t>(node)];
      for (const size_t run : of_nodes[static_cast<size_t>(node)]) {
        places[run] = place++;
        plan_.copy(at(totals[static_cast<size_t>(node)], places[run]), total(runs_[run]));
      }
    }
    const Locate locate = [&](int32_t rank, int64_t item, Regions& regions) {
      const auto node = static_cast<size_t>(item);
      const Region& all = totals[static_cast<size_t>(rank)];
      append(regions, plan::tmp(all.rank, all.first + firsts[node],
                                static_cast<int32_t>(of_nodes[node].size())));
    };
    nodes_.composer().embed(
        {nodes_.between(Collective::allgather), leaders, locate, locate, true, true});
    for (int32_t node = 0; node < nodes_.nodes(); ++node) {
      combine(of_nodes[static_cast<size_t>(node)], totals[static_cast<size_t>(node)], places);
    }
  }

  std::vector<std::vector<size_t>> runs_of_nodes() const {
    std::vector<std::vector<size_t>> runs(static_cast<size_t>(nodes_.nodes()));
    for (size_t run = 0; run < runs_.size(); ++run)
      runs[static_cast<size_t>(runs_[run].node)].push_back(run);
    return runs;
  }

  static Region at(const Region& all, int32_t place) {
    return plan::tmp(all.rank, all.first + place);
  }

  // Combines, for each of a node's runs, all runs before it: the combination for the node's
  // previous run, then the totals of the runs from that one on.
  void combine(const std::vector<size_t>& runs, const Region& totals,
               const std::vector<int32_t>& places) {
    std::vector<Region> sources;
    size_t next = 0;
    for (const size_t run : runs) {
      if (run == 0) continue;
      for (; next < run; ++next) sources.push_back(at(totals, places[next]));
      Region& before = runs_[run].before;
      before = sources.size() == 1 ? sources.front() : nodes_.composer().scratch(totals.rank, 1);
      if (sources.size() > 1) plan_.reduce(before, sources);
      sources = {before};
    }
  }

  void finish_first() {
    const Run& run = runs_.front();
    if (inclusive_) {
      if (run.ranks.size() == 1) plan_.copy(plan::out(0), plan::in(0));
      return;
    }
    for (size_t i = 1; i < run.ranks.size(); ++i)
      plan_.copy(plan::out(run.ranks[i]), run.scanned[i - 1]);
  }

  // The last rank comes first: it may read the `in` of its left neighbour, which the neighbour's
  // result may overwrite.
  void finish(const Run& run) {
    for (size_t i = run.ranks.size(); i-- > 0;) {
      const Region result = plan::out(run.ranks[i]);
      std::vector<Region> sources{run.before};
      if (inclusive_) {
        sources.push_back(run.scanned[i]);
      } else if (i > 0) {
        sources.push_back(run.scanned[i - 1]);
      }
      if (!(sources.size() == 1 && sources.front() == result))
        plan_.reduce(result, std::move(sources));
    }
  }

  Hierarchy& nodes_;
  Plan& plan_;
  const bool inclusive_;
  std::vector<Run> runs_;
};

}  // namespace

void hierarchical_scan(Hierarchy& nodes) { Scan(nodes).run(); }

}  // namespace tutti::algo
