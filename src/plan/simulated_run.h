// One interleaving of all ranks' programs over one simulated memory. Internal to src/plan;
// simulate.cpp makes the parts that all interleavings share and owns them. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "plan/ordered_memory.h"
#include "plan/plan.h"
#include "plan/semantics.h"
#include "plan/simulated_tokens.h"

namespace tutti::plan {

// The numbers, ring positions and lines of each operation; the same at all ranks.
struct SimulatedSchedule {
  int32_t segments = 1;
  int32_t positions = 1;       // ring positions that an operation takes
  int32_t ring_positions = 1;  // a slot's ring positions
  int32_t ring_lines = 1;      // a rank's lines in the ring
  int64_t span = 1;            // numbers that an operation takes
  Segments cut() const { return {segments, positions}; }
  struct RingShare {
    int32_t position = 0;  // first ring position
    int32_t line = 0;      // first line
    // The newest operation that used these positions or lines before; -1: none.
    int32_t must_end = -1;
  };
  std::vector<RingShare> operations;
};

struct SimulatedStep {
  int32_t step;  // the step's index in the program
  int32_t segment;
};

// The facts that all interleavings share: the programs, and the results with which they must end.
struct SimulatedCase {
  const Plan& plan;
  const std::vector<Program>& programs;
  SimulatedSchedule schedule;
  // Indexed by rank: its steps in the order of execution in one operation.
  std::vector<std::vector<SimulatedStep>> orders;
  // Indexed by operation, segment, rank and block: the expression that `out` must hold.
  std::vector<uint64_t> results;
  bool reached;   // Simulation::reached
  Tokens tokens;  // the staged plan's tokens
  placement::NodeOf nodes;

  size_t result(int32_t operation, int32_t segment, int32_t rank, int32_t block) const {
    return ((size_t(operation) * schedule.segments + segment) * plan.ranks + rank) * plan.blocks +
           block;
  }
};

// Hashes of expressions. A leaf is one rank's own data; a combined expression depends on the order
// of its sources; added_expression adds one source at a time, from 0 on, and does not depend on
// their order.
uint64_t leaf_expression(int32_t operation, int32_t rank, int32_t segment, int32_t block);
uint64_t combined_expression(const std::vector<uint64_t>& sources);
uint64_t added_expression(uint64_t partial, uint64_t source);

[[noreturn]] void refuse_programs(const std::string& message);
std::string step_text(const Program& program, int32_t step);

class SimulatedRun {
 public:
  SimulatedRun(const SimulatedCase& what, int32_t interleaving, uint64_t seed);

  // Throws if the programs are wrong.
  void run();

 private:
  using MailKey = std::tuple<int32_t, int32_t, int64_t>;  // sender, receiver and tag
  struct Leaving {
    MailKey mail;
    int64_t posted;  // the number of the post, on the words' scale
  };
  struct Rank {
    int32_t operation = 0;
    size_t at = 0;          // 0: about to enter the operation; 1..n: steps; n + 1: about to end it
    bool reserved = false;  // reserve() has succeeded in this operation
    std::vector<int32_t> taken;  // sources of the present reduce_any, in the order of being taken
    Clock clock;
    std::vector<Leaving> leaving;  // its messages that have gone and not yet ended
  };

  void fill_user_buffers();
  size_t choose(const std::vector<int32_t>& movable);
  std::vector<int32_t> all_unfinished() const;
  int64_t base(int32_t operation) const { return operation * what_.schedule.span; }
  int32_t operations() const { return static_cast<int32_t>(what_.schedule.operations.size()); }

