// The table of TUTTI_* variables, with a row for each. options.h describes the rows.
#include <algorithm>
#include <type_traits>

#include "base/options.h"
#include "base/segments.h"

namespace tutti {
namespace {

constexpr uint64_t kibibyte = 1024;
constexpr uint64_t gibibyte = kibibyte * kibibyte * kibibyte;

template <auto field>
void store(Options& options, const OptionValue& value) {
  using Field = std::remove_reference_t<decltype(options.*field)>;
  if constexpr (std::is_same_v<Field, std::string>) {
    options.*field = value.text;
  } else {
    options.*field = static_cast<Field>(value.number);
  }
}

std::vector<std::string_view> automatic_or(std::span<const std::string_view> words) {
  std::vector<std::string_view> all{"auto"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

consteval size_t place_of(std::string_view collective) {
  return static_cast<size_t>(std::ranges::find(collective_words, collective) -
                             collective_words.begin());
}

template <size_t collective>
void store_algorithm(Options& options, const OptionValue& value) {
  options.algorithms[collective] = value.text;
}

void store_segment(Options& options, const OptionValue& value) {
  options.segment_bytes = value.text.empty() ? static_cast<size_t>(value.number) : segment_halves;
}

void store_setup_after(Options& options, const OptionValue& value) {
  options.setup_after = value.text.empty() ? static_cast<int>(value.number) : setup_after_automatic;
}

void store_servers(Options& options, const OptionValue& value) {
  options.servers = read_servers_asked(value.text).value_or(ServersAsked{});
}

void store_table(Options& options, const OptionValue& value) {
  options.finds_table = value.text != no_table_word;
  options.table = options.finds_table ? value.text : "";
}

template <auto field>
std::string value_of(const Options& options) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(options.*field)>, std::string>) {
    return options.*field;
  } else {
    return std::to_string(static_cast<uint64_t>(options.*field));
  }
}

template <auto field>
std::string whether_set(const Options& options) {
  return (options.*field).empty() ? "" : "set";
}

template <auto field>
constexpr AcrossRanks same = {AcrossRanks::same_value, value_of<field>};
template <auto field>
constexpr AcrossRanks set_alike = {AcrossRanks::set_in_init, whether_set<field>};

template <size_t collective>
std::string algorithm_of(const Options& options) {
  return options.algorithms[collective];
}

// The cores may differ between nodes.
std::string number_of_servers(const Options& options) {
  return std::to_string(options.servers.count);
}

bool are_servers(const std::string& text) { return read_servers_asked(text).has_value(); }

constexpr std::string_view algorithm_form =
    "an algorithm as `tutti plan show --algorithm` takes it, such as flat, binomial, nary:4, "
    "all_read_all";

}  // namespace

const std::vector<OptionRow>& option_table() {
  static const std::vector<OptionRow>& table = *new std::vector<OptionRow>{
      {.name = "TUTTI_DISABLE",
       .kind = OptionKind::flag,
       .default_value = "0",
       .doc = "Makes the library transparent: every call goes to the host MPI. If only some "
              "ranks have it, Tutti is off in all ranks.",
       .store = store<&Options::disable>,
       .ranks = AcrossRanks::may_differ},
      {.name = "TUTTI_CHECK",
       .kind = OptionKind::flag,
       .default_value = "0",
       .doc = "Checks every plan, and the programs lowered from it, at set-up.",
       .store = store<&Options::check>,
       .ranks = AcrossRanks::may_differ},
      {.name = "TUTTI_STALL_SECONDS",
       .kind = OptionKind::integer,
       .default_value = "60",
       .doc = "How long a rank waits in a call of MPI before the watchdog reports where each rank "
              "is; 0 turns these reports off. "
              "A pause of the process or of the machine counts as a second.",
       .store = store<&Options::stall_seconds>,
       .ranks = AcrossRanks::may_differ,
       .least = 0,
       .most = 86400},
      {.name = "TUTTI_STALL",
       .kind = OptionKind::choice,
       .default_value = "report",
       .doc = "Action of the watchdog on a stall: report it once, or report it and abort the job.",
       .store = store<&Options::stall>,
       .ranks = AcrossRanks::may_differ,
       .words = {"report", "abort"}},
      {.name = "TUTTI_VERIFY",
       .kind = OptionKind::flag,
       .default_value = "0",
       .doc = "Compares what the ranks pass to each collective, at the call; `tutti-run --verify` "
              "sets it.",
       .store = store<&Options::verify>,
       .ranks = same<&Options::verify>},
      {.name = "TUTTI_SERVE_COLLECTIVES",
       .kind = OptionKind::flag,
       .default_value = "1",
       .doc = "0 leaves every collective to the host MPI; reports, traces, the watchdog and "
              "--verify go on.",
       .store = store<&Options::serve_collectives>,
       .ranks = same<&Options::serve_collectives>},
      {.name = "TUTTI_REPORT",
       .kind = OptionKind::text,
       .default_value = "",
       .doc = "Reports at finalize what each collective did; `tutti-run --report` sets it.",
       .store = store<&Options::report>,
       .ranks = set_alike<&Options::report>,
       .text_form = "1 or - (a table on stderr), or the name of a file"},
      {.name = "TUTTI_TRACE",
       .kind = OptionKind::text,
       .default_value = "",
       .doc = "Records every step of every collective and writes the file at finalize; `tutti-run "
              "--trace` sets it, "
              "`tutti trace` reads it.",
       .store = store<&Options::trace>,
       .ranks = set_alike<&Options::trace>,
       .text_form = "the name of a file"},
      {.name = "TUTTI_TRACE_FILTER",
       .kind = OptionKind::text,
       .default_value = "",
       .doc = "Leaves out of a trace what no clause of it names, as in collectives=allreduce "
              "ranks=0..3 steps=waiting from=0.5 until=2.",
       .store = store<&Options::trace_filter>,
       .ranks = AcrossRanks::may_differ,
       .text_form = "clauses with spaces between"},
      {.name = "TUTTI_TRACE_BYTES",
       .kind = OptionKind::bytes,
       .default_value = "8M",
       .doc = "Memory of each rank for the records of a trace, of 32 bytes each; when it is full, "
              "new records replace the oldest.",
       .store = store<&Options::trace_bytes>,
       .ranks = AcrossRanks::may_differ,
       .least = 32 * kibibyte,
       .most = 16 * gibibyte},
      {.name = "TUTTI_LOG",
       .kind = OptionKind::choice,
       .default_value = "warning",
       .doc = "Log lines of this level, and of the more severe levels, go to stderr.",
       .store = store<&Options::log>,
       .ranks = AcrossRanks::may_differ,
       .words = {"error", "warning", "info", "debug"}},
      {.name = "TUTTI_ISA",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .doc = "The instruction set of the kernels; auto takes the best that the processor runs.",
       .store = store<&Options::isa>,
       .ranks = AcrossRanks::may_differ,
       .words = {"auto", "baseline", "avx2", "avx512"}},
      {.name = "TUTTI_WAIT",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .doc =
           "How ranks wait, also in MPICH over UCX; auto spins if each rank has a core of its own, "
           "and yields otherwise; sleep: ranks that have waited for a millisecond use no core.",
       .store = store<&Options::wait>,
       .ranks = same<&Options::wait>,
       .words = {"auto", "spin", "yield", "sleep"}},
      {.name = "TUTTI_STORES",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .doc = "How long messages are copied into shared memory: plain stores, or stores that go "
              "past the cache.",
       .store = store<&Options::stores>,
       .ranks = AcrossRanks::may_differ,
       .words = {"auto", "plain", "past_cache"}},
      {.name = "TUTTI_SHM_BYTES_PER_RANK",
       .kind = OptionKind::bytes,
       .default_value = "auto",
       .doc = "Shared memory of each rank in the node's first segment, of which the communicator "
              "of all ranks takes half; auto: 256K in /dev/shm, and elsewhere what rings of twice "
              "a second-level cache need, which take memory only when they are used; with many "
              "ranks on a node they are shorter, because those of all its ranks take at most 120M "
              "together. When the segment is used up, further communicators have 8K a rank; when "
              "they have taken four times as much, one line says so and names a size that doubles "
              "the limit, and calls of further ones stay on the host MPI.",
       .store = store<&Options::shm_bytes_per_rank>,
       .ranks = same<&Options::shm_bytes_per_rank>,
       .least = 32 * kibibyte,
       .most = gibibyte,
       .words = {"auto"}},
      {.name = "TUTTI_OUTSTANDING_BYTES",
       .kind = OptionKind::bytes,
       .default_value = "auto",
       .doc = "How much shared memory the data of a process's operations under way may take (non-"
              "blocking collectives that some rank has not completed) before one line warns that "
              "the node may run out of memory; auto: a quarter of the node's memory, divided by "
              "its ranks. No start fails because of it.",
       .store = store<&Options::outstanding_bytes>,
       .ranks = AcrossRanks::may_differ,
       .least = 64 * kibibyte,
       .most = 1024 * gibibyte,
       .words = {"auto"}},
      {.name = "TUTTI_SHM",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .doc = "Where shared memory comes from; auto takes memfd if it works, and posix (/dev/shm) "
              "otherwise.",
       .store = store<&Options::shm>,
       .ranks = same<&Options::shm>,
       .words = {"auto", "memfd", "posix"}},
      {.name = "TUTTI_SHARED_HEAP",
       .kind = OptionKind::flag,
       .default_value = "0",
       .doc = "Gives the program its memory (malloc, new, Fortran's allocate, MPI_Win_allocate) "
              "from a heap that the other "
              "ranks of its node map; `tutti-run` acts on it, `tutti-run --shared-heap` sets it "
              "(docs/shared-heap.md).",
       .store = store<&Options::shared_heap>,
       .ranks = same<&Options::shared_heap>},
      {.name = "TUTTI_REACH",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .doc = "How ranks read each other's buffers. staged: through the slots alone; direct: from "
              "the shared heap, or through the slots if a buffer does not lie in it; cma: long "
              "messages by the system's copies between processes; net: by messages of the host MPI "
              "alone, as if every rank were on a node of its own; auto: as direct, and as rules "
              "say.",
       .store = store<&Options::reach>,
       .ranks = same<&Options::reach>,
       .words = {"auto", "staged", "cma", "direct", "net"}},
      {.name = "TUTTI_BIND",
       .kind = OptionKind::choice,
       .default_value = "none",
       .doc = "Where `tutti-run` binds ranks that the launcher left unbound: to a numa region "
              "each, or to a core; "
              "`tutti-run --bind` sets it.",
       .store = store<&Options::bind>,
       .ranks = AcrossRanks::may_differ,
       .words = {"none", "numa", "core"}},
      {.name = "TUTTI_SERVERS",
       .kind = OptionKind::text,
       .default_value = "0",
       .doc = "How many servers each domain has, which move data while ranks compute, and on which "
              "cores they run; `tutti-run --servers` sets it and keeps ranks off these cores "
              "(docs/servers.md).",
       .store = store_servers,
       .ranks = {AcrossRanks::same_value, number_of_servers},
       .text_form = servers_asked_form,
       .accepts = are_servers},
      {.name = "TUTTI_SERVERS_DOMAIN",
       .kind = OptionKind::choice,
       .default_value = "node",
       .doc =
           "The part of the machine whose ranks share servers; `tutti-run --servers-domain` sets "
           "it.",
       .store = store<&Options::servers_domain>,
       .ranks = same<&Options::servers_domain>,
       .words = {"node", "socket", "numa"}},
      {.name = "TUTTI_SERVERS_AS",
       .kind = OptionKind::choice,
       .default_value = "threads",
       .doc = "What servers are that execute one-sided transfers: threads of the ranks' processes, "
              "or processes of their own; `tutti-run --servers-as` sets it.",
       .store = store<&Options::servers_as>,
       .ranks = same<&Options::servers_as>,
       .words = {"threads", "processes"}},
      {.name = "TUTTI_SERVE",
       .kind = OptionKind::choice,
       .default_value = "selective",
       .doc = "Which one-sided transfers servers get: all; selective, those that are long enough "
              "to gain, if servers have cores of their own; none, until the program calls "
              "tutti_servers_enable. Between nodes it is learned what gains. `tutti-run --serve` "
              "sets it.",
       .store = store<&Options::serve>,
       .ranks = same<&Options::serve>,
       .words = {"all", "selective", "none"}},
      {.name = "TUTTI_SATURATION",
       .kind = OptionKind::text,
       .default_value = "",
       .doc =
           "Saturation maps of this machine. From that of a node's memory ranks decide which "
           "transfers gain from servers, and how many in a row one server gets; from that "
           "between nodes, how many bytes are under way to a rank at once (docs/injection.md). A "
           "map that cannot be used is left out, with a warning.",
       .store = store<&Options::saturation>,
       .ranks = AcrossRanks::may_differ,
       .text_form =
           "the name of a file that `tutti bench saturation --json-file` has written, or of "
           "two, with a comma between them"},
      {.name = "TUTTI_UNDER_WAY",
       .kind = OptionKind::bytes,
       .default_value = "auto",
       .doc = "How many bytes of one-sided transfers a rank has under way at once to each rank of "
              "another node; auto: as many as the saturation map between nodes says; without one, "
              "256K at first, and up to 4M while messages do not delay each other.",
       .store = store<&Options::under_way_bytes>,
       .ranks = AcrossRanks::may_differ,
       .least = 64 * kibibyte,
       .most = 16 * 1024 * kibibyte,
       .words = {"auto"}},
#define TUTTI_COLLECTIVE(collective, variable, in_words, ...)                \
  {.name = variable,                                                         \
   .kind = OptionKind::text,                                                 \
   .default_value = "",                                                      \
   .doc = "The algorithm of every " in_words ", instead of Tutti's choice.", \
   .store = store_algorithm<place_of(#collective)>,                          \
   .ranks = {AcrossRanks::same_value, algorithm_of<place_of(#collective)>},  \
   .text_form = algorithm_form},
#include "base/collectives.inc.h"
#undef TUTTI_COLLECTIVE
      {.name = "TUTTI_SEGMENT_BYTES",
       .kind = OptionKind::bytes,
       .default_value = "0",
       .doc =
           "The size of the segments that long messages are cut into; halves: each message is "
           "cut into two segments, or into more if two do not fit (docs/tuning.md); 0 lets Tutti "
           "choose.",
       .store = store_segment,
       .ranks = same<&Options::segment_bytes>,
       .least = 0,
       .most = gibibyte,
       .words = {segment_halves_word}},
      {.name = "TUTTI_PLANS",
       .kind = OptionKind::text,
       .default_value = "",
       .doc = "A directory with plans of your own and a map that says which calls they serve; "
              "`tutti-run --plans` sets it.",
       .store = store<&Options::plans>,
       .ranks = AcrossRanks::same_files,
       .text_form = "the name of a directory that holds a file `map` (docs/plan-format.md)"},
      {.name = "TUTTI_TABLE",
       .kind = OptionKind::text,
       .default_value = "",
       .doc = "A table of your own that says which algorithm serves which calls, read before "
              "Tutti's; `tutti tune` writes "
              "one, `tutti-run --table` sets it. If it is not set, MPI_Init looks for one in the "
              "user's directory and in /etc/tutti (docs/tuning.md#tables-that-are-found); none: it "
              "does not look.",
       .store = store_table,
       .ranks = AcrossRanks::same_files,
       .text_form = "the name of a file (docs/tuning.md), or none"},
      {.name = "TUTTI_CLUSTERS",
       .kind = OptionKind::text,
       .default_value = "",
       .doc = "A file that says which nodes are near each other, so that few messages use the "
              "slower links between clusters.",
       .store = store<&Options::clusters>,
       .ranks = AcrossRanks::same_files,
       .text_form = "the name of a file (docs/clusters.md)"},
      {.name = "TUTTI_REPRODUCIBLE",
       .kind = OptionKind::choice,
       .default_value = "off",
       .doc =
           "Which runs give the same bits in reductions. run: runs with the same ranks in the "
           "same places (nothing is combined in the order of arrival); placement: runs with the "
           "same number of ranks, in any places (Tutti sets up at a communicator's first call, "
           "ignores TUTTI_PLANS, and TUTTI_TABLE for reductions, and combines ranks 0, 1, 2, ... "
           "from the left).",
       .store = store<&Options::reproducible>,
       .ranks = same<&Options::reproducible>,
       .words = {"off", "run", "placement"}},
      {.name = "TUTTI_SETUP_AFTER",
       .kind = OptionKind::integer,
       .default_value = "auto",
       .doc = "How many collectives a communicator makes in the host MPI before Tutti sets up for "
              "it. auto: none on one node, and over several nodes so many that communicators of a "
              "few calls cost little more than in the host: 48 in Open MPI, 3 in MPICH 5, 24 "
              "elsewhere. With 0 it sets up when it is made.",
       .store = store_setup_after,
       .ranks = same<&Options::setup_after>,
       .least = 0,
       .most = 1000000,
       .words = {"auto"}},
      {.name = "TUTTI_MPI",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .doc = "Which interposer `tutti-run` preloads; auto looks at what the program is linked to.",
       .store = store<&Options::mpi>,
       .ranks = AcrossRanks::may_differ,
       .words = automatic_or(mpi_words)},
      {.name = "TUTTI_TOPOLOGY",
       .kind = OptionKind::text,
       .default_value = "",
       .doc = "The machine's tree, instead of the one found on this machine.",
       .store = store<&Options::topology>,
       .ranks = same<&Options::topology>,
       .text_form =
           "a description such as numa:2 core:8, or the name of an XML file that lstopo recorded"},
  };
  return table;
}

}  // namespace tutti
