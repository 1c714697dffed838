#include "plan/forest.h"

#include <algorithm>
#include <utility>

#include "plan/fault.h"

namespace tutti::plan {
namespace {

std::string rank_text(int32_t rank) { return "rank " + std::to_string(rank); }

}  // namespace

Forest::Forest(const Trees& trees)
    : collective_(trees.collective), ranks_(trees.ranks), root_(trees.root) {
  tree(TreeKind::reduce).wanted = !one_buffer(collective_);
  tree(TreeKind::bcast).wanted = !(rooted(collective_) && combines(collective_));
  for (Tree& each : trees_) {
    if (!each.wanted) continue;
    each.children.resize(static_cast<size_t>(ranks_));
    each.parent.assign(static_cast<size_t>(ranks_), -1);
    each.line.assign(static_cast<size_t>(ranks_), 0);
  }
}

// " (line 5)", or nothing for trees made by code, whose lists all have line -1.
std::string Forest::at_line(const Tree& tree, int32_t parent) const {
  const int32_t line = tree.line[static_cast<size_t>(parent)];
  return line > 0 ? " (line " + std::to_string(line) + ")" : "";
}

std::string Forest::begin_list(TreeKind kind, int32_t parent, int32_t line) {
  Tree& into = tree(kind);
  if (!into.wanted) {
    return "a " + std::string(name(collective_)) + " has no " + std::string(word(kind)) +
           " tree; remove the line";
  }
  if (parent < 0 || parent >= ranks_) {
    return "there is no " + rank_text(parent) + "; ranks are 0 to " + std::to_string(ranks_ - 1);
  }
  if (into.line[static_cast<size_t>(parent)] != 0) {
    return rank_text(parent) + " has its " + std::string(word(kind)) + " list already" +
           at_line(into, parent) + "; write its children in one";
  }
  into.line[static_cast<size_t>(parent)] = into.last_line = line;
  kind_ = kind;
  parent_ = parent;
  return {};
}

std::string Forest::add(int32_t child) {
  Tree& into = tree(kind_);
  if (child < 0 || child >= ranks_) {
    return "there is no " + rank_text(child) + "; ranks are 0 to " + std::to_string(ranks_ - 1);
  }
  std::vector<int32_t>& list = into.children[static_cast<size_t>(parent_)];
  if (child == parent_) {
    if (kind_ == TreeKind::bcast)
      return rank_text(child) +
             " in its own list, but a rank does not broadcast to itself; leave it out";
    if (std::find(list.begin(), list.end(), child) != list.end()) {
      return rank_text(child) +
             " a second time in its own list; its data is combined once, keep one";
    }
    list.push_back(child);
    return {};
  }
  if (child == root_) {
    return rank_text(child) + " is the root and has no parent; leave it out, or set another root";
  }
  int32_t& parent = into.parent[static_cast<size_t>(child)];
  if (parent != -1) {
    return rank_text(child) + " has " + rank_text(parent) + " as its parent already" +
           at_line(into, parent) + "; name it once";
  }
  parent = parent_;
  list.push_back(child);
  return {};
}

std::string Forest::end_list() {
  const std::vector<int32_t>& list = tree(kind_).children[static_cast<size_t>(parent_)];
  if (list.empty() || (list.size() == 1 && list.front() == parent_)) {
    return rank_text(parent_) + " has no children here; name one, or remove the line";
  }
  return {};
}

std::optional<Fault> Forest::end() const {
  const bool needs_reduce = tree(TreeKind::reduce).wanted;
  if (needs_reduce) {
    if (auto fault = end(TreeKind::reduce)) return fault;
  }
  const bool needs_bcast =
      tree(TreeKind::bcast).wanted && (!needs_reduce || has_lists(TreeKind::bcast));
  return needs_bcast ? end(TreeKind::bcast) : std::nullopt;
}

std::optional<Fault> Forest::end(TreeKind kind) const {
  const Tree& whole = tree(kind);
  if (from_the_root(whole).size() == static_cast<size_t>(ranks_)) return std::nullopt;
  int32_t cut_off = root_;
  for (int32_t rank = 0; rank < ranks_; ++rank) {
    if (rank == root_ || whole.parent[static_cast<size_t>(rank)] != -1) continue;
    const int32_t line = std::max(whole.last_line, 0);
    return Fault{line, rank_text(rank) + " has no parent in the " + std::string(word(kind)) +
                           " tree; name it in a list that begins with '" + std::string(word(kind)) +
                           " PARENT:'"};
  }
  // Every rank has a parent, so a rank that the root does not reach is in a circle or below one. As
  // many steps upwards as there are ranks lead into the circle.
  std::vector<bool> reached(static_cast<size_t>(ranks_), false);
  for (int32_t rank : from_the_root(whole)) reached[static_cast<size_t>(rank)] = true;
  while (reached[static_cast<size_t>(cut_off)]) cut_off = (cut_off + 1) % ranks_;
  for (int32_t step = 0; step < ranks_; ++step)
    cut_off = whole.parent[static_cast<size_t>(cut_off)];
  const int32_t parent = whole.parent[static_cast<size_t>(cut_off)];
  return Fault{std::max(whole.line[static_cast<size_t>(parent)], 0),
               "ranks " + std::to_string(cut_off) + " and " + std::to_string(parent) +
                   " are in a circle of the " + std::string(word(kind)) +
                   " tree, each above the other; give one a parent that leads to the root, rank " +
                   std::to_string(root_)};
}

// The ranks with parents before their children.
std::vector<int32_t> Forest::from_the_root(const Tree& tree) const {
  std::vector<int32_t> order = {root_};
  for (size_t i = 0; i < order.size(); ++i) {
    const int32_t parent = order[i];
    for (int32_t child : tree.children[static_cast<size_t>(parent)]) {
      if (child != parent) order.push_back(child);
    }
  }
  return order;
}

// True if the reduce tree combines in the order 0, 1, 2, ...
bool Forest::keeps_rank_order() const {
  const Trees::Children& children = tree(TreeKind::reduce).children;
  const auto own_place_given = [&](int32_t rank) {
    const std::vector<int32_t>& list = children[static_cast<size_t>(rank)];
    return std::find(list.begin(), list.end(), rank) != list.end();
  };
  int32_t next = 0;
  std::vector<std::pair<int32_t, size_t>> path;  // a rank and how much of its list is done
  const auto enter = [&](int32_t rank) {
    if (!own_place_given(rank) && rank != next++) return false;
    path.emplace_back(rank, 0);
    return true;
  };
  if (!enter(root_)) return false;
  while (!path.empty()) {
    auto& [rank, done] = path.back();
    const std::vector<int32_t>& list = children[static_cast<size_t>(rank)];
    if (done == list.size()) {
      path.pop_back();
      continue;
    }
    const int32_t child = list[done++];
    if (child == rank ? child != next++ : !enter(child)) return false;
  }
  return true;
}

Forest::Tree Forest::upside_down() const {
  Tree result = tree(TreeKind::reduce);
  for (size_t parent = 0; parent < result.children.size(); ++parent) {
    std::vector<int32_t>& list = result.children[parent];
    std::erase(list, static_cast<int32_t>(parent));
    std::reverse(list.begin(), list.end());
  }
  return result;
}

void Forest::reduce_phase(Plan& plan, const Trees& trees) const {
  const Tree& from = tree(TreeKind::reduce);
  std::vector<int32_t> order = from_the_root(from);
  for (auto parent = order.rbegin(); parent != order.rend(); ++parent) {
    const std::vector<int32_t>& list = from.children[static_cast<size_t>(*parent)];
    if (list.empty() && *parent != root_) continue;
    std::vector<Region> sources;
    if (std::find(list.begin(), list.end(), *parent) == list.end()) sources.push_back(in(*parent));
    for (int32_t child : list) {
      const bool has_own = child == *parent || from.children[static_cast<size_t>(child)].empty();
      sources.push_back(has_own ? in(child) : tmp(child));
    }
    const Region result = *parent == root_ ? out(*parent) : tmp(*parent);
    const size_t first = plan.transfers.size();
    if (trees.any_order) {
      plan.reduce_any(result, std::move(sources));
    } else if (trees.stepwise && sources.size() > 1) {
      for (size_t next = 1; next < sources.size(); ++next)
        plan.reduce(result, {next == 1 ? sources.front() : result, sources[next]});
    } else {
      plan.reduce(result, std::move(sources));
    }
    for (size_t at = first; at < plan.transfers.size(); ++at)
      plan.transfers[at].line = std::max(from.line[static_cast<size_t>(*parent)], 0);
  }
}

void Forest::bcast_phase(Plan& plan, const Tree& tree) const {
  for (int32_t parent : from_the_root(tree)) {
    const bool has_it_in = one_buffer(collective_) && parent == root_;
    for (int32_t child : tree.children[static_cast<size_t>(parent)]) {
      plan.copy(out(child), has_it_in ? in(parent) : out(parent));
      plan.transfers.back().line = std::max(tree.line[static_cast<size_t>(parent)], 0);
    }
  }
}

void Forest::give_lists(Trees& trees) const {
  trees.reduce.clear();
  trees.bcast.clear();
  if (has_lists(TreeKind::reduce)) trees.reduce = tree(TreeKind::reduce).children;
  if (has_lists(TreeKind::bcast)) trees.bcast = tree(TreeKind::bcast).children;
}

Plan Forest::plan(const Trees& trees) const {
  Plan plan;
  plan.collective = collective_;
  plan.algorithm = trees.algorithm;
  plan.ranks = ranks_;
  plan.root = rooted(collective_) ? root_ : 0;
  plan.shape = trees.shape;
  const bool reduces = tree(TreeKind::reduce).wanted, broadcasts = tree(TreeKind::bcast).wanted;
  if (reduces) {
    plan.commutative = trees.any_order || !keeps_rank_order();
    reduce_phase(plan, trees);
  }
  if (broadcasts)
    bcast_phase(plan,
                reduces && !has_lists(TreeKind::bcast) ? upside_down() : tree(TreeKind::bcast));
  return plan;
}

Plan plan_of(const Trees& trees) {
  const auto hold = [](const std::string& fault) {
    if (!fault.empty()) refuse("tree", fault);
  };
  if (trees.ranks < 1 || trees.ranks > max_ranks) {
    hold("the number of ranks is " + std::to_string(trees.ranks) + "; it is 1 to " +
         std::to_string(max_ranks));
  }
  if (trees.root < 0 || trees.root >= trees.ranks) {
    hold("there is no " + rank_text(trees.root) + " to be the root; ranks are 0 to " +
         std::to_string(trees.ranks - 1));
  }
  for (const std::string& fault : {label_fault(trees.algorithm), shape_fault(trees.shape)})
    hold(fault);
  Forest forest(trees);
  const auto take = [&](TreeKind kind, const Trees::Children& children) {
    for (size_t parent = 0; parent < children.size(); ++parent) {
      if (children[parent].empty()) continue;
      hold(forest.begin_list(kind, static_cast<int32_t>(parent), -1));
      for (int32_t child : children[parent]) hold(forest.add(child));
      hold(forest.end_list());
    }
  };
  take(TreeKind::reduce, trees.reduce);
  take(TreeKind::bcast, trees.bcast);
  if (const std::optional<Fault> fault = forest.end()) hold(fault->message);
  return forest.plan(trees);
}

}  // namespace tutti::plan
