#include "model/predict.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "exec/slot_stores.h"
#include "exec/slow_stores.h"
#include "model/lengths.h"
#include "model/shared_link.h"
#include "plan/semantics.h"

namespace tutti::model {
namespace {

using plan::Operand;
using plan::Program;
using plan::Space;
using plan::Step;
using plan::StepKind;

// The innermost link that two ranks share, for all pairs: which level's costs hold, and which of
// the level's links.
class Links {
 public:
  explicit Links(const Question& question) : ranks_(question.programs.size()) {
    node_of_ = question.nodes.of().values();
    if (node_of_.empty()) node_of_.assign(ranks_, 0);
    add("node", node_of_, question.machine);
    for (const placement::SharedLevel& level : question.levels) {
      if (level.name == "node" || level.name == "cluster") continue;
      std::vector<int32_t> group_of = level.group_of.values();
      if (is_shared(group_of)) add(level.name, std::move(group_of), question.machine);
    }
    first_memory_ = links_.size();
    for (size_t node = 0; node < nodes(); ++node) {
      links_.emplace_back();
      names_.push_back("messages within node " + std::to_string(node));
    }
  }

  size_t nodes() const {
    return 1 + static_cast<size_t>(*std::max_element(node_of_.begin(), node_of_.end()));
  }
  int32_t node(int32_t rank) const { return node_of_[static_cast<size_t>(rank)]; }
  // The index of the link, which is also that of `links()`.
  size_t between(int32_t one, int32_t other) const {
    const auto a = static_cast<size_t>(one), b = static_cast<size_t>(other);
    for (size_t i = groups_.size(); i-- > 1;)
      if (groups_[i][a] == groups_[i][b]) return first_[i] + static_cast<size_t>(groups_[i][a]);
    return first_[0] + static_cast<size_t>(groups_[0][a]);
  }
  // The index of the link that messages within a node share.
  size_t memory(int32_t node) const { return first_memory_ + static_cast<size_t>(node); }
  const LevelCost& cost(size_t link) const { return *costs_[link]; }
  std::vector<SharedLink>& links() { return links_; }
  const std::string& name(size_t link) const { return names_[link]; }

 private:
  // True if some ranks are in one group.
  static bool is_shared(std::vector<int32_t> group_of) {
    std::sort(group_of.begin(), group_of.end());
    return std::adjacent_find(group_of.begin(), group_of.end()) != group_of.end();
  }

  void add(const std::string& level, std::vector<int32_t> group_of, const Machine& machine) {
    const LevelCost* const cost = machine.find(level);
    const bool is_as_outside = !groups_.empty() && groups_.back() == group_of;
    if (cost == nullptr && is_as_outside) return;
    if (cost == nullptr)
      throw Error(Code::invalid_argument,
                  "machine '" + machine.name + "' has no costs of the level '" + level +
                      "', which these ranks have; add them to \"levels\" in its file");
    if (is_as_outside) {  // the costs of the inner level hold
      links_.resize(first_.back());
      costs_.resize(first_.back());
      names_.resize(first_.back());
      first_.pop_back();
      groups_.pop_back();
    }
    first_.push_back(links_.size());
    const int32_t most = *std::max_element(group_of.begin(), group_of.end());
    for (int32_t group = 0; group <= most; ++group) {
      links_.emplace_back();
      costs_.push_back(cost);
      names_.push_back(level + " " + std::to_string(group));
    }
    groups_.push_back(std::move(group_of));
  }

  size_t ranks_;
  std::vector<int32_t> node_of_;
  std::vector<std::vector<int32_t>> groups_;  // by level from the outside in, and rank
  std::vector<size_t> first_;                 // by level: the index of its first link
  std::vector<const LevelCost*> costs_;
  std::vector<std::string> names_;
  std::vector<SharedLink> links_;
  size_t first_memory_ = 0;
};

// A node's adapter: messages leave, or come in, one after another.
struct Adapter {
  double free = 0, busy = 0, bytes = 0;
  size_t messages = 0;

  // When the first byte of a message passes that is there at `ready`. Its bytes take `moving`, and
  // the next message comes `gap` after this one at the earliest.
  double pass(double ready, double moving, double gap, double length) {
    const double begin = std::max(free, ready), time = std::max(moving, gap);
    free = begin + time;
    busy += time;
    bytes += length;
    ++messages;
    return begin;
  }
};

class Run {
 public:
  explicit Run(const Question& question)
      : question_(question),
        programs_(question.programs),
        machine_(question.machine),
        geometry_(question.travel.geometry),
        segments_{geometry_.segments, geometry_.positions},
        links_(question),
        ranks_(programs_.size()),
        scheduled_(links_.links().size(), 0),
        out_(links_.nodes()),
        in_(out_) {
    find_readers();
    find_awaited();
    find_pushes();
    if (any_add_same()) find_own_reads();
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      Rank& self = ranks_[rank];
      self.lines.resize(static_cast<size_t>(programs_[rank].lines));
      self.now = (question.arrivals.empty() ? 0 : question.arrivals[rank]) + machine_.own.call / 2;
      resume(static_cast<int32_t>(rank), self.now);
    }
  }

