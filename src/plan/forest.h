// The trees of a tree text, built list by list, and the plan that they describe. Internal to
// src/plan.
//
// The functions that add something return what is wrong with it, in words, or an empty text. The
// reader of the text owns the forest; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/tree_text.h"

namespace tutti::plan {

enum class TreeKind : uint8_t { reduce, bcast };

struct Fault {
  int32_t line;
  std::string message;
};

class Forest {
 public:
  // Uses everything of the trees except their lists, which are added later.
  explicit Forest(const Trees& trees);

  std::string begin_list(TreeKind kind, int32_t parent, int32_t line);
  std::string add(int32_t child);
  std::string end_list();

  // Call it after all lists: finds a rank without a parent, or ranks in a circle.
  std::optional<Fault> end() const;
  // The next two expect trees without a fault.
  void give_lists(Trees& trees) const;
  Plan plan(const Trees& trees) const;

 private:
  struct Tree {
    bool wanted = false;
    Trees::Children children;
    std::vector<int32_t> parent;  // -1: none yet
    // Indexed by parent: the line of the text that begins its list; 0: none.
    std::vector<int32_t> line;
    int32_t last_line = 0;
  };

  static std::string_view word(TreeKind kind) {
    return kind == TreeKind::reduce ? "reduce" : "bcast";
  }
  Tree& tree(TreeKind kind) { return trees_[static_cast<size_t>(kind)]; }
  const Tree& tree(TreeKind kind) const { return trees_[static_cast<size_t>(kind)]; }
  bool has_lists(TreeKind kind) const { return tree(kind).last_line != 0; }
  std::string at_line(const Tree& tree, int32_t parent) const;
  std::optional<Fault> end(TreeKind kind) const;
  std::vector<int32_t> from_the_root(const Tree& tree) const;
  bool keeps_rank_order() const;
  Tree upside_down() const;
  void reduce_phase(Plan& plan, const Trees& trees) const;
  void bcast_phase(Plan& plan, const Tree& tree) const;

  Collective collective_;
  int32_t ranks_;
  int32_t root_;
  std::array<Tree, 2> trees_;
  TreeKind kind_ = TreeKind::reduce;  // the kind of the present list, and its parent
  int32_t parent_ = 0;
};

}  // namespace tutti::plan
