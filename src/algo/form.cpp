#include "algo/form.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace tutti::algo {
namespace {

constexpr std::string_view shape_word = "SHAPE";
constexpr std::string_view leaves_prefix = "leaves=";
constexpr std::string_view subphases_word = "subphases=C";
constexpr std::string_view subphases_prefix = "subphases=";
constexpr std::string_view leaders_word = "leaders=K";
constexpr std::string_view leaders_prefix = "leaders=";
constexpr std::string_view threshold_word = "threshold=BYTES";
constexpr std::string_view threshold_prefix = "threshold=";

bool takes(const Algorithm& algorithm, std::string_view word) {
  return std::find(algorithm.words.begin(), algorithm.words.end(), word) != algorithm.words.end();
}

[[noreturn]] void refuse(const Algorithm& algorithm, std::string_view spec, std::string_view word) {
  std::string accepted;
  for (const std::string_view one : algorithm.words) {
    accepted += accepted.empty() ? "" : ", ";
    accepted +=
        one == shape_word ? "binomial, binary, flat, a degree of at least 2, leaves=N" : one;
  }
  const std::string what = "algorithm '" + std::string(spec.substr(0, 80)) + "': ";
  if (algorithm.takes_degree) {
    const std::string least = std::to_string(algorithm.least_degree);
    throw Error(Code::invalid_argument, what + "the degree must be a number of at least " + least +
                                            (accepted.empty() ? "" : "; what may follow it: ") +
                                            accepted);
  }
  if (accepted.empty())
    throw Error(Code::invalid_argument, what + "takes no degree; leave out ':' and what follows");
  throw Error(Code::invalid_argument, what + "unexpected " + in_quotes(word.substr(0, 40)) + "; " +
                                          std::string(algorithm.name) +
                                          " takes, each at most once: " + accepted);
}

std::optional<int> number_of(std::string_view digits, int least) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && number >= least && number <= plan::max_ranks ? std::optional(number)
                                                               : std::nullopt;
}

std::optional<TreeShape> shape_of(std::string_view word) {
  if (word == "binomial") return TreeShape{2};
  if (word == "flat") return TreeShape{0};
  if (word == "binary") return TreeShape{.degree = 2, .binary = true};
  if (word.starts_with(leaves_prefix)) {
    const auto leaves = number_of(word.substr(leaves_prefix.size()), 1);
    return leaves ? std::optional(TreeShape{2, *leaves}) : std::nullopt;
  }
  const auto degree = number_of(word, 2);
  return degree ? std::optional(TreeShape{*degree}) : std::nullopt;
}

// A number of bytes, of which K and M count 1024s: 8192, 64K, 1M.
std::optional<int> bytes_of(std::string_view word) {
  int shift = 0;
  if (word.ends_with('K')) shift = 10;
  if (word.ends_with('M')) shift = 20;
  if (shift > 0) word.remove_suffix(1);
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  constexpr int most = 1 << 30;
  return whole && number > 0 && number <= most >> shift ? std::optional(number << shift)
                                                        : std::nullopt;
}

bool* flag_of(Form& form, std::string_view word) {
  if (word == "fixed") return &form.fixed;
  if (word == "one_stage") return &form.one_stage;
  if (word == "two_stage") return &form.two_stage;
  if (word == "push") return &form.push;
  if (word == "pull") return &form.pull;
  if (word == "stepwise") return &form.stepwise;
  if (word == "cyclic") return &form.cyclic;
  if (word == "levels") return &form.levels;
  if (word == "within") return &form.within_nodes;
  if (word == "any_bits") return &form.any_bits;
  if (word == "served") return &form.served;
  return nullptr;
}

// False if the algorithm does not take the word.
bool take(const Algorithm& algorithm, std::string_view word, int& shapes, Form& form) {
  if (takes(algorithm, leaders_word)) {
    const auto leaders = word.starts_with(leaders_prefix)
                             ? number_of(word.substr(leaders_prefix.size()), 1)
                             : std::nullopt;
    if (!leaders || shapes++ > 0) return false;
    form.leaders = *leaders;
    return true;
  }
  if (bool* const flag = flag_of(form, word); flag != nullptr && takes(algorithm, word) && !*flag)
    return *flag = true;
  if (takes(algorithm, threshold_word) && word.starts_with(threshold_prefix)) {
    const auto threshold = bytes_of(word.substr(threshold_prefix.size()));
    if (!threshold || form.threshold > 0) return false;
    form.threshold = *threshold;
    return true;
  }
  if (takes(algorithm, subphases_word) && word.starts_with(subphases_prefix)) {
    const auto at_once = number_of(word.substr(subphases_prefix.size()), 1);
    if (!at_once || form.at_once > 0) return false;
    form.at_once = *at_once;
    return true;
  }
  if (algorithm.takes_degree) {
    const auto degree = number_of(word, algorithm.least_degree);
    if (!degree || shapes++ > 0) return false;
    form.degree = *degree;
    return true;
  }
  const auto shape = takes(algorithm, shape_word) && shapes < 2 ? shape_of(word) : std::nullopt;
  if (!shape) return false;
  if (shapes++ == 0) form.outer = *shape;
  form.inner = *shape;
  return true;
}

