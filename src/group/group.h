// A Group runs the collectives of one rank of a communicator, or of one thread of a team. Each rank
// has one.
//
// A group owns the rank's channel and the programs that are bound to it. It chooses the algorithm
// of a call from facts that all ranks share (collective, bytes, root, size of an element) and runs
// this rank's program. Buffers are the user's, and their data is packed. One thread at a time may
// use a group. The creator of the group owns the shared memory, which outlives the group.
//
// A function that returns a Code returns Code::ok, or a code after which the group cannot be used;
// failure() then gives the reason. A function that throws does so before this rank has entered the
// operation: it throws an Error at all ranks alike, and any other exception (memory has run out) at
// this rank alone, which may make the same call again. A v-collective whose `longest` is unknown
// may also throw an Error after the ranks have agreed on the length; the group stays usable.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algo/pairwise.h"
#include "base/options.h"
#include "base/prefetch.h"
#include "exec/executor.h"
#include "group/call.h"
#include "group/exchange.h"
#include "group/known_calls.h"
#include "group/leaders.h"
#include "group/range_table.h"
#include "plan/lower.h"
#include "select/select.h"

namespace tutti::group {

struct ProgramRequest;

class Group {
 public:
  // The facts from which a rank's group is made.
  struct Settings {
    // Shared memory of layout.bytes() for the areas of this node's ranks, zeroed except for the
    // slots.
    std::byte* areas = nullptr;
    // The layout of this node's areas. Its ranks are those of this node. Areas have the same size
    // on all nodes.
    shm::Layout layout;
    int rank = 0;   // this rank's number in the group
    int ranks = 0;  // the ranks of the group; 0: all ranks are on this node
    // The nodes of the ranks, which share memory within each; the same at all ranks.
    placement::Nodes nodes;
    // The messages between nodes; null if there is one node. It outlives the group.
    exec::Net* net = nullptr;
    // The Leaders that this rank calls if it leads a node; null: none. It is null at all ranks or
    // at none, and outlives the group.
    Leaders* leaders = nullptr;
    // The object by which servers exchange alltoalls between nodes; null: none do. It is null at
    // all ranks or at none.
    std::shared_ptr<Exchange> exchange;
    exec::WaitStyle style = exec::WaitStyle::spin;
    // True if ranks outnumber cores on some node; the same at all ranks. If it has no value, the
    // group assumes so exactly if `style` is yield.
    std::optional<bool> oversubscribed;
    exec::ProgressHook hook;  // called now and then while this rank waits
    uint64_t process = 0;     // this rank's pid; 0 if ranks are threads
    // Records every operation; null: operations are not recorded. It outlives the group.
    trace::Tracer* tracer = nullptr;
    uint32_t communicator = 0;                // the group's number in the trace
    uint64_t first_epoch = 0;                 // the number there of the group's first operation
    exec::NameOfKind name_of_kind = nullptr;  // for messages; null: calls have no kinds
    bool check = false;                       // check plans and lowered programs (TUTTI_CHECK)
    select::Overrides overrides;              // the user's overrides for the choice of algorithms
    exec::Reach reach;                        // how ranks reach each other's buffers without slots
    topo::Shape shape;         // the shape of the machine that the ranks may run on; empty: unknown
    placement::Levels levels;  // the levels that the group's ranks share; the same at all ranks
  };
  explicit Group(const Settings& settings);

  // Changes Settings::levels and forgets all programs and known calls, for ranks that find their
  // levels after they have a group. All ranks call it with the same levels, between the same two
  // collectives.
  void lie_on(const placement::Levels& levels);

  // Changes Settings::overrides.table and forgets all known calls. `table` outlives the group;
  // null: no table. All ranks call it with the same rules, between the same two collectives.
  void decide_by(const select::Table* table);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  // True if all ranks of the group share memory.
  bool on_one_node() const { return nodes_.one(); }

  // The algorithm of the last v-collective, for reports; "none" if it had no data.
  std::string_view v_algorithm() const { return on_one_node() ? direct : last_v_; }
  // True if the group runs such a v-collective. Over several nodes, plans in which each pair of
  // ranks has a message would be too large for many ranks. The same at all ranks.
  bool serves_v(plan::Collective collective) const {
    return on_one_node() || !plan::exchanges(collective) || ranks() <= most_ranks_in_pairs;
  }

