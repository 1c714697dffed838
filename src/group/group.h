// A group: a communicator (or a team of threads) as Tutti sees it. One object a rank.
//
// Owns the rank's channel and the cache of bound programs; picks the algorithm for a call from what
// all ranks share (collective, bytes, root, size of an element) and runs it. Buffers are the
// user's, bytes are packed. One thread at a time may use a group. The shared memory belongs to
// whoever made it and outlives the group.
//
// A function that returns a Code returns Code::ok, or a code that leaves the group unusable, with a
// line in failure(). What it throws instead, it throws before this rank has entered the operation:
// Error at all ranks alike, anything else (memory that ran out) at this rank alone, which may make
// the same call again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/prefetch.h"
#include "exec/executor.h"
#include "group/call.h"
#include "group/known_calls.h"
#include "group/leaders.h"
#include "group/range_table.h"
#include "plan/lower.h"
#include "select/select.h"

namespace tutti::group {

struct ProgramRequest;

class Group {
 public:
  struct Settings {
    std::byte* areas = nullptr;  // zeroed shared memory of layout.bytes(), of this node's ranks
    shm::Layout layout;  // its ranks are those of this node; its areas as large as on every node
    int rank = 0;        // of the group
    int ranks = 0;       // of the group; 0: all are on this node
    placement::Nodes nodes;      // who shares areas; the same at all ranks
    exec::Net* net = nullptr;    // messages between nodes; outlives the group; null: one node
    Leaders* leaders = nullptr;  // the host MPI's collectives among nodes' leaders, at all ranks;
                                 // likewise; null: none
    exec::WaitStyle style = exec::WaitStyle::spin;
    std::optional<bool>
        oversubscribed;  // on any node, the same at all ranks; nothing: as the style says
    exec::ProgressHook hook;
    uint64_t process = 0;  // this rank's pid where ranks are processes; 0 for threads
    trace::Tracer* tracer =
        nullptr;                // records every operation; outlives the group; null: nobody does
    uint32_t communicator = 0;  // the group's number there
    bool check = false;         // check plans and lowered programs when they are made (TUTTI_CHECK)
    select::Overrides overrides;  // algorithms, segment size and plans that the user asked for
    exec::Reach reach;            // beside slots, as all ranks found
    topo::Shape shape;            // of the machine that the ranks may run on; empty: unknown
    placement::Levels levels;     // that the group's ranks lie on, the same at all of them
  };
  explicit Group(const Settings& settings);

  // For ranks that learn what they share after they have a group: as Settings::levels. All ranks
  // say the same between the same two calls.
  void lie_on(const placement::Levels& levels);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  // Whether its ranks share memory, all of them. Collectives of parts of different lengths need
  // that.
  bool on_one_node() const { return nodes_.one(); }

  static constexpr std::string_view v_algorithm = "direct";  // of all v-collectives

  Code run(const Call& call) {
    return call.parts == nullptr ? run_alike(call) : v_collective(call);
  }

  // The calls that were made before, as a caller keys them; null where this one was not, or takes
  // more than running its program.
  KnownCall* known(const CallKey& key) { return known_.find(key); }
  // Runs one of them. Only programs that bear one buffer for both are known.
  Code run(KnownCall& call, const void* in, void* out) {
    call.operation.in = in;
    call.operation.out = out;
    return channel_.execute(call.start, call.operation);
  }
  // The same for a collective that combines, which needs more.
  Code run_combining(KnownCall& call, const void* in, void* out) {
    prefetch<0, fetched_of_kernels>(call.kernel());
    return run(call, in, out);
  }
  // Notes a call that this group has just run, so that known() finds it; without memory for that,
  // nothing happens. Its combination lives as long as the group.
  void note(const CallKey& key, const Call& call) noexcept;

  // As Channel::advance.
  void advance(const exec::Channel::Counters& by) { channel_.advance(by); }

  // For callers to whom a call of this group is a part of theirs, in a handler: as
  // Channel::fail_thrown.
  Code fail_thrown(uint64_t call) noexcept { return channel_.fail_thrown(call); }

