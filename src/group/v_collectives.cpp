// V-collectives, whose parts differ in length. If the ranks of one node do not know the longest
// part, they first agree on its length, by records, in which short parts travel (exec/record.h), or
// by an exchange of the length. Unless all parts have travelled in records, a direct plan then
// moves them.
//
// Over several nodes an allgather and a reduce_scatter run any plan, because all ranks know all
// lengths. In a gather every part is a message. In a scatter and an alltoall the parts for other
// nodes are messages, which begin before and end after the parts within each node
// (algo/pairwise.h); only the latter need an agreement.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "algo/algo.h"
#include "group/group.h"
#include "group/programs.h"
#include "group/scratch.h"

namespace tutti::group {

using plan::Carrier;
using plan::Collective;

namespace {

// The limit for the bytes of a record. For longer parts, an agreement without records costs less.
constexpr size_t most_record = 2048;
// The same for an alltoall and a scatter within one of several nodes. There no reader bypasses
// slots, so a record is copied no more often than the part alone, and the hand-over of the length
// is saved.
constexpr size_t most_record_exchanged = 32768;
constexpr size_t most_record_scattered = 131072;
// The limit for the ranks of a gather that uses records. It sends them by an allgather, in which
// every rank reads the records of all (docs/decisions/parts-of-different-lengths.md).
constexpr int most_ranks_told = 16;
// The limit for the roots whose messages a group keeps.
constexpr size_t most_between_nodes = 256;

// True if all ranks have the lengths of all parts among their arguments.
bool all_know_lengths(Collective collective) {
  return !plan::rooted(collective) && !plan::exchanges(collective);
}

// The longest part of a buffer; `of_all` finds it among those of all ranks.
template <class OfAll>
size_t longest_of(const exec::Parts& parts, bool parted, OfAll of_all) {
  if (parts.bytes == nullptr) return 0;
  return parted ? of_all(parts.bytes) : parts.bytes[0];
}

// The longest of a rank's own parts, wherever their other ends are.
size_t longest_anywhere(Collective collective, const exec::VParts& parts, int ranks) {
  const auto of_all = [&](const size_t* bytes) { return *std::max_element(bytes, bytes + ranks); };
  return std::max(longest_of(parts.in, plan::parted_in(collective), of_all),
                  longest_of(parts.out, plan::parted_out(collective), of_all));
}

}  // namespace

size_t Group::longest_part(Collective collective, const exec::VParts& parts, int root) const {
  const bool at_root = rank() == root;
  const bool has_in = !plan::scatters(collective) || at_root;
  const bool has_out = !plan::gathers(collective) || at_root;
  const auto longest_in = [&](auto each) {
    const size_t in = has_in ? longest_of(parts.in, plan::parted_in(collective), each) : 0;
    const size_t out = has_out ? longest_of(parts.out, plan::parted_out(collective), each) : 0;
    return std::max(in, out);
  };
  if (on_one_node()) [[likely]] {
    return longest_in(
        [&](const size_t* bytes) { return *std::max_element(bytes, bytes + ranks()); });
  }
  return longest_in([&](const size_t* bytes) {
    size_t longest = 0;
    for (const int32_t other : here_) longest = std::max(longest, bytes[other]);
    return longest;
  });
}

// On one node a direct plan serves, in which every transfer reads or writes a buffer of the rank
// that executes it, so this rank knows the length of the part. Over several nodes the lengths are
// known at all ranks, so any plan serves.
Group::Entry* Group::look_up_v(const Selector& selector, size_t longest) {
  if (selector.serves == Serves::within_nodes) return look_up_within_nodes(selector, longest);
  // Rules are written for parts of one length, but their segment sizes and reach apply here, too.
  select::Choice choice = select::choose(call_of(selector, longest), overrides_);
  if (choice.by_users_table) select::note_matched_table();
  if (on_one_node()) {
    choice.algorithm = direct;
  } else {
    const algo::ServedAs served = algo::served_as(choice.algorithm, longest);
    choice.algorithm = served.algorithm;
    choice.bytes_low = std::max(choice.bytes_low, served.least);
    choice.bytes_high = std::min(choice.bytes_high, served.most);
  }
  const select::Sizes ruled{choice.bytes_low, choice.bytes_high};
  const bool is_short = longest <= shm::line_payload;
  Entry* const entry = built_in(selector, is_short ? Carrier::line : Carrier::slot, choice);
  const size_t low = std::max(is_short ? 0 : shm::line_payload + 1, ruled.low);
  ranges_.note(key_of(selector), longest, low,
               std::min(is_short ? shm::line_payload : SIZE_MAX, ruled.high), entry);
  return entry;
}

Group::Entry* Group::look_up_within_nodes(const Selector& selector, size_t longest) {
  Choice choice;
  choice.built_in.algorithm = direct;
  choice.built_in.segment_bytes = overrides_.segment_bytes;
  const bool is_short = longest <= shm::line_payload;
  Entry* entry = find_or_make(selector.collective, choice, selector.root,
                              is_short ? Carrier::line : Carrier::slot, algo::Pairs::within_nodes);
  if (is_short && !fits(*entry, 1))
    entry = find_or_make(selector.collective, choice, selector.root, Carrier::slot,
                         algo::Pairs::within_nodes);
  if (!fits(*entry, 1))
    throw Error(Code::unavailable,
                std::string(plan::name(selector.collective)) +
                    " of parts of different lengths needs more shared memory than this "
                    "communicator has; raise TUTTI_SHM_BYTES_PER_RANK");
  ranges_.note(key_of(selector), longest, is_short ? 0 : shm::line_payload + 1,
               is_short ? shm::line_payload : SIZE_MAX, entry);
  return entry;
}

const Group::BetweenNodes& Group::between_nodes(Collective collective, int root) {
  const std::pair key{collective, root};
  if (const auto found = between_nodes_.find(key); found != between_nodes_.end())
    return found->second;
  ProgramRequest request = request_of(collective, root, Carrier::slot);
  request.algorithm = direct;
  if (check_) {
    request.pairs = algo::Pairs::both;
    program_for(request);
  }
  request.pairs = algo::Pairs::between_nodes;
  BetweenNodes made;
  made.bound = channel_.bind(program_for(request));
  const auto begins = [](const exec::BoundStep& step) {
    return step.kind == plan::StepKind::post || step.kind == plan::StepKind::send;
  };
  const std::vector<exec::BoundStep>& steps = made.bound->steps;
  made.begun =
      static_cast<uint32_t>(std::find_if_not(steps.begin(), steps.end(), begins) - steps.begin());
  // Once the messages have begun nobody may refuse, so all find here whether there is room.
  for (const Collective one : {collective, Collective::allgather})
    entry_for_v({one, one == collective ? root : 0, {}, 1, Serves::within_nodes},
                shm::line_payload + 1);
  if (between_nodes_.size() >= most_between_nodes) between_nodes_.clear();
  return between_nodes_[key] = std::move(made);
}

Code Group::run_v(const Selector& selector, const void* in, void* out, const exec::VParts& given,
                  size_t longest, const exec::Combine* combine) {
  const size_t element = selector.element;
  Entry& entry = entry_for_v(selector, longest);
  const plan::Program& program = *entry.bound->program;
  const exec::VParts* parts = &given;
  exec::VParts by_item;
  if (selector.serves == Serves::v_form && !on_one_node()) [[unlikely]] {
    by_item = {given.in, given.out};
    by_item.by_item = combine == nullptr ? given.out.bytes : given.in.bytes;
    parts = &by_item;
    last_v_ = entry.name;
  }
  exec::Operation operation{in,
                            out,
                            longest,
                            longest / element,
                            combine,
                            longest,
                            exec::call_signature(selector.collective, longest, selector.root),
                            parts};
  if (!program.uses_lines) {
    operation.segment_bytes =
        plan::segment_bytes(program, channel_.resources(), element, longest, entry.wanted_segment);
  }
  // In place, the result may overlap parts that are still to be read.
  const bool lies_across = in == out && combine != nullptr;
  const size_t own = lies_across ? given.out.bytes[0] : 0;
  if (lies_across) {
    scratch_.resize(own);
    operation.out = scratch_.data();
  }
  const Code code = channel_.execute(entry.bound->start, operation);
  if (lies_across && own > 0) std::memcpy(out, scratch_.data(), own);
  release_scratch(scratch_);
  return code;
}

size_t Group::most_record_of(Collective collective) const {
  if (on_one_node()) return most_record;
  return plan::scatters(collective) ? most_record_scattered : most_record_exchanged;
}

[[gnu::always_inline]] inline Group::Entry* Group::find_records(Collective collective,
                                                                size_t expected, int root,
                                                                size_t& room) {
  const bool gathers = plan::gathers(collective);
  if (expected > most_record_of(collective) - exec::record_header) return nullptr;
  if (gathers && ranks() > most_ranks_told) return nullptr;
  const size_t least = expected + exec::record_header;
  size_t record = least <= shm::line_payload ? shm::line_payload
                                             : std::max(shm::line_size, std::bit_ceil(least));
  const Selector selector{
      gathers ? Collective::allgather : collective, gathers ? 0 : root, {}, 1, unknown()};
  Entry* const entry = &entry_for_v(selector, record);
  if (record >= entry->direct_below) {
    const plan::Program& program = *entry->bound->program;
    if (!program.in_place) return nullptr;
    // The record has at most as many bytes as a slot holds. The bound of direct_below is for
    // vectors that gain from segments.
    record = std::min(record,
                      plan::whole_up_to(program, channel_.resources(), most_record_of(collective)));
    if (record < least) return nullptr;  // too many ranks or too little memory
  }
  room = record - exec::record_header;
  return entry;
}

// The expected length decreases slowly. So if the lengths of successive calls alternate, not every
// second one is mispredicted.
[[gnu::always_inline]] inline Code Group::v_unknown(const Call& call, const void* from,
                                                    const exec::VParts& parts) {
  const Collective collective = call.collective;
  const int root = call.root;
  void* const out = call.out;
  // In a scatter only the root has to contribute, because it knows all parts.
  const bool tells = !plan::scatters(collective) || rank() == root;
  exec::Agreement agreement{tells ? longest_part(collective, parts, root) : 0};
  exec::VParts all{parts.in, parts.out};
  size_t& expected = expected_longest_[static_cast<size_t>(collective)];
  Code code = Code::ok;
  if (Entry* const entry = find_records(collective, expected, root, agreement.room)) {
    if (from == out && plan::exchanges(collective) && agreement.own <= agreement.room)
      from = set_aside(from, all.in, scratch_);
    all.agreement = &agreement;
    code = run_records(*entry, from, out, all,
                       exec::call_signature(collective, exec::bytes_not_agreed, root));
    all.agreement = nullptr;
  } else {
    code = on_one_node() ? agree_on_longest(collective, agreement, root)
                         : agree_within_node(collective, agreement, root);
  }
  expected = std::max<size_t>(agreement.longest,
                              std::min(expected, 2 * most_record_of(collective)) * 7 / 8);
  if (code != Code::ok || agreement.longest <= agreement.room) return code;
  try {
    return run_v({collective, root, {}, 1, unknown()}, from, out, all, agreement.longest, nullptr);
  } catch (const Error&) {
    throw;
  } catch (...) {  // the agreement counts as this rank's entry, after which nothing is thrown
    return fail_thrown(exec::call_signature(collective, agreement.longest, root));
  }
}

Code Group::v_collective(const Call& call) {
  const exec::VParts& parts = *call.parts;
  size_t longest = call.longest;
  if (!on_one_node()) {
    if (plan::gathers(call.collective)) return v_in_messages(call);
    if (const ByServers served = by_servers(call); served.exchange != nullptr) {
      last_v_ = served.algorithm;
      return run_by_servers(served);
    }
    if (!all_know_lengths(call.collective)) return v_in_pairs(call);
    if (longest == unknown_length) longest = longest_anywhere(call.collective, parts, ranks());
  }
  if (longest == unknown_length) return v_unknown(call, call.in, parts);
  if (longest == 0 && call.combine == nullptr) return Code::ok;
  Selector selector{call.collective, call.root, {}, 1, Serves::v_form};
  if (call.combine != nullptr) {
    selector.element = call.combine->element;
    if (!on_one_node()) selector.needs = call.combine->needs;  // a direct plan has what any needs
  }
  return run_v(selector, call.in, call.out, parts, longest, call.combine);
}

Code Group::v_in_pairs(const Call& call) {
  const auto [collective, in, out, count, root, combine, given, longest] = call;
  const BetweenNodes& messages = between_nodes(collective, root);
  exec::VParts parts{given->in, given->out};
  // In place, an arriving part overwrites one that may be leaving.
  const void* const from =
      in == out && plan::exchanges(collective) ? set_aside(in, parts.in, sent_) : in;
  const size_t most = longest_anywhere(collective, parts, ranks());
  const uint64_t signature = exec::call_signature(collective, exec::bytes_not_agreed, root);
  const exec::Operation operation{from, out, most, most, nullptr, most, signature, &parts};
  Code code = run_messages(messages, true, operation);
  const bool root_here =
      !plan::rooted(collective) || std::binary_search(here_.begin(), here_.end(), root);
  if (code == Code::ok && root_here) {
    try {
      code = v_unknown(call, from, parts);
    } catch (...) {  // messages are under way, after which nothing is thrown
      code = fail_thrown(signature);
    }
  }
  if (code == Code::ok) code = run_messages(messages, false, operation);
  release_scratch(sent_);
  last_v_ = messages.bound->program->algorithm;
  return code;
}

Code Group::v_in_messages(const Call& call) {
  const exec::BoundProgram& messages = *in_messages(call.collective, call.root);
  const exec::VParts& parts = *call.parts;
  const size_t most = longest_anywhere(call.collective, parts, ranks());
  last_v_ = messages.program->algorithm;
  return channel_.execute(
      messages.start,
      {call.in, call.out, most, most, nullptr, most,
       exec::call_signature(call.collective, exec::bytes_not_agreed, call.root), &parts});
}

// Among nodes of one rank each, all parts are between nodes.
const std::shared_ptr<const exec::BoundProgram>& Group::in_messages(Collective collective,
                                                                    int root) {
  const std::pair key{collective, root};
  if (const auto found = in_messages_.find(key); found != in_messages_.end()) return found->second;
  std::vector<int32_t> each(static_cast<size_t>(ranks()));
  std::iota(each.begin(), each.end(), 0);
  const placement::Nodes apart(each);
  ProgramRequest request = request_of(collective, root, Carrier::slot);
  request.algorithm = direct;
  request.pairs = algo::Pairs::both;
  request.nodes = &apart;
  std::shared_ptr<const exec::BoundProgram> made = channel_.bind(program_for(request));
  if (in_messages_.size() >= most_between_nodes) in_messages_.clear();
  return in_messages_[key] = std::move(made);
}

Group::Prepared Group::prepare_v(const Call& call) {
  const Collective collective = call.collective;
  const size_t longest = longest_anywhere(collective, *call.parts, ranks());
  const bool all_know = all_know_lengths(collective);
  if (all_know && longest == 0) return {};
  Prepared prepared;
  prepared.parts = exec::VParts{call.parts->in, call.parts->out};
  // In place, a result overwrites parts that are still to be read.
  prepared.alias =
      call.in == call.out && (plan::exchanges(collective) || plan::combines(collective));
  exec::Operation& operation = prepared.operation;
  operation = {call.in, call.out, longest, longest, call.combine, longest};
  if (!all_know) {
    prepared.bound = in_messages(collective, call.root);
    operation.call = exec::call_signature(collective, exec::bytes_not_agreed, call.root);
    return prepared;
  }
  Selector selector{collective, call.root, {}, 1, Serves::v_form};
  if (call.combine != nullptr) {
    selector.element = call.combine->element;
    selector.needs = call.combine->needs;
  }
  const Entry& entry = entry_for_v(selector, longest);
  prepared.bound = entry.bound;
  prepared.parts->by_item = call.combine == nullptr ? call.parts->out.bytes : call.parts->in.bytes;
  operation.count = longest / selector.element;
  operation.call = exec::call_signature(collective, longest, call.root);
  cut(entry, operation, selector.element);
  return prepared;
}

Code Group::run_messages(const BetweenNodes& messages, bool begins,
                         const exec::Operation& operation) {
  exec::Start start = messages.bound->start;
  if (!begins) start.steps += messages.begun;
  start.step_count = begins ? messages.begun : start.step_count - messages.begun;
  return channel_.execute(start, operation);
}

Code Group::run_records(Entry& entry, const void* in, void* out, const exec::VParts& parts,
                        uint64_t call) {
  exec::Agreement& agreement = *parts.agreement;
  const size_t record = exec::record_header + agreement.room;
  const Code code = channel_.execute(entry.bound->start,
                                     {in, out, record, record, nullptr, record, call, &parts});
  agreement.longest = std::max(agreement.longest, agreement.own);
  return code;
}

// In place, an arriving part overwrites a part that may not have been sent yet. Both have the same
// length.
const void* Group::set_aside(const void* in, exec::Parts& parts, std::vector<std::byte>& scratch) {
  const auto count = static_cast<size_t>(ranks());
  set_aside_at_.resize(count);
  scratch.resize(std::accumulate(parts.bytes, parts.bytes + count, size_t{0}));
  size_t next = 0;
  for (size_t part = 0; part < count; ++part) {
    if (parts.bytes[part] == 0) continue;
    set_aside_at_[part] = static_cast<ptrdiff_t>(next);
    std::memcpy(scratch.data() + next, static_cast<const std::byte*>(in) + parts.at[part],
                parts.bytes[part]);
    next += parts.bytes[part];
  }
  parts.at = set_aside_at_.data();
  return scratch.data();
}

// The root of a gather or a scatter knows all lengths and broadcasts the longest. In the other
// collectives the ranks find it by an allreduce. Error messages about these name the v-collective.
Code Group::agree_on_longest(Collective collective, exec::Agreement& agreement, int root) {
  static const exec::Combine largest{kernels::find_reduce(kernels::Type::uint64, kernels::Op::max),
                                     nullptr,
                                     nullptr,
                                     sizeof(uint64_t),
                                     true,
                                     exec::needs_nothing};
  const bool rooted = plan::rooted(collective);
  const Entry& entry = rooted
                           ? entry_for({Collective::bcast, root}, sizeof(uint64_t))
                           : entry_for({Collective::allreduce, 0, largest.needs, sizeof(uint64_t)},
                                       sizeof(uint64_t));
  uint64_t own = agreement.own;
  void* const out = rooted ? &own : &agreement.longest;
  exec::Operation operation{&own,
                            out,
                            sizeof own,
                            1,
                            rooted ? nullptr : &largest,
                            sizeof own,
                            exec::call_signature(collective, exec::bytes_not_agreed, root)};
  const Code code = run_entry(entry, operation, sizeof own);
  if (rooted) agreement.longest = own;
  return code;
}

// The parts that stay on this node, whose ranks have a root among them if there is one.
Code Group::agree_within_node(Collective collective, exec::Agreement& agreement, int root) {
  longest_of_.assign(static_cast<size_t>(ranks()), 0);
  const Entry& entry =
      entry_for_v({Collective::allgather, 0, {}, 1, Serves::within_nodes}, sizeof(uint64_t));
  exec::Operation operation{&agreement.own,
                            longest_of_.data(),
                            sizeof(uint64_t),
                            sizeof(uint64_t),
                            nullptr,
                            sizeof(uint64_t),
                            exec::call_signature(collective, exec::bytes_not_agreed, root)};
  const Code code = run_entry(entry, operation, 1);
  for (const int32_t other : here_)
    agreement.longest = std::max(agreement.longest, longest_of_[static_cast<size_t>(other)]);
  return code;
}

}  // namespace tutti::group