  // A call that is chosen and bound, but not run: for channels whose layout and settings are those
  // of this group's own, which has run nothing (lanes.h). Throws as run does.
  struct Prepared {
    // Null: the call has no data, which all ranks know.
    std::shared_ptr<const exec::BoundProgram> bound;
    exec::Operation operation;          // without v_parts
    std::optional<exec::VParts> parts;  // a v-collective's parts
    bool alias = false;                 // `in` must be copied, because one buffer cannot be both
  };
  Prepared prepare(const Call& call);
  // A call whose parts servers exchange, to be started by its caller. `call` points into the given
  // one.
  struct ByServers {
    std::shared_ptr<Exchange> exchange;  // null: no servers do
    Exchange::Call call;
    std::string_view algorithm;  // until the group forgets its programs
  };
  ByServers by_servers(const Call& call);
  // Binds a program of the caller's own, for such channels. At all ranks of an operation programs
  // have equally many transfers. Throws as prepare does.
  std::shared_ptr<const exec::BoundProgram> bind(std::shared_ptr<const plan::Program> own) const {
    return channel_.bind(std::move(own));
  }

  // `kind`: a number that all ranks must have in common, besides the collective, the root and the
  // length, or that makes the call fail (exec::kind_shift); 0: none. A v-collective does not use
  // it.
  Code run(const Call& call, uint64_t kind = 0) {
    return call.parts == nullptr ? run_alike(call, kind) : v_collective(call);
  }

  // Finds a call that note() has stored; null if there is none. The result is valid until the next
  // note(), lie_on(), decide_by(), algorithm() or run(Call).
  KnownCall* known(const CallKey& key) { return known_.find(key); }
  // Runs a known call with these buffers. `in` and `out` may be one buffer, because note() stores
  // no call whose program does not allow that.
  Code run(KnownCall& call, const void* in, void* out) {
    call.operation.in = in;
    call.operation.out = out;
    return channel_.execute(call.start, call.operation);
  }
  // Runs a known call of a collective that combines. The code of the kernel is prefetched, too.
  Code run_combining(KnownCall& call, const void* in, void* out) {
    prefetch<0, fetched_of_kernels>(call.kernel());
    return run(call, in, out);
  }
  // The same for a call that is compared with those of the other ranks while it runs. `number`:
  // what they must have in common besides the signature (exec::with_number); 0 if there is a root.
  Code run_compared(KnownCall& call, const void* in, void* out, uint32_t number) {
    call.operation.call = exec::with_number(call.operation.call, number);
    return run(call, in, out);
  }
  // How the ranks of a node tell what they pass to a call (exec::Channel).
  exec::Channel& channel() { return channel_; }
  // Stores a call that this group has just run, so that known() finds it. It has no effect if
  // memory runs out, or if the call needs segments or a copy of `in`. The object to which
  // combine->context points must outlive the group.
  void note(const CallKey& key, const Call& call) noexcept;

  // Advances the channel's counters as if operations had run, for tests of counters that become
  // large. All ranks call it alike, between the same two operations.
  void advance(const exec::Channel::Counters& by) { channel_.advance(by); }

  // Ends the use of the group, for a caller whose own operation makes a call of this group and then
  // throws. Call it in a catch block; failure() then names the exception. Returns the code of
  // all later calls. `call` is the signature of the operation, for failure().
  Code fail_thrown(uint64_t call) noexcept { return channel_.fail_thrown(call); }

  // How ranks reach each other's buffers.
  const exec::Reach& reach() const { return channel_.reach(); }

  // One line about the failure after which the group cannot be used; empty if there was none.
  const std::string& failure() const { return channel_.failure(); }
  // True if the failure was a stall and TUTTI_STALL=abort.
  bool stalled() const { return channel_.stalled(); }
  // One line about what a rank of the group does, for reports of stalls.
  std::string standing(int rank) const { return channel_.standing(rank); }
  // The collective in which this rank has waited long, or has failed. Any thread.
  exec::Channel::Waiting waits_in() const { return channel_.waits_in(); }

  // The name of the algorithm that serves such a call, for reports; the plan's file if a user's
  // plan serves it. Reductions with different operations may have different algorithms: the
  // function names that of the last call if that was such a call, else that of any such call. It
  // may make programs, and may throw. The result is valid until the group forgets its programs.
  std::string_view algorithm(plan::Collective collective, size_t bytes, int root);

  // The bytes of the largest element that the group can combine. The same at all ranks, so that
  // none of them makes a call with larger elements. It is less on several nodes, because the slot
  // of a flat plan's root then holds the data of every other rank, in several segments at a time.
  size_t max_element() const {
    const size_t here = plan::max_element(channel_.resources());
    return on_one_node() ? here : here / (2 * static_cast<size_t>(ranks()));
  }

