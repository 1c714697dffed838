#include "base/options.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <type_traits>

#include "base/error.h"
#include "base/segments.h"
#include "base/text.h"

namespace tutti {
namespace {

constexpr uint64_t kibibyte = 1024;
constexpr uint64_t gibibyte = kibibyte * kibibyte * kibibyte;
constexpr std::string_view prefix = "TUTTI_";

template <auto field>
void store(Options& options, const OptionValue& value) {
  using Field = std::remove_reference_t<decltype(options.*field)>;
  if constexpr (std::is_same_v<Field, std::string>) {
    options.*field = value.text;
  } else {
    options.*field = static_cast<Field>(value.number);
  }
}

template <size_t collective>
void store_algorithm(Options& options, const OptionValue& value) {
  options.algorithms[collective] = value.text;
}

void store_segment(Options& options, const OptionValue& value) {
  options.segment_bytes = value.text.empty() ? static_cast<size_t>(value.number) : segment_halves;
}

constexpr std::string_view algorithm_form =
    "an algorithm as `tutti plan show --algorithm` takes it, such as flat, binomial, nary:4, all_read_all";

// The place of a flag's word, modulo 2, is its value.
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
    const size_t power = std::string_view("KMG").find(*rest >= 'a' ? static_cast<char>(*rest - 'a' + 'A') : *rest);
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
      if (!parse_word(row.words, text, &value->number)) return parse_number(row, text, &value->number);
      value->text = row.words[value->number];
      return true;
    case OptionKind::choice: return parse_word(row.words, text, &value->number);
    case OptionKind::text: value->text = text; return true;
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

// How far a user's name is from one of ours: swapped words are near, and so is a name that only lacks its last words.
size_t name_distance(std::string_view name, std::string_view ours) {
  if (sorted_words(name) == sorted_words(ours)) return 1;
  size_t least = edit_distance(name, ours);
  for (size_t end = ours.find('_', prefix.size()); end != std::string_view::npos; end = ours.find('_', end + 1))
    least = std::min(least, edit_distance(name, ours.substr(0, end)) + 1);
  return least;
}

std::string unknown_name(const std::string& name) {
  const auto& table = option_table();
  const auto nearest = std::min_element(table.begin(), table.end(), [&](const OptionRow& a, const OptionRow& b) {
    return name_distance(name, a.name) < name_distance(name, b.name);
  });
  return name + " is no variable of Tutti and is ignored; the nearest is " + std::string(nearest->name);
}

struct ProcessOptions {
  std::vector<std::string> warnings;
  Options values;
  ProcessOptions() : values(parse_options(process_environment(), &warnings)) { set_log_level(values.log); }
};

// Lives until the process ends: finalizers and exit handlers read it.
const ProcessOptions& process_options() {
  static const ProcessOptions& loaded = *new ProcessOptions;
  return loaded;
}

}  // namespace

const std::vector<OptionRow>& option_table() {
  static const std::vector<OptionRow>& table = *new std::vector<OptionRow>{
      {.name = "TUTTI_DISABLE", .kind = OptionKind::flag, .default_value = "0",
       .doc = "Makes the library transparent: every call goes to the host MPI. Where only some ranks have it, Tutti is off in all.",
       .store = store<&Options::disable>},
      {.name = "TUTTI_CHECK", .kind = OptionKind::flag, .default_value = "0",
       .doc = "Checks every plan, and the programs lowered from it, at set-up.",
       .store = store<&Options::check>},
      {.name = "TUTTI_STALL_SECONDS", .kind = OptionKind::integer, .default_value = "60",
       .doc = "How long a rank waits in a collective before the watchdog says where each rank stands; 0 turns the "
              "watchdog off.",
       .store = store<&Options::stall_seconds>, .least = 0, .most = 86400},
      {.name = "TUTTI_STALL", .kind = OptionKind::choice, .default_value = "report",
       .doc = "What the watchdog does about a stall: report it once, or report it and abort the job.",
       .store = store<&Options::stall>, .words = {"report", "abort"}},
      {.name = "TUTTI_REPORT", .kind = OptionKind::text, .default_value = "",
       .doc = "Reports at finalize what each collective did; `tutti-run --report` sets it.",
       .store = store<&Options::report>, .text_form = "1 or - (a table on stderr), or the name of a file"},
      {.name = "TUTTI_TRACE", .kind = OptionKind::text, .default_value = "",
       .doc = "Records every step of every collective and writes the file at finalize; `tutti-run --trace` sets it, "
              "`tutti trace` reads it.",
       .store = store<&Options::trace>, .text_form = "the name of a file"},
      {.name = "TUTTI_TRACE_BYTES", .kind = OptionKind::bytes, .default_value = "8M",
       .doc = "Memory a rank for the records of a trace, 32 bytes each; when it is full the oldest are lost.",
       .store = store<&Options::trace_bytes>, .least = 32 * kibibyte, .most = 16 * gibibyte},
      {.name = "TUTTI_LOG", .kind = OptionKind::choice, .default_value = "warning",
       .doc = "Which log lines go to stderr: those of this level and of the levels before it.",
       .store = store<&Options::log>, .words = {"error", "warning", "info", "debug"}},
      {.name = "TUTTI_ISA", .kind = OptionKind::choice, .default_value = "auto",
       .doc = "The instruction set of the kernels; auto takes the best that the processor runs.",
       .store = store<&Options::isa>, .words = {"auto", "baseline", "avx2", "avx512"}},
      {.name = "TUTTI_WAIT", .kind = OptionKind::choice, .default_value = "auto",
       .doc = "How ranks wait; auto spins where each rank has a core of its own and yields elsewhere.",
       .store = store<&Options::wait>, .words = {"auto", "spin", "yield"}},
      {.name = "TUTTI_STORES", .kind = OptionKind::choice, .default_value = "auto",
       .doc = "How long messages are copied into shared memory: plain stores, or stores that go past the cache.",
       .store = store<&Options::stores>, .words = {"auto", "plain", "past_cache"}},
      {.name = "TUTTI_SHM_BYTES_PER_RANK", .kind = OptionKind::bytes, .default_value = "auto",
       .doc = "Shared memory a rank for the node's first segment; auto: 256K of /dev/shm, elsewhere what rings twice as "
              "large as a second-level cache need, taken when they are used.",
       .store = store<&Options::shm_bytes_per_rank>, .least = 32 * kibibyte, .most = gibibyte, .words = {"auto"}},
      {.name = "TUTTI_SHM", .kind = OptionKind::choice, .default_value = "auto",
       .doc = "Where shared memory comes from; auto takes memfd where it works, posix (/dev/shm) elsewhere.",
       .store = store<&Options::shm>, .words = {"auto", "memfd", "posix"}},
      {.name = "TUTTI_SHARED_HEAP", .kind = OptionKind::flag, .default_value = "0",
       .doc = "Gives the program its memory (malloc, new, Fortran's allocate, MPI_Win_allocate) from a heap that the other "
              "ranks of its node map; `tutti-run` acts on it, `tutti-run --shared-heap` sets it (docs/shared-heap.md).",
       .store = store<&Options::shared_heap>},
      {.name = "TUTTI_REACH", .kind = OptionKind::choice, .default_value = "auto",
       .doc = "How ranks get at each other's buffers: staged, through the slots alone; direct, from the heap where they lie "
              "in it, else through the slots; cma, long ones by the system's copies between processes; net, by messages of the host "
              "MPI alone, as if every rank were on a node of its own; auto, as direct.",
       .store = store<&Options::reach>, .words = {"auto", "staged", "cma", "direct", "net"}},
      {.name = "TUTTI_BIND", .kind = OptionKind::choice, .default_value = "none",
       .doc = "Where `tutti-run` binds ranks that the launcher left unbound: to a numa region each, or to a core; "
              "`tutti-run --bind` sets it.",
       .store = store<&Options::bind>, .words = {"none", "numa", "core"}},
      {.name = "TUTTI_ALGORITHM_BARRIER", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every barrier, instead of Tutti's choice.",
       .store = store_algorithm<0>, .text_form = algorithm_form},
      {.name = "TUTTI_ALGORITHM_BCAST", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every broadcast, instead of Tutti's choice.",
       .store = store_algorithm<1>, .text_form = algorithm_form},
      {.name = "TUTTI_ALGORITHM_REDUCE", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every reduce, instead of Tutti's choice.",
       .store = store_algorithm<2>, .text_form = algorithm_form},
      {.name = "TUTTI_ALGORITHM_ALLREDUCE", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every allreduce, instead of Tutti's choice.",
       .store = store_algorithm<3>, .text_form = algorithm_form},
      {.name = "TUTTI_ALGORITHM_GATHER", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every gather, instead of Tutti's choice.",
       .store = store_algorithm<4>, .text_form = algorithm_form},
      {.name = "TUTTI_ALGORITHM_SCATTER", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every scatter, instead of Tutti's choice.",
       .store = store_algorithm<5>, .text_form = algorithm_form},
      {.name = "TUTTI_ALGORITHM_ALLGATHER", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every allgather, instead of Tutti's choice.",
       .store = store_algorithm<6>, .text_form = algorithm_form},
      {.name = "TUTTI_ALGORITHM_ALLTOALL", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every all-to-all, instead of Tutti's choice.",
       .store = store_algorithm<7>, .text_form = algorithm_form},
      {.name = "TUTTI_ALGORITHM_REDUCE_SCATTER", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every reduce-scatter, instead of Tutti's choice.",
       .store = store_algorithm<8>, .text_form = algorithm_form},
      {.name = "TUTTI_ALGORITHM_SCAN", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every scan, instead of Tutti's choice.",
       .store = store_algorithm<9>, .text_form = algorithm_form},
      {.name = "TUTTI_ALGORITHM_EXSCAN", .kind = OptionKind::text, .default_value = "",
       .doc = "The algorithm of every exclusive scan, instead of Tutti's choice.",
       .store = store_algorithm<10>, .text_form = algorithm_form},
      {.name = "TUTTI_SEGMENT_BYTES", .kind = OptionKind::bytes, .default_value = "0",
       .doc = "The size of the segments that long messages are cut into; halves: two of each message, or more where they do "
              "not fit (docs/tuning.md); 0 lets Tutti choose.",
       .store = store_segment, .least = 0, .most = gibibyte, .words = {segment_halves_word}},
      {.name = "TUTTI_PLANS", .kind = OptionKind::text, .default_value = "",
       .doc = "A directory with plans of your own and a map that says which calls they serve; `tutti-run --plans` sets it.",
       .store = store<&Options::plans>, .text_form = "the name of a directory that holds a file `map` (docs/plan-format.md)"},
      {.name = "TUTTI_TABLE", .kind = OptionKind::text, .default_value = "",
       .doc = "A table of your own that says which algorithm serves which calls, read before Tutti's; `tutti tune` writes "
              "one, `tutti-run --table` sets it.",
       .store = store<&Options::table>, .text_form = "the name of a file (docs/tuning.md)"},
      {.name = "TUTTI_CLUSTERS", .kind = OptionKind::text, .default_value = "",
       .doc = "A file that says which nodes are near each other, so that slower links between clusters are crossed seldom.",
       .store = store<&Options::clusters>, .text_form = "the name of a file (docs/clusters.md)"},
      {.name = "TUTTI_REPRODUCIBLE", .kind = OptionKind::choice, .default_value = "off",
       .doc = "Which bits reductions repeat: run, on every run with the same ranks and placement (nothing is combined in "
              "the order of arrival); placement, wherever the same number of ranks run too (Tutti sets up at a "
              "communicator's first call, ignores TUTTI_PLANS, and TUTTI_TABLE for reductions, and combines ranks 0, 1, 2, ... from the left).",
       .store = store<&Options::reproducible>, .words = {"off", "run", "placement"}},
      {.name = "TUTTI_SETUP_AFTER", .kind = OptionKind::integer, .default_value = "1",
       .doc = "How many collectives a communicator makes in the host MPI before Tutti sets up for it.",
       .store = store<&Options::setup_after>, .least = 0, .most = 1000000},
      {.name = "TUTTI_MPI", .kind = OptionKind::choice, .default_value = "auto",
       .doc = "Which interposer `tutti-run` preloads; auto looks at what the program is linked to.",
       .store = store<&Options::mpi>, .words = {"auto", "mpich", "openmpi", "mpiabi"}},
      {.name = "TUTTI_TOPOLOGY", .kind = OptionKind::text, .default_value = "",
       .doc = "The machine's tree, instead of the one found on this machine.",
       .store = store<&Options::topology>,
       .text_form = "a description such as numa:2 core:8, or the name of an XML file that lstopo recorded"},
  };
  return table;
}

std::string accepted_values(const OptionRow& row) {
  switch (row.kind) {
    case OptionKind::flag: return "0 or 1 (also no, yes, off, on, false, true)";
    case OptionKind::integer:
      return "a whole number from " + std::to_string(row.least) + " to " + std::to_string(row.most);
    case OptionKind::bytes:
      return (row.words.empty() ? "" : std::string(row.words.front()) + ", or ") + "a number of bytes from " + bytes_as_written(row.least) + " to " + bytes_as_written(row.most) +
             " (K, M and G count in 1024s)";
    case OptionKind::choice: {
      std::string list;
      for (size_t i = 0; i < row.words.size(); ++i) {
        if (i > 0) list += i + 1 == row.words.size() ? " or " : ", ";
        list += row.words[i];
      }
      return list;
    }
    case OptionKind::text: return std::string(row.text_form);
  }
  return "";
}

Environment process_environment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals == nullptr || std::strncmp(*entry, prefix.data(), prefix.size()) != 0) continue;
    // Of two entries with one name the first counts, as for getenv.
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
      throw Error(Code::invalid_argument,
                  std::string(row.name) + "=" + in_quotes(text) + " is not accepted: give " + accepted_values(row));
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
      "Generated from the table in `src/base/options.cpp`; a test holds the two together, and the build target\n"
      "`environment_docs` writes this page anew.\n"
      "\n"
      "The variables are read once, when a process first uses Tutti, and should be the same for all ranks of a\n"
      "job. An empty value counts as not set. A value that is not accepted is an error of one line that names the\n"
      "variable, the value and what is accepted; a `TUTTI_` name that is not in this table is ignored with a\n"
      "warning that names the nearest one.\n"
      "\n"
      "| variable | meaning | accepted values | default |\n"
      "| --- | --- | --- | --- |\n";
  for (const OptionRow& row : option_table()) {
    const std::string fallback = row.default_value.empty() ? "not set" : "`" + std::string(row.default_value) + "`";
    page += "| `" + std::string(row.name) + "` | " + std::string(row.doc) + " | " + accepted_values(row) + " | " +
            fallback + " |\n";
  }
  return page;
}

}  // namespace tutti
