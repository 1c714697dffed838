// Collectives whose parts differ in length.
#include <algorithm>
#include <cstring>

#include "group/group.h"

namespace tutti::group {

using plan::Carrier;
using plan::Collective;

size_t Group::longest_part(Collective collective, const exec::Ragged& parts, int root) const {
  const plan::Definition definition{collective, ranks(), root, ranks()};
  size_t longest = 0;
  const auto see = [&](const exec::Parts& of, int32_t blocks) {
    for (int32_t block = 0; block < blocks && of.bytes != nullptr; ++block) longest = std::max(longest, of.bytes[block]);
  };
  if (definition.has_in(rank())) see(parts.in, definition.in_blocks());
  if (definition.has_out(rank())) see(parts.out, definition.out_blocks());
  return longest;
}

// Every movement of a direct plan has the user's buffer at one end, so whoever moves a part knows its length.
Group::Entry* Group::find_ragged(Collective collective, size_t longest, int root, size_t element) {
  Recent& recent = recent_ragged_[static_cast<size_t>(collective)];
  const RootAndNeeds key = element > large_element ? root | large_bit : root;
  if (longest - recent.bytes_low <= recent.bytes_span && key == recent.root) return recent.entry;
  select::Choice choice{ragged_algorithm, overrides_.segment_bytes, 0, 0};
  const bool is_short = longest <= shm::line_payload;
  Entry* const entry = built_in(collective, root, element, is_short ? Carrier::line : Carrier::slot, choice);
  // Made entries may have taken the place of all that were known.
  const size_t low = is_short ? 0 : shm::line_payload + 1;
  recent = {low, (is_short ? shm::line_payload : SIZE_MAX) - low, key, entry};
  return entry;
}

Code Group::run_ragged(Collective collective, const void* in, void* out, const exec::Ragged& parts, size_t longest, int root,
                       const exec::Combine* combine) {
  const size_t element = combine == nullptr ? 1 : combine->element;
  Entry& entry = *find_ragged(collective, longest, root, element);
  const plan::Program& program = *entry.bound.program;
  exec::Operation operation{in, out, longest, longest / element, combine, longest, exec::call_signature(collective, longest, root),
                            &parts};
  if (!program.uses_lines) {
    operation.segment_bytes = channel_.segment_bytes(program, element, longest, entry.wanted_segment);
  }
  // In place, the result may lie across parts that are still wanted.
  const bool lies_across = in == out && collective == Collective::reduce_scatter;
  const size_t own = lies_across ? parts.out.bytes[0] : 0;
  if (lies_across) {
    scratch_.resize(own);
    operation.out = scratch_.data();
  }
  const Code code = channel_.execute(entry.bound, operation);
  if (lies_across && own > 0) std::memcpy(out, scratch_.data(), own);
  return code;
}

Code Group::ragged(Collective collective, const void* in, void* out, const exec::Ragged& parts, size_t longest, int root) {
  if (longest == unknown) {
    const size_t own = longest_part(collective, parts, root);
    if (const Code code = agree_on_longest(collective, own, longest, root); code != Code::ok) return code;
  }
  if (longest == 0) return Code::ok;
  return run_ragged(collective, in, out, parts, longest, root, nullptr);
}

// An allreduce, which bears the collective's name where it is told of.
Code Group::agree_on_longest(Collective collective, uint64_t own, size_t& longest, int root) {
  static const exec::Combine largest{kernels::find_reduce(kernels::Type::uint64, kernels::Op::max), nullptr, nullptr,
                                     sizeof(uint64_t), true, exec::needs_nothing};
  Entry& entry = *find(Collective::allreduce, sizeof own, largest.needs, sizeof own);
  uint64_t all = 0;
  const exec::Operation operation{&own, &all, sizeof own, 1, &largest, sizeof own,
                                  exec::call_signature(collective, exec::bytes_not_agreed, root)};
  const Code code = channel_.execute(entry.bound, operation);
  longest = all;
  return code;
}

Code Group::ragged_reduce_scatter(const void* in, void* out, const exec::Ragged& parts, size_t longest,
                                  const exec::Combine& combine) {
  return run_ragged(Collective::reduce_scatter, in, out, parts, longest, 0, &combine);
}

}  // namespace tutti::group