 private:
  struct ByLeaders;
  // The calls that a program serves: those with a vector or parts of one length, v-collectives
  // whose longest part is known to all ranks, or the two parts of other v-collectives over several
  // nodes (algo/pairwise.h).
  enum class Serves : uint8_t { alike, v_form, within_nodes, between_nodes };
  // Over several nodes the group runs an alltoallv of at most so many ranks.
  static constexpr int most_ranks_in_pairs = 256;
  // The algorithm of all v-collectives on one node.
  static constexpr std::string_view direct = "direct";
  // A bound program with the parameters that were chosen for it. It serves all calls of one
  // EntryKey.
  struct Entry {
    std::shared_ptr<const exec::BoundProgram> bound;
    size_t wanted_segment = 0;  // the segment size that selection chose; 0: the default
    // For a call of fewer bytes, the program runs at once: without segments and without a copy of
    // `in`. 0: for no call.
    size_t direct_below = 0;
    std::string name;  // the name of the algorithm, or of the user's file
    // The phases, if the nodes' leaders use the host MPI's own collective; else null. If it is not
    // null, only `name` is set besides.
    std::unique_ptr<ByLeaders> by_leaders;
    size_t served = 0;  // servers exchange so many parts at once, and only `name` is set besides
  };
  // A collective in which the nodes' leaders use the host MPI's own collective (by_leaders.cpp):
  // the entries of the phases before and after that. A phase in which no rank has anything to do is
  // null.
  struct ByLeaders {
    std::unique_ptr<Entry> before, after;
    plan::Collective collective{};
    int place = -1;      // this rank's index among the leaders; -1 if it leads no node
    int root = 0;        // the index of the leader of the root's node
    bool alone = false;  // this rank is the only one of its node
    // The collective gives this leader no `out`, so lent_ holds what its node combines to.
    bool lent = false;
  };
  // The choice for a call: a built-in algorithm with its parameters, or a user's plan with the
  // parameters of `built_in`.
  struct Choice {
    select::Choice built_in;
    const select::LoadedPlan* users_plan = nullptr;  // null: the built-in algorithm
  };
  // The properties of a call that, with its bytes, decide which entry serves it.
  struct Selector {
    plan::Collective collective;
    int root = 0;
    exec::Needs needs = {};
    size_t element = 1;  // bytes
    Serves serves = Serves::alike;
  };
  static Selector selector_of(const Call& call) {
    if (call.combine == nullptr) return {call.collective, call.root};
    return {call.collective, call.root, call.combine->needs, call.combine->element};
  }
  // The lowest bits of a selector's members in a key of ranges_. The root has the bits below them.
  static constexpr int same_expression_shift = 24, rank_order_shift = 25, collective_shift = 26,
                       serves_shift = 30, element_shift = 32;
  static_assert(plan::max_ranks <= 1 << same_expression_shift);
  static_assert(plan::collective_count <= 1 << (serves_shift - collective_shift));
  // The bytes of a kernel's code that are prefetched. Short calls need no more.
  static constexpr size_t fetched_of_kernels = 128;
  // Elements of more bytes are large. Only flat plans are sure to find room for them in the slots.
  static constexpr size_t large_element = 64;
  // The key of a call in ranges_. It contains the size of a large element, because an entry for
  // large elements must not serve calls with small ones, nor the reverse.
  static uint64_t key_of(const Selector& selector) {
    const size_t element = selector.element > large_element ? selector.element : 0;
    return static_cast<uint64_t>(element) << element_shift |
           static_cast<uint64_t>(selector.serves) << serves_shift |
           static_cast<uint64_t>(selector.collective) << collective_shift |
           static_cast<uint64_t>(selector.needs.rank_order) << rank_order_shift |
           static_cast<uint64_t>(selector.needs.same_expression) << same_expression_shift |
           static_cast<uint64_t>(selector.root);
  }
  // The key of an entry in entries_: all that distinguishes the bound programs of one group.
  struct EntryKey {
    plan::Collective collective;
    int root;
    plan::Carrier carrier;
    ReachChoice reach;
    size_t segment_bytes;
    std::optional<algo::Pairs> pairs;  // a part of the pairwise algorithm
    const select::LoadedPlan* users_plan;
    // Points into overrides_, or to a constant, table or library that outlives the group; empty if
    // there is a user's plan.
    std::string_view algorithm;
    auto operator<=>(const EntryKey&) const = default;
  };