  Prediction run() {
    while (!queue_.empty()) {
      const Happening next = queue_.top();
      queue_.pop();
      time_ = next.time;
      switch (next.kind) {
        case Kind::rank_goes_on:
          if (next.version == ranks_[next.index].version) advance(static_cast<int32_t>(next.index));
          break;
        case Kind::access_ends: end_access(next.index, next.version); break;
        case Kind::message_leaves: leave(flights_[next.index], next.index); break;
        case Kind::message_arrives: arrive(flights_[next.index]); break;
      }
    }
    return result();
  }

 private:
  // A publication: the number, when, and the event that made it.
  struct Told {
    int64_t number = -1;
    double time = 0;
    int32_t event = -1;
  };
  struct Mail {
    bool is_posted = false, is_sent = false;
    double posted = 0, sent = 0;
    int32_t post_event = -1, send_event = -1;
    // When the sender may change its data, and when all bytes are at the receiver; once it is
    // known.
    std::optional<double> left, here;
    std::vector<int32_t> waiting;
  };
  // A long message (exec/leaving.h).
  struct Leaving {
    Mail* mail;
    double bytes;
    int64_t posted;  // the number of the transfer that posts it
  };
  // A rank's own clock may be ahead of the run's: what it does alone needs nobody else.
  struct Rank {
    double now = 0;
    int64_t tick = 0;
    size_t step = 0;
    // Of the present step.
    bool begun = false;
    double begin = 0;
    int32_t operand = 0;      // that is being moved; 0: none yet
    std::vector<bool> taken;  // sources of a reduce_any
    bool moving = false;      // an access is under way
    bool moved = false;       // the access has ended

    uint32_t version = 0;  // of its place in the queue
    int32_t last = -1;     // its last event
    std::vector<Told> words, lines;
    double told = -HUGE_VAL;       // when it published last
    std::vector<int32_t> waiting;  // ranks that wait for what this one tells next
    std::vector<Leaving> leaving;  // its long messages that may be under way, the oldest first
    bool ended = false;
  };
  enum class Kind : uint8_t { rank_goes_on, access_ends, message_leaves, message_arrives };
  struct Happening {
    double time;
    uint64_t order;  // those of one time happen in the order in which they were found
    Kind kind;
    size_t index;      // of the rank, of the link whose next access ends, or of the flight
    uint32_t version;  // of the rank's or the link's place in the queue
    bool operator>(const Happening& other) const {
      return std::tie(time, order) > std::tie(other.time, other.order);
    }
  };
  // A message under way, over the network or through the memory of a node.
  struct Flight {
    Mail* mail;
    int32_t sender, receiver;
    double bytes;
  };
  // Of a block that another rank than its owner writes: that rank, and the last segment of it that
  // the owner has read.
  struct Pushed {
    int32_t writer = -1;
    int64_t read = -1;
  };
  enum class Progress : uint8_t { done, later };

  // Where ranks read what a rank writes: the link, and the costs of its level.
  struct Readers {
    size_t link = 0;
    const LevelCost* cost = nullptr;
  };
  // Those who read a rank's slots where writing for them costs most; likewise those who read its
  // buffers in place.
  void find_readers() {
    slot_readers_.assign(ranks_.size(), {});
    for (const Program& mine : programs_)
      for (const Step& step : mine.steps) {
        const auto first = static_cast<size_t>(step.first_operand);
        const auto count = static_cast<size_t>(step.operand_count);
        for (size_t i = 1; i < count; ++i) add_reader(mine.rank, mine.operands[first + i], step);
      }
  }
  void add_reader(int32_t reader, const Operand& source, const Step& step) {
    if (source.rank == reader || source.space == Space::line) return;
    const size_t link = links_.between(reader, source.rank);
    const LevelCost& cost = links_.cost(link);
    const auto keep = [&](Readers& most, std::optional<ByteCost> LevelCost::* write) {
      constexpr double page = 4096;
      if (cost.*write &&
          (most.cost == nullptr || (cost.*write)->at(page) > (most.cost->*write)->at(page)))
        most = {link, &cost};
    };
    if (!is_in_place(source))
      return keep(slot_readers_[static_cast<size_t>(source.rank)], &LevelCost::write);
    if (cost.write_in_place)
      for (int32_t k = 0; k < step.extent_count; ++k)
        keep(read_in_place_[place_of(source, k)], &LevelCost::write_in_place);
  }
  // True if readers find the data in a user's buffer.
  bool is_in_place(const Operand& operand) const {
    return operand.bypassable && bypasses(question_.travel);
  }

