#include "group/programs.h"

#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>

#include "algo/algo.h"
#include "base/large_vector.h"
#include "plan/check.h"
#include "plan/simulate.h"
#include "plan/symmetric.h"

namespace tutti::group {
namespace {

using plan::Carrier;

constexpr size_t max_programs = 1024;
constexpr size_t max_common = 8;  // plans for which the programs of all ranks are kept

using Programs = std::vector<std::shared_ptr<const plan::Program>>;

std::vector<int32_t> all_ranks(int count) {
  std::vector<int32_t> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

void check_lowered(const plan::Plan& plan, const plan::Plan& staged, Carrier carrier,
                   bool in_place) {
  plan::Simulation how;
  how.nodes = staged.nodes;
  std::vector<plan::Program> programs =
      plan::lower(staged, plan::depend(staged, carrier), all_ranks(plan.ranks), carrier);
  for (plan::Program& program : programs) program.in_place = in_place;
  plan::simulate(plan, programs, how);
}

const placement::Levels& levels_of(const ProgramRequest& request) {
  static const placement::Levels one_level;
  const bool by_levels = request.users_plan == nullptr && request.levels != nullptr &&
                         algo::goes_by_levels(request.algorithm);
  return by_levels ? *request.levels : one_level;
}

const placement::Nodes& nodes_of(const ProgramRequest& request) {
  static const placement::Nodes one_node;
  return request.nodes != nullptr ? *request.nodes : one_node;
}

plan::Written built_in(const ProgramRequest& request) {
  const placement::Levels& levels = levels_of(request);
  if (request.pairs) {
    return algo::pairwise(*request.pairs, request.collective, request.ranks, request.root,
                          nodes_of(request));
  }
  if (request.phase) {
    return algo::phase_by_host(*request.phase, request.collective, request.algorithm, request.ranks,
                               request.root, levels);
  }
  return algo::written(request.collective, request.algorithm, request.ranks, request.root, levels);
}

Carrier carrier_for(const ProgramRequest& request, const auto& staged) {
  const int32_t lines = plan::parted(request.collective) ? request.lines : INT32_MAX;
  const bool serves = request.carrier == Carrier::line && plan::lines_serve(staged, lines);
  return serves ? Carrier::line : Carrier::slot;
}

// Makes the programs of these ranks, in their order. The request's own rank does not matter.
Programs make(const ProgramRequest& request, const std::vector<int32_t>& ranks) {
  const LargePieces::Work work;
  const select::LoadedPlan* const users_plan = request.users_plan;
  plan::Written written = users_plan != nullptr ? users_plan->plan : built_in(request);
  plan::Plan& as_written = plan::plan_in(written);
  if (request.fixed_order) as_written = plan::in_fixed_order(std::move(as_written));
  const bool apart = request.pairs && *request.pairs != algo::Pairs::within_nodes;
  const plan::Buffers buffers = apart ? plan::Buffers::two : plan::Buffers::maybe_one;
  // Built-in algorithms allow one buffer as `in` and `out`; tests check that.
  bool in_place = users_plan == nullptr || users_plan->verdict.in_place;
  // A phase is not a collective, so it is checked with the other phase and a stand-in for the
  // host's collective between them, and a part of the pairwise algorithm with the other part.
  const bool is_whole = (!request.phase || *request.phase == algo::Phase::standing_in) &&
                        (!request.pairs || *request.pairs == algo::Pairs::both);
  std::vector<plan::Program> made;
  if (ranks.size() == 1 && !request.check) {
    const plan::Written staged =
        plan::stage_for_one(std::move(written), nodes_of(request), buffers);
    made.push_back(plan::program_of(staged, ranks.front(), carrier_for(request, staged)));
  } else {
    plan::Plan plan = plan::whole(std::move(written));
    // The plan of many ranks is large, so it is copied only if it is looked at again.
    const plan::Plan staged =
        plan::stage(request.check ? plan : std::move(plan), nodes_of(request), buffers);
    const Carrier carrier = carrier_for(request, staged);
    if (request.check && is_whole) {
      in_place = plan::check(plan).in_place && !apart;
      check_lowered(plan, staged, carrier, in_place);
    }
    made = plan::lower(staged, plan::depend(staged, carrier), ranks, carrier);
  }
  Programs programs;
  for (plan::Program& program : made) {
    program.in_place = in_place;
    const plan::Definition definition{program.collective, program.ranks, program.root, 1};
    if (is_whole && definition.needs_all(program.rank)) program.knows_all = true;
    // Empty parts are not sent, so a rank does not hear from all others.
    if (apart) program.knows_all = false;
    programs.push_back(std::make_shared<const plan::Program>(std::move(program)));
  }
  return programs;
}

struct Store {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const plan::Program>> programs;
};

// Never destroyed: exit handlers may still communicate.
Store& store() {
  static Store& made = *new Store;
  return made;
}

}  // namespace

namespace {

std::string key_of(const ProgramRequest& request) {
  std::string key = request.users_plan != nullptr
                        ? "plan " + std::to_string(request.users_plan->contents)
                        : std::string(request.algorithm);
  for (const int number :
       {static_cast<int>(request.collective), request.ranks, request.root,
        static_cast<int>(request.carrier), request.carrier == Carrier::line ? request.lines : 0,
        static_cast<int>(request.fixed_order),
        request.phase ? 1 + static_cast<int>(*request.phase) : 0,
        request.pairs ? 1 + static_cast<int>(*request.pairs) : 0}) {
    key.append("/").append(std::to_string(number));
  }
  key.append("/").append(levels_of(request).contents());
  return key.append("/").append(nodes_of(request).contents());
}

}  // namespace

struct CommonPrograms {
  struct Kept {
    std::string key;
    Programs programs;  // indexed by rank
  };
  std::mutex mutex;
  std::deque<Kept> kept;  // the latest first
};

namespace {
CommonPrograms* common = nullptr;

std::shared_ptr<const plan::Program> common_program(const ProgramRequest& request) {
  std::string key = key_of(request);
  const std::lock_guard lock(common->mutex);
  for (const CommonPrograms::Kept& kept : common->kept) {
    if (kept.key == key) return kept.programs[static_cast<size_t>(request.rank)];
  }
  common->kept.push_front({std::move(key), make(request, all_ranks(request.ranks))});
  if (common->kept.size() > max_common) common->kept.pop_back();
  return common->kept.front().programs[static_cast<size_t>(request.rank)];
}

}  // namespace

CommonPrograms* make_common_programs() { return new CommonPrograms; }
void end_common_programs(CommonPrograms* programs) { delete programs; }
void use_common_programs(CommonPrograms* programs) { common = programs; }

std::shared_ptr<const plan::Program> program_for(const ProgramRequest& request) {
  if (common != nullptr) return common_program(request);
  const auto own_key = [](const ProgramRequest& one) {
    return key_of(one) + "/" + std::to_string(one.rank);
  };
  Store& store = group::store();
  {
    const std::lock_guard lock(store.mutex);
    if (const auto found = store.programs.find(own_key(request)); found != store.programs.end())
      return found->second;
  }
  std::shared_ptr<const plan::Program> program = make(request, {request.rank}).front();
  const std::lock_guard lock(store.mutex);
  if (store.programs.size() >= max_programs) store.programs.clear();
  store.programs.emplace(own_key(request), program);
  // Where lines do not serve, longer messages need the same program.
  ProgramRequest over_slots = request;
  over_slots.carrier = Carrier::slot;
  if (!program->uses_lines) store.programs.emplace(own_key(over_slots), program);
  return program;
}

}  // namespace tutti::group
