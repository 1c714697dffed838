#include "team/levels.h"

#include <string>
#include <utility>

#include "base/options.h"
#include "report/tally.h"

namespace tutti::team {

placement::Levels levels_here(const std::vector<placement::Place>& places) {
  return placement::levels_of(options().reproducible == Reproducible::off
                                  ? placement::settled(places)
                                  : placement::usable_cores(places),
                              options().topology);
}

void record_levels(const placement::Levels& known, const std::vector<placement::Place>& places) {
  if (options().report.empty() || !known.one_level()) return;
  const placement::Levels present =
      placement::levels_of(placement::settled(places), options().topology);
  std::string names;
  for (const placement::SharedLevel& level : present.all())
    names.append(names.empty() ? "" : ", ").append(level.name);
  report::record_unknown_levels(std::move(names));
}

}  // namespace tutti::team