  // The entry that serves a call. If none is noted in ranges_, look_up finds or makes one and notes
  // it; it may throw.
  Entry& entry_for(const Selector& selector, size_t bytes) {
    Entry* const found = ranges_.find(key_of(selector), bytes);
    return found != nullptr ? *found : *look_up(selector, bytes);
  }
  Entry* look_up(const Selector& selector, size_t bytes);
  // The entry that serves a v-collective, or its part within nodes, whose longest part has
  // `longest` bytes. look_up_v does for it what look_up does for other calls.
  Entry& entry_for_v(const Selector& selector, size_t longest) {
    Entry* const found = ranges_.find(key_of(selector), longest);
    return found != nullptr ? *found : *look_up_v(selector, longest);
  }
  Entry* look_up_v(const Selector& selector, size_t longest);
  Entry* look_up_within_nodes(const Selector& selector, size_t longest);
  // The program for the parts between nodes. Its first `begun` steps begin the messages, and the
  // others end them.
  struct BetweenNodes {
    std::unique_ptr<const exec::BoundProgram> bound;
    uint32_t begun = 0;
  };
  const BetweenNodes& between_nodes(plan::Collective collective, int root);
  // prepare() for a v-collective.
  Prepared prepare_v(const Call& call);
  // The program of a v-collective in which every part is a message, also within a node: no rank
  // waits for a length that others know.
  const std::shared_ptr<const exec::BoundProgram>& in_messages(plan::Collective collective,
                                                               int root);
  ProgramRequest request_of(plan::Collective collective, int root, plan::Carrier carrier) const;
  select::Call call_of(const Selector& selector, size_t bytes) const;
  // The entry of the user's plan that the map of TUTTI_PLANS names for a call; null if it names
  // none, or if the plan cannot serve. Narrows the sizes for which `choice` holds. If the map names
  // a built-in algorithm, `choice` gets it, with the rule's segment size and reach.
  Entry* mapped(const Selector& selector, size_t bytes, plan::Carrier carrier,
                select::Choice& choice);
  // True if the group's rings serve the algorithm that the default table chose, which knows nothing
  // of them. If they do not, narrows the sizes to those that go in one piece, or to longer ones.
  bool pipelines(const Selector& selector, size_t bytes, plan::Carrier carrier,
                 select::Choice& choice);
  // The entry of the built-in algorithm in `choice`, or of another one if the elements are large or
  // the chosen one needs more shared memory than there is; `choice` then names the other. Throws
  // Error if the other needs more, too.
  Entry* built_in(const Selector& selector, plan::Carrier carrier, select::Choice& choice);
  Entry* find_or_make(plan::Collective collective, const Choice& choice, int root,
                      plan::Carrier carrier, std::optional<algo::Pairs> pairs = {});
  // Binds a program to the channel, and sets the entry's members to what follows from it.
  void bind(Entry& entry, const ProgramRequest& request, size_t segment_bytes, ReachChoice reach);
  // True if the shared memory has room for the entry's programs with elements of this size.
  bool fits(const Entry& entry, size_t element) const;
  // The next four are in by_leaders.cpp.
  bool goes_by_host(std::string_view algorithm) const;
  std::unique_ptr<ByLeaders> make_phases(ProgramRequest request, size_t segment_bytes);
  Code run_by_leaders(const Entry& entry, exec::Operation operation, size_t element);
  bool among_leaders(const ByLeaders& phases, const exec::Operation& operation);
  // The next four are in by_servers.cpp.
  ByServers by_servers(const Call& call, const Entry& entry) const;  // the entry that serves it
  size_t served_at_once(plan::Collective collective, std::string_view algorithm) const;
  const Entry* served_v();  // the entry of an alltoallv; null: its parts are messages
  Code run_by_servers(const ByServers& served);
  Code run_alike(const Call& call, uint64_t kind);  // vectors, or parts of one length
  exec::Operation operation_of(const Call& call, size_t element) const;
  void cut(const Entry& entry, exec::Operation& operation, size_t element) const;
  Code v_collective(const Call& call);
  // A v-collective over several nodes, in which only the two ends of a part know its length.
  Code v_in_pairs(const Call& call);
  Code v_in_messages(const Call& call);  // the same, by in_messages() alone
  // Runs the messages of a v-collective between nodes, up to their beginnings or from there on.
  Code run_messages(const BetweenNodes& messages, bool begins, const exec::Operation& operation);
  // A v-collective in which the ranks find out the longest part: all ranks, or (over several nodes)
  // those of each node for the parts that stay on it.
  Code v_unknown(const Call& call, const void* from, const exec::VParts& parts);
  // The bytes of the longest part of this rank's buffers; on several nodes, of those parts that
  // stay on the node.
  size_t longest_part(plan::Collective collective, const exec::VParts& parts, int root) const;
  Serves unknown() const { return on_one_node() ? Serves::v_form : Serves::within_nodes; }
  size_t most_record_of(plan::Collective collective) const;
  // The entry for records that have room for parts of the expected length; `room` is then the bytes
  // that a record has for a part. Null if the ranks should agree on the length without records.
  Entry* find_records(plan::Collective collective, size_t expected, int root, size_t& room);
  Code run_records(Entry& entry, const void* in, void* out, const exec::VParts& parts,
                   uint64_t call);
  Code agree_on_longest(plan::Collective collective, exec::Agreement& agreement, int root);
  Code agree_within_node(plan::Collective collective, exec::Agreement& agreement, int root);
  // Copies the parts of `in` into `scratch`, one after the other, and changes `parts` to their
  // places there. Returns the start of the copies.
  const void* set_aside(const void* in, exec::Parts& parts, std::vector<std::byte>& scratch);
  // Runs a v-collective whose longest part all ranks know, or its part within a node.
  Code run_v(const Selector& selector, const void* in, void* out, const exec::VParts& parts,
             size_t longest, const exec::Combine* combine);
  Code run_entry(const Entry& entry, exec::Operation& operation, size_t element);
  void forget_programs();