  // Each of the next functions is one action of a rank; it returns false if the rank has to wait.
  bool advance(int32_t rank);
  bool execute(int32_t rank, SimulatedStep at);
  bool wait_for_number(int32_t rank, SimulatedStep at);
  void check_tokens(int32_t rank, int64_t number, bool tells);
  bool move(int32_t rank, SimulatedStep at);
  // Takes one source. The step is done when all sources have been taken.
  bool move_any(int32_t rank, SimulatedStep at);
  std::vector<int32_t> ready_sources(int32_t rank, SimulatedStep at);
  const ReleasedWord::Release* arrived(int32_t rank, SimulatedStep at,
                                       const Arrival& arrival) const;
  void take_source(int32_t rank, SimulatedStep at, int32_t source);
  bool reserve(int32_t rank);
  // Messages (simulated_messages.cpp).
  bool message(int32_t rank, SimulatedStep at);
  bool post(int32_t rank, SimulatedStep at, const Message& message);
  bool send(int32_t rank, SimulatedStep at, const Message& message);
  bool receive(int32_t rank, SimulatedStep at, const Message& message);
  bool sent(int32_t rank, SimulatedStep at, const Message& message);
  bool must_wait_its_turn(int32_t rank, int64_t number) const;
  template <class Visit>
  void each_cell(int32_t rank, SimulatedStep at, const Message& message, Visit visit);
  bool wait(int32_t rank, const ReleasedWord::Release* seen);
  const ReleasedWord::Release* stamped(int32_t rank, int32_t peer, int32_t line,
                                       int64_t number) const;
  // The number of a step's own transfer, and the tag of a message, on the words' scale.
  int64_t number_of(int32_t rank, SimulatedStep at) const;
  int64_t tag(int32_t rank, SimulatedStep at, const Message& message) const;
  void end(int32_t rank);
  void release(ReleasedWord& word, int64_t value, int32_t rank);

  // True if others reach this buffer of a rank in this operation.
  bool reached(int32_t operation, int32_t rank, Space space) const;
  void use_user_buffers(int32_t rank);
  OrderedCell& user(int32_t operation, int32_t rank, Space space, int32_t segment, int32_t block);
  size_t line_index(int32_t rank, int32_t owner, int32_t line) const;
  OrderedCell& cell(int32_t rank, int32_t segment, const Operand& operand, int32_t k,
                    int32_t extent);
  void check_destination(int32_t rank, const Operand& operand) const;
  void check_source(int32_t rank, Symbol symbol, const Operand& operand, int32_t k,
                    int32_t extent) const;
  void check_results();
  void check_result(int32_t operation, int32_t rank);
  [[noreturn]] void refuse_race(int32_t rank, const char* does, const Operand& operand, int32_t k,
                                const Access& other) const;
  [[noreturn]] void refuse_use(int32_t rank, Space space, int32_t block, const Access& other) const;
  void refuse_stuck() const;
  std::string context(int32_t rank) const;

  const SimulatedCase& what_;
  const Plan& plan_;
  const int32_t interleaving_;
  std::mt19937_64 random_;
  uint64_t salt_ = 0;      // selects the present order of preference among ranks
  bool released_ = false;  // the last action released a word, so that others may move again
  std::vector<Rank> ranks_;
  TokenWatch tokens_;
  std::vector<ReleasedWord> words_;   // indexed by rank
  std::vector<ReleasedWord> stamps_;  // indexed by rank and line of the ring
  std::vector<OrderedCell> lines_;    // indexed by rank and line of the ring
  std::vector<OrderedCell> slots_;    // indexed by rank, ring position and block
  std::vector<OrderedCell> user_;
  std::vector<bool> in_place_;  // indexed by operation and rank
  // Indexed by operation, rank and user's buffer: others bypass the slot.
  std::vector<bool> reached_;
  std::vector<uint32_t> entered_;  // indexed by operation and rank: its time of entry, 0 before
  struct Mail {
    bool posted = false, gone = false;
    std::vector<Symbol> data;
    Clock clock;  // its sender's
  };
  std::map<MailKey, Mail> mail_;
  bool in_turn_ = false;  // messages leave one after another, as long ones do
};

}  // namespace tutti::plan