  // Where an operand's bytes are: a block of a rank's space.
  using Place = std::tuple<int32_t, Space, int32_t>;
  Place place_of(const Operand& operand, int32_t further) const {
    const bool elsewhere = is_in_place(operand);
    return {operand.rank, elsewhere ? operand.bypass_space : operand.space,
            (elsewhere ? operand.bypass_block : operand.block) + further};
  }
  // Finds the blocks that another rank than their owner writes, and those that copies write.
  void find_pushes() {
    for (const Program& mine : programs_)
      for (const Step& step : mine.steps) {
        if (step.operand_count == 0) continue;
        const Operand& to = mine.operands[static_cast<size_t>(step.first_operand)];
        if (to.space == Space::line) continue;
        if (step.kind == StepKind::copy)
          for (int32_t k = 0; k < step.extent_count; ++k) copied_.insert(place_of(to, k));
        if (to.rank == mine.rank) continue;
        for (int32_t k = 0; k < step.extent_count; ++k) pushed_[place_of(to, k)] = {mine.rank, -1};
      }
  }
  // The rank whose cache has a source's bytes: its owner, or until that has read them once, the
  // rank that wrote them there.
  int32_t holder_of(int32_t rank, const Operand& source, int32_t blocks, int64_t segment) const {
    if (source.rank != rank || pushed_.empty()) return source.rank;
    for (int32_t k = 0; k < blocks; ++k)
      if (const auto found = pushed_.find(place_of(source, k));
          found != pushed_.end() && found->second.read < segment)
        return found->second.writer;
    return rank;
  }
  void note_read(int32_t rank, const Step& step, int64_t segment) {
    if (pushed_.empty()) return;
    const Operand* const operands =
        &program(rank).operands[static_cast<size_t>(step.first_operand)];
    for (int32_t i = 1; i < step.operand_count; ++i)
      for (int32_t k = 0; operands[i].rank == rank && k < step.extent_count; ++k)
        if (const auto found = pushed_.find(place_of(operands[i], k)); found != pushed_.end())
          found->second.read = segment;
  }

  // Which ranks wait for which.
  void find_awaited() {
    for (const Program& mine : programs_)
      for (const Step& step : mine.steps) {
        const auto awaited = plan::awaited_number(mine, step, 0, segments_);
        if (awaited) awaits_.insert({mine.rank, awaited->peer});
      }
  }

  // Finds the blocks that their owner combines from.
  void find_own_reads() {
    for (const Program& mine : programs_)
      for (const Step& step : mine.steps) {
        if (step.operand_count == 0 || step.kind == StepKind::copy) continue;
        const Operand* const operands = &mine.operands[static_cast<size_t>(step.first_operand)];
        for (int32_t i = 1; i < step.operand_count; ++i)
          for (int32_t k = 0; operands[i].rank == mine.rank && k < step.extent_count; ++k)
            own_reads_.insert(place_of(operands[i], k));
      }
  }
  bool any_add_same() const {
    return std::any_of(machine_.levels.begin(), machine_.levels.end(),
                       [](const LevelCost& level) { return level.add_same.has_value(); });
  }
  bool is_read_by_owner(const Operand& operand, int32_t blocks) const {
    for (int32_t k = 0; k < blocks; ++k)
      if (own_reads_.contains(place_of(operand, k))) return true;
    return false;
  }

  Rank& of(int32_t rank) { return ranks_[static_cast<size_t>(rank)]; }
  const Program& program(int32_t rank) const { return programs_[static_cast<size_t>(rank)]; }

  void resume(int32_t rank, double time) {
    queue_.push({std::max(time, time_), ++order_, Kind::rank_goes_on, static_cast<size_t>(rank),
                 ++of(rank).version});
  }

  // Goes on with a rank until it needs time or another rank.
  void advance(int32_t rank) {
    Rank& self = of(rank);
    if (self.moving || self.ended) return;
    self.now = std::max(self.now, time_);
    const Program& mine = program(rank);
    for (; self.tick < plan::ticks_of(segments_.count, mine.stages); ++self.tick) {
      for (; self.step < mine.steps.size(); ++self.step) {
        const Step& step = mine.steps[self.step];
        const int64_t segment = plan::segment_at(self.tick, step.stage);
        if (segment < 0 || segment >= segments_.count) continue;
        if (!self.begun) begin_step(self);
        if (execute(rank, step, segment) == Progress::later) return;
        self.begun = false;
      }
      self.step = 0;
    }
    self.ended = true;
    tell(rank, INT64_MAX);  // whoever waits for a later number waits for the end
    self.now += machine_.own.call / 2;
  }

  static void begin_step(Rank& self) {
    self.begun = true;
    self.begin = self.now;
    self.operand = 0;
    self.taken.clear();
  }

  Progress execute(int32_t rank, const Step& step, int64_t segment) {
    switch (step.kind) {
      case StepKind::wait_return:
        if (!bypasses(question_.travel)) return Progress::done;
        [[fallthrough]];
      case StepKind::wait_word:
      case StepKind::wait_line:
      case StepKind::wait_reuse:
      case StepKind::wait_before: return wait(rank, step, segment);
      case StepKind::publish:
      case StepKind::stamp: {
        of(rank).now += machine_.own.step;
        note(rank, segment);
        const int64_t number = plan::own_number(program(rank), step, segment);
        if (step.kind == StepKind::stamp)
          of(rank).lines[static_cast<size_t>(step.line)] = {number, of(rank).now, of(rank).last};
        tell(rank, number);
        return Progress::done;
      }
      case StepKind::copy:
      case StepKind::reduce: return move(rank, step, segment);
      case StepKind::reduce_any: return move_any(rank, step, segment);
      case StepKind::post:
      case StepKind::send: return start_message(rank, step, segment);
      case StepKind::receive:
      case StepKind::sent: return end_message(rank, step, segment);
    }
    return Progress::done;
  }

