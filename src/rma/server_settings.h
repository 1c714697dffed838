// The servers that a process starts, and the cores on which they run. A plain value.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti::rma {

class Endpoint;

struct ServerSettings {
  int32_t count = 1;
  // Their places in the domain, which the caller has claimed (rma/domain.h). Empty: free ones.
  std::vector<int32_t> places{};
  // Their endpoints, in the same order; fewer: the further servers have none.
  std::vector<Endpoint*> endpoints{};
  // The processing units on which they run. None: those of the thread that starts them.
  std::vector<int> units{};
  // No client uses these units, and there is one for each server, to which it is bound.
  bool own_units = false;

  Endpoint* endpoint_of(int32_t nth) const {
    const auto at = static_cast<size_t>(nth);
    return at < endpoints.size() ? endpoints[at] : nullptr;
  }
  // Returns the processing units of the nth server.
  std::vector<int> units_of(int32_t nth) const {
    return own_units ? std::vector<int>{units.at(static_cast<size_t>(nth))} : units;
  }
};

}  // namespace tutti::rma
