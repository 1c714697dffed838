#include "group/group.h"

#include <algorithm>
#include <new>
#include <utility>

#include "algo/algo.h"
#include "base/log.h"
#include "group/programs.h"
#include "group/room.h"
#include "group/scratch.h"

namespace tutti::group {
namespace {

using plan::Carrier;
using plan::Collective;

// The limit for the entries of a group. Four collectives with 64 roots each, short and long, take
// half of it. A group that reaches the limit forgets its programs and makes them again.
constexpr size_t max_entries = 1024;

// The number of the machine's nodes if the levels have them, even if the ranks of a node do not
// share memory; else the number of nodes that share memory.
int32_t nodes_of(const Group::Settings& settings) {
  const int32_t of_machine = settings.levels.groups("node");
  return of_machine > 1 ? of_machine : settings.nodes.count();
}

}  // namespace

exec::Channel::Settings channel_settings(const Group::Settings& settings) {
  exec::Channel::Settings channel;
  channel.style = settings.style;
  channel.stores = store_policy(options().stores);
  channel.process = settings.process;
  channel.hook = settings.hook;
  channel.reach = settings.reach;
  if (settings.ranks != 0) channel.members = settings.nodes.members(settings.rank, settings.ranks);
  channel.net = settings.net;
  channel.tracer = settings.tracer;
  channel.communicator = settings.communicator;
  channel.first_epoch = settings.first_epoch;
  channel.name_of_kind = settings.name_of_kind;
  return channel;
}

exec::SlotStores::Policy store_policy(StoresChoice choice) {
  using Policy = exec::SlotStores::Policy;
  if (choice == StoresChoice::automatic) return Policy::measured;
  return choice == StoresChoice::plain ? Policy::plain : Policy::past_cache;
}

Group::Group(const Settings& settings)
    : rank_(settings.rank),
      channel_(settings.areas, settings.layout, settings.rank, channel_settings(settings)),
      leaders_(settings.leaders),
      exchange_(settings.exchange),
      ranks_(settings.ranks != 0 ? settings.ranks : settings.layout.ranks),
      nodes_(settings.nodes),
      node_count_(nodes_of(settings)),
      check_(settings.check),
      oversubscribed_(settings.oversubscribed.value_or(settings.style == exec::WaitStyle::yield)),
      reached_(settings.reach.ordinary),
      overrides_(settings.overrides),
      shape_(settings.shape),
      levels_(settings.levels) {
  if (!on_one_node()) here_ = nodes_.members(rank(), ranks());
}

select::Call Group::call_of(const Selector& selector, size_t bytes) const {
  return {selector.collective,
          bytes,
          ranks(),
          shape_,
          selector.root,
          selector.needs.rank_order,
          selector.needs.same_expression,
          oversubscribed_,
          &levels_,
          node_count_,
          reached_,
          leaders_ != nullptr,
          overrides_.reproducible != Reproducible::off};
}

Group::Entry* Group::look_up(const Selector& selector, size_t bytes) {
  select::Choice choice = select::choose(call_of(selector, bytes), overrides_);
  if (choice.by_users_table) select::note_matched_table();
  const Carrier carrier = bytes <= shm::line_payload ? Carrier::line : Carrier::slot;
  if (carrier == Carrier::line) {
    choice.bytes_high = std::min(choice.bytes_high, shm::line_payload);
  } else {
    choice.bytes_low = std::max(choice.bytes_low, shm::line_payload + 1);
  }
  Entry* entry = mapped(selector, bytes, carrier, choice);
  if (entry == nullptr) {
    const algo::ServedAs served = algo::served_as(choice.algorithm, bytes);
    choice.algorithm = served.algorithm;
    choice.bytes_low = std::max(choice.bytes_low, served.least);
    choice.bytes_high = std::min(choice.bytes_high, served.most);
    if (!pipelines(selector, bytes, carrier, choice)) choice.algorithm = "flat";
    entry = built_in(selector, carrier, choice);
  }
  ranges_.note(key_of(selector), bytes, choice.bytes_low, choice.bytes_high, entry);
  return entry;
}

bool Group::pipelines(const Selector& selector, size_t bytes, Carrier carrier,
                      select::Choice& choice) {
  if (!choice.by_default_table || !on_one_node() || plan::parted(selector.collective)) return true;
  const Entry& entry = *find_or_make(selector.collective, {choice}, selector.root, carrier);
  const plan::Program& program = *entry.bound->program;
  const plan::Resources& resources = channel_.resources();
  if (plan::pipelines(program, resources, choice.segment_bytes)) return true;
  const size_t whole = plan::whole_up_to(program, resources, choice.segment_bytes);
  if (bytes <= whole) {
    choice.bytes_high = std::min(choice.bytes_high, whole);
    return true;
  }
  choice.bytes_low = std::max(choice.bytes_low, whole + 1);
  return false;
}

Group::Entry* Group::built_in(const Selector& selector, Carrier carrier, select::Choice& choice) {
  const auto [collective, root, needs, element, serves] = selector;
  if (element > large_element) choice.algorithm = "flat";
  const auto entry_of = [&](const Candidate& served) {
    choice.algorithm = served.algorithm;
    return find_or_make(collective, {choice}, root, served.carrier);
  };
  const Candidate wanted{choice.algorithm, carrier};
  // Every small element counts as one byte, because the entry is noted for all of them.
  const size_t staged_element = element > large_element ? element : 1;
  const Candidate served =
      find_room(collective, wanted, staged_element,
                [&](const Candidate& one, size_t of) { return fits(*entry_of(one), of); });
  Entry* const entry = entry_of(served);
  const bool has_room = fits(*entry, staged_element);
  if (has_room && served.algorithm == wanted.algorithm) return entry;
  // On several nodes even the last alternative may need too much memory, because it needs more with
  // more ranks. All ranks find this alike, before any of them has entered the operation.
  if (!on_one_node() && !has_room)
    throw Error(Code::unavailable,
                std::string(plan::name(collective)) + " of elements of " + std::to_string(element) +
                    " bytes needs more shared memory than this communicator has; raise "
                    "TUTTI_SHM_BYTES_PER_RANK");
  const std::string asked(wanted.algorithm);
  log_once("group/" + asked, LogLevel::info,
           "%s by %s needs more shared memory than this communicator has; %s serves",
           std::string(plan::name(collective)).c_str(), asked.c_str(),
           std::string(choice.algorithm).c_str());
  return entry;
}

Group::Entry* Group::mapped(const Selector& selector, size_t bytes, Carrier carrier,
                            select::Choice& choice) {
  const std::string& asked = overrides_.algorithm[static_cast<size_t>(selector.collective)];
  const select::Call call = call_of(selector, bytes);
  const bool user_named_one = !asked.empty() && select::refusal(asked, call).empty();
  if (overrides_.library == nullptr || user_named_one) return nullptr;
  const select::Match match = select::match(*overrides_.library, call);
  choice.bytes_low = std::max(choice.bytes_low, match.sizes.low);
  choice.bytes_high = std::min(choice.bytes_high, match.sizes.high);
  if (match.rule == nullptr) return nullptr;
  select::note_matched_plans();
  const size_t segment =
      overrides_.segment_bytes != 0 ? overrides_.segment_bytes : match.rule->rule.segment_bytes;
  const ReachChoice reach =
      overrides_.reach == ReachChoice::automatic ? match.rule->rule.reach : ReachChoice::automatic;
  if (match.rule->plan == nullptr) {
    if (const std::string why = select::refusal(match.rule->rule.target, call); !why.empty()) {
      select::note_refusal(*match.rule, why);
      return nullptr;
    }
    choice.algorithm = match.rule->rule.target;
    choice.by_default_table = false;
    choice.segment_bytes = segment;
    choice.reach = reach;
    return nullptr;
  }
  const select::LoadedPlan& plan = *match.rule->plan;
  std::string why = select::refusal(plan, call);
  if (why.empty()) {
    Choice by_plan{choice, &plan};
    by_plan.built_in.segment_bytes = segment;
    by_plan.built_in.reach = reach;
    Entry* const entry = find_or_make(selector.collective, by_plan, selector.root, carrier);
    if (fits(*entry, selector.element > large_element ? selector.element : 1)) return entry;
    why = "it needs more shared memory than the communicator has (TUTTI_SHM_BYTES_PER_RANK)";
  }
  select::note_refusal(*match.rule, why);
  if (rank() == 0) {
    log_once(match.rule->place + why, LogLevel::warning,
             "%s: %s is refused: %s; the built-in choice runs", match.rule->place.c_str(),
             plan.file.c_str(), why.c_str());
  }
  return nullptr;
}

Group::Entry* Group::find_or_make(Collective collective, const Choice& choice, int root,
                                  Carrier carrier, std::optional<algo::Pairs> pairs) {
  const select::LoadedPlan* const plan = choice.users_plan;
  const size_t segment = choice.built_in.segment_bytes;
  EntryKey key{collective, root, carrier, choice.built_in.reach, segment, pairs, plan, {}};
  if (plan == nullptr) key.algorithm = choice.built_in.algorithm;
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second.get();
  if (entries_.size() >= max_entries) forget_programs();
  auto entry = std::make_unique<Entry>();
  ProgramRequest request = request_of(collective, root, carrier);
  request.algorithm = choice.built_in.algorithm;
  request.users_plan = plan;
  request.pairs = pairs;
  if (plan == nullptr && goes_by_host(choice.built_in.algorithm)) {
    entry->by_leaders = make_phases(request, segment);
    entry->name = choice.built_in.algorithm;
    return (entries_[key] = std::move(entry)).get();
  }
  if (plan == nullptr) entry->served = served_at_once(collective, choice.built_in.algorithm);
  if (entry->served > 0) {
    entry->name = choice.built_in.algorithm;
    return (entries_[key] = std::move(entry)).get();
  }
  bind(*entry, request, segment, choice.built_in.reach);
  if (plan != nullptr) entry->name = plan->file;
  // Reports show that results may differ between runs, because their order of combining may.
  if (plan != nullptr && plan->verdict.arrival && !request.fixed_order)
    entry->name += " (by arrival)";
  return (entries_[key] = std::move(entry)).get();
}

ProgramRequest Group::request_of(Collective collective, int root, Carrier carrier) const {
  ProgramRequest request{};
  request.collective = collective;
  request.ranks = ranks();
  request.rank = rank();
  request.root = root;
  request.carrier = carrier;
  request.lines = channel_.resources().lines;
  request.check = check_;
  request.fixed_order = overrides_.reproducible != Reproducible::off;
  request.levels = &levels_;
  request.nodes = &nodes_;
  return request;
}

void Group::bind(Entry& entry, const ProgramRequest& request, size_t segment_bytes,
                 ReachChoice reach) {
  const bool within_node = request.pairs && *request.pairs == algo::Pairs::within_nodes;
  entry.bound =
      channel_.bind(program_for(request), reach,
                    within_node ? exec::Channel::Among::node : exec::Channel::Among::group);
  entry.wanted_segment = segment_bytes;
  const plan::Program& program = *entry.bound->program;
  entry.name = program.algorithm;
  if (!program.in_place) return;
  const size_t up_to = program.uses_lines
                           ? shm::line_payload
                           : plan::whole_up_to(program, channel_.resources(), segment_bytes);
  entry.direct_below = up_to + (up_to < SIZE_MAX ? 1 : 0);
}

exec::Operation Group::operation_of(const Call& call, size_t element) const {
  const size_t bytes = call.count * element;
  const bool at_root = rank() == call.root;
  const void* in = plan::one_buffer(call.collective) ? call.out : call.in;
  if (plan::scatters(call.collective) && !at_root) in = nullptr;
  void* const out = plan::gathers(call.collective) && !at_root ? nullptr : call.out;
  return {in,
          out,
          bytes,
          call.count,
          call.combine,
          bytes,
          exec::call_signature(call.collective, bytes, call.root)};
}

Code Group::run_alike(const Call& call, uint64_t kind) {
  const Selector selector = selector_of(call);
  const Entry& entry = entry_for(selector, call.count * selector.element);
  exec::Operation operation = operation_of(call, selector.element);
  last_ = {operation.call, &entry};
  operation.call |= kind << exec::kind_shift;
  if (entry.served > 0) return run_by_servers(by_servers(call, entry));
  return run_entry(entry, operation, selector.element);
}

Group::Prepared Group::prepare(const Call& call) {
  if (call.parts != nullptr) return prepare_v(call);
  if (call.count == 0 && plan::has_data(call.collective)) return {};
  const Selector selector = selector_of(call);
  const Entry& entry = entry_for(selector, call.count * selector.element);
  if (entry.by_leaders != nullptr)
    throw Error(Code::unavailable,
                entry.name + " serves blocking collectives alone: servers do not call the host's");
  Prepared prepared{entry.bound, operation_of(call, selector.element), {}};
  exec::Operation& operation = prepared.operation;
  if (operation.bytes < entry.direct_below) return prepared;
  cut(entry, operation, selector.element);
  prepared.alias = operation.in == operation.out && !entry.bound->program->in_place;
  return prepared;
}

// Sets the segments.
void Group::cut(const Entry& entry, exec::Operation& operation, size_t element) const {
  const plan::Program& program = *entry.bound->program;
  if (program.uses_lines) return;
  operation.segment_bytes = plan::segment_bytes(program, channel_.resources(), element,
                                                operation.bytes, entry.wanted_segment);
}

void Group::note(const CallKey& key, const Call& call) noexcept {
  const Selector selector = selector_of(call);
  const size_t bytes = call.count * selector.element;
  const Entry* const entry = ranges_.find(key_of(selector), bytes);
  if (entry == nullptr || bytes >= entry->direct_below) return;
  try {
    known_.note({key,
                 entry->bound->start,
                 {nullptr, nullptr, bytes, call.count, call.combine, bytes,
                  exec::call_signature(call.collective, bytes, call.root)}});
  } catch (const std::bad_alloc&) {
  }
}

Code Group::run_entry(const Entry& entry, exec::Operation& operation, size_t element) {
  if (entry.by_leaders != nullptr) return run_by_leaders(entry, operation, element);
  if (operation.bytes < entry.direct_below) return channel_.execute(entry.bound->start, operation);
  const plan::Program& program = *entry.bound->program;
  cut(entry, operation, element);
  if (operation.in == operation.out && !program.in_place) {
    const auto* in = static_cast<const std::byte*>(operation.in);
    const bool parts = plan::parted_in(program.collective);
    scratch_.assign(in, in + operation.bytes * (parts ? static_cast<size_t>(ranks()) : 1));
    operation.in = scratch_.data();
  }
  const Code code = channel_.execute(entry.bound->start, operation);
  release_scratch(scratch_);
  return code;
}

void Group::lie_on(const placement::Levels& levels) {
  levels_ = levels;
  forget_programs();
}

// The programs stay, because the tables that their keys point into do.
void Group::decide_by(const select::Table* table) {
  if (table == overrides_.table) return;
  overrides_.table = table;
  ranges_.clear();
  known_.clear();
  last_ = {};
  served_v_.reset();
}

void Group::forget_programs() {
  entries_.clear();
  ranges_.clear();
  known_.clear();
  last_ = {};
  last_v_ = "none";
  served_v_.reset();
}

std::string_view Group::algorithm(Collective collective, size_t bytes, int root) {
  if (last_.entry != nullptr && last_.call == exec::call_signature(collective, bytes, root))
    return last_.entry->name;
  for (const exec::Needs needs :
       {exec::needs_nothing, exec::needs_same_expression, exec::needs_rank_order})
    if (const Entry* const found = ranges_.find(key_of({collective, root, needs}), bytes))
      return found->name;
  return look_up({collective, root}, bytes)->name;
}

}  // namespace tutti::group