  void note(int32_t rank, int64_t segment, int32_t cause = -1, double bytes = 0) {
    Rank& self = of(rank);
    const auto event = static_cast<int32_t>(events_.size());
    events_.push_back({rank, static_cast<int32_t>(self.step), segment, self.begin, self.now, bytes,
                       self.last, cause});
    self.last = event;
  }

  void tell(int32_t rank, int64_t number) {
    Rank& self = of(rank);
    if (self.words.empty() || number > self.words.back().number)
      self.words.push_back({number, self.now, self.last});
    self.told = self.now;
    for (const int32_t waiter : std::exchange(self.waiting, {})) resume(waiter, self.now);
  }

  // A number of a peer, and when this rank sees it; nothing if the peer has not told it yet.
  std::optional<Told> find(int32_t rank, const plan::AwaitedNumber& awaited, bool in_line,
                           int32_t line) {
    const Rank& peer = of(awaited.peer);
    Told told;
    if (in_line) {
      told = peer.lines[static_cast<size_t>(line)];
      if (told.number != awaited.number) return std::nullopt;
    } else {
      const auto found =
          std::lower_bound(peer.words.begin(), peer.words.end(), awaited.number,
                           [](const Told& one, int64_t least) { return one.number < least; });
      if (found == peer.words.end()) return std::nullopt;
      told = *found;
    }
    const LevelCost& cost = links_.cost(links_.between(rank, awaited.peer));
    told.time += cost.exchange && crosses(rank, awaited.peer, told.time, cost.hand_over)
                     ? *cost.exchange
                     : cost.hand_over;
    return told;
  }
  // True if a rank has published at about the time at which its peer did, and the peer waits for
  // it, too.
  bool crosses(int32_t rank, int32_t peer, double time, double hand_over) const {
    const Rank& self = ranks_[static_cast<size_t>(rank)];
    return std::abs(self.told - time) < hand_over && awaits_.contains({peer, rank});
  }

  Progress wait(int32_t rank, const Step& step, int64_t segment) {
    const auto awaited = plan::awaited_number(program(rank), step, segment, segments_);
    if (!awaited) return Progress::done;
    Rank& self = of(rank);
    const bool in_line = plan::properties_of(step.kind).form == plan::StepForm::peer_line;
    const auto told = find(rank, *awaited, in_line, step.line);
    if (!told) {
      of(awaited->peer).waiting.push_back(rank);
      return Progress::later;
    }
    if (in_line && fetch_line(rank, awaited->peer, told->time) == Progress::later)
      return Progress::later;
    // The wait goes on until then, and nobody else is concerned.
    self.now = std::max(self.now, told->time);
    if (self.now > self.begin) note(rank, segment, told->event);
    return Progress::done;
  }

  // The time of one more line in an access: the first one's latency is in the hand-over.
  static double time_of_line(const ByteCost& cost) {
    constexpr double line = 64, lines = 64;
    return (cost.time(lines * line, 0) - cost.time(line, 0)) / (lines - 1);
  }
  // A line comes over the link that both ranks share. If the rank waits for it, the hand-over
  // includes that, unless others use the link, too.
  Progress fetch_line(int32_t rank, int32_t peer, double seen) {
    Rank& self = of(rank);
    if (std::exchange(self.moved, false)) return Progress::done;
    const size_t link = links_.between(rank, peer);
    const LevelCost& cost = links_.cost(link);
    const double alone = time_of_line(cost.byte);
    const double begin = std::max(self.now, seen - alone);
    if (begin > time_) {
      resume(rank, begin);
      return Progress::later;
    }
    begin_access(rank, link, alone, time_of_line(cost.shared), 64);
    return Progress::later;
  }
  // `shared`: the least time that the link needs for it.
  void begin_access(int32_t rank, size_t link, double work, double shared, double bytes) {
    const double share = work > 0 ? std::min(1.0, shared / work) : 0;
    links_.links()[link].begin(time_, work, share, bytes, rank);
    of(rank).moving = true;
    schedule(link);
  }

  // The bytes of a run of blocks in this segment.
  double length_of(const Program& mine, int32_t first, int32_t count, int64_t segment) const {
    return model::length_of(mine, geometry_, question_.bytes, first, count, segment);
  }