  const std::string& failure() const { return channel_.failure(); }
  bool stalled() const { return channel_.stalled(); }
  std::string standing(int rank) const { return channel_.standing(rank); }

  // The algorithm (of a user's plan: its file) of the last call, if it was like this one, else of
  // an earlier or the next one like it: for reports. Owned by the group.
  std::string_view algorithm(plan::Collective collective, size_t bytes, int root);

  // Elements larger than this cannot be combined here: the same at all ranks, so that all can
  // choose another way. Between nodes a flat plan's root has a place in its slot for what each of
  // the others sends, and several segments on their way.
  size_t max_element() const {
    const size_t here = plan::max_element(channel_.resources());
    return on_one_node() ? here : here / (2 * static_cast<size_t>(ranks()));
  }

 private:
  struct ByLeaders;
  struct Entry {
    std::unique_ptr<const exec::BoundProgram> bound;
    size_t wanted_segment = 0;
    size_t direct_below = 0;  // bytes that need neither segments nor a copy of `in` are fewer
    std::string name;         // of the algorithm or the user's file
    std::unique_ptr<ByLeaders>
        by_leaders;  // what serves, where leaders exchange by the host; nothing else is then set
  };
  // The phases of a collective around the host's (by_leaders.cpp); null where nobody has anything
  // to do in one.
  struct ByLeaders {
    std::unique_ptr<Entry> before, after;
    plan::Collective collective{};
    int place = -1;      // of this rank among the leaders, -1 where it is none
    int root = 0;        // the place of the one on the root's node
    bool alone = false;  // this rank is its node's only one
    bool lent = false;   // it has no `out` of its own for what its node combines to
  };
  // What serves a call.
  struct Choice {
    select::Choice built_in;
    const select::LoadedPlan* users_plan = nullptr;  // instead, where not null
  };
  // The properties of a call that, with its bytes, decide which entry serves it.
  struct Selector {
    plan::Collective collective;
    int root = 0;
    exec::Needs needs = {};
    size_t element = 1;  // bytes
    bool v_form = false;
  };
  static Selector selector_of(const Call& call) {
    if (call.combine == nullptr) return {call.collective, call.root};
    return {call.collective, call.root, call.combine->needs, call.combine->element};
  }
  // The first bits of a selector's members in a key of ranges. The root is in the bits below.
  static constexpr int same_expression_shift = 24, rank_order_shift = 25, collective_shift = 26,
                       v_shift = 30, element_shift = 32;
  static_assert(plan::max_ranks <= 1 << same_expression_shift);
  static_assert(plan::collective_count <= 1 << (v_shift - collective_shift));
  static constexpr size_t fetched_of_kernels = 128;  // bytes of code: short calls need no more
  // Bytes of an element; only flat plans are sure to find room in the slots for larger ones.
  static constexpr size_t large_element = 64;
  // An entry for a large element must not serve calls with small ones, nor the reverse.
  static uint64_t key_of(const Selector& selector) {
    const size_t element = selector.element > large_element ? selector.element : 0;
    return static_cast<uint64_t>(element) << element_shift |
           static_cast<uint64_t>(selector.v_form) << v_shift |
           static_cast<uint64_t>(selector.collective) << collective_shift |
           static_cast<uint64_t>(selector.needs.rank_order) << rank_order_shift |
           static_cast<uint64_t>(selector.needs.same_expression) << same_expression_shift |
           static_cast<uint64_t>(selector.root);
  }
  // What a call is by itself, as plain words: what programs are kept by.
  struct EntryKey {
    plan::Collective collective;
    int root;
    plan::Carrier carrier;
    ReachChoice reach;
    size_t segment_bytes;
    const select::LoadedPlan* users_plan;
    std::string_view algorithm;  // points into a table, the overrides or the program; unused where
                                 // there is a plan
    auto operator<=>(const EntryKey&) const = default;
  };

