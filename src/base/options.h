// The TUTTI_* environment variables. One table defines them; the parser, the messages about
// malformed values and docs/environment.md all come from it.
//
// Options is plain data, parsed once for the process and constant from then on, so any thread may
// read it. Parsing itself is pure (environment in, options and warnings out), and tests run it so.
// To add a variable, add a field here and a row in option_table.cpp, then run `cmake --build BUILD
// --target environment_docs`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/servers_asked.h"

namespace tutti {

// The enumerators are in the order of the accepted words in the table.
enum class StallAction : int { report, abort_job };
enum class IsaChoice : int { automatic, baseline, avx2, avx512 };
enum class WaitChoice : int { automatic, spin, yield, sleep };
// True if ranks are to yield; false also if it is to be found out.
inline bool yields(WaitChoice choice) {
  return choice == WaitChoice::yield || choice == WaitChoice::sleep;
}
enum class StoresChoice : int { automatic, plain, past_cache };
enum class ShmChoice : int { automatic, memfd, posix };
enum class MpiChoice : int { automatic, mpich, openmpi, mpiabi };
// The ABIs of MPI that have an interposer, as MpiChoice has them after `automatic`.
inline constexpr auto mpi_words = std::to_array<std::string_view>({"mpich", "openmpi", "mpiabi"});
enum class Reproducible : int { off, run, placement };
enum class ReachChoice : int { automatic, staged, cma, direct, net };
enum class BindChoice : int { none, numa, core };
enum class ServeChoice : int { all, selective, none };
enum class ServersDomain : int { node, socket, numa };
enum class ServersAs : int { threads, processes };

// The collectives that have a TUTTI_ALGORITHM_* variable.
inline constexpr auto collective_words = std::to_array<std::string_view>({
#define TUTTI_COLLECTIVE(name, ...) #name,
#include "base/collectives.inc.h"
#undef TUTTI_COLLECTIVE
});

inline constexpr int setup_after_automatic = -1;

// TUTTI_TABLE: no table is looked for.
inline constexpr std::string_view no_table_word = "none";

// "a, b or c".
std::string one_of(std::span<const std::string_view> words);

// The defaults are in the table, so an Options is made by options() or parse_options() only.
struct Options {
  bool disable;
  bool check;
  int stall_seconds;  // 0: no watchdog
  bool verify;
  bool serve_collectives;
  StallAction stall;
  std::string report;  // empty: off; "1" or "-": stderr; else a file name
  std::string trace;   // empty: off; else a file name
  std::string trace_filter;
  size_t trace_bytes;
  LogLevel log;
  IsaChoice isa;
  WaitChoice wait;
  StoresChoice stores;
  size_t shm_bytes_per_rank;  // 0: automatic
  size_t outstanding_bytes;   // 0: automatic
  ShmChoice shm;
  bool shared_heap;
  ReachChoice reach;
  BindChoice bind;
  ServersAsked servers;
  ServersDomain servers_domain;
  ServersAs servers_as;
  ServeChoice serve;
  // One for each collective, in the order of plan::Collective; empty if Tutti chooses.
  std::array<std::string, collective_words.size()> algorithms;
  size_t segment_bytes;     // 0: automatic
  std::string plans;        // a directory with a map and plans; empty: none
  std::string clusters;     // a file that lists which nodes are near each other; empty: none
  std::string table;        // a file with rules that name built-in algorithms; empty: none
  bool finds_table = true;  // where none is named, MPI_Init looks for one (select/found_table.h)
  Reproducible reproducible;
  int setup_after;  // collectives; or setup_after_automatic
  MpiChoice mpi;
  std::string topology;    // empty: this machine
  std::string saturation;  // files with maps, which policies follow, with commas; empty: none
  size_t under_way_bytes;  // 0: automatic

  bool operator==(const Options&) const = default;
};

enum class OptionKind { flag, integer, bytes, choice, text };

struct OptionValue {
  uint64_t number = 0;  // flag: 0 or 1; choice: the word's place; integer and bytes: the value
  std::string text;     // text only
};

// The rule by which a variable may differ between ranks, or not. Variables on which decisions
// depend that all ranks must make alike may not: ranks that decide differently wait for each other
// for ever. A row that does not say it does not compile, because there is no default.
struct AcrossRanks {
  enum Rule {
    may_differ,
    same_value,
    same_files,   // files of the same contents, under any name
    set_in_init,  // set at all ranks of MPI_Init, or at none
  };
  constexpr AcrossRanks(Rule its_rule, std::string (*its_value)(const Options&) = nullptr)
      : rule(its_rule), value(its_value) {}

  Rule rule;
  std::string (*value)(const Options&);  // the text that ranks compare; null: none
};

struct OptionRow {
  std::string_view name;
  OptionKind kind;
  std::string_view default_value;  // in the form the user would write; empty: nothing
  std::string_view doc;            // one line
  void (*store)(Options&, const OptionValue&);
  AcrossRanks ranks;
  uint64_t least = 0;  // integer and bytes: the range, both ends accepted
  uint64_t most = 0;
  std::vector<std::string_view> words = {};  // choice
  std::string_view text_form = {};           // text: what the accepted values are
  // text: whether a value, which is not empty, is accepted; null: every text is.
  bool (*accepts)(const std::string&) = nullptr;
};

const std::vector<OptionRow>& option_table();

// The accepted values of a variable, worded for messages and for the page.
std::string accepted_values(const OptionRow& row);

// Names and values. A name with an empty value counts as not set.
using Environment = std::map<std::string, std::string>;

// The TUTTI_* part of this process's environment, now.
Environment process_environment();

// Throws Error(invalid_argument) for the first malformed value, in one line with variable, value
// and accepted values. Appends one line to *warnings for each TUTTI_* name that is not in the
// table, with the nearest name that is.
Options parse_options(const Environment& environment, std::vector<std::string>* warnings);

// The process's options. The first call reads and parses them, and sets the log level. Throws as
// parse_options does, at every call while the environment is malformed.
const Options& options();

// The warnings of options(). It does not print them, because only one of a job's ranks should
// (log_line).
const std::vector<std::string>& option_warnings();

// docs/environment.md, generated from the table.
std::string environment_page();

}  // namespace tutti