  // Moves bytes from where a source is, and perhaps combines them. Data in a line comes with its
  // stamp.
  Progress reach(int32_t rank, const Operand& source, double bytes, double whole, bool combines,
                 int32_t blocks, int64_t segment) {
    Rank& self = of(rank);
    const int32_t holder = holder_of(rank, source, blocks, segment);
    const bool past = is_past_cache(holder, source, bytes, whole);
    if ((holder == rank && !past) || source.space == Space::line || bytes == 0)
      return Progress::done;
    if (std::exchange(self.moved, false)) return Progress::done;
    if (self.now > time_) {
      resume(rank, self.now);
      return Progress::later;
    }
    // Its own data that is in memory comes over the link over which others read it.
    const size_t link =
        holder == rank ? readers_of(rank, source).link : links_.between(rank, holder);
    const LevelCost& cost = links_.cost(link);
    const bool goes_on = segment > 0;
    const bool same =
        combines && cost.add_same && source.rank != rank && is_read_by_owner(source, blocks);
    double work = (combines ? cost.add : cost.byte).time(bytes, whole, goes_on);
    if (comes_by_system(source, rank))
      work = system_of(cost).time(bytes, whole, goes_on);
    else if (past)
      work += cost.byte_past->time(bytes, whole, goes_on) - cost.byte.time(bytes, whole, goes_on);
    else if (same)
      work = std::max(work, cost.add_same->time(bytes, whole, goes_on));
    const ByteCost& shared = combines && cost.shared_add ? *cost.shared_add : cost.shared;
    double together = shared.time(bytes, whole_of(rank, source), goes_on);
    if (same) together = std::min(together, work / 2);  // which was measured by two at once
    begin_access(rank, link, work, together, bytes);
    return Progress::later;
  }

  // Writes bytes where other ranks read them, which takes the link. `moves`: nothing has copied
  // them yet; else this is what takes longer than to write to memory of the rank's own.
  Progress write(int32_t rank, const Operand& to, double bytes, double whole, bool moves,
                 bool copies, int64_t segment) {
    Rank& self = of(rank);
    const Readers readers = readers_of(rank, to);
    if (readers.cost == nullptr || bytes == 0 || std::exchange(self.moved, false))
      return Progress::done;
    if (self.now > time_) {
      resume(rank, self.now);
      return Progress::later;
    }
    const LevelCost& cost = *readers.cost;
    const bool goes_on = segment > 0;
    const bool past = to.space == Space::slot && copies && goes_past_cache(cost, bytes, whole);
    const ByteCost* write = &machine_.own.copy;
    if (to.space != Space::slot)
      write = &*cost.write_in_place;
    else if (past)
      write = &*cost.write_past;
    else if (cost.write)
      write = &*cost.write;
    double work = write->time(bytes, whole, goes_on);
    if (!moves) work = std::max(0.0, work - machine_.own.copy.time(bytes, whole, goes_on));
    if (work == 0) return Progress::done;
    const ByteCost& shared = cost.shared_write && !past ? *cost.shared_write : cost.shared;
    begin_access(rank, readers.link, work, shared.time(bytes, whole_of(rank, to), goes_on), bytes);
    return Progress::later;
  }
  // No costs: writing there is as writing to memory of its own.
  Readers readers_of(int32_t rank, const Operand& to) const {
    if (to.space == Space::line) return {};
    if (to.rank != rank) {
      const size_t link = links_.between(rank, to.rank);
      return {link, &links_.cost(link)};
    }
    if (to.space == Space::slot) return slot_readers_[static_cast<size_t>(rank)];
    const auto found = read_in_place_.find({to.rank, to.space, to.block});
    return found == read_in_place_.end() ? Readers{} : found->second;
  }
  // True if a slot's data lies in memory because its writer's stores went past the cache.
  bool is_past_cache(int32_t writer, const Operand& source, double bytes, double whole) const {
    if (source.space != Space::slot || is_in_place(source) ||
        !copied_.contains(place_of(source, 0)))
      return false;
    const Readers readers = readers_of(writer, source);
    return readers.cost != nullptr && readers.cost->byte_past &&
           goes_past_cache(*readers.cost, bytes, whole);
  }

  void schedule(size_t link) {
    ++scheduled_[link];
    const SharedLink& shared = links_.links()[link];
    if (!shared.is_idle())
      queue_.push({std::max(shared.next_end(), time_), ++order_, Kind::access_ends, link,
                   scheduled_[link]});
  }

  void end_access(size_t link, uint32_t version) {
    if (version != scheduled_[link]) return;
    const size_t user = links_.links()[link].end(time_);
    schedule(link);
    if (user >= ranks_.size()) return end_flight(flights_[user - ranks_.size()]);
    ranks_[user].moving = false;
    ranks_[user].moved = true;
    advance(static_cast<int32_t>(user));
  }

  // The bytes of the buffer or of the ring that an operand is a part of.
  double whole_of(int32_t rank, const Operand& operand) const {
    const auto bytes = static_cast<double>(question_.bytes);
    const Program& mine = program(rank);
    switch (operand.space) {
      case Space::in: return bytes * (plan::parted_in(mine.collective) ? mine.ranks : 1);
      case Space::out: return bytes * (plan::parted_out(mine.collective) ? mine.ranks : 1);
      case Space::slot:
        return static_cast<double>(geometry_.position_bytes) *
               static_cast<double>(geometry_.positions);
      default: return 0;
    }
  }

