#include "group/journey.h"

#include <algorithm>

#include "algo/algo.h"
#include "base/line.h"
#include "group/programs.h"
#include "group/room.h"

namespace tutti::group {
namespace {

plan::Carrier carrier_for(size_t bytes) {
  return bytes <= line_payload ? plan::Carrier::line : plan::Carrier::slot;
}

}  // namespace

Traveller::Traveller(const select::Call& call, const Communicator& communicator)
    : call_(call), communicator_(communicator) {}

std::shared_ptr<const plan::Program> Traveller::program_of(std::string_view algorithm,
                                                           const select::LoadedPlan* plan,
                                                           plan::Carrier carrier,
                                                           std::optional<algo::Phase> phase) const {
  ProgramRequest request{call_.collective,
                         algorithm,
                         call_.ranks,
                         0,
                         call_.root,
                         carrier,
                         false,
                         communicator_.fixed_order,
                         plan,
                         &call_.known_levels(),
                         &communicator_.nodes,
                         phase};
  request.lines = communicator_.resources.lines;
  return program_for(request);
}

bool Traveller::goes_by_host(std::string_view algorithm) const {
  return call_.nodes > 1 && algo::by_host(algorithm);
}

std::vector<Leg> Traveller::legs_of(std::string_view algorithm, plan::Carrier carrier) const {
  if (!goes_by_host(algorithm)) return {{{}, program_of(algorithm, nullptr, carrier, {}), {}}};
  std::vector<Leg> legs;
  for (const algo::Phase phase : {algo::Phase::before, algo::Phase::after}) {
    auto program = program_of(algorithm, nullptr, carrier, phase);
    if (program->transfers > 0) legs.push_back({phase, std::move(program), {}});
  }
  return legs;
}

bool Traveller::fits(const std::vector<Leg>& legs, size_t element) const {
  return std::all_of(legs.begin(), legs.end(), [&](const Leg& leg) {
    return plan::fits(*leg.program, communicator_.resources, element);
  });
}

bool Traveller::pipelines(std::string_view algorithm, const Wanted& wanted) const {
  if (goes_by_host(algorithm)) return true;
  const auto program = program_of(algorithm, nullptr, carrier_for(call_.bytes), {});
  const plan::Resources& resources = communicator_.resources;
  return call_.bytes <= plan::whole_up_to(*program, resources, wanted.segment_bytes) ||
         plan::pipelines(*program, resources, wanted.segment_bytes);
}

// A rule's choice of reach does not apply to the programs around the host's collective: groups bind
// these with ReachChoice::automatic.
void Traveller::travel(std::vector<Leg>& legs, const Wanted& wanted) const {
  for (Leg& leg : legs)
    leg.travel =
        plan::travel(*leg.program, communicator_.resources, wanted.element, call_.bytes,
                     wanted.segment_bytes, leg.phase ? ReachChoice::automatic : wanted.reach);
}

Journey Traveller::built_in(std::string_view algorithm, const Wanted& wanted) const {
  std::string_view by_size = algo::served_as(algorithm, call_.bytes).algorithm;
  if (wanted.by_default_table && !plan::parted(call_.collective) && !pipelines(by_size, wanted))
    by_size = "flat";
  const Candidate served = find_room(call_.collective, {by_size, carrier_for(call_.bytes)}, 1,
                                     [&](const Candidate& one, size_t element) {
                                       return fits(legs_of(one.algorithm, one.carrier), element);
                                     });
  Journey journey{std::string(served.algorithm), goes_by_host(served.algorithm),
                  legs_of(served.algorithm, served.carrier)};
  travel(journey.legs, wanted);
  if (!journey.by_host) journey.algorithm = journey.legs.front().program->algorithm;
  return journey;
}

std::optional<Journey> Traveller::by_plan(const select::LoadedPlan& plan,
                                          const Wanted& wanted) const {
  Journey journey{plan.file, false, {}};
  journey.legs.push_back({{}, program_of({}, &plan, carrier_for(call_.bytes), {}), {}});
  if (!fits(journey.legs, 1)) return std::nullopt;
  travel(journey.legs, wanted);
  return journey;
}

}  // namespace tutti::group
