#include "plan/geometry.h"

#include "base/segments.h"

namespace tutti::plan {
namespace {

// Sizes found by measuring (docs/performance.md): the longest message that goes in one piece, and
// the segments of longer messages.
constexpr size_t most_short_slots = 16 * 1024;
constexpr size_t most_whole = 8 * 1024;
// Threads read each other's buffers, so there are no copies into slots to overlap with.
constexpr size_t most_whole_of_threads = 32 * 1024;
constexpr size_t least_segment = 4 * 1024;
constexpr size_t most_segment = 16 * 1024;
constexpr size_t most_short_beside_deep = 2048;
constexpr size_t deep_ring = 1024 * 1024;  // from this size on a ring counts as deep
// Between nodes each message costs more, so segments are larger: at least as long as the messages
// that the transport sends without waiting for the receiver (Resources::prompt). If no slot bounds
// a segment, the greatest length of a message does.
constexpr size_t most_segment_between = 128 * 1024;
constexpr size_t most_message = size_t{1} << 30;
// Segments that a long message has if the limits above allow. Between nodes vectors flow through
// trees of nodes, so that many segments are worth their messages; parts go once from node to node.
constexpr size_t segments_within = 4;
constexpr size_t segments_of_parts_between = 8;
constexpr size_t segments_of_vectors_between = 32;

// Segments are multiples of it.
size_t grain_of(size_t element) { return line_size % element == 0 ? line_size : element; }

// The bytes of the ring that segments of this size need: as many positions as the waits between
// segments require, and at least four, so that ranks need not run in step.
size_t ring_bytes_of(const Program& program, size_t element, size_t segment) {
  return position_bytes_of(program, element, segment) *
         static_cast<size_t>(std::max(program.min_positions, 4));
}

// Half of the vector, halved again while the ring does not hold enough segments. Two segments need
// two positions and no more.
size_t halves(const Program& program, size_t element, size_t bytes, size_t slot_bytes) {
  const size_t grain = grain_of(element);
  for (size_t parts = 2;; parts *= 2) {
    const size_t segment = round_up((bytes + parts - 1) / parts, grain);
    const size_t ring = parts == 2 ? 2 * position_bytes_of(program, element, segment)
                                   : ring_bytes_of(program, element, segment);
    if (ring <= slot_bytes || segment == grain) return segment;
  }
}

// Two segments, of which the second has `last` bytes, or half of a message that is not twice as
// long; nothing if the ring does not hold both.
std::optional<size_t> all_but_last(const Program& program, size_t element, size_t bytes,
                                   size_t slot_bytes) {
  const size_t grain = grain_of(element), last = static_cast<size_t>(program.last_segment);
  const size_t segment = round_up(std::max(bytes - last, (bytes + 1) / 2), grain);
  if (segment >= bytes || 2 * position_bytes_of(program, element, segment) > slot_bytes)
    return std::nullopt;
  return segment;
}

// Between nodes: the most bytes of a vector that the transport sends without waiting for the
// receiver, or of a part, of which a message may carry several.
size_t unasked_bytes(const Program& program, size_t prompt) {
  const auto parts = static_cast<size_t>(program.parted ? std::max(program.message_blocks, 1) : 1);
  return std::max(prompt / parts, least_segment);
}

// The meaning of `halves` is the same between nodes: they begin where they do on a node.
size_t whole_on_a_node(const Resources& resources) {
  return resources.threads ? most_whole_of_threads : most_whole;
}

size_t default_whole(const Program& program, const Resources& resources) {
  if (resources.prompt) return unasked_bytes(program, *resources.prompt);
  return whole_on_a_node(resources);
}

size_t default_segment(const Program& program, const Resources& resources, size_t bytes) {
  if (!resources.prompt) {
    const size_t most = program.slot_blocks == 0 ? most_message : most_segment;
    return std::clamp(bytes / segments_within, least_segment, most);
  }
  const size_t least = unasked_bytes(program, *resources.prompt);
  const size_t most = program.slot_blocks == 0 ? most_message : most_segment_between;
  const size_t segments = program.parted ? segments_of_parts_between : segments_of_vectors_between;
  return std::clamp(bytes / segments, least, std::max(least, most));
}

}  // namespace

Resources resources_of(size_t slot_bytes, int32_t lines) {
  Resources resources;
  resources.lines = lines;
  resources.short_slots = std::min(most_short_slots, slot_bytes / 4 / line_size * line_size);
  resources.long_slots = slot_bytes - resources.short_slots;
  resources.most_short =
      resources.long_slots >= deep_ring ? most_short_beside_deep : resources.short_slots / 2;
  return resources;
}

size_t whole_up_to(const Program& program, const Resources& resources, size_t wanted) {
  if (program.slot_blocks == 0 && !resources.prompt && program.last_segment == 0) return SIZE_MAX;
  size_t limit = wanted;
  if (wanted == 0) limit = default_whole(program, resources);
  if (wanted == segment_halves) limit = whole_on_a_node(resources);
  if (program.last_segment > 0) limit = static_cast<size_t>(program.last_segment);
  if (program.slot_blocks == 0) return limit;
  // The size of the elements is not known here. The slack is for rounding a block up to a whole
  // element and to a whole line.
  const size_t block = resources.long_slots / static_cast<size_t>(program.slot_blocks);
  const size_t slack = 2 * line_size;
  const auto blocks = static_cast<size_t>(program.blocks);
  return block <= slack ? 0 : std::min(limit, (block - slack) * blocks);
}

size_t segment_bytes(const Program& program, const Resources& resources, size_t element,
                     size_t bytes, size_t wanted) {
  if (bytes <= whole_up_to(program, resources, wanted)) return bytes;
  if (program.last_segment > 0) {
    if (const auto two = all_but_last(program, element, bytes, resources.long_slots)) return *two;
  }
  if (wanted == segment_halves) return halves(program, element, bytes, resources.long_slots);
  const size_t target = wanted != 0 ? wanted : default_segment(program, resources, bytes);
  const size_t grain = grain_of(element);
  size_t segment = std::max(target / grain, size_t{1}) * grain;
  while (segment > grain && ring_bytes_of(program, element, segment) > resources.long_slots) {
    segment = std::max(segment * 7 / 8 / grain, size_t{1}) * grain;
  }
  return segment;
}

bool fits(const Program& program, const Resources& resources, size_t element) {
  if (program.uses_lines) return program.lines <= resources.lines;
  return ring_bytes_of(program, element, grain_of(element)) <= resources.long_slots;
}

bool pipelines(const Program& program, const Resources& resources, size_t wanted) {
  if (program.slot_blocks <= 1 || resources.threads || resources.prompt) return true;
  const bool is_size = wanted != 0 && wanted != segment_halves;
  const size_t least = is_size ? std::min(wanted, most_whole) : most_whole;
  return ring_bytes_of(program, 1, least) <= resources.long_slots;
}

ReachFrom reach_from(const Program& program, const Resources& resources, ReachChoice choice) {
  ReachFrom from;
  if (choice == ReachChoice::staged || resources.prompt || !program.has_elidable_copies)
    return from;
  const bool asked = choice == ReachChoice::cma;
  if (resources.system_copies && (asked || resources.system_copies_unasked))
    from.cma = asked ? direct_from : cma_from;
  from.any = resources.mapped ? direct_from : from.cma;
  return from;
}

bool has_table(const Program& program, const Resources& resources, size_t element, size_t bytes,
               size_t segment) {
  const size_t position = position_bytes_of(program, element, std::min(segment, bytes));
  return position * static_cast<size_t>(program.min_positions) + table_bytes(program.ranks) <=
         resources.long_slots;
}

Travel travel(const Program& program, const Resources& resources, size_t element, size_t bytes,
              size_t wanted, ReachChoice choice) {
  Travel travel;
  travel.in_lines = program.uses_lines;
  travel.geometry = {bytes, bytes, 0, 1, 1};
  if (travel.in_lines) return travel;
  const size_t segment = segment_bytes(program, resources, element, bytes, wanted);
  travel.geometry =
      segment < bytes ? geometry_of_segments(program, element, bytes, segment, resources.long_slots)
                      : geometry_of_whole(program, element, bytes);
  const ReachFrom from = reach_from(program, resources, choice);
  travel.bypasses_mapped = resources.mapped && bytes >= from.any;
  travel.bypasses_by_system = bytes >= from.cma;
  return travel;
}

}  // namespace tutti::plan