// Reads BETWEEN and WITHIN of "NAME+BETWEEN+WITHIN" and returns NAME.
std::string_view without_parts(const Algorithm& algorithm, std::string_view spec, Form& form) {
  const size_t plus = std::min(spec.find('+'), spec.size());
  if (plus == spec.size()) return spec;
  const std::string what = "algorithm '" + std::string(spec.substr(0, 80)) + "': ";
  if (!algorithm.is_composed) {
    throw Error(Code::invalid_argument,
                what + std::string(algorithm.name) +
                    " is not composed of others; leave out '+' and what follows");
  }
  const std::string_view parts = spec.substr(plus + 1);
  const size_t second = std::min(parts.find('+'), parts.size());
  form.between = parts.substr(0, second);
  if (second < parts.size()) form.within = parts.substr(second + 1);
  for (const std::string_view part : {form.between, form.within}) {
    const bool left_out =
        part.empty() && (part.data() == form.between.data() || second < parts.size());
    if (left_out || part.find('+') != std::string_view::npos) {
      throw Error(Code::invalid_argument,
                  what + "write " + usage(algorithm) + ", with an algorithm after each '+'");
    }
    const bool is_between = part.data() == form.between.data();
    if (part == host_word && is_between) continue;
    if (part == host_word) {
      throw Error(Code::invalid_argument,
                  what + "the host MPI's collective serves only between nodes; write " +
                      std::string(algorithm.name) + "+host");
    }
    if (!part.empty() && named(part).is_composed) {
      throw Error(Code::invalid_argument, what + std::string(algorithm.name) +
                                              " is composed of other algorithms, not of itself");
    }
  }
  return spec.substr(0, plus);
}

std::string names() {
  std::string text;
  for (const Algorithm& algorithm : algorithms()) {
    if (!text.empty()) text += ", ";
    text += algorithm.name;
    if (algorithm.takes_degree) text += ":N";
  }
  return text;
}

}  // namespace

const Algorithm& named(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find_first_of(":+"));
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return algorithm;
  }
  throw Error(Code::invalid_argument,
              "unknown algorithm '" + std::string(name.substr(0, 80)) + "'; known are " + names());
}

bool serves(const Algorithm& algorithm, plan::Collective collective) {
  const auto& collectives = algorithm.collectives;
  return std::find(collectives.begin(), collectives.end(), collective) != collectives.end();
}

Form form_of(const Algorithm& algorithm, std::string_view spec, int ranks) {
  Form form;
  spec = without_parts(algorithm, spec, form);
  form.degree = algorithm.default_degree == 0 ? ranks : algorithm.default_degree;
  int shapes = 0;
  for (size_t colon = spec.find(':'); colon != std::string_view::npos;) {
    const size_t next = spec.find(':', colon + 1);
    const std::string_view word =
        spec.substr(colon + 1, next == std::string_view::npos ? next : next - colon - 1);
    if (!take(algorithm, word, shapes, form)) refuse(algorithm, spec, word);
    colon = next;
  }
  if (form.cyclic && form.levels) refuse(algorithm, spec, "cyclic");
  if (form.at_once > 0 && form.outer.leaves == 0 && form.inner.leaves == 0) {
    throw Error(Code::invalid_argument, "algorithm '" + std::string(spec.substr(0, 80)) +
                                            "': subphases are of the leaves; write leaves=N, too");
  }
  form.outer.at_once = form.inner.at_once = form.at_once;
  if (form.push && form.pull) refuse(algorithm, spec, "pull");
  if (form.one_stage && form.two_stage) {
    throw Error(Code::invalid_argument,
                "algorithm '" + std::string(spec.substr(0, 80)) +
                    "': one_stage and two_stage exclude each other; leave one out");
  }
  return form;
}

std::string usage(const Algorithm& algorithm) {
  std::string text{algorithm.name};
  if (algorithm.takes_degree) text += ":N";
  for (const std::string_view word : algorithm.words) {
    text.append("[:").append(word).append("]");
    if (word == shape_word) text.append("[:").append(word).append("]");
  }
  return algorithm.is_composed ? text + "[+BETWEEN[+WITHIN]]" : text;
}

}  // namespace tutti::algo
