#include "base/options.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace tutti {
namespace {

constexpr std::string_view prefix = "TUTTI_";

// The value of a flag's word is its index modulo 2.
constexpr std::string_view flag_words[] = {"0", "1", "no", "yes", "off", "on", "false", "true"};

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

template <typename Words>
bool parse_word(const Words& words, const std::string& text, uint64_t* place) {
  const auto found = std::find(std::begin(words), std::end(words), lower_case(text));
  if (found == std::end(words)) return false;
  *place = static_cast<uint64_t>(found - std::begin(words));
  return true;
}

bool parse_number(const OptionRow& row, const std::string& text, uint64_t* number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *number);
  if (error != std::errc()) return false;
  uint64_t unit = 1;
  if (row.kind == OptionKind::bytes && end - rest == 1) {
    const size_t power =
        std::string_view("KMG").find(*rest >= 'a' ? static_cast<char>(*rest - 'a' + 'A') : *rest);
    if (power == std::string_view::npos) return false;
    unit = uint64_t{1} << (10 * (power + 1));
  } else if (rest != end) {
    return false;
  }
  if (*number > row.most / unit) return false;  // also keeps the product from overflowing
  *number *= unit;
  return *number >= row.least;
}

bool parse_value(const OptionRow& row, const std::string& text, OptionValue* value) {
  switch (row.kind) {
    case OptionKind::flag:
      if (!parse_word(flag_words, text, &value->number)) return false;
      value->number %= 2;
      return true;
    case OptionKind::integer:
    case OptionKind::bytes:
      if (!parse_word(row.words, text, &value->number))
        return parse_number(row, text, &value->number);
      value->text = row.words[value->number];
      return true;
    case OptionKind::choice: return parse_word(row.words, text, &value->number);
    case OptionKind::text:
      value->text = text;
      return text.empty() || row.accepts == nullptr || row.accepts(text);
  }
  return false;
}

std::vector<std::string_view> sorted_words(std::string_view name) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('_', begin), name.size());
    words.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  std::sort(words.begin(), words.end());
  return words;
}

// The distance of a user's name from one of ours. It is small if words are swapped or if only the
// last words are missing.
size_t name_distance(std::string_view name, std::string_view ours) {
  if (sorted_words(name) == sorted_words(ours)) return 1;
  size_t least = edit_distance(name, ours);
  for (size_t end = ours.find('_', prefix.size()); end != std::string_view::npos;
       end = ours.find('_', end + 1))
    least = std::min(least, edit_distance(name, ours.substr(0, end)) + 1);
  return least;
}

std::string unknown_name(const std::string& name) {
  const auto& table = option_table();
  const auto nearest =
      std::min_element(table.begin(), table.end(), [&](const OptionRow& a, const OptionRow& b) {
        return name_distance(name, a.name) < name_distance(name, b.name);
      });
  return name + " is no variable of Tutti and is ignored; the nearest is " +
         std::string(nearest->name);
}

struct ProcessOptions {
  std::vector<std::string> warnings;
  Options values;
  ProcessOptions() : values(parse_options(process_environment(), &warnings)) {
    set_log_level(values.log);
  }
};

// The object lives until the process ends, because finalizers and exit handlers read it.
const ProcessOptions& process_options() {
  static const ProcessOptions& loaded = *new ProcessOptions;
  return loaded;
}

}  // namespace

std::string one_of(std::span<const std::string_view> words) {
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? " or " : ", ";
    list += words[i];
  }
  return list;
}

std::string accepted_values(const OptionRow& row) {
  switch (row.kind) {
    case OptionKind::flag: return "0 or 1 (also no, yes, off, on, false, true)";
    case OptionKind::integer:
      return (row.words.empty() ? "" : std::string(row.words.front()) + ", or ") +
             "a whole number from " + std::to_string(row.least) + " to " + std::to_string(row.most);
    case OptionKind::bytes:
      return (row.words.empty() ? "" : std::string(row.words.front()) + ", or ") +
             "a number of bytes from " + bytes_as_written(row.least) + " to " +
             bytes_as_written(row.most) + " (K, M and G count in 1024s)";
    case OptionKind::choice: return one_of(row.words);
    case OptionKind::text: return std::string(row.text_form);
  }
  return "";
}

Environment process_environment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals == nullptr || std::strncmp(*entry, prefix.data(), prefix.size()) != 0) continue;
    // If two entries have one name, the first counts, as for getenv.
    environment.emplace(std::string(*entry, static_cast<size_t>(equals - *entry)), equals + 1);
  }
  return environment;
}

Options parse_options(const Environment& environment, std::vector<std::string>* warnings) {
  Options options{};
  for (const OptionRow& row : option_table()) {
    const auto found = environment.find(std::string(row.name));
    const bool given = found != environment.end() && !found->second.empty();
    const std::string text = given ? found->second : std::string(row.default_value);
    OptionValue value;
    if (!parse_value(row, text, &value)) {
      throw Error(Code::invalid_argument, std::string(row.name) + "=" + in_quotes(text) +
                                              " is not accepted: give " + accepted_values(row));
    }
    row.store(options, value);
  }
  for (const auto& [name, value] : environment) {
    const auto same_name = [&name = name](const OptionRow& row) { return row.name == name; };
    const auto& table = option_table();
    if (!name.starts_with(prefix) || std::any_of(table.begin(), table.end(), same_name)) continue;
    if (warnings != nullptr) warnings->push_back(unknown_name(name));
  }
  return options;
}

const Options& options() { return process_options().values; }

const std::vector<std::string>& option_warnings() { return process_options().warnings; }

std::string environment_page() {
  std::string page =
      "# Environment variables\n"
      "\n"
      "This page is made from the table in `src/base/option_table.cpp`. A test compares the two, "
      "and the\n"
      "build target `environment_docs` writes this page anew.\n"
      "\n"
      "The variables are read once, when a process first uses Tutti. An empty value counts as not "
      "set. A\n"
      "value that is not accepted is an error of one line that names the variable, the value and "
      "what is\n"
      "accepted. A `TUTTI_` name that is not in this table is ignored with a warning that names "
      "the nearest\n"
      "one.\n"
      "\n"
      "The last column says what must be the same at all ranks. If it is not, Tutti is off in all "
      "ranks,\n"
      "and one line names the variables that differ.\n"
      "\n"
      "| variable | meaning | accepted values | default | ranks |\n"
      "| --- | --- | --- | --- | --- |\n";
  // In the order of AcrossRanks::Rule.
  constexpr std::string_view rules[] = {"may differ", "same value", "same contents",
                                        "set at all or at none"};
  for (const OptionRow& row : option_table()) {
    const std::string fallback =
        row.default_value.empty() ? "not set" : "`" + std::string(row.default_value) + "`";
    page += "| `" + std::string(row.name) + "` | " + std::string(row.doc) + " | " +
            accepted_values(row) + " | " + fallback + " | " + std::string(rules[row.ranks.rule]) +
            " |\n";
  }
  return page;
}

}  // namespace tutti
