#include "steps/algorithm_words.h"

#include <string_view>

#include "steps/bound_threads.h"
#include "steps/kinds.h"

namespace tutti::bench {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(Code::invalid_argument, message);
}

std::vector<size_t> read_sizes(std::string_view text) {
  std::vector<size_t> sizes = numbers_of("--bytes", text, 8, size_t{1} << 26);
  for (const size_t bytes : sizes)
    if (bytes % 8 != 0) refuse("--bytes: reductions are of doubles; give multiples of 8");
  return sizes;
}

Reach read_reach(std::string_view text) {
  for (size_t i = 0; i < std::size(reach_names); ++i)
    if (text == reach_names[i]) return static_cast<Reach>(i);
  refuse("--reach: '" + std::string(text) + "' is none of threads, mapped, slots");
}

void read_late(std::string_view text, Wanted& wanted) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    refuse("--late: '" + std::string(text) + "' is not RANK=MICROSECONDS");
  wanted.late_rank = number_of("--late", text.substr(0, equals), 0, plan::max_ranks - 1);
  wanted.late = number_of("--late", text.substr(equals + 1), 0.0, 1e6);
}

What read_what(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos)
    refuse(std::string("'").append(word) + "' is neither an option nor COLLECTIVE=ALGORITHM");
  What what;
  std::string_view collective = word.substr(0, equals);
  if (const size_t colon = collective.find(':'); colon != std::string_view::npos) {
    what.root = number_of("ROOT", collective.substr(colon + 1), 0, plan::max_ranks - 1);
    collective = collective.substr(0, colon);
  }
  what.collective = plan::collective_named(collective);
  word.remove_prefix(equals + 1);
  if (const size_t slash = word.find('/'); slash != std::string_view::npos) {
    what.sizes = read_sizes(word.substr(slash + 1));
    word = word.substr(0, slash);
  }
  if (const size_t hat = word.find('^'); hat != std::string_view::npos) {
    if (word.substr(hat + 1) != select::reach_word(ReachChoice::staged))
      refuse(std::string("'").append(word.substr(hat)) + "': ^staged is known");
    what.reach = ReachChoice::staged;
    word = word.substr(0, hat);
  }
  if (const size_t at = word.find('@'); at != std::string_view::npos) {
    what.segment = number_of<size_t>("SEGMENT", word.substr(at + 1), 1, SIZE_MAX);
    word = word.substr(0, at);
  }
  what.algorithm = word;
  return what;
}

}  // namespace

Wanted read_words(int argc, char** argv) {
  Wanted wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> const char* {
      if (++i == argc) refuse(std::string(word) + ": its value is missing");
      return argv[i];
    };
    if (word == "--cores") {
      wanted.cores = read_cores("--cores", value());
    } else if (word == "--bytes") {
      wanted.sizes = read_sizes(value());
    } else if (word == "--repetitions") {
      wanted.repetitions = number_of("--repetitions", value(), 1, 1000);
    } else if (word == "--reach") {
      wanted.reach = read_reach(value());
    } else if (word == "--shuffled") {
      wanted.shuffled = true;
    } else if (word == "--late") {
      read_late(value(), wanted);
    } else if (word == "--steps") {
      wanted.steps.push_back(read_cores("--steps", value()));
    } else {
      wanted.algorithms.push_back(read_what(word));
    }
  }
  if (wanted.cores.empty() || wanted.sizes.empty() || wanted.algorithms.empty())
    refuse("give --cores, --bytes and at least one COLLECTIVE=ALGORITHM");
  const auto ranks = static_cast<int>(wanted.cores.size());
  if (wanted.late_rank >= ranks)
    refuse("--late: rank " + std::to_string(wanted.late_rank) + " is none of " +
           std::to_string(ranks));
  return wanted;
}

}  // namespace tutti::bench