  // As a writer chooses, which times a plain copy now and then.
  static bool goes_past_cache(const LevelCost& cost, double bytes, double whole) {
    if (!cost.write_past || bytes < static_cast<double>(exec::SlotStores::least_bytes))
      return false;
    const double timed = std::max(bytes, static_cast<double>(exec::least_timed));
    const double lines = timed / static_cast<double>(exec::stored_line);
    return cost.write->time(timed, whole) > lines * exec::slow_nanoseconds;
  }

  // True if this rank reads an operand in its owner's memory by the system's copies.
  bool comes_by_system(const Operand& operand, int32_t rank) const {
    return operand.bypassable && operand.rank != rank && question_.travel.bypasses_by_system &&
           !question_.travel.bypasses_mapped;
  }
  const ByteCost& system_of(const LevelCost& cost) const {
    if (!cost.system)
      throw Error(Code::invalid_argument, "machine '" + machine_.name +
                                              "' has no costs of the system's copies; add "
                                              "\"system\" to the level '" +
                                              cost.name + "' in its file");
    return *cost.system;
  }

  // True if this rank need not go to another for it: it is its own, or has come with a stamp.
  static bool is_own(const Operand& operand, int32_t rank) {
    return operand.rank == rank || operand.space == Space::line;
  }

  // The same of a source, which another rank may have written.
  bool is_here(const Operand& source, int32_t rank, int32_t blocks, int64_t segment) const {
    return is_own(source, rank) && holder_of(rank, source, blocks, segment) == source.rank;
  }

  Progress move(int32_t rank, const Step& step, int64_t segment) {
    Rank& self = of(rank);
    const Program& mine = program(rank);
    const Operand* const operands = &mine.operands[static_cast<size_t>(step.first_operand)];
    if (step.elidable && bypasses(question_.travel)) return Progress::done;
    const double bytes = length_of(mine, step.extent_first, step.extent_count, segment);
    if (self.operand == 0) {
      self.now += machine_.own.step;
      self.operand = 1;
    }
    const bool combines = step.kind != StepKind::copy;
    double whole = bytes;  // of the largest buffer that takes part
    for (int32_t i = 0; i < step.operand_count; ++i)
      whole = std::max(whole, whole_of(rank, operands[i]));
    for (; self.operand < step.operand_count; ++self.operand)
      if (reach(rank, operands[self.operand], bytes, whole, combines, step.extent_count, segment) ==
          Progress::later)
        return Progress::later;
    // What comes from others is combined with the first as it comes, but for what the system
    // copies: that lies in this rank's memory first.
    int32_t own = 0;
    for (int32_t i = 1; i < step.operand_count; ++i)
      if (is_here(operands[i], rank, step.extent_count, segment) ||
          (combines && comes_by_system(operands[i], rank)))
        ++own;
    const bool moves = !combines && own == 1 && operands[0].space != Space::line;
    const bool is_plain = readers_of(rank, operands[0]).cost == nullptr;
    if (write(rank, operands[0], bytes, whole, moves, !combines, segment) == Progress::later)
      return Progress::later;
    const bool goes_on = segment > 0;
    if (combines)
      self.now += std::max(0, own - 1) * machine_.own.combine.time(bytes, whole, goes_on);
    else if (moves && is_plain)
      self.now += machine_.own.copy.time(bytes, whole, goes_on);
    note_read(rank, step, segment);
    note(rank, segment, -1, bytes);
    return Progress::done;
  }

  // The source of a reduce_any that this rank sees first, as the index of its operand; 0 if it must
  // wait, which it then does.
  int32_t first_here(int32_t rank, const Step& step, int64_t segment) {
    Rank& self = of(rank);
    const Program& mine = program(rank);
    int32_t first = 0;
    double when = 0;
    for (int32_t i = 1; i < step.operand_count; ++i) {
      if (self.taken[static_cast<size_t>(i)]) continue;
      const plan::Arrival& arrival = mine.arrivals[static_cast<size_t>(step.first_arrival + i - 1)];
      const auto awaited = plan::awaited_number(mine, arrival, segment);
      if (!awaited) return i;
      const auto told = find(rank, *awaited, mine.uses_lines, arrival.line);
      if (!told)
        of(awaited->peer).waiting.push_back(rank);
      else if (first == 0 || told->time < when)
        std::tie(first, when) = std::pair(i, told->time);
    }
    if (first == 0 || when <= std::max(self.now, time_)) return first;
    resume(rank, when);
    return 0;
  }

