// The words of the kind `algorithms` (algorithms.cpp).
//
// Values, constant once they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/collective.h"
#include "select/map.h"

namespace tutti::bench {

// An algorithm of a collective, as a rule would ask for it.
struct What {
  plan::Collective collective{};
  int root = 0;
  std::string algorithm;
  size_t segment = 0;  // 0: the default
  ReachChoice reach = ReachChoice::automatic;
  std::vector<size_t> sizes;  // none: those of all
};

// How the ranks get at each other's buffers.
enum class Reach : uint8_t { threads, mapped, slots };
inline constexpr const char* reach_names[] = {"threads", "mapped", "slots"};

struct Wanted {
  std::vector<int> cores;
  std::vector<size_t> sizes;
  std::vector<What> algorithms;
  std::vector<std::vector<int>> steps;  // cores
  Reach reach = Reach::threads;
  int repetitions = 10;
  bool shuffled = false;
  int late_rank = 0;
  double late = 0;  // microseconds after the others
};

// Throws Error(invalid_argument) that names the word at fault.
Wanted read_words(int argc, char** argv);

}  // namespace tutti::bench
