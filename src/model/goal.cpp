#include "model/goal.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "model/lengths.h"

namespace tutti::model {
namespace {

using plan::Operand;
using plan::Program;
using plan::Step;
using plan::StepForm;
using plan::StepKind;

// A message; its tag is its index.
struct Edge {
  int32_t from = 0, to = 0;
  double bytes = 0;
};

// A number that a rank publishes in its word or in one of its lines, after an operation of its
// list.
struct Published {
  int64_t number = 0;
  int32_t line = -1;  // -1: of the word
  size_t after = 0;
};

struct Awaited {
  int32_t peer = 0;
  int64_t number = 0;
  int32_t line = -1;  // -1: of the word
};

// An operation of a rank's list. A receive without an edge yet waits for a publication.
struct Operation {
  enum class Kind : uint8_t { calc, receive, send };
  Kind kind = Kind::calc;
  double nanoseconds = 0;
  size_t edge = 0;
  std::optional<Awaited> awaited;
};

// Data for another rank, which that rank may see with the publication of this index.
struct Put {
  int32_t peer = 0;
  double bytes = 0;
  size_t published = 0;
};

struct Rank {
  std::vector<Put> puts;
  std::vector<Operation> operations;
  std::vector<Published> published;
  std::map<int32_t, size_t> last_of;  // indexed by peer: the last receive from it
  // Edges of data that the rank reads without waiting, and of answers to waits: (edge, after which
  // operation; none: at the start).
  std::vector<std::pair<size_t, std::optional<size_t>>> sends;
};

class Schedule {
 public:
  explicit Schedule(const Question& question)
      : question_(question),
        geometry_(question.travel.geometry),
        segments_{geometry_.segments, geometry_.positions},
        ranks_(question.programs.size()) {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) list(static_cast<int32_t>(rank));
    for (size_t rank = 0; rank < ranks_.size(); ++rank) answer(static_cast<int32_t>(rank));
  }

  std::string text() const {
    std::string text = "num_ranks " + std::to_string(ranks_.size()) + "\n";
    for (size_t rank = 0; rank < ranks_.size(); ++rank) write(text, static_cast<int32_t>(rank));
    return text;
  }

 private:
  Rank& of(int32_t rank) { return ranks_[static_cast<size_t>(rank)]; }
  const Rank& of(int32_t rank) const { return ranks_[static_cast<size_t>(rank)]; }
  const Program& program(int32_t rank) const {
    return question_.programs[static_cast<size_t>(rank)];
  }

  size_t add_edge(int32_t from, int32_t to, double bytes) {
    edges_.push_back({from, to, bytes});
    return edges_.size() - 1;
  }

  // Lists a rank's operations in the order of its program.
  void list(int32_t rank) {
    Rank& self = of(rank);
    const Program& mine = program(rank);
    const double late =
        question_.arrivals.empty() ? 0 : question_.arrivals[static_cast<size_t>(rank)];
    compute(self, late + question_.machine.own.call);
    for (int64_t tick = 0; tick < plan::ticks_of(segments_.count, mine.stages); ++tick)
      for (const Step& step : mine.steps) {
        const int64_t segment = plan::segment_at(tick, step.stage);
        if (segment >= 0 && segment < segments_.count) list(rank, step, segment);
      }
  }

  static void compute(Rank& self, double nanoseconds) {
    self.operations.push_back({Operation::Kind::calc, nanoseconds, 0, {}});
  }

  void list(int32_t rank, const Step& step, int64_t segment) {
    Rank& self = of(rank);
    const Program& mine = program(rank);
    if (step.operand_count > 0) return move(rank, step, segment);
    switch (step.kind) {
      case StepKind::publish:
      case StepKind::stamp:
        compute(self, question_.machine.own.step);
        self.published.push_back({plan::own_number(mine, step, segment),
                                  step.kind == StepKind::stamp ? step.line : -1,
                                  self.operations.size() - 1});
        break;
      case StepKind::send:
      case StepKind::receive: message(rank, step, segment); break;
      case StepKind::post:
      case StepKind::sent: break;  // the simulator matches messages
      default: wait(rank, step, segment);
    }
  }

  void wait(int32_t rank, const Step& step, int64_t segment) {
    if (step.kind == StepKind::wait_return && !bypasses(question_.travel)) return;
    const auto awaited = plan::awaited_number(program(rank), step, segment, segments_);
    if (!awaited) return;
    const bool in_line = plan::properties_of(step.kind).form == StepForm::peer_line;
    receive(rank, {awaited->peer, awaited->number, in_line ? step.line : -1});
  }

  void receive(int32_t rank, const Awaited& awaited) {
    Rank& self = of(rank);
    self.last_of[awaited.peer] = self.operations.size();
    self.operations.push_back(
        {Operation::Kind::receive, 0, add_edge(awaited.peer, rank, 0), awaited});
  }

