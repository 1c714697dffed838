#include "records/neighbour_messages.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tutti::records {
namespace {

using plan::Collective;
using plan::Program;
using plan::Space;
using plan::StepKind;

// The edges from one rank to another have messages of their own, up to so many. The last of these
// messages has what goes along all further edges, too. Ranks do not know each other's edges, so the
// number of tags that an operation takes is the same for all topologies.
constexpr size_t most_messages = 64;

using Blocks = std::vector<int32_t>;
// Indexed by the other end, in the order of the edges.
using BlocksByRank = std::map<int32_t, Blocks>;

// The blocks of `out`, in the order in which their sources have the edges: on a cartesian
// communicator block s of the source becomes block s^1.
BlocksByRank taken(const Neighbourhood& own) {
  BlocksByRank blocks;
  for (size_t i = 0; i < own.sources.size(); ++i) {
    const size_t block = own.cartesian ? i ^ 1 : i;
    if (own.sources[block] >= 0) blocks[own.sources[block]].push_back(static_cast<int32_t>(block));
  }
  return blocks;
}

BlocksByRank given(Collective collective, const Neighbourhood& own) {
  BlocksByRank blocks;
  for (size_t i = 0; i < own.destinations.size(); ++i)
    if (own.destinations[i] >= 0)
      blocks[own.destinations[i]].push_back(plan::parted_in(collective) ? static_cast<int32_t>(i)
                                                                        : 0);
  return blocks;
}

class Writer {
 public:
  explicit Writer(Program& program) : program_(program) {}

  void write(const BlocksByRank& from, const BlocksByRank& to) {
    for (const auto& [peer, blocks] : from)
      if (peer != program_.rank) add_messages(peer, false, Space::out, blocks);
    for (const auto& [peer, blocks] : to)
      if (peer != program_.rank) add_messages(peer, true, Space::in, blocks);
    each_message(false, StepKind::post);
    each_message(true, StepKind::send);
    copy_own(from, to);
    each_message(false, StepKind::receive);
    each_message(true, StepKind::sent);
  }

 private:
  plan::Operand operand(Space space, int32_t block) const {
    plan::Operand made;
    made.space = space;
    made.rank = program_.rank;
    made.block = block;
    return made;
  }

  void add_messages(int32_t peer, bool sends, Space space, const Blocks& blocks) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (i < most_messages) {
        plan::Message message;
        message.peer = peer;
        message.sends = sends;
        message.number = message.posted = static_cast<int32_t>(i) + 1;
        message.first_piece = static_cast<int32_t>(program_.pieces.size());
        message.piece_count = 0;
        message.first_request = program_.requests++;
        program_.messages.push_back(message);
      }
      program_.pieces.push_back({operand(space, blocks[i])});
      ++program_.messages.back().piece_count;
    }
  }

  void each_message(bool sends, StepKind kind) {
    for (size_t i = 0; i < program_.messages.size(); ++i) {
      if (program_.messages[i].sends != sends) continue;
      plan::Step step;
      step.kind = kind;
      step.number = program_.messages[i].number;
      step.message = static_cast<int32_t>(i);
      program_.steps.push_back(step);
    }
  }

  void copy_own(const BlocksByRank& from, const BlocksByRank& to) {
    const auto targets = from.find(program_.rank), sources = to.find(program_.rank);
    if (targets == from.end() || sources == to.end()) return;
    const size_t edges = std::min(targets->second.size(), sources->second.size());
    for (size_t i = 0; i < edges; ++i) {
      plan::Step step;
      step.kind = StepKind::copy;
      step.number = 1;
      step.first_operand = static_cast<int32_t>(program_.operands.size());
      step.operand_count = 2;
      program_.operands.push_back(operand(Space::out, targets->second[i]));
      program_.operands.push_back(operand(Space::in, sources->second[i]));
      program_.steps.push_back(step);
    }
  }

  Program& program_;
};

}  // namespace

Program neighbours_by_messages(Collective collective, int32_t rank, int32_t ranks,
                               const Neighbourhood& own) {
  Program program;
  program.collective = collective;
  program.algorithm = "neighbours";
  program.ranks = ranks;
  program.rank = rank;
  program.parted = true;
  program.in_place = false;
  program.transfers = static_cast<int32_t>(most_messages);
  Writer(program).write(taken(own), given(collective, own));
  return program;
}

std::string edges_with_one_end(int32_t rank, const Neighbourhood& own) {
  const auto out = std::count(own.destinations.begin(), own.destinations.end(), rank);
  const auto in = std::count(own.sources.begin(), own.sources.end(), rank);
  if (out == in) return {};
  return "rank " + std::to_string(rank) + " has " + std::to_string(out) +
         " edges that lead to itself, but " + std::to_string(in) +
         " that come from itself; make the communicator's graph with each edge at both of its "
         "ranks";
}

}  // namespace tutti::records