  Progress move_any(int32_t rank, const Step& step, int64_t segment) {
    Rank& self = of(rank);
    const Program& mine = program(rank);
    const Operand* const operands = &mine.operands[static_cast<size_t>(step.first_operand)];
    const double bytes = length_of(mine, step.extent_first, step.extent_count, segment);
    if (self.taken.empty()) {
      self.now += machine_.own.step;
      self.taken.assign(static_cast<size_t>(step.operand_count), false);
    }
    while (std::count(self.taken.begin(), self.taken.end(), true) < step.operand_count - 1) {
      if (self.operand == 0) self.operand = first_here(rank, step, segment);
      if (self.operand == 0) return Progress::later;
      const double whole = std::max(bytes, whole_of(rank, operands[self.operand]));
      if (reach(rank, operands[self.operand], bytes, whole, true, step.extent_count, segment) ==
          Progress::later)
        return Progress::later;
      const bool is_first = std::count(self.taken.begin(), self.taken.end(), true) == 0;
      const Operand& source = operands[self.operand];
      const bool lies_here =
          is_here(source, rank, step.extent_count, segment) || comes_by_system(source, rank);
      if (lies_here && !is_first)
        self.now += machine_.own.combine.time(bytes, whole_of(rank, operands[self.operand]));
      self.taken[static_cast<size_t>(self.operand)] = true;
      self.operand = 0;
    }
    note_read(rank, step, segment);
    note(rank, segment, -1, bytes);
    return Progress::done;
  }

  Mail& mail_of(int32_t rank, const plan::Message& message, int64_t segment) {
    const int64_t tag = plan::tag_of(program(rank), message, segment);
    return message.sends ? mail_[{rank, message.peer, tag}] : mail_[{message.peer, rank, tag}];
  }

  bool share_node(int32_t one, int32_t other) const {
    return links_.node(one) == links_.node(other);
  }
  double overhead(int32_t one, int32_t other) const {
    return share_node(one, other) ? messages().overhead : network().overhead;
  }

  // Long messages leave one after another, as the executor sends them.
  Progress await_turn(int32_t rank, double bytes, int64_t number) {
    Rank& self = of(rank);
    const auto has_ended = [&](const Leaving& one) {
      return one.mail->left && *one.mail->left <= self.now;
    };
    for (;;) {
      std::erase_if(self.leaving, has_ended);
      double together = bytes;
      for (const Leaving& one : self.leaving) together += one.bytes;
      if (together <= static_cast<double>(plan::most_leaving)) return Progress::done;
      const auto awaited = std::find_if(self.leaving.begin(), self.leaving.end(),
                                        [&](const Leaving& one) { return one.posted < number; });
      if (awaited == self.leaving.end()) return Progress::done;
      if (!awaited->mail->left) {
        awaited->mail->waiting.push_back(rank);
        return Progress::later;
      }
      self.now = *awaited->mail->left;
    }
  }

  // post and send.
  Progress start_message(int32_t rank, const Step& step, int64_t segment) {
    Rank& self = of(rank);
    const Program& mine = program(rank);
    const plan::Message& message = mine.messages[static_cast<size_t>(step.message)];
    const double bytes = model::length_of(mine, geometry_, question_.bytes, message, segment);
    const bool is_prompt = bytes <= static_cast<double>(network().prompt);
    if (self.operand == 0) {
      if (message.sends && !is_prompt &&
          await_turn(rank, bytes, plan::tag_of(mine, message, segment)) == Progress::later)
        return Progress::later;
      self.operand = 1;
      self.now += machine_.own.step + (message.sends ? overhead(rank, message.peer) : 0);
    }
    if (self.now > time_) {  // adapters take messages in the order of time
      resume(rank, self.now);
      return Progress::later;
    }
    note(rank, segment);
    Mail& mail = mail_of(rank, message, segment);
    if (message.sends && !is_prompt)
      self.leaving.push_back({&mail, bytes, plan::posted_number(mine, message, segment)});
    (message.sends ? mail.is_sent : mail.is_posted) = true;
    (message.sends ? mail.sent : mail.posted) = self.now;
    (message.sends ? mail.send_event : mail.post_event) = self.last;
    // A prompt message is on its way when its receiver posts it.
    const bool leaves = is_prompt ? message.sends : mail.is_sent && mail.is_posted;
    if (!leaves) return Progress::done;
    const int32_t sender = message.sends ? rank : message.peer;
    const int32_t receiver = message.sends ? message.peer : rank;
    const size_t flight = flights_.size();
    flights_.push_back({&mail, sender, receiver, bytes});
    if (is_prompt) mail.left = mail.sent;
    double ready = time_;
    if (share_node(sender, receiver))
      ready += messages().latency;
    else if (!is_prompt)
      ready = std::max(mail.sent + network().latency, mail.posted) + network().latency;
    queue_.push({ready, ++order_, Kind::message_leaves, flight, 0});
    return Progress::done;
  }

  // The bytes of a message begin to move. Links and adapters take messages in the order of time.
  void leave(const Flight& flight, size_t index) {
    if (share_node(flight.sender, flight.receiver)) {
      const size_t link = links_.memory(links_.node(flight.sender));
      const MessageCost& costs = messages();
      const double share = costs.byte > 0 ? std::min(1.0, costs.shared / costs.byte) : 0;
      links_.links()[link].begin(time_, costs.byte * flight.bytes, share, flight.bytes,
                                 ranks_.size() + index);
      return schedule(link);
    }
    const double moving = network().byte * flight.bytes;
    Adapter& adapter = out_[static_cast<size_t>(links_.node(flight.sender))];
    const double first = adapter.pass(time_, moving, network().gap, flight.bytes);
    if (!flight.mail->left) {
      flight.mail->left = first + moving;
      wake(*flight.mail);
    }
    queue_.push({first + network().latency, ++order_, Kind::message_arrives, index, 0});
  }

