// tutti-threads: measures among bound threads, or two processes, without any MPI.
//
// Usage: tutti-threads KIND OPTIONS
//
// Each kind's file says what it measures and which options it takes. Writes rows (rows.h).
#include <algorithm>
#include <cstdio>
#include <exception>

#include "require.h"
#include "rows.h"
#include "steps/bound_threads.h"
#include "steps/kinds.h"

namespace tutti::bench {

namespace {

using Kinds = std::map<std::string_view, Kind::Measure>;

Kinds& kinds() {
  static Kinds kinds;
  return kinds;
}

void measure(int argc, char** argv) {
  std::string names;
  for (const auto& [name, measure] : kinds()) {
    if (argc > 1 && name == argv[1]) return measure(argc - 1, argv + 1);
    names.append(names.empty() ? "" : ", ").append(name);
  }
  throw Error(Code::invalid_argument, "the first word must be one of " + names);
}

}  // namespace

Kind::Kind(const char* name, Measure measure) { kinds()[name] = measure; }

std::vector<size_t> numbers_of(std::string_view option, std::string_view text, size_t least,
                               size_t most) {
  std::vector<size_t> numbers;
  for (;;) {
    const size_t comma = text.find(',');
    numbers.push_back(number_of(option, text.substr(0, comma), least, most));
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

Options::Options(const char* usage, int argc, char** argv) {
  const std::string names = std::string(usage) + " ";
  for (int i = 1; i + 1 < argc; i += 2) values_[argv[i]] = argv[i + 1];
  size_t known = 0;
  for (size_t at = names.find("--"); at != std::string::npos;
       at = names.find("--", at + 1), ++known)
    if (values_.count(names.substr(at, names.find(' ', at) - at)) == 0) known = names.size();
  if (static_cast<size_t>(argc) != 2 * known + 1)
    throw Error(Code::invalid_argument, "give " + std::string(usage));
}

std::vector<int> Options::cores(size_t least) const {
  std::vector<int> cores = read_cores("--cores", values_.at("--cores").c_str());
  if (cores.size() < least || (least > 1 && share_cores(cores)))
    throw Error(Code::invalid_argument,
                "--cores needs " + std::to_string(least) + " or more, each once");
  return cores;
}

std::pair<size_t, size_t> Options::range(size_t least, size_t most) const {
  const std::vector<size_t> bytes = numbers_of("--bytes", values_.at("--bytes"), least, most);
  if (bytes.size() != 2 || bytes[0] > bytes[1])
    throw Error(Code::invalid_argument, "--bytes needs the first and the last number of bytes");
  return {bytes[0], bytes[1]};
}

}  // namespace tutti::bench

void require_ok(tutti_status status) {
  using namespace tutti;
  if (status != TUTTI_OK) throw Error(static_cast<Code>(status), tutti_error_message());
}

int main(int argc, char** argv) {
  try {
    tutti::bench::measure(argc, argv);
    rows_write();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-threads: %s\n", error.what());
    return 2;
  }
}
