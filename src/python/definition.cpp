// The collectives: their names and properties, and their definitions for a number of ranks.
//
// A Definition is a value that never changes. A question about a rank or block that does not exist
// raises Error.

#include <utility>

#include "base/error.h"
#include "plan/collective.h"
#include "plan/plan.h"
#include "python/functions.h"

namespace tutti::python {
namespace {

using plan::Definition;

void expect(int32_t value, int32_t count, std::string_view what) {
  if (value >= 0 && value < count) return;
  throw Error(Code::invalid_argument, "there is no " + std::string(what) + " " +
                                          std::to_string(value) + "; there are " +
                                          std::to_string(count) + ", counted from 0");
}

Definition define(std::string_view word, int32_t ranks, int32_t root, int32_t blocks) {
  const plan::Collective collective = plan::collective_named(word);
  if (ranks < 1 || ranks > plan::max_ranks || blocks < 1 || blocks > plan::max_blocks) {
    throw Error(Code::invalid_argument, std::to_string(ranks) + " ranks, " +
                                            std::to_string(blocks) +
                                            " blocks; a collective has 1 to " +
                                            std::to_string(plan::max_ranks) + " of each");
  }
  expect(root, plan::rooted(collective) ? ranks : 1, "root");
  return {collective, ranks, root, plan::parted(collective) ? ranks : blocks};
}

bool has_in(const Definition& definition, int32_t rank) {
  expect(rank, definition.ranks, "rank");
  return definition.has_in(rank);
}

bool has_out(const Definition& definition, int32_t rank) {
  expect(rank, definition.ranks, "rank");
  return definition.has_out(rank);
}

int64_t item_in(const Definition& definition, int32_t rank, int32_t block) {
  expect(rank, definition.ranks, "rank");
  expect(block, definition.in_blocks(), "block");
  return definition.item_in(rank, block);
}

int64_t item_out(const Definition& definition, int32_t rank, int32_t block) {
  expect(rank, definition.ranks, "rank");
  expect(block, definition.out_blocks(), "block");
  return definition.item_out(rank, block);
}

std::pair<int32_t, int32_t> sources(const Definition& definition, int32_t rank, int32_t block) {
  expect(rank, definition.ranks, "rank");
  expect(block, definition.out_blocks(), "block");
  const plan::RankRange range = definition.sources(rank, block);
  return {range.low, range.high};
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (int i = 0; i < plan::collective_count; ++i)
    list.emplace_back(plan::name(static_cast<plan::Collective>(i)));
  return list;
}

template <bool (*property)(plan::Collective)>
bool named(std::string_view word) {
  return property(plan::collective_named(word));
}

}  // namespace

void bind_definition(Module& module) {
  Class<Definition>(
      module.get(), "Definition",
      "A collective over a number of ranks, with one root, in a plan of a number of blocks.")
      .init<&define>("collective"_a, "ranks"_a, "root"_a = 0, "blocks"_a = 1)
      .property<&Definition::in_blocks>("in_blocks", "Blocks of `in`, at the ranks that have one.")
      .property<&Definition::out_blocks>("out_blocks",
                                         "Blocks of `out`, at the ranks that have one.")
      .def<&has_in>("has_in", "rank"_a)
      .def<&has_out>("has_out", "rank"_a)
      .def<&item_in>(
          "item_in", "rank"_a, "block"_a,
          "The item that a block of a rank's `in` holds; blocks of one item may be combined.")
      .def<&item_out>("item_out", "rank"_a, "block"_a,
                      "The item that a block of a rank's `out` must hold.")
      .def<&sources>("sources", "rank"_a, "block"_a,
                     "(first rank, one past the last) whose data a block of `out` must hold.")
      .add();
  module.def<&names>("collectives", "The names of the collectives that have plans.");
  module.def<&named<plan::rooted>>("rooted", "collective"_a, "True if the collective has a root.");
  module.def<&named<plan::combines>>("combines", "collective"_a,
                                     "True if the collective combines data with an operation.");
  module.def<&named<plan::parted>>("parted", "collective"_a,
                                   "True if a buffer of the collective has a part for each rank.");
}

}  // namespace tutti::python
