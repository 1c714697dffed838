// Where the ranks of a group are: which of them share a node, by facts that all of them exchange
// through torch's store. All ranks compute the same from the same facts. Any thread.
#pragma once

#include <sys/stat.h>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/extension.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "works.h"

namespace tutti_torch {

// The facts by which processes share memory: they run under one kernel, and see each other's
// numbers (for a memfd) or the same /dev/shm. Unknown facts are the same everywhere.
struct Facts {
  std::string kernel, processes, files;

  static Facts here() {
    Facts own;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> own.kernel;
    std::array<char, PATH_MAX> link{};
    if (readlink("/proc/self/ns/pid", link.data(), link.size() - 1) > 0)
      own.processes = link.data();
    struct stat status;
    if (stat("/dev/shm", &status) == 0) own.files = std::to_string(status.st_dev);
    return own;
  }
  std::string text() const { return kernel + "\n" + processes + "\n" + files; }
  static Facts from(const std::string& text) {
    const size_t first = text.find('\n'), second = text.find('\n', first + 1);
    return {text.substr(0, first), text.substr(first + 1, second - first - 1),
            text.substr(second + 1)};
  }
};

// The nodes of a group's ranks.
struct Places {
  std::vector<std::vector<int>> members;  // the ranks of each node, in the order of first ranks
  size_t ranks = 0;
  size_t most = 0;  // the ranks of the largest node
  size_t node = 0;  // this rank's
  int local = 0;    // this rank's number there

  // Containers of one machine are nodes, unless all of them share /dev/shm.
  Places(const std::vector<Facts>& facts, int own) : ranks(facts.size()) {
    const auto all_have = [&](std::string Facts::* fact) {
      return std::all_of(facts.begin(), facts.end(),
                         [&](const Facts& one) { return one.*fact == facts[0].*fact; });
    };
    const bool one_shm = all_have(&Facts::kernel) && all_have(&Facts::files);
    std::map<std::string, size_t> numbers;
    for (size_t rank = 0; rank < ranks; ++rank) {
      const std::string its = one_shm ? "" : facts[rank].kernel + facts[rank].processes;
      const size_t number = numbers.emplace(its, members.size()).first->second;
      members.resize(std::max(members.size(), number + 1));
      members[number].push_back(static_cast<int>(rank));
      most = std::max(most, members[number].size());
    }
    node = node_of(own);
    local = local_of(node, own);
  }

  bool is_one_node() const { return members.size() == 1; }
  // The number of a rank among those of a node; -1: it is on another one.
  int local_of(size_t its_node, int rank) const {
    const std::vector<int>& all = members[its_node];
    const auto found = std::find(all.begin(), all.end(), rank);
    return found == all.end() ? -1 : static_cast<int>(found - all.begin());
  }
  size_t node_of(int rank) const {
    size_t its = 0;
    while (local_of(its, rank) < 0) ++its;
    return its;
  }
};

// Collective over the ranks of the store. `name` begins the keys.
inline Places find_places(c10d::Store& store, const std::string& name, int rank, int size,
                          Clock::time_point deadline) {
  const auto key = [&](int its) { return name + ".facts." + std::to_string(its); };
  std::vector<std::string> keys;
  for (int its = 0; its < size; ++its) keys.push_back(key(its));
  const std::string own = Facts::here().text();
  store.set(key(rank), std::vector<uint8_t>(own.begin(), own.end()));
  try {
    store.wait(keys, Milliseconds(1 + static_cast<int64_t>(seconds_until(deadline) * 1000)));
  } catch (const std::exception& error) {
    for (int its = 0; its < size; ++its)
      TORCH_CHECK_WITH(DistBackendError, store.check({key(its)}), "tutti: rank ", its,
                       " has not come to the store in time (", text_of(error), ")");
    throw;
  }
  std::vector<Facts> facts;
  for (const std::vector<uint8_t>& its : store.multiGet(keys))
    facts.push_back(Facts::from({its.begin(), its.end()}));
  return {facts, rank};
}

}  // namespace tutti_torch
