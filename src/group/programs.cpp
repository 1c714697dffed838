#include "group/programs.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "algo/algo.h"
#include "plan/check.h"
#include "plan/simulate.h"

namespace tutti::group {
namespace {

using plan::Carrier;

constexpr size_t max_programs = 1024;

void check_lowered(const plan::Plan& plan, const plan::Plan& staged, Carrier carrier) {
  const plan::Dependences dependences = plan::depend(staged, carrier);
  std::vector<plan::Program> programs;
  for (int32_t rank = 0; rank < plan.ranks; ++rank) programs.push_back(plan::lower(staged, dependences, rank, carrier));
  plan::Simulation how;
  how.nodes = staged.nodes;
  plan::simulate(plan, programs, how);
}

const topo::Levels& levels_of(const ProgramRequest& request) {
  static const topo::Levels one_level;
  const bool by_levels = request.users_plan == nullptr && request.levels != nullptr && algo::goes_by_levels(request.algorithm);
  return by_levels ? *request.levels : one_level;
}

const plan::Nodes& nodes_of(const ProgramRequest& request) {
  static const plan::Nodes one_node;
  return request.nodes != nullptr ? *request.nodes : one_node;
}

plan::Program make(const ProgramRequest& request) {
  const select::LoadedPlan* const users_plan = request.users_plan;
  plan::Plan plan = users_plan != nullptr
                        ? users_plan->plan
                        : algo::generate(request.collective, request.algorithm, request.ranks, request.root, levels_of(request));
  if (request.fixed_order) plan = plan::in_fixed_order(std::move(plan));
  const plan::Plan staged = plan::stage(plan, nodes_of(request));
  Carrier carrier = request.carrier;
  if (carrier == Carrier::line && !plan::lines_serve(staged)) carrier = Carrier::slot;
  // Built-in algorithms bear one buffer as `in` and `out`; the tests hold them to it.
  bool in_place = users_plan == nullptr || users_plan->verdict.in_place;
  if (request.check) {
    in_place = plan::check(plan).in_place;
    check_lowered(plan, staged, carrier);
  }
  plan::Program program = plan::lower(staged, plan::depend(staged, carrier), request.rank, carrier);
  program.in_place = in_place;
  return program;
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

std::shared_ptr<const plan::Program> program_for(const ProgramRequest& request) {
  std::string key = request.users_plan != nullptr ? "plan " + std::to_string(request.users_plan->contents)
                                                  : std::string(request.algorithm);
  for (const int number : {static_cast<int>(request.collective), request.ranks, request.rank, request.root,
                           static_cast<int>(request.carrier), static_cast<int>(request.fixed_order)}) {
    key.append("/").append(std::to_string(number));
  }
  key.append("/").append(levels_of(request).contents());
  key.append("/").append(nodes_of(request).contents());
  Store& store = group::store();
  {
    const std::lock_guard lock(store.mutex);
    if (const auto found = store.programs.find(key); found != store.programs.end()) return found->second;
  }
  auto program = std::make_shared<const plan::Program>(make(request));
  const std::lock_guard lock(store.mutex);
  if (store.programs.size() >= max_programs) store.programs.clear();
  store.programs.emplace(std::move(key), program);
  return program;
}

}  // namespace tutti::group
