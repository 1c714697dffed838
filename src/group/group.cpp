#include "group/group.h"

#include <algorithm>

#include "algo/algo.h"
#include "base/log.h"
#include "group/programs.h"

namespace tutti::group {
namespace {

using plan::Carrier;
using plan::Collective;

constexpr size_t max_entries = 256;      // programs kept; beyond it all are made anew
constexpr size_t large_element = 64;     // beyond it only flat plans are sure to find room in the slots
const std::string_view flat = "flat";

exec::Channel::Settings channel_settings(const Group::Settings& settings) {
  const StoresChoice asked = options().stores;
  const bool pays = kernels::stores_past_cache_pay();
  const bool past_cache = asked == StoresChoice::past_cache || (asked == StoresChoice::automatic && pays);
  return {settings.style, past_cache, settings.process, settings.hook};
}

}  // namespace

Group::Group(const Settings& settings)
    : channel_(settings.areas, settings.layout, settings.rank, channel_settings(settings)),
      check_(settings.check),
      oversubscribed_(settings.style == exec::WaitStyle::yield),
      overrides_(settings.overrides) {}

Group::Entry* Group::look_up(Collective collective, size_t bytes, int root, size_t element) {
  select::Choice choice = select::choose(collective, bytes, ranks(), oversubscribed_, overrides_);
  if (element > large_element) choice = {flat, 0, bytes, bytes};
  const Carrier carrier = bytes <= shm::line_payload ? Carrier::line : Carrier::slot;
  if (carrier == Carrier::line) {
    choice.bytes_high = std::min(choice.bytes_high, shm::line_payload);
  } else {
    choice.bytes_low = std::max(choice.bytes_low, shm::line_payload + 1);
  }
  Entry* entry = find_or_make(collective, choice, root, carrier);
  const plan::Program& program = *entry->bound.program;
  // For all small elements alike, because the answer is remembered for all of them.
  if (!channel_.fits(program, element > large_element ? element : 1)) {
    log_once("group/" + program.algorithm, LogLevel::info, "%s by %s needs more shared memory than this communicator has; flat serves",
             std::string(plan::name(collective)).c_str(), program.algorithm.c_str());
    choice.algorithm = flat;
    entry = find_or_make(collective, choice, root, carrier);
  }
  // An entry for a large element must not serve calls with small ones, nor the reverse.
  if (element > large_element) return entry;
  recent_[static_cast<size_t>(collective)] = {choice.bytes_low, choice.bytes_high - choice.bytes_low, root, entry};
  return entry;
}

Group::Entry* Group::find_or_make(Collective collective, const select::Choice& choice, int root, Carrier carrier) {
  std::string key{plan::name(collective)};
  key.append("/").append(choice.algorithm).append("/").append(std::to_string(root));
  key.append(carrier == Carrier::line ? "/line/" : "/slot/").append(std::to_string(choice.segment_bytes));
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second.get();
  if (entries_.size() >= max_entries) {
    entries_.clear();
    recent_ = {};
  }
  auto entry = std::make_unique<Entry>();
  entry->bound = channel_.bind(program_for({collective, choice.algorithm, ranks(), rank(), root, carrier, check_}));
  entry->wanted_segment = choice.segment_bytes;
  const plan::Program& program = *entry->bound.program;
  if (program.in_place) {
    entry->direct_up_to = program.uses_lines ? shm::line_payload : channel_.whole_up_to(program, choice.segment_bytes);
  }
  return (entries_[key] = std::move(entry)).get();
}

inline Code Group::run(Collective collective, const void* in, void* out, size_t count, size_t element, int root,
                       const exec::Combine* combine) {
  const size_t bytes = count * element;
  Entry& entry = *find(collective, bytes, root, element);
  exec::Operation operation{in, out, bytes, count, combine, bytes, exec::call_signature(collective, bytes, root)};
  if (bytes <= entry.direct_up_to) [[likely]] return channel_.execute(entry.bound, operation);
  return run_staged(entry, operation, element);
}

Code Group::run_staged(Entry& entry, exec::Operation& operation, size_t element) {
  const plan::Program& program = *entry.bound.program;
  if (!program.uses_lines) {
    operation.segment_bytes = channel_.segment_bytes(program, element, operation.bytes, entry.wanted_segment);
  }
  if (operation.in == operation.out && !program.in_place) {
    const auto* in = static_cast<const std::byte*>(operation.in);
    copy_of_in_.assign(in, in + operation.bytes);
    operation.in = copy_of_in_.data();
  }
  return channel_.execute(entry.bound, operation);
}

Code Group::barrier() { return run(Collective::barrier, nullptr, nullptr, 0, 1, 0, nullptr); }

Code Group::bcast(void* data, size_t bytes, int root) {
  return run(Collective::bcast, data, data, bytes, 1, root, nullptr);
}

Code Group::reduce(const void* in, void* out, size_t count, const exec::Combine& combine, int root) {
  return run(Collective::reduce, in, out, count, combine.element, root, &combine);
}

Code Group::allreduce(const void* in, void* out, size_t count, const exec::Combine& combine) {
  return run(Collective::allreduce, in, out, count, combine.element, 0, &combine);
}

std::string_view Group::algorithm(Collective collective, size_t bytes, int root) {
  return find(collective, bytes, root, 1)->bound.program->algorithm;
}

select::Overrides overrides_of(const Options& options) {
  select::Overrides overrides;
  overrides.algorithm = {options.algorithm_barrier, options.algorithm_bcast, options.algorithm_reduce,
                         options.algorithm_allreduce};
  overrides.segment_bytes = options.segment_bytes;
  constexpr std::string_view variables[] = {"TUTTI_ALGORITHM_BARRIER", "TUTTI_ALGORITHM_BCAST",
                                            "TUTTI_ALGORITHM_REDUCE", "TUTTI_ALGORITHM_ALLREDUCE"};
  for (int i = 0; i < plan::collective_count; ++i) {
    if (overrides.algorithm[i].empty()) continue;
    try {
      algo::generate(static_cast<Collective>(i), overrides.algorithm[i], 2, 0);
    } catch (const Error& error) {
      throw Error(Code::invalid_argument, std::string(variables[i]) + ": " + error.what());
    }
  }
  return overrides;
}

}  // namespace tutti::group
