#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/json.h"
#include "exec/waiter.h"
#include "report/pages.h"

namespace tutti::report {
namespace {

using plan::Collective;
using std::chrono::nanoseconds;

Numbers numbers_now() {
  Numbers copy;
  read_tally([&](const Contents& own) { copy = own.numbers; });
  return copy;
}

// The row of the table for a collective and a range of sizes.
const Row& row(const Numbers& of, Collective collective, size_t size) {
  return of.rows[static_cast<size_t>(collective) * size_limits.size() + size];
}

std::string written(const Report& report, const char* name) {
  const auto path = std::filesystem::temp_directory_path() /
                    (std::string("tutti-report-test-") + std::to_string(getpid()) + name);
  write_pages(path.string(), report);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

TEST(Tally, CallsAreInTheRowOfTheirSize) {
  const Numbers before = numbers_now();
  record({Collective::bcast, 0, Reason::none, "flat", TimeSpent{nanoseconds(5)}});
  record({Collective::bcast, 8, Reason::none, "flat", TimeSpent{nanoseconds(7)}});
  record({Collective::bcast, 9, Reason::none, "binomial", TimeSpent{nanoseconds(9)}});
  record(
      {Collective::bcast, size_t{1} << 30, Reason::large_element, {}, TimeSpent{nanoseconds(11)}});
  const Numbers after = numbers_now();
  const auto added = [&](size_t size) {
    return row(after, Collective::bcast, size).calls - row(before, Collective::bcast, size).calls;
  };
  EXPECT_EQ(added(0), 1u);
  EXPECT_EQ(added(1), 1u);
  EXPECT_EQ(added(2), 1u);
  const size_t last = size_limits.size() - 1;
  EXPECT_EQ(added(last), 0u);
  EXPECT_EQ(row(after, Collective::bcast, last).host_calls, 1u);
  EXPECT_EQ(row(after, Collective::bcast, last).host_nanoseconds, 11u);
  EXPECT_EQ(row(after, Collective::bcast, 2).nanoseconds, 9u);
  EXPECT_EQ(after.reasons[static_cast<size_t>(Reason::large_element)], 1u);
}

TEST(Report, NamesTheSaturationMapThatServersFollow) {
  const Numbers total{};
  const AlgorithmNames names{};
  const std::string on;
  const std::vector<std::string> refused;
  Numbers served;
  served.one_sided.servers = 1;
  const auto with = [&](const Numbers& numbers, const char* map, const char* name) {
    return written({numbers, names, Most{}, "mpich", on, refused, 2, -1, {map, {}, {}, {}}}, name);
  };
  const std::string line = "tutti:   servers follow the saturation map my.json\n";
  EXPECT_NE(with(served, "my.json", "-map").find(line), std::string::npos);
  EXPECT_EQ(with(served, "", "-map").find("saturation"), std::string::npos);
  EXPECT_EQ(with(total, "my.json", "-map").find(line), std::string::npos);  // no servers
  EXPECT_NE(with(served, "my.json", "-map.json").find("\"saturation_map\": \"my.json\""),
            std::string::npos);
  EXPECT_NE(with(served, "", "-map.json").find("\"saturation_map\": null"), std::string::npos);
}

TEST(Report, NamesTheTableAndSaysWhetherItWasFound) {
  const Numbers total{};
  const AlgorithmNames names{};
  const std::string on;
  const std::vector<std::string> refused;
  const auto with = [&](const UsersTable& table, const char* name) {
    return written({total, names, Most{}, "mpich", on, refused, 2, -1, {{}, table, {}, {}}}, name);
  };
  EXPECT_NE(with({"my.map", true}, "-table").find("before the default: my.map (found)\n"),
            std::string::npos);
  EXPECT_NE(with({"my.map", false}, "-table").find("my.map (--table, TUTTI_TABLE)\n"),
            std::string::npos);
  EXPECT_EQ(with({}, "-table").find("table of rules"), std::string::npos);
  const Json document = Json::parse(with({"my.map", true}, "-table.json"));
  EXPECT_EQ(document["table"]["file"], "my.map");
  EXPECT_EQ(document["table"]["found"], true);
  EXPECT_TRUE(Json::parse(with({}, "-table.json"))["table"].is_null());
}

TEST(Report, TellsTransfersBetweenNodes) {
  const AlgorithmNames names{};
  const std::string on;
  const std::vector<std::string> refused;
  Numbers total;
  const auto with = [&](const char* name) {
    return written({total, names, Most{}, "mpich", on, refused, 2}, name);
  };
  EXPECT_EQ(with("-far").find("transfers between nodes"), std::string::npos);
  total.transfers_between_nodes = {
      .puts = 3, .gets = 4, .bytes = 2048, .by_servers = 5, .by_ranks = 6};
  const std::string table = with("-far");
  EXPECT_NE(table.find("one-sided transfers between nodes: 3 puts, 4 gets (2 KiB), by messages; "
                       "servers answered 5 requests of other ranks, and ranks that waited 6\n"),
            std::string::npos)
      << table;
  EXPECT_EQ(table.find("endpoints"), std::string::npos);
  const Json told = Json::parse(with("-far.json"))["transfers_between_nodes"];
  const Json expected = {{"puts", 3},
                         {"gets", 4},
                         {"bytes", 2048},
                         {"answered_by_servers", 5},
                         {"answered_by_ranks", 6}};
  EXPECT_EQ(told, expected);
}

TEST(Report, TellsWhatEachEndpointHasDone) {
  const AlgorithmNames names{};
  const std::string on;
  const std::vector<std::string> refused;
  Numbers total;
  total.transfers_between_nodes = {
      .puts = 30, .endpoints = 2, .handed = 20, .taken_back = 3, .lost = 1, .exchanged = 16};
  Most most;
  most.most_exchanged = 9;
  most.least_exchanged = UINT64_MAX - 7;
  most.interfaces = 3;
  const auto with = [&](const char* name) {
    return written({total, names, most, "mpich", on, refused, 2}, name);
  };
  std::string table = with("-endpoints");
  EXPECT_NE(table.find("2 servers have endpoints, and completed 16 of these transfers, each of "
                       "them 7 to 9; ranks handed 20 over and took 3 back; 1 were lost\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("all communicators over 3 virtual interfaces"), std::string::npos) << table;
  const Json told = Json::parse(with("-endpoints.json"))["endpoints"];
  const Json expected = {
      {"count", 2},      {"handed", 20},          {"taken_back", 3},        {"lost", 1},
      {"exchanged", 16}, {"most_of_a_server", 9}, {"least_of_a_server", 7}, {"interfaces", 3}};
  EXPECT_EQ(told, expected);
  most.interfaces = 1;
  table = with("-endpoints");
  EXPECT_NE(table.find("share the host MPI's only virtual interface\n"), std::string::npos)
      << table;
}

TEST(Tally, AlgorithmsAreNamedOnceInTheOrderOfTheirFirstCalls) {
  for (const char* name : {"ring", "flat", "ring", "", "fla"})
    record({Collective::scan, 1, Reason::none, name, TimeSpent{nanoseconds(1)}});
  std::string names;
  read_tally([&](const Contents& own) {
    names = own.algorithms[static_cast<size_t>(Collective::scan) * size_limits.size() + 1];
  });
  EXPECT_EQ(names, "ring,flat,fla");
}

TEST(Tally, CallsAmongNeighboursHaveTheirOwnRows) {
  const Numbers before = numbers_now();
  record({Collective::allgather,
          8,
          Reason::neighbours_between_nodes,
          {},
          TimeSpent{nanoseconds(1)},
          true});
  record({Collective::alltoall, 0, Reason::none, "records", TimeSpent{nanoseconds(1)}, true});
  const Numbers after = numbers_now();
  EXPECT_EQ(row(after, Collective::allgather, 1).host_calls,
            row(before, Collective::allgather, 1).host_calls);
  std::vector<std::string> found;
  for (size_t i = 0; i < row_count; ++i) {
    if (after.rows[i].host_calls > before.rows[i].host_calls)
      found.push_back("host " + std::string(kind_of(i)));
    if (after.rows[i].calls > before.rows[i].calls) found.push_back(std::string(kind_of(i)));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"host neighbor_allgather", "neighbor_alltoall"}));
  EXPECT_EQ(kind_of(static_cast<size_t>(Collective::alltoall) * size_limits.size()), "alltoall");
}

TEST(Tally, CallsOnOneRankAreInNoRow) {
  const Numbers before = numbers_now();
  record({Collective::exscan, 8, Reason::one_rank, {}, TimeSpent{nanoseconds(1)}});
  const Numbers after = numbers_now();
  EXPECT_EQ(row(after, Collective::exscan, 1).host_calls,
            row(before, Collective::exscan, 1).host_calls);
  const auto reason = static_cast<size_t>(Reason::one_rank);
  EXPECT_EQ(after.reasons[reason], before.reasons[reason] + 1);
}

TEST(Tally, ARankThatAbortsDoesNotWaitForTheLock) {
  bool read = true;
  read_tally([&](const Contents&) {
    std::thread([&] { read = try_read_tally([](const Contents&) {}); }).join();
  });
  EXPECT_FALSE(read);
  EXPECT_TRUE(try_read_tally([](const Contents&) {}));
}

TEST(Tally, TheMostOfOperationsUnderWay) {
  record_start(100);
  record_start(5000);
  record({.collective = Collective::barrier, .started = true});
  record_start(300);
  record({.collective = Collective::barrier});
  Contents now;
  read_tally([&](const Contents& own) { now = own; });
  EXPECT_EQ(now.numbers.started, 3u);
  EXPECT_EQ(now.numbers.completed, 1u);
  EXPECT_EQ(now.most.under_way, 2u);
  EXPECT_EQ(now.most.bytes, 5000u);
}

TEST(Tally, WaitsOfSeveralRanksAreFoundByTheMost) {
  Most all;
  for (const auto& [rank, share] : {std::pair{3, 0.25}, {0, 0.5}, {2, 0.0}, {1, 0.4}}) {
    const Most one{.longest_wait = WaitingShare::most(rank, share),
                   .shortest_wait = WaitingShare::least(rank, share)};
    const auto* words = reinterpret_cast<const uint64_t*>(&one);
    for (int i = 0; i < most_count; ++i) {
      auto& word = reinterpret_cast<uint64_t*>(&all)[i];
      word = std::max(word, words[i]);
    }
  }
  EXPECT_EQ(all.longest_wait.rank(), 0);
  EXPECT_DOUBLE_EQ(all.longest_wait.as_most(), 0.5);
  EXPECT_EQ(all.shortest_wait.rank(), 2);
  EXPECT_DOUBLE_EQ(all.shortest_wait.as_least(), 0);
}

TEST(Tally, ACallKnowsHowLongItWaited) {
  waits_are_timed = true;
  const Stopwatch stopwatch;
  int polls = 0;
  exec::Waiter(exec::pace_of_joining())
      .until([&] { return ++polls == 20; }, [] { return Code::ok; });
  waits_are_timed = false;
  const TimeSpent spent = stopwatch.read();
  EXPECT_GT(spent.waiting, nanoseconds(0));
  EXPECT_GE(spent.whole, spent.waiting);
}

TEST(Pages, TableAndJsonHaveTheSameNumbers) {
  Numbers total;
  AlgorithmNames names;
  const size_t at = static_cast<size_t>(Collective::reduce) * size_limits.size() + 3;
  total.rows[at] = {4, 2, 600, 8000, 6000, 7000};
  names[at] = "binomial";
  total.reasons[static_cast<size_t>(Reason::wrong_arguments)] = 2;
  total.between_nodes = {3, 100};
  const std::string on;
  const std::vector<std::string> refused{"map:3: too many ranks"};
  total.started = 9, total.completed = 8;
  total.point_to_point = {5, 10'000, 3000};
  total.lifetime_nanoseconds = 100'000;
  Most most{.under_way = 7, .bytes = 2048};
  most.longest_wait = WaitingShare::most(1, 0.125);
  most.shortest_wait = WaitingShare::least(0, 0.03);
  const Report report{total, names, most, "mpich", on, refused, 2};
  const Json json = Json::parse(written(report, ".json"));
  EXPECT_EQ(json["collectives"].size(), 1u);
  EXPECT_EQ(json["collectives"][0]["size"], "<= 512 bytes");
  EXPECT_EQ(json["collectives"][0]["mean_us"], 2.0);
  EXPECT_EQ(json["collectives"][0]["host_mean_us"], 3.0);
  EXPECT_EQ(json["messages"]["bytes_between_nodes"], 100u);
  EXPECT_EQ(json["refused_plans"][0], refused[0]);
  EXPECT_EQ(json["outliving"]["most_bytes_held"], 2048u);
  EXPECT_EQ(json["outliving"]["completed"], 8u);
  EXPECT_EQ(json["collectives"][0]["waiting_us"], 7.0);
  const Json time = {{"all_s", 1e-4},
                     {"program_s", 7.6e-5},
                     {"collectives_s", 1.4e-5},
                     {"waiting_in_collectives_s", 7e-6},
                     {"messages_s", 1e-5},
                     {"waiting_for_messages_s", 3e-6},
                     {"waits_most", {{"rank", 1}, {"share", 0.125}}},
                     {"waits_least", {{"rank", 0}, {"share", 0.03}}}};
  EXPECT_EQ(json["time"], time);
  EXPECT_TRUE(json["off"].is_null() && json["aborted_by"].is_null());
  const std::string table = written(report, ".txt");
  for (const char* part :
       {"report of 2 ranks over mpich", "reduce             <= 512 bytes", "binomial",
        "3 between nodes (100 bytes)",
        "76.0% the program, 7.0% waiting in collectives, 7.0% the rest of collectives, 10.0% "
        "messages, of which waiting 3.0%",
        "rank 1 waits most, 12.5% of its time, and rank 0 least, 3.0%",
        "9 started, 8 completed; in one process at most 7 under way, which held 2 KiB",
        "map:3: too many ranks"})
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
}

TEST(Pages, AFileThatCannotBeWrittenIsAnError) {
  testing::internal::CaptureStderr();
  const Numbers total;
  const AlgorithmNames names;
  const std::string on;
  const std::vector<std::string> refused;
  write_pages("/nowhere/report.json", {total, names, Most{}, "mpich", on, refused, 2});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tutti: error: cannot write the report to /nowhere/report.json: No such file or "
            "directory; give --report or TUTTI_REPORT a file that can be written\n");
}

TEST(Pages, AFullDiskIsAnError) {
  const auto beside = std::filesystem::temp_directory_path() / "tutti_full.json";
  std::filesystem::remove(beside);
  std::filesystem::create_symlink("/dev/full", beside);
  const Numbers total;
  const AlgorithmNames names;
  const std::string on;
  const std::vector<std::string> refused;
  for (const std::string& file : {std::string("/dev/full"), beside.string()}) {
    testing::internal::CaptureStderr();
    write_pages(file, {total, names, Most{}, "mpich", on, refused, 2});
    EXPECT_NE(testing::internal::GetCapturedStderr().find("No space left on device"),
              std::string::npos)
        << file;
  }
  std::filesystem::remove(beside);
}

}  // namespace
}  // namespace tutti::report
