#include "base/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/error.h"

namespace tutti {
namespace {

Options parse(const Environment& environment) { return parse_options(environment, nullptr); }

// The message that a value is refused with; empty when it is accepted.
std::string refusal(const std::string& name, const std::string& value) {
  try {
    parse({{name, value}});
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
}

TEST(Options, Defaults) {
  const Options options = parse({});
  EXPECT_FALSE(options.disable);
  EXPECT_FALSE(options.check);
  EXPECT_EQ(options.stall_seconds, 60);
  EXPECT_EQ(options.stall, StallAction::report);
  EXPECT_EQ(options.report, "");
  EXPECT_EQ(options.log, LogLevel::warning);
  EXPECT_EQ(options.isa, IsaChoice::automatic);
  EXPECT_EQ(options.wait, WaitChoice::automatic);
  EXPECT_EQ(options.shm_bytes_per_rank, 0u);
  EXPECT_EQ(options.shm, ShmChoice::automatic);
  for (const std::string& algorithm : options.algorithms) EXPECT_EQ(algorithm, "");
  EXPECT_EQ(options.segment_bytes, 0u);
  EXPECT_EQ(options.plans, "");
  EXPECT_EQ(options.reproducible, Reproducible::off);
  EXPECT_EQ(options.setup_after, setup_after_automatic);
  EXPECT_EQ(options.mpi, MpiChoice::automatic);
  EXPECT_EQ(options.topology, "");
}

TEST(Options, EveryVariableReachesItsField) {
  const Options options = parse({{"TUTTI_DISABLE", "1"},
                                 {"TUTTI_CHECK", "yes"},
                                 {"TUTTI_STALL_SECONDS", "0"},
                                 {"TUTTI_STALL", "abort"},
                                 {"TUTTI_REPORT", "-"},
                                 {"TUTTI_TRACE", "trace.file"},
                                 {"TUTTI_TRACE_FILTER", "ranks=0"},
                                 {"TUTTI_TRACE_BYTES", "1M"},
                                 {"TUTTI_LOG", "debug"},
                                 {"TUTTI_ISA", "avx512"},
                                 {"TUTTI_WAIT", "yield"},
                                 {"TUTTI_STORES", "past_cache"},
                                 {"TUTTI_SHM_BYTES_PER_RANK", "64K"},
                                 {"TUTTI_SHM", "posix"},
                                 {"TUTTI_ALGORITHM_BARRIER", "flat"},
                                 {"TUTTI_ALGORITHM_BCAST", "binomial"},
                                 {"TUTTI_ALGORITHM_REDUCE", "nary:4"},
                                 {"TUTTI_ALGORITHM_ALLREDUCE", "all_read_all"},
                                 {"TUTTI_ALGORITHM_GATHER", "nary:3"},
                                 {"TUTTI_ALGORITHM_SCATTER", "nary:5"},
                                 {"TUTTI_ALGORITHM_ALLGATHER", "ring"},
                                 {"TUTTI_ALGORITHM_ALLTOALL", "nary:6"},
                                 {"TUTTI_ALGORITHM_REDUCE_SCATTER", "nary:7"},
                                 {"TUTTI_ALGORITHM_SCAN", "chain"},
                                 {"TUTTI_ALGORITHM_EXSCAN", "nary:8"},
                                 {"TUTTI_SEGMENT_BYTES", "16k"},
                                 {"TUTTI_SHARED_HEAP", "0"},
                                 {"TUTTI_REACH", "cma"},
                                 {"TUTTI_BIND", "core"},
                                 {"TUTTI_SERVERS", "2@12-13"},
                                 {"TUTTI_SERVERS_DOMAIN", "numa"},
                                 {"TUTTI_SERVERS_AS", "processes"},
                                 {"TUTTI_SERVE", "all"},
                                 {"TUTTI_SATURATION", "map.json"},
                                 {"TUTTI_CLUSTERS", "near.txt"},
                                 {"TUTTI_PLANS", "plans"},
                                 {"TUTTI_TABLE", "my.map"},
                                 {"TUTTI_REPRODUCIBLE", "placement"},
                                 {"TUTTI_SETUP_AFTER", "7"},
                                 {"TUTTI_VERIFY", "1"},
                                 {"TUTTI_SERVE_COLLECTIVES", "0"},
                                 {"TUTTI_MPI", "mpiabi"},
                                 {"TUTTI_TOPOLOGY", "numa:2 core:8"}});
  const Options expected = {.disable = true,
                            .check = true,
                            .stall_seconds = 0,
                            .verify = true,
                            .serve_collectives = false,
                            .stall = StallAction::abort_job,
                            .report = "-",
                            .trace = "trace.file",
                            .trace_filter = "ranks=0",
                            .trace_bytes = 1048576,
                            .log = LogLevel::debug,
                            .isa = IsaChoice::avx512,
                            .wait = WaitChoice::yield,
                            .stores = StoresChoice::past_cache,
                            .shm_bytes_per_rank = 65536,
                            .outstanding_bytes = 0,
                            .shm = ShmChoice::posix,
                            .shared_heap = false,
                            .reach = ReachChoice::cma,
                            .bind = BindChoice::core,
                            .servers = {2, {12, 13}},
                            .servers_domain = ServersDomain::numa,
                            .servers_as = ServersAs::processes,
                            .serve = ServeChoice::all,
                            .algorithms = {"flat", "binomial", "nary:4", "all_read_all", "nary:3",
                                           "nary:5", "ring", "nary:6", "nary:7", "chain", "nary:8"},
                            .segment_bytes = 16384,
                            .plans = "plans",
                            .clusters = "near.txt",
                            .table = "my.map",
                            .reproducible = Reproducible::placement,
                            .setup_after = 7,
                            .mpi = MpiChoice::mpiabi,
                            .topology = "numa:2 core:8",
                            .saturation = "map.json",
                            .under_way_bytes = 0};
  EXPECT_EQ(options, expected);
}

TEST(Options, WordsStandInTheOrderOfTheirEnumerators) {
  EXPECT_EQ(parse({{"TUTTI_LOG", "error"}}).log, LogLevel::error);
  EXPECT_EQ(parse({{"TUTTI_LOG", "info"}}).log, LogLevel::info);
  EXPECT_EQ(parse({{"TUTTI_ISA", "baseline"}}).isa, IsaChoice::baseline);
  EXPECT_EQ(parse({{"TUTTI_ISA", "avx2"}}).isa, IsaChoice::avx2);
  EXPECT_EQ(parse({{"TUTTI_WAIT", "spin"}}).wait, WaitChoice::spin);
  EXPECT_EQ(parse({{"TUTTI_SHM", "memfd"}}).shm, ShmChoice::memfd);
  EXPECT_EQ(parse({{"TUTTI_MPI", "mpich"}}).mpi, MpiChoice::mpich);
  EXPECT_EQ(parse({{"TUTTI_MPI", "openmpi"}}).mpi, MpiChoice::openmpi);
}

TEST(Options, AnEmptyValueCountsAsNotSet) {
  EXPECT_EQ(parse({{"TUTTI_STALL_SECONDS", ""}, {"TUTTI_LOG", ""}, {"TUTTI_DISABLE", ""}}),
            parse({}));
}

TEST(Options, Servers) {
  EXPECT_EQ(parse({}).servers, ServersAsked{});
  EXPECT_EQ(parse({{"TUTTI_SERVERS", "3"}}).servers, (ServersAsked{3, {}}));
  EXPECT_EQ(parse({{"TUTTI_SERVERS", "1@6,8-9"}}).servers, (ServersAsked{1, {6, 8, 9}}));
  EXPECT_EQ(print(ServersAsked{1, {6, 8, 9}}), "1@6,8-9");
  EXPECT_EQ(print(ServersAsked{2, {}}), "2");
  for (const char* value : {"x", "-1", "65", "1@", "1@x", "0@1", "@1", "1@1@2", "1 "})
    EXPECT_EQ(refusal("TUTTI_SERVERS", value), "TUTTI_SERVERS=\"" + std::string(value) +
                                                   "\" is not accepted: give " +
                                                   std::string(servers_asked_form));
}

TEST(Options, Flags) {
  for (const char* word : {"1", "yes", "on", "true", "TRUE"}) {
    EXPECT_TRUE(parse({{"TUTTI_CHECK", word}}).check) << word;
  }
  for (const char* word : {"0", "no", "off", "false", "Off"}) {
    EXPECT_FALSE(parse({{"TUTTI_CHECK", word}}).check) << word;
  }
  EXPECT_EQ(refusal("TUTTI_CHECK", "2"),
            "TUTTI_CHECK=\"2\" is not accepted: give 0 or 1 (also no, yes, off, on, false, true)");
}

TEST(Options, Integers) {
  EXPECT_EQ(parse({{"TUTTI_STALL_SECONDS", "86400"}}).stall_seconds, 86400);
  for (const char* value :
       {"86401", "-1", "+1", "1.5", "ten", " 1", "1 ", "0x10", "1K", "99999999999999999999"}) {
    EXPECT_EQ(refusal("TUTTI_STALL_SECONDS", value),
              "TUTTI_STALL_SECONDS=\"" + std::string(value) +
                  "\" is not accepted: give a whole number from 0 to 86400");
  }
}

TEST(Options, Bytes) {
  EXPECT_EQ(parse({{"TUTTI_SHM_BYTES_PER_RANK", "32768"}}).shm_bytes_per_rank, 32768u);
  EXPECT_EQ(parse({{"TUTTI_SHM_BYTES_PER_RANK", "2m"}}).shm_bytes_per_rank, 2u << 20);
  EXPECT_EQ(parse({{"TUTTI_SHM_BYTES_PER_RANK", "1G"}}).shm_bytes_per_rank, 1u << 30);
  for (const char* value :
       {"32767", "31K", "0", "2G", "1025M", "1KB", "1T", "K", "64 K", "64K ", "-1K",
        "18014398509481985K", "18446744073709551615G", "99999999999999999999999G"}) {
    EXPECT_EQ(refusal("TUTTI_SHM_BYTES_PER_RANK", value),
              "TUTTI_SHM_BYTES_PER_RANK=\"" + std::string(value) +
                  "\" is not accepted: give auto, or a number of bytes from 32K to 1G (K, M and G "
                  "count in 1024s)");
  }
}

TEST(Options, Choices) {
  EXPECT_EQ(parse({{"TUTTI_STALL", "Abort"}}).stall, StallAction::abort_job);
  EXPECT_EQ(refusal("TUTTI_SHM", "sysv"),
            "TUTTI_SHM=\"sysv\" is not accepted: give auto, memfd or posix");
}

TEST(Options, AMessageIsOneLineWhateverTheValue) {
  const std::string message = refusal("TUTTI_LOG", "a\nb\r" + std::string(5000, 'c'));
  EXPECT_EQ(message.find_first_of("\n\r"), std::string::npos);
  EXPECT_LT(message.size(), 400u);
  EXPECT_NE(message.find("\"a?b?c"), std::string::npos) << message;
}

TEST(Options, UnknownNamesGiveTheNearestKnownOne) {
  std::vector<std::string> warnings;
  const Options options = parse_options({{"TUTTI_DISABEL", "1"},
                                         {"TUTTI_ALGORITHM_BROADCAST", "x"},
                                         {"TUTTI_ALGORITM", "flat"},
                                         {"TUTTI_REDUCE_ALGORITHM", "flat"},
                                         {"TUTTIFRUTTI", "x"},
                                         {"TUTTI_LOG", "info"}},
                                        &warnings);
  EXPECT_FALSE(options.disable);
  const std::vector<std::string> expected = {
      "TUTTI_ALGORITHM_BROADCAST is no variable of Tutti and is ignored; the nearest is "
      "TUTTI_ALGORITHM_BCAST",
      "TUTTI_ALGORITM is no variable of Tutti and is ignored; the nearest is "
      "TUTTI_ALGORITHM_BARRIER",
      "TUTTI_DISABEL is no variable of Tutti and is ignored; the nearest is TUTTI_DISABLE",
      "TUTTI_REDUCE_ALGORITHM is no variable of Tutti and is ignored; the nearest is "
      "TUTTI_ALGORITHM_REDUCE"};
  EXPECT_EQ(warnings, expected);
}

TEST(Options, TheTableIsSound) {
  std::set<std::string_view> names;
  for (const OptionRow& row : option_table()) {
    EXPECT_TRUE(row.name.starts_with("TUTTI_")) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.doc.empty()) << row.name;
    EXPECT_FALSE(accepted_values(row).empty()) << row.name;
    // A line break or a bar would break the page's table.
    EXPECT_EQ((std::string(row.doc) + accepted_values(row)).find_first_of("\n|"), std::string::npos)
        << row.name;
  }
}

std::set<std::string> names_of(AcrossRanks::Rule rule) {
  std::set<std::string> names;
  for (const OptionRow& row : option_table())
    if (row.ranks.rule == rule) names.emplace(row.name);
  return names;
}

// Ranks decide differently, and so hang, if a variable that decides is missing here.
TEST(Options, RanksCompareTheVariablesThatDecide) {
  std::set<std::string> same = {
      "TUTTI_WAIT",     "TUTTI_SHM",           "TUTTI_SHM_BYTES_PER_RANK", "TUTTI_SHARED_HEAP",
      "TUTTI_REACH",    "TUTTI_SERVERS",       "TUTTI_SERVERS_DOMAIN",     "TUTTI_SERVERS_AS",
      "TUTTI_SERVE",    "TUTTI_SEGMENT_BYTES", "TUTTI_REPRODUCIBLE",       "TUTTI_SETUP_AFTER",
      "TUTTI_TOPOLOGY", "TUTTI_VERIFY",        "TUTTI_SERVE_COLLECTIVES"};
  for (const OptionRow& row : option_table())
    if (row.name.starts_with("TUTTI_ALGORITHM_")) same.emplace(row.name);
  EXPECT_EQ(names_of(AcrossRanks::same_value), same);
  EXPECT_EQ(names_of(AcrossRanks::same_files),
            (std::set<std::string>{"TUTTI_PLANS", "TUTTI_TABLE", "TUTTI_CLUSTERS"}));
  EXPECT_EQ(names_of(AcrossRanks::set_in_init),
            (std::set<std::string>{"TUTTI_REPORT", "TUTTI_TRACE"}));
}

TEST(Options, RanksSeeThatAnotherValueDiffers) {
  for (const OptionRow& row : option_table()) {
    if (row.ranks.rule == AcrossRanks::may_differ || row.ranks.rule == AcrossRanks::same_files) {
      EXPECT_EQ(row.ranks.value, nullptr) << row.name;
      continue;
    }
    const auto value = [&row](const std::string& text) {
      return row.ranks.value(parse({{std::string(row.name), text}}));
    };
    std::vector<std::string> texts(row.words.begin(), row.words.end());
    if (row.kind == OptionKind::flag) texts = {"0", "1"};
    if (row.kind == OptionKind::text) texts = {"1", "2"};
    if (row.most > 0) texts.insert(texts.end(), {"100000", std::to_string(row.most)});
    std::set<std::string> values;
    for (const std::string& text : texts) values.insert(value(text));
    const bool is_set_only = row.ranks.rule == AcrossRanks::set_in_init;
    EXPECT_GE(texts.size(), 2u) << row.name;
    EXPECT_EQ(values.size(), is_set_only ? 1u : texts.size()) << row.name;
    if (is_set_only) {
      EXPECT_NE(value(""), value("1")) << row.name;
    }
  }
  const OptionRow& servers =
      *std::find_if(option_table().begin(), option_table().end(),
                    [](const OptionRow& row) { return row.name == "TUTTI_SERVERS"; });
  EXPECT_EQ(servers.ranks.value(parse({{"TUTTI_SERVERS", "1@2"}})),
            servers.ranks.value(parse({{"TUTTI_SERVERS", "1@3"}})));
}

TEST(Options, ProcessEnvironmentHoldsOnlyOurNames) {
  ASSERT_EQ(setenv("TUTTI_OPTIONS_TEST", "a=b", 1), 0);
  const Environment environment = process_environment();
  ASSERT_EQ(unsetenv("TUTTI_OPTIONS_TEST"), 0);
  ASSERT_TRUE(environment.contains("TUTTI_OPTIONS_TEST"));
  EXPECT_EQ(environment.at("TUTTI_OPTIONS_TEST"), "a=b");
  EXPECT_FALSE(environment.contains("PATH"));
}

// The only test that uses the process's options: it must see them malformed first, before they are
// read for good.
TEST(Options, TheProcessReadsItsOwnOnce) {
  ASSERT_EQ(setenv("TUTTI_LOG", "loud", 1), 0);
  EXPECT_THROW(options(), Error);
  EXPECT_THROW(options(), Error);
  ASSERT_EQ(setenv("TUTTI_LOG", "info", 1), 0);
  ASSERT_EQ(setenv("TUTTI_LOGG", "info", 1), 0);
  EXPECT_EQ(options().log, LogLevel::info);
  EXPECT_TRUE(log_enabled(LogLevel::info));
  EXPECT_EQ(option_warnings().size(), 1u);
  ASSERT_EQ(setenv("TUTTI_LOG", "error", 1), 0);
  EXPECT_EQ(options().log, LogLevel::info);
  ASSERT_EQ(unsetenv("TUTTI_LOG"), 0);
  ASSERT_EQ(unsetenv("TUTTI_LOGG"), 0);
  set_log_level(LogLevel::warning);
}

TEST(Options, TheCommittedPageIsTheGeneratedOne) {
  std::ifstream file(TUTTI_SOURCE_DIR "/docs/environment.md");
  ASSERT_TRUE(file) << "docs/environment.md is missing; write it with: cmake --build BUILD "
                       "--target environment_docs";
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), environment_page())
      << "write it anew with: cmake --build BUILD --target environment_docs";
}

}  // namespace
}  // namespace tutti