  void move(int32_t rank, const Step& step, int64_t segment) {
    const Program& mine = program(rank);
    if (step.elidable && bypasses(question_.travel)) return;
    const double bytes =
        length_of(mine, geometry_, question_.bytes, step.extent_first, step.extent_count, segment);
    if (step.kind == StepKind::reduce_any)
      for (int32_t i = 1; i < step.operand_count; ++i) {
        const plan::Arrival& arrival =
            mine.arrivals[static_cast<size_t>(step.first_arrival + i - 1)];
        if (const auto awaited = plan::awaited_number(mine, arrival, segment))
          receive(rank, {awaited->peer, awaited->number, mine.uses_lines ? arrival.line : -1});
      }
    const Operand* const operands = &mine.operands[static_cast<size_t>(step.first_operand)];
    for (int32_t i = 1; i < step.operand_count; ++i)
      if (operands[i].rank != rank) read(rank, operands[i].rank, bytes);
    if (operands[0].rank != rank) write_to(rank, operands[0].rank, bytes);
    const OwnCost& own = question_.machine.own;
    const bool combines = plan::properties_of(step.kind).group == plan::StepGroup::reducing;
    const double work = combines ? (step.operand_count - 2) * own.combine.time(bytes, bytes)
                                 : own.copy.time(bytes, bytes);
    compute(of(rank), own.step + work);
  }

  // The data comes with the last message that the rank has waited for, or with one of its own.
  void read(int32_t rank, int32_t peer, double bytes) {
    Rank& self = of(rank);
    const auto last = self.last_of.find(peer);
    if (last != self.last_of.end()) {
      edges_[self.operations[last->second].edge].bytes += bytes;
      return;
    }
    const size_t edge = add_edge(peer, rank, bytes);
    of(peer).sends.emplace_back(edge, std::nullopt);
    self.last_of[peer] = self.operations.size();
    self.operations.push_back({Operation::Kind::receive, 0, edge, {}});
  }

  // Data that the rank puts into another's memory goes with its next publication.
  void write_to(int32_t rank, int32_t peer, double bytes) {
    Rank& self = of(rank);
    self.puts.push_back({peer, bytes, self.published.size()});
  }

  void message(int32_t rank, const Step& step, int64_t segment) {
    const Program& mine = program(rank);
    const plan::Message& message = mine.messages[static_cast<size_t>(step.message)];
    const std::tuple<int32_t, int32_t, int64_t> key{message.sends ? rank : message.peer,
                                                    message.sends ? message.peer : rank,
                                                    plan::tag_of(mine, message, segment)};
    const auto known = between_nodes_.find(key);
    const size_t edge =
        known != between_nodes_.end()
            ? known->second
            : add_edge(std::get<0>(key), std::get<1>(key),
                       length_of(mine, geometry_, question_.bytes, message, segment));
    between_nodes_.emplace(key, edge);
    of(rank).operations.push_back(
        {message.sends ? Operation::Kind::send : Operation::Kind::receive, 0, edge, {}});
  }

  // Has the peer of each wait send after it has published the number.
  void answer(int32_t rank) {
    for (const Operation& operation : of(rank).operations) {
      if (!operation.awaited) continue;
      Rank& peer = of(operation.awaited->peer);
      const auto shown =
          std::find_if(peer.published.begin(), peer.published.end(), [&](const Published& one) {
            if (operation.awaited->line < 0) return one.number >= operation.awaited->number;
            return one.line == operation.awaited->line && one.number == operation.awaited->number;
          });
      const auto index = static_cast<size_t>(shown - peer.published.begin());
      for (Put& put : peer.puts)
        if (put.peer == rank && put.published <= index)
          edges_[operation.edge].bytes += std::exchange(put.bytes, 0);
      std::optional<size_t> after;
      if (shown != peer.published.end()) after = shown->after;
      // Whoever waits for a later number waits for the end.
      if (!after) after = peer.operations.size() - 1;
      peer.sends.emplace_back(operation.edge, after);
    }
  }

  static std::string label(const char* kind, size_t index) {
    return std::string(kind) + std::to_string(index);
  }
  std::string words(const Operation& operation) const {
    if (operation.kind == Operation::Kind::calc)
      return "calc " + std::to_string(std::llround(operation.nanoseconds));
    const Edge& edge = edges_[operation.edge];
    const bool sends = operation.kind == Operation::Kind::send;
    // A message has a byte at least.
    return std::string(sends ? "send " : "recv ") +
           std::to_string(std::max(1LL, std::llround(edge.bytes))) + "b " +
           (sends ? "to " : "from ") + std::to_string(sends ? edge.to : edge.from) + " tag " +
           std::to_string(operation.edge);
  }

  void write(std::string& text, int32_t rank) const {
    const Rank& self = of(rank);
    text += "\nrank " + std::to_string(rank) + " {\n";
    for (size_t i = 0; i < self.operations.size(); ++i)
      text += label("l", i) + ": " + words(self.operations[i]) + "\n";
    for (size_t i = 0; i < self.sends.size(); ++i) {
      const Operation send{Operation::Kind::send, 0, self.sends[i].first, {}};
      text += label("s", i) + ": " + words(send) + "\n";
    }
    for (size_t i = 1; i < self.operations.size(); ++i)
      text += label("l", i) + " requires " + label("l", i - 1) + "\n";
    for (size_t i = 0; i < self.sends.size(); ++i)
      if (const auto after = self.sends[i].second)
        text += label("s", i) + " requires " + label("l", *after) + "\n";
    text += "}\n";
  }

  const Question& question_;
  const plan::Geometry& geometry_;
  const plan::Segments segments_;
  std::vector<Rank> ranks_;
  std::vector<Edge> edges_;
  std::map<std::tuple<int32_t, int32_t, int64_t>, size_t> between_nodes_;
};

}  // namespace

std::string goal_of(const Question& question) { return Schedule(question).text(); }

}  // namespace tutti::model
