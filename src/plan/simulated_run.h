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
#include "plan/program.h"
#include "plan/simulated_tokens.h"

namespace tutti::plan {

// The numbers and the share of the rings that each operation takes; the same at all ranks.
struct SimulatedSchedule {
  int32_t segments = 1;
  int32_t positions = 1;       // ring positions that an operation takes
  int32_t ring_positions = 1;  // of a slot
  int32_t ring_lines = 1;      // of a rank
  int64_t span = 1;            // numbers that an operation takes
  struct RingShare {
    int32_t position = 0;  // first ring position
    int32_t line = 0;      // first line
    int32_t must_end =
        -1;  // the newest operation that used these positions or lines before; -1: none
  };
  std::vector<RingShare> operations;
};

struct SimulatedStep {
  int32_t step;  // of the program
  int32_t segment;
};

// What every interleaving starts from and must end with.
struct SimulatedCase {
  const Plan& plan;
  const std::vector<Program>& programs;
  SimulatedSchedule schedule;
  std::vector<std::vector<SimulatedStep>>
      orders;                     // by rank: its steps as executed in one operation
  std::vector<uint64_t> results;  // by operation, segment, rank, block: the expression in `out`
  bool reached;                   // Simulation::reached
  Tokens tokens;                  // of the staged plan
  placement::NodeOf nodes;

  size_t result(int32_t operation, int32_t segment, int32_t rank, int32_t block) const {
    return ((size_t(operation) * schedule.segments + segment) * plan.ranks + rank) * plan.blocks +
           block;
  }
};

// Hashes of expressions: of one rank's own data, of sources combined in this order, and of sources
// combined one at a time in whatever order, from 0 until all have been added.
uint64_t leaf_expression(int32_t operation, int32_t rank, int32_t segment, int32_t block);
uint64_t combined_expression(const std::vector<uint64_t>& sources);
uint64_t added_expression(uint64_t partial, uint64_t source);

[[noreturn]] void refuse_programs(const std::string& message);
std::string step_text(const Program& program, int32_t step);

class SimulatedRun {
 public:
  SimulatedRun(const SimulatedCase& what, int32_t interleaving, uint64_t seed);

  // Throws where the programs are wrong.
  void run();

 private:
  struct Rank {
    int32_t operation = 0;
    size_t at = 0;          // 0: about to enter the operation; 1..n: steps; n + 1: about to end it
    bool reserved = false;  // has made sure of the rings in this operation
    std::vector<int32_t>
        taken;  // sources of the reduce_any at hand, in the order of this interleaving
    Clock clock;
  };

  void fill_user_buffers();
  size_t choose(const std::vector<int32_t>& movable);
  std::vector<int32_t> all_unfinished() const;
  int64_t base(int32_t operation) const { return operation * what_.schedule.span; }
  int32_t operations() const { return static_cast<int32_t>(what_.schedule.operations.size()); }

  // Each is one action of a rank; false where it has to wait.
  bool advance(int32_t rank);
  bool execute(int32_t rank, SimulatedStep at);
  void check_tokens(int32_t rank, int64_t number, bool tells);
  bool move(int32_t rank, SimulatedStep at);
  // Takes one source; `at` is done when all have been taken.
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
  template <class Visit>
  void each_cell(int32_t rank, SimulatedStep at, const Message& message, Visit visit);
  bool wait(int32_t rank, const ReleasedWord::Release* seen);
  const ReleasedWord::Release* stamped(int32_t rank, int32_t peer, int32_t line,
                                       int64_t number) const;
  int64_t number_of(int32_t rank, SimulatedStep at, int32_t stage, int32_t number) const;
  void end(int32_t rank);
  void release(ReleasedWord& word, int64_t value, int32_t rank);

  // Whether others reach this buffer of a rank in its present operation.
  bool reached(int32_t operation, int32_t rank, Space space) const;
  bool returns(int32_t rank, SimulatedStep at, int64_t number);
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
  uint64_t salt_ = 0;      // of the present order of preference
  bool released_ = false;  // by the action just done: others may move again
  std::vector<Rank> ranks_;
  TokenWatch tokens_;
  std::vector<ReleasedWord> words_;   // by rank
  std::vector<ReleasedWord> stamps_;  // by rank and line of the ring
  std::vector<OrderedCell> lines_;    // likewise
  std::vector<OrderedCell> slots_;    // by rank, ring position and block
  std::vector<OrderedCell> user_;
  std::vector<bool> in_place_;     // by operation and rank
  std::vector<bool> reached_;      // by operation, rank and user's buffer: not by way of a slot
  std::vector<uint32_t> entered_;  // by operation and rank: its time of entry, 0 before
  struct Mail {
    bool posted = false, gone = false;
    std::vector<Symbol> data;
    Clock clock;  // its sender's
  };
  std::map<std::tuple<int32_t, int32_t, int64_t>, Mail> mail_;  // by sender, receiver and tag
};

}  // namespace tutti::plan
