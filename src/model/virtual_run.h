// One prediction: the programs of all ranks in virtual time. Each rank has a clock, which may be
// ahead of the run's, because what it does alone needs nobody else; a queue orders what concerns
// others. One thread; it lives as long as the call of predict().
//
// virtual_run.cpp has the loop and the order of steps, waits.cpp the waits, accesses.cpp what reads
// and writes memory, messages.cpp the messages.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/data_places.h"
#include "model/links.h"
#include "model/predict.h"
#include "plan/semantics.h"

namespace tutti::model {

class VirtualRun {
 public:
  // Keeps a reference to the question.
  explicit VirtualRun(const Question& question);

  Prediction run();

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
    // The present step's:
    bool begun = false;
    double begin = 0;
    int32_t operand = 0;      // the operand that is being moved; 0: none yet
    std::vector<bool> taken;  // sources of a reduce_any
    bool moving = false;      // an access is under way
    bool moved = false;       // the access has ended
    double reading = 0;       // the time that the step's reads take alone

    uint32_t version = 0;  // the version of its place in the queue
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
    size_t index;  // the index of the rank, of the link whose next access ends, or of the flight
    uint32_t version;  // the version of the rank's or the link's place in the queue
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
  enum class Progress : uint8_t { done, later };

  // The loop.
  Rank& of(int32_t rank) { return ranks_[static_cast<size_t>(rank)]; }
  const plan::Program& program(int32_t rank) const { return programs_[static_cast<size_t>(rank)]; }
  void resume(int32_t rank, double time);
  // Goes on with a rank until it needs time or another rank.
  void advance(int32_t rank);
  static void begin_step(Rank& self);
  Progress execute(int32_t rank, const plan::Step& step, int64_t segment);
  void note(int32_t rank, int64_t segment, int32_t cause = -1, double bytes = 0);
  void tell(int32_t rank, int64_t number);
  Prediction result();
  static void add_adapters(std::vector<Load>& loads, const std::vector<Adapter>& adapters,
                           const std::string& name);

  // Waits. These functions keep which ranks wait for which.
  void find_awaited();
  // A number of a peer, and when this rank sees it; nothing if the peer has not told it yet.
  std::optional<Told> find(int32_t rank, const plan::AwaitedNumber& awaited, bool in_line,
                           int32_t line);
  // True if a rank has published at about the time at which its peer did, and the peer waits for
  // it, too.
  bool crosses(int32_t rank, int32_t peer, double time, double hand_over) const;
  Progress wait(int32_t rank, const plan::Step& step, int64_t segment);
  // The time of one more line in an access: the first one's latency is in the hand-over.
  static double time_of_line(const ByteCost& cost);
  // A line comes over the link that both ranks share. If the rank waits for it, the hand-over
  // includes that, unless others use the link, too.
  Progress fetch_line(int32_t rank, int32_t peer, double seen);
  // The source of a reduce_any that this rank sees first, as the index of its operand; 0 if it must
  // wait, which it then does.
  int32_t first_here(int32_t rank, const plan::Step& step, int64_t segment);

  // Accesses to memory.
  // `shared`: the least time that the link needs for it.
  void begin_access(int32_t rank, size_t link, double work, double shared, double bytes);
  // The bytes of a run of blocks in this segment.
  double length_of(const plan::Program& mine, int32_t first, int32_t count, int64_t segment) const;
  // True if an access of so many bytes begins where that of the segment before ended: it is to the
  // whole segment, and not to a part of it, behind which other parts lie.
  bool continues(const plan::Program& mine, double bytes, int64_t segment) const;
  // Moves bytes from where a source is, and perhaps combines them. Data in a line comes with its
  // stamp.
  Progress reach(int32_t rank, const plan::Operand& source, double bytes, double whole,
                 bool combines, int32_t blocks, int64_t segment);
  // Writes bytes where other ranks read them, which takes the link. `moves`: nothing has copied
  // them yet; else the step writes while it reads, and this is what takes longer than its reads, or
  // than to write to memory of the rank's own.
  Progress write(int32_t rank, const plan::Operand& to, double bytes, double whole, bool moves,
                 bool copies, int64_t segment);
  void schedule(size_t link);
  void end_access(size_t link, uint32_t version);
  // The bytes of the buffer or of the ring that an operand is a part of.
  double whole_of(int32_t rank, const plan::Operand& operand) const;
  // True if this rank reads an operand in its owner's memory by the system's copies.
  bool comes_by_system(const plan::Operand& operand, int32_t rank) const;
  const ByteCost& system_of(const LevelCost& cost) const;
  // True if this rank need not go to another for it: it is its own, or has come with a stamp.
  static bool is_own(const plan::Operand& operand, int32_t rank);
  // The same of a source, which another rank may have written.
  bool is_here(const plan::Operand& source, int32_t rank, int32_t blocks, int64_t segment) const;
  Progress move(int32_t rank, const plan::Step& step, int64_t segment);
  Progress move_any(int32_t rank, const plan::Step& step, int64_t segment);

  // Messages.
  Mail& mail_of(int32_t rank, const plan::Message& message, int64_t segment);
  bool share_node(int32_t one, int32_t other) const;
  double overhead(int32_t one, int32_t other) const;
  // Long messages leave one after another, as the executor sends them.
  Progress await_turn(int32_t rank, double bytes, int64_t number);
  // post and send.
  Progress start_message(int32_t rank, const plan::Step& step, int64_t segment);
  // The bytes of a message begin to move. Links and adapters take messages in the order of time.
  void leave(const Flight& flight, size_t index);
  // The first byte of a message is at the receiver's adapter.
  void arrive(const Flight& flight);
  void end_flight(const Flight& flight);
  void wake(Mail& mail);
  // receive and sent.
  Progress end_message(int32_t rank, const plan::Step& step, int64_t segment);
  const NetworkCost& network() const;
  const MessageCost& messages() const;

  const Question& question_;
  const std::vector<plan::Program>& programs_;
  const Machine& machine_;
  const plan::Geometry& geometry_;
  const plan::Segments segments_;
  Links links_;
  DataPlaces places_;
  std::set<std::pair<int32_t, int32_t>> awaits_;
  std::vector<Rank> ranks_;
  std::vector<uint32_t> scheduled_;  // indexed by link: the version of its next end in the queue
  std::vector<Adapter> out_, in_;    // indexed by node
  std::vector<Event> events_;
  // Indexed by sender, receiver and tag.
  std::map<std::tuple<int32_t, int32_t, int64_t>, Mail> mail_;
  std::vector<Flight> flights_;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> queue_;
  uint64_t order_ = 0;
  double time_ = 0;
};

}  // namespace tutti::model