  Entry& entry_for(const Selector& selector, size_t bytes) {
    Entry* const found = ranges_.find(key_of(selector), bytes);
    return found != nullptr ? *found : *look_up(selector, bytes);
  }
  Entry* look_up(const Selector& selector, size_t bytes);
  select::Call call_of(const Selector& selector, size_t bytes) const;
  // The entry of the user's plan that the map has for a call; null where it has none or that cannot
  // serve. Narrows the range of sizes for which the choice is the same, and puts a built-in
  // algorithm that the map names into it.
  Entry* mapped(const Selector& selector, size_t bytes, plan::Carrier carrier,
                select::Choice& choice);
  Entry* built_in(const Selector& selector, plan::Carrier carrier, select::Choice& choice);
  Entry* find_or_make(plan::Collective collective, const Choice& choice, int root,
                      plan::Carrier carrier);
  void bind(Entry& entry, const ProgramRequest& request, size_t segment_bytes, ReachChoice reach);
  bool fits(const Entry& entry, size_t element) const;
  // by_leaders.cpp
  bool goes_by_host(std::string_view algorithm) const;
  std::unique_ptr<ByLeaders> make_phases(ProgramRequest request, size_t segment_bytes);
  Code run_by_leaders(const Entry& entry, exec::Operation operation, size_t element);
  bool among_leaders(const ByLeaders& phases, const exec::Operation& operation);
  Code run_alike(const Call& call);  // vectors, or parts of one length
  Code v_collective(const Call& call);
  // The longest part of this rank's buffers.
  size_t longest_part(plan::Collective collective, const exec::VParts& parts, int root) const;
  // What runs records for parts of about the expected length, and the room in them; null where none
  // should be.
  Entry* find_records(plan::Collective collective, size_t expected, int root, size_t& room);
  Code run_records(Entry& entry, const void* in, void* out, const exec::VParts& parts,
                   uint64_t call);
  Code agree_on_longest(plan::Collective collective, exec::Agreement& agreement, int root);
  // Copies `in` into scratch, side by side, and tells the parts' places there.
  const void* set_aside(const void* in, exec::Parts& parts);
  // The same for a v-collective, by the bytes of the longest part.
  Entry& entry_for_v(const Selector& selector, size_t longest) {
    Entry* const found = ranges_.find(key_of(selector), longest);
    return found != nullptr ? *found : *look_up_v(selector, longest);
  }
  Entry* look_up_v(const Selector& selector, size_t longest);
  Code run_v(plan::Collective collective, const void* in, void* out, const exec::VParts& parts,
             size_t longest, int root, const exec::Combine* combine);
  Code run_entry(const Entry& entry, exec::Operation& operation, size_t element);
  void forget_programs();

  // What every call reads comes first: the table of calls, and the channel's first lines.
  KnownCalls known_;
  int rank_;
  exec::Channel channel_;
  Leaders* leaders_;
  int ranks_;
  placement::Nodes nodes_;
  int32_t node_count_;  // of the machine's nodes, as rules ask for it
  bool check_;
  bool oversubscribed_;  // more ranks than cores
  bool reached_;         // what the program allocates, by all ranks
  select::Overrides overrides_;
  topo::Shape shape_;
  placement::Levels levels_;
  RangeTable<Entry> ranges_;
  struct {
    uint64_t call = 0;  // signature
    const Entry* entry = nullptr;
  } last_;  // that was not a known one
  std::array<size_t, plan::collective_count>
      expected_longest_{};  // part, by what was agreed; the same at all ranks
  std::map<EntryKey, std::unique_ptr<Entry>> entries_;
  std::vector<std::byte>
      scratch_;  // a copy of `in`, or the result, where one buffer cannot be both
  std::vector<ptrdiff_t> set_aside_at_;  // where the parts are in it
  std::vector<std::byte> lent_;          // ByLeaders::lent
};

// What TUTTI_STORES asks for.
exec::SlotStores::Policy store_policy(StoresChoice choice);

// What TUTTI_ALGORITHM_*, TUTTI_SEGMENT_BYTES, TUTTI_REPRODUCIBLE, TUTTI_PLANS and TUTTI_TABLE ask
// for; reads plans and table when it is first asked. Throws Error naming the variable where an
// algorithm is unknown, does not serve the collective or cannot keep what TUTTI_REPRODUCIBLE asks
// for, and the file where plans or the table are broken.
select::Overrides overrides_of(const Options& options);

}  // namespace tutti::group