  // Every call reads the table of known calls and the first lines of the channel, so these come
  // first.
  KnownCalls known_;
  int rank_;
  exec::Channel channel_;
  Leaders* leaders_;
  const std::shared_ptr<Exchange> exchange_;
  int ranks_;
  placement::Nodes nodes_;
  int32_t node_count_;  // the machine's nodes, for rules, even if their ranks do not share memory
  bool check_;
  bool oversubscribed_;  // ranks outnumber cores
  bool reached_;         // all ranks reach the memory that each of them allocates
  select::Overrides overrides_;
  topo::Shape shape_;
  placement::Levels levels_;
  RangeTable<Entry> ranges_;
  // The last call that was neither a known call nor a v-collective, and the entry that served it.
  struct {
    uint64_t call = 0;  // signature
    const Entry* entry = nullptr;
  } last_;
  std::string_view last_v_ = "none";      // the algorithm of the last v-collective
  std::optional<const Entry*> served_v_;  // unset: the rules were not asked yet
  // Indexed by collective: the bytes that the longest part of the next v-collective is expected to
  // have, from earlier agreements. The same at all ranks, or, over several nodes, at those of a
  // node.
  std::array<size_t, plan::collective_count> expected_longest_{};
  std::map<EntryKey, std::unique_ptr<Entry>> entries_;
  std::map<std::pair<plan::Collective, int>, BetweenNodes> between_nodes_;  // indexed by root
  std::map<std::pair<plan::Collective, int>, std::shared_ptr<const exec::BoundProgram>>
      in_messages_;            // indexed by root
  std::vector<int32_t> here_;  // the ranks of this node, rising; empty: all
  // A copy of `in`, or the result, if one buffer cannot be both.
  std::vector<std::byte> scratch_;
  std::vector<std::byte> sent_;       // copies of parts that leave in messages, in v_in_pairs()
  std::vector<uint64_t> longest_of_;  // indexed by rank: its longest part, in agree_within_node()
  std::vector<ptrdiff_t> set_aside_at_;  // where the parts that set_aside() copied are
  std::vector<std::byte> lent_;          // the `out` of a leader that has none (ByLeaders::lent)
};

// The settings of a group's channel, and of further channels like it.
exec::Channel::Settings channel_settings(const Group::Settings& settings);

// The stores that TUTTI_STORES chooses for long messages.
exec::SlotStores::Policy store_policy(StoresChoice choice);

// The overrides that TUTTI_ALGORITHM_*, TUTTI_SEGMENT_BYTES, TUTTI_REACH, TUTTI_REPRODUCIBLE,
// TUTTI_PLANS and TUTTI_TABLE request. Any thread may call it. Plans and tables are read once,
// under a lock, and stay until the process ends, so the pointers in the result stay valid. Throws
// an Error that names the variable if an algorithm is unknown, does not serve the collective or
// breaks the promise of TUTTI_REPRODUCIBLE, and the file if plans or the table are broken.
select::Overrides overrides_of(const Options& options);
// Only the user's table; null if there is none. With TUTTI_REPRODUCIBLE=placement it serves only
// collectives that combine nothing. Throws Error if it is broken.
const select::Table* users_table(const Options& options);
// The user's plans and table, for messages, of which no rule has matched a call of this process.
std::vector<std::string> unmatched_files(const Options& options);

// The table with these rules, in the grammar of TUTTI_TABLE's file. Each text is read once and kept
// until the process ends. Any thread may call it. Throws Error as select::read_table, with `name`
// as the table's name.
const select::Table& table_of(const std::string& text, std::string_view name);

}  // namespace tutti::group
