// V-collectives, whose parts differ in length. If the ranks do not know the longest part, they
// first agree on its length, by records, in which short parts travel (exec/record.h), or by an
// allreduce or a bcast of the length. Unless all parts have travelled in records, a direct plan
// then moves them.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "group/group.h"
#include "group/scratch.h"

namespace tutti::group {

using plan::Carrier;
using plan::Collective;

namespace {

// The limit for the bytes of a record. For longer parts, an agreement without records costs less.
constexpr size_t most_record = 2048;
// The limit for the ranks of a gather that uses records. It sends them by an allgather, in which
// every rank reads the records of all (docs/decisions/parts-of-different-lengths.md).
constexpr int most_ranks_told = 16;

}  // namespace

size_t Group::longest_part(Collective collective, const exec::VParts& parts, int root) const {
  const auto longest_of = [&](const exec::Parts& of, bool parted) -> size_t {
    if (of.bytes == nullptr) return 0;
    return parted ? *std::max_element(of.bytes, of.bytes + ranks()) : of.bytes[0];
  };
  const bool at_root = rank() == root;
  const size_t in = !plan::scatters(collective) || at_root
                        ? longest_of(parts.in, plan::parted_in(collective))
                        : 0;
  const size_t out = !plan::gathers(collective) || at_root
                         ? longest_of(parts.out, plan::parted_out(collective))
                         : 0;
  return std::max(in, out);
}

// In a direct plan every transfer reads or writes a buffer of the rank that executes it, so this
// rank knows the length of the part.
Group::Entry* Group::look_up_v(const Selector& selector, size_t longest) {
  // Rules are written for parts of one length, but their segment sizes and reach apply here, too.
  select::Choice choice = select::choose(call_of(selector, longest), overrides_);
  const select::Sizes ruled{choice.bytes_low, choice.bytes_high};
  choice.algorithm = v_algorithm;
  const bool is_short = longest <= shm::line_payload;
  Entry* const entry = built_in(selector, is_short ? Carrier::line : Carrier::slot, choice);
  const size_t low = std::max(is_short ? 0 : shm::line_payload + 1, ruled.low);
  ranges_.note(key_of(selector), longest, low,
               std::min(is_short ? shm::line_payload : SIZE_MAX, ruled.high), entry);
  return entry;
}

Code Group::run_v(Collective collective, const void* in, void* out, const exec::VParts& parts,
                  size_t longest, int root, const exec::Combine* combine) {
  const size_t element = combine == nullptr ? 1 : combine->element;
  Entry& entry = entry_for_v({collective, root, {}, element, true}, longest);
  const plan::Program& program = *entry.bound->program;
  exec::Operation operation{in,
                            out,
                            longest,
                            longest / element,
                            combine,
                            longest,
                            exec::call_signature(collective, longest, root),
                            &parts};
  if (!program.uses_lines) {
    operation.segment_bytes =
        plan::segment_bytes(program, channel_.resources(), element, longest, entry.wanted_segment);
  }
  // In place, the result may overlap parts that are still to be read.
  const bool lies_across = in == out && combine != nullptr;
  const size_t own = lies_across ? parts.out.bytes[0] : 0;
  if (lies_across) {
    scratch_.resize(own);
    operation.out = scratch_.data();
  }
  const Code code = channel_.execute(entry.bound->start, operation);
  if (lies_across && own > 0) std::memcpy(out, scratch_.data(), own);
  release_scratch(scratch_);
  return code;
}

// The expected length decreases slowly. So if the lengths of successive calls alternate, not every
// second one is mispredicted.
Code Group::v_collective(const Call& call) {
  const auto& [collective, in, out, count, root, combine, given, longest] = call;
  const exec::VParts& parts = *given;
  if (longest != unknown_length) {
    const bool nothing = longest == 0 && combine == nullptr;
    return nothing ? Code::ok : run_v(collective, in, out, parts, longest, root, combine);
  }
  // In a scatter only the root has to contribute, because it knows all parts.
  const bool tells = !plan::scatters(collective) || rank() == root;
  exec::Agreement agreement{tells ? longest_part(collective, parts, root) : 0};
  exec::VParts all{parts.in, parts.out};
  size_t& expected = expected_longest_[static_cast<size_t>(collective)];
  Code code = Code::ok;
  const void* from = in;
  if (Entry* const entry = find_records(collective, expected, root, agreement.room)) {
    if (in == out && plan::exchanges(collective) && agreement.own <= agreement.room)
      from = set_aside(in, all.in);
    all.agreement = &agreement;
    code = run_records(*entry, from, out, all,
                       exec::call_signature(collective, exec::bytes_not_agreed, root));
    all.agreement = nullptr;
  } else {
    code = agree_on_longest(collective, agreement, root);
  }
  expected = std::max<size_t>(agreement.longest, std::min(expected, 2 * most_record) * 7 / 8);
  if (code != Code::ok || agreement.longest <= agreement.room) return code;
  try {
    return run_v(collective, from, out, all, agreement.longest, root, nullptr);
  } catch (const Error&) {
    throw;
  } catch (...) {  // the agreement counts as this rank's entry, after which nothing is thrown
    return fail_thrown(exec::call_signature(collective, agreement.longest, root));
  }
}

Group::Entry* Group::find_records(Collective collective, size_t expected, int root, size_t& room) {
  const bool gathers = plan::gathers(collective);
  if (expected > most_record - exec::record_header || (gathers && ranks() > most_ranks_told))
    return nullptr;
  const size_t least = expected + exec::record_header;
  const size_t record = least <= shm::line_payload ? shm::line_payload
                                                   : std::max(shm::line_size, std::bit_ceil(least));
  const Selector selector{
      gathers ? Collective::allgather : collective, gathers ? 0 : root, {}, 1, true};
  Entry* const entry = &entry_for_v(selector, record);
  // A record needs several segments, because there are too many ranks or too little memory.
  if (record >= entry->direct_below) return nullptr;
  room = record - exec::record_header;
  return entry;
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
const void* Group::set_aside(const void* in, exec::Parts& parts) {
  const auto count = static_cast<size_t>(ranks());
  set_aside_at_.resize(count);
  scratch_.resize(std::accumulate(parts.bytes, parts.bytes + count, size_t{0}));
  size_t next = 0;
  for (size_t part = 0; part < count; ++part) {
    if (parts.bytes[part] == 0) continue;
    set_aside_at_[part] = static_cast<ptrdiff_t>(next);
    std::memcpy(scratch_.data() + next, static_cast<const std::byte*>(in) + parts.at[part],
                parts.bytes[part]);
    next += parts.bytes[part];
  }
  parts.at = set_aside_at_.data();
  return scratch_.data();
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

}  // namespace tutti::group
