// Step kinds: the enum and the properties of each kind, both made from the one table in
// step_kinds.inc.h.
//
// Constants; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti::plan {

enum class StepKind : uint8_t {
#define TUTTI_STEP_KIND(number, name, group, form, operands, meaning) name = number,
#include "plan/step_kinds.inc.h"
#undef TUTTI_STEP_KIND
};

// The kind of work on which a step spends its time. Summaries and colours of traces distinguish
// these groups.
enum class StepGroup : uint8_t { waiting, moving, reducing, telling };
inline constexpr std::array<std::string_view, 4> step_group_names = {"waiting", "moving",
                                                                     "reducing", "telling"};
constexpr std::string_view name(StepGroup group) {
  return step_group_names[static_cast<size_t>(group)];
}

// The members of a step that have a meaning, beside its stage and its transfer.
enum class StepForm : uint8_t {
  peer_word,        // `peer`, for whose word it waits
  peer_line,        // `peer`, and the `line` of it for which the step waits
  own_word,         // none: it publishes this rank's word
  own_line,         // the `line` of this rank that it stamps
  blocks,           // operands and the extent
  arriving_blocks,  // the same, and an arrival for each source
  message,          // `message`
};

struct StepKindProperties {
  StepKind kind;
  std::string_view name;
  StepGroup group;
  StepForm form;
  std::string_view operands;
  std::string_view meaning;
};
// The properties of all step kinds, indexed by their numbers.
inline constexpr auto step_kinds = std::to_array<StepKindProperties>({
#define TUTTI_STEP_KIND(number, name, group, form, operands, meaning) \
  {StepKind::name, #name, StepGroup::group, StepForm::form, operands, meaning},
#include "plan/step_kinds.inc.h"
#undef TUTTI_STEP_KIND
});

constexpr const StepKindProperties& properties_of(StepKind kind) {
  return step_kinds[static_cast<size_t>(kind)];
}
constexpr std::string_view name(StepKind kind) { return properties_of(kind).name; }

// True of steps that wait for a number of a peer, and do nothing else.
constexpr bool is_wait(StepKind kind) {
  return properties_of(kind).form == StepForm::peer_word ||
         properties_of(kind).form == StepForm::peer_line;
}

// True of the steps of a message between nodes. The executor evaluates it for every step if ranks
// are on several nodes, so it compares numbers and reads no table.
constexpr bool is_message(StepKind kind) {
  return kind >= StepKind::post && kind <= StepKind::sent;
}

static_assert(
    [] {
      for (size_t i = 0; i < step_kinds.size(); ++i) {
        const StepKindProperties& row = step_kinds[i];
        if (static_cast<size_t>(row.kind) != i) return false;
        if (is_message(row.kind) != (row.form == StepForm::message)) return false;
      }
      return true;
    }(),
    "rows stand in the order of their numbers, and the kinds of messages are consecutive");

}  // namespace tutti::plan