  // The first byte of a message is at the receiver's adapter.
  void arrive(const Flight& flight) {
    const double moving = network().byte * flight.bytes;
    Adapter& adapter = in_[static_cast<size_t>(links_.node(flight.receiver))];
    flight.mail->here = adapter.pass(time_, moving, network().gap, flight.bytes) + moving;
    wake(*flight.mail);
  }

  void end_flight(const Flight& flight) {
    if (!flight.mail->left) flight.mail->left = time_;
    flight.mail->here = time_;
    wake(*flight.mail);
  }

  void wake(Mail& mail) {
    for (const int32_t waiter : std::exchange(mail.waiting, {})) resume(waiter, time_);
  }

  // receive and sent.
  Progress end_message(int32_t rank, const Step& step, int64_t segment) {
    Rank& self = of(rank);
    const Program& mine = program(rank);
    const plan::Message& message = mine.messages[static_cast<size_t>(step.message)];
    Mail& mail = mail_of(rank, message, segment);
    const bool receives = step.kind == StepKind::receive;
    const std::optional<double>& awaited = receives ? mail.here : mail.left;
    if (!awaited) {
      mail.waiting.push_back(rank);
      return Progress::later;
    }
    self.now = std::max(self.now, *awaited);
    if (receives) self.now += overhead(rank, message.peer);
    if (self.now > self.begin) note(rank, segment, receives ? mail.send_event : mail.post_event);
    return Progress::done;
  }

  const NetworkCost& network() const {
    if (!machine_.network)
      throw Error(Code::invalid_argument, "machine '" + machine_.name +
                                              "' has no network, but the ranks are on " +
                                              std::to_string(question_.nodes.count()) +
                                              " nodes; add \"network\" to its file");
    return *machine_.network;
  }

  const MessageCost& messages() const {
    if (!machine_.messages)
      throw Error(Code::invalid_argument,
                  "machine '" + machine_.name +
                      "' has no costs of messages within a node; add \"messages\" to its file");
    return *machine_.messages;
  }

  Prediction result() {
    Prediction found;
    double first = question_.arrivals.empty() ? 0 : question_.arrivals.front();
    for (const double arrival : question_.arrivals) first = std::min(first, arrival);
    int32_t last = -1;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (!ranks_[rank].ended)
        throw Error(Code::internal, "in virtual time rank " + std::to_string(rank) +
                                        " never ends: its program waits for what no rank tells");
      const double end = ranks_[rank].now - first;
      if (last < 0 || end > found.time) last = ranks_[rank].last;
      found.time = std::max(found.time, end);
      found.ends.push_back(end);
    }
    for (int32_t event = last; event >= 0;) {
      found.critical.push_back(event);
      const Event& at = events_[static_cast<size_t>(event)];
      event = at.cause >= 0 ? at.cause : at.before;
    }
    std::reverse(found.critical.begin(), found.critical.end());
    found.events = std::move(events_);
    for (size_t link = 0; link < links_.links().size(); ++link) {
      const SharedLink& shared = links_.links()[link];
      if (shared.most() > 0)
        found.loads.push_back({links_.name(link), shared.busy(), shared.bytes(), shared.most()});
    }
    add_adapters(found.loads, out_, "messages from node ");
    add_adapters(found.loads, in_, "messages to node ");
    return found;
  }

  static void add_adapters(std::vector<Load>& loads, const std::vector<Adapter>& adapters,
                           const std::string& name) {
    for (size_t node = 0; node < adapters.size(); ++node)
      if (const Adapter& one = adapters[node]; one.messages > 0)
        loads.push_back({name + std::to_string(node), one.busy, one.bytes, one.messages});
  }

  const Question& question_;
  const std::vector<Program>& programs_;
  const Machine& machine_;
  const plan::Geometry& geometry_;
  const plan::Segments segments_;
  Links links_;
  std::vector<Readers> slot_readers_;  // by rank; without costs writing to its slot is a copy
  std::map<Place, Readers> read_in_place_;
  std::set<Place> own_reads_;
  std::set<std::pair<int32_t, int32_t>> awaits_;
  std::map<Place, Pushed> pushed_;
  std::set<Place> copied_;
  std::vector<Rank> ranks_;
  std::vector<uint32_t> scheduled_;  // by link: the version of its next end in the queue
  std::vector<Adapter> out_, in_;    // by node
  std::vector<Event> events_;
  std::map<std::tuple<int32_t, int32_t, int64_t>, Mail> mail_;  // by sender, receiver and tag
  std::vector<Flight> flights_;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> queue_;
  uint64_t order_ = 0;
  double time_ = 0;
};

}  // namespace

Prediction predict(const Question& question) { return Run(question).run(); }

}  // namespace tutti::model
