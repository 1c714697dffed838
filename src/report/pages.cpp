#include "report/pages.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"

namespace tutti::report {
namespace {

// Calls on communicators of one rank stay on the host, which is no loss.
constexpr auto one_rank = static_cast<size_t>(Reason::one_rank);

// Parts of MPI that Tutti leaves to the host without seeing the calls, so that the report cannot
// count them.
const std::vector<std::string> not_covered{"files"};

// For printf.
unsigned long long number(uint64_t value) { return value; }

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : between) + word;
  return joined;
}

std::string size_range(size_t row) {
  const size_t size = row % size_limits.size();
  if (size == 0) return "0 B";
  if (size + 1 == size_limits.size()) return "> " + readable_bytes(size_limits[size - 1]);
  return "<= " + readable_bytes(size_limits[size]);
}

double mean_microseconds(uint64_t nanoseconds, uint64_t calls) {
  return calls == 0 ? 0 : static_cast<double>(nanoseconds) / static_cast<double>(calls) / 1000;
}

double waiting_percent(const Row& row) {
  const uint64_t whole = std::max<uint64_t>(row.nanoseconds + row.host_nanoseconds, 1);
  return 100 * static_cast<double>(row.waiting_nanoseconds) / static_cast<double>(whole);
}

double seconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

// Names the kind of the servers: threads, processes or some of both.
std::string kind_of_servers(const OneSided& done) {
  if (done.processes == 0) return "threads of the ranks' processes";
  if (done.processes == done.servers) return "processes of their own";
  return std::to_string(done.processes) + " processes of their own and " +
         std::to_string(done.servers - done.processes) + " threads";
}

// Names the cores of the servers.
std::string place_of_servers(const OneSided& done, const Most& most) {
  if (most.after_last_unit == 0)
    return done.sharing > 0 ? "on the ranks' cores" : "where their ranks may run";
  const uint64_t first = UINT64_MAX - most.first_unit, last = most.after_last_unit - 1;
  if (first == last) return "on processing unit " + std::to_string(first);
  return "on processing units " + std::to_string(first) + " to " + std::to_string(last);
}

void write_one_sided(FILE* file, const OneSided& done, const Most& most,
                     std::string_view saturation_map) {
  if (done.own + done.handed > 0)
    fprintf(file,
            "tutti:   one-sided transfers: %llu by their callers, %llu handed to servers, of which "
            "callers took %llu back\n",
            number(done.own), number(done.handed), number(done.taken_back));
  if (done.servers == 0) return;
  fprintf(file,
          "tutti:   servers: %llu (%s, %s), which executed %llu transfers (%s), slept %llu times, "
          "%.3f s in all\n",
          number(done.servers), kind_of_servers(done).c_str(), place_of_servers(done, most).c_str(),
          number(done.transfers), readable_bytes(done.bytes).c_str(), number(done.sleeps),
          seconds(done.slept_nanoseconds));
  if (!saturation_map.empty())
    fprintf(file, "tutti:   servers follow the saturation map %s\n",
            std::string(saturation_map).c_str());
  if (done.sharing > 0)
    fprintf(
        file,
        "tutti:   no free core: %llu servers shared the cores of ranks; start fewer ranks a node "
        "than it has cores\n",
        number(done.sharing));
}

uint64_t least_exchanged(const Most& most) {
  return most.least_exchanged == 0 ? 0 : UINT64_MAX - most.least_exchanged;
}

void write_between_nodes(FILE* file, const TransfersBetweenNodes& done, const Most& most) {
  if (done.puts + done.gets == 0) return;
  fprintf(file,
          "tutti:   one-sided transfers between nodes: %llu puts, %llu gets (%s), by messages; "
          "servers answered %llu requests of other ranks, and ranks that waited %llu\n",
          number(done.puts), number(done.gets), readable_bytes(done.bytes).c_str(),
          number(done.by_servers), number(done.by_ranks));
  if (done.endpoints == 0) return;
  fprintf(
      file,
      "tutti:   %llu servers have endpoints, and completed %llu of these transfers, each of them "
      "%llu to %llu; ranks handed %llu over and took %llu back; %llu were lost\n",
      number(done.endpoints), number(done.exchanged), number(least_exchanged(most)),
      number(most.most_exchanged), number(done.handed), number(done.taken_back), number(done.lost));
  if (most.interfaces > 1)
    fprintf(file,
            "tutti:   the host MPI spreads the endpoints and all communicators over %llu virtual "
            "interfaces; it does not tell which has which\n",
            number(most.interfaces));
  if (most.interfaces == 1)
    fprintf(file, "tutti:   the endpoints share the host MPI's only virtual interface\n");
}

// How the ranks have spent their time, in nanoseconds.
struct Shares {
  explicit Shares(const Numbers& total) : messages(total.point_to_point.nanoseconds) {
    for (const Row& row : total.rows) {
      collectives += row.nanoseconds + row.host_nanoseconds;
      waiting += row.waiting_nanoseconds;
    }
    const uint64_t in_mpi = collectives + messages;
    program = total.lifetime_nanoseconds - std::min(total.lifetime_nanoseconds, in_mpi);
    whole = program + in_mpi;
  }
  double of_whole(uint64_t part) const {
    return static_cast<double>(part) / static_cast<double>(std::max<uint64_t>(whole, 1));
  }
  uint64_t whole = 0, program = 0, messages = 0;
  uint64_t collectives = 0, waiting = 0;  // the second is a part of the first
};

void write_shares(FILE* file, const Numbers& total, const Most& most) {
  if (total.lifetime_nanoseconds == 0) return;
  const Shares shares(total);
  const auto percent = [&](uint64_t part) { return 100 * shares.of_whole(part); };
  fprintf(file,
          "tutti:   time of all ranks (%.3f s): %.1f%% the program, %.1f%% waiting in "
          "collectives, %.1f%% the rest of collectives, %.1f%% messages",
          seconds(shares.whole), percent(shares.program), percent(shares.waiting),
          percent(shares.collectives - std::min(shares.collectives, shares.waiting)),
          percent(shares.messages));
  if (const uint64_t waiting = total.point_to_point.waiting_nanoseconds; waiting > 0)
    fprintf(file, ", of which waiting %.1f%%", percent(waiting));
  fprintf(file, "\n");
  if (!most.longest_wait.known() || most.longest_wait.rank() == most.shortest_wait.rank()) return;
  fprintf(file,
          "tutti:   rank %d waits most, %.1f%% of its time, and rank %d least, %.1f%%; the others "
          "wait for ranks that wait little\n",
          most.longest_wait.rank(), 100 * most.longest_wait.as_most(), most.shortest_wait.rank(),
          100 * most.shortest_wait.as_least());
}

Json json_of_shares(const Numbers& total, const Most& most) {
  if (total.lifetime_nanoseconds == 0) return nullptr;
  const Shares shares(total);
  const auto of_rank = [](const WaitingShare& one, double share) -> Json {
    if (!one.known()) return nullptr;
    return {{"rank", one.rank()}, {"share", rounded(share, 6)}};
  };
  return {{"all_s", rounded(seconds(shares.whole), 6)},
          {"program_s", rounded(seconds(shares.program), 6)},
          {"collectives_s", rounded(seconds(shares.collectives), 6)},
          {"waiting_in_collectives_s", rounded(seconds(shares.waiting), 6)},
          {"messages_s", rounded(seconds(shares.messages), 6)},
          {"waiting_for_messages_s", rounded(seconds(total.point_to_point.waiting_nanoseconds), 6)},
          {"waits_most", of_rank(most.longest_wait, most.longest_wait.as_most())},
          {"waits_least", of_rank(most.shortest_wait, most.shortest_wait.as_least())}};
}

uint64_t window_calls(const Numbers& total, WindowCall call) {
  return total.window_calls[static_cast<size_t>(call)];
}

void write_window_calls(FILE* file, const Numbers& total) {
  const auto count = [&](WindowCall call) { return number(window_calls(total, call)); };
  const auto puts = count(WindowCall::put), gets = count(WindowCall::get),
             accumulates = count(WindowCall::accumulate);
  if (puts + gets + accumulates > 0)
    fprintf(file,
            "tutti:   MPI's one-sided calls, which the host serves: %llu puts, %llu gets, %llu "
            "accumulates\n",
            puts, gets, accumulates);
}

void write_driving(FILE* file, const Driving& done) {
  if (done.servers == 0) return;
  fprintf(file,
          "tutti:   servers between nodes: %llu (threads), which looked %llu times at what was "
          "under way "
          "and used %.3f s of cores\n",
          number(done.servers), number(done.looks), seconds(done.nanoseconds));
}

std::string text_of(const std::vector<int>& ranks) {
  std::vector<std::string> texts;
  for (const int rank : ranks) texts.push_back(std::to_string(rank));
  return join(texts, ", ");
}

void write_table(FILE* file, const Report& report) {
  std::string whose = report.missing.empty() && report.of_node.empty() ? "all ranks" : "some";
  if (report.aborted_by >= 0)
    whose =
        "rank " + std::to_string(report.aborted_by) + " alone, which ended the job by MPI_Abort";
  fprintf(file,
          "tutti: report of %d ranks over %s; calls and bytes of %s (for a collective with parts, "
          "bytes of one part), mean time of a call\n",
          report.ranks, std::string(report.mpi).c_str(), whose.c_str());
  if (!report.of_node.empty())
    fprintf(
        file,
        "tutti:   of ranks %s, which had sessions on this node; without MPI_Init each node has a "
        "report of its own\n",
        text_of(report.of_node).c_str());
  if (!report.missing.empty())
    fprintf(file, "tutti:   missing, because processes have ended: ranks %s\n",
            text_of(report.missing).c_str());
  if (!report.why_no_team.empty()) fprintf(file, "tutti:   off: %s\n", report.why_no_team.c_str());
  fprintf(file, "tutti:   %-18s %-12s %12s %11s %12s %11s %14s %7s  %s\n", "collective", "size",
          "tutti calls", "mean us", "host calls", "mean us", "bytes", "waiting", "algorithm");
  for (size_t row = 0; row < row_count; ++row) {
    const Row& line = report.total.rows[row];
    if (line.calls + line.host_calls == 0) continue;
    fprintf(file, "tutti:   %-18s %-12s %12llu %11.2f %12llu %11.2f %14llu %6.0f%%  %s\n",
            std::string(kind_of(row)).c_str(), size_range(row).c_str(), number(line.calls),
            mean_microseconds(line.nanoseconds, line.calls), number(line.host_calls),
            mean_microseconds(line.host_nanoseconds, line.host_calls), number(line.bytes),
            waiting_percent(line), report.algorithms[row].c_str());
  }
  write_shares(file, report.total, report.most);
  for (size_t reason = 1; reason < reason_count; ++reason)
    if (report.total.reasons[reason] > 0 && reason != one_rank)
      fprintf(file, "tutti:   host MPI: %llu calls: %s\n", number(report.total.reasons[reason]),
              describe(static_cast<Reason>(reason)));
  if (report.total.between_nodes.messages + report.total.within_nodes.messages > 0)
    fprintf(file, "tutti:   messages: %llu between nodes (%llu bytes), %llu within (%llu bytes)\n",
            number(report.total.between_nodes.messages), number(report.total.between_nodes.bytes),
            number(report.total.within_nodes.messages), number(report.total.within_nodes.bytes));
  if (report.total.led.messages > 0)
    fprintf(
        file,
        "tutti:   collectives of the host among leaders: %llu calls (%llu bytes), whose messages "
        "between nodes are not counted\n",
        number(report.total.led.messages), number(report.total.led.bytes));
  if (report.total.started > 0)
    fprintf(file,
            "tutti:   operations that outlive their call: %llu started, %llu completed; in one "
            "process at most %llu under way, which held %s of shared memory\n",
            number(report.total.started), number(report.total.completed),
            number(report.most.under_way), readable_bytes(report.most.bytes).c_str());
  write_one_sided(file, report.total.one_sided, report.most, report.found.saturation_map);
  write_between_nodes(file, report.total.transfers_between_nodes, report.most);
  write_driving(file, report.total.driving);
  write_window_calls(file, report.total);
  if (report.total.reasons[one_rank] > 0)
    fprintf(file,
            "tutti:   no loss: %llu calls on communicators of one rank, which wait for no other "
            "rank\n",
            number(report.total.reasons[one_rank]));
  fprintf(file, "tutti:   not counted, because Tutti does not see them: %s\n",
          join(not_covered, ", ").c_str());
  if (!report.found.table.file.empty())
    fprintf(file, "tutti:   table of rules before the default: %s (%s)\n",
            report.found.table.file.c_str(),
            report.found.table.found ? "found" : "--table, TUTTI_TABLE");
  if (!report.found.unknown_levels.empty())
    fprintf(
        file,
        "tutti:   the node has levels (%s) that algorithms do not follow, because ranks are not "
        "bound; tutti doctor says what binding gains\n",
        report.found.unknown_levels.c_str());
  if (!report.found.hidden.empty())
    fprintf(file,
            "tutti:   left to the host MPI at all ranks, because tools do not call PMPI_*: %s\n",
            report.found.hidden.c_str());
  for (const std::string& refusal : report.refused_plans)
    fprintf(file, "tutti:   built-in choice: %s\n", refusal.c_str());
}

Json collectives_of(const Report& report) {
  Json collectives = Json::array();
  for (size_t row = 0; row < row_count; ++row) {
    const Row& line = report.total.rows[row];
    if (line.calls + line.host_calls == 0) continue;
    collectives.push_back(
        {{"collective", kind_of(row)},
         {"size", size_range(row)},
         {"calls", line.calls},
         {"mean_us", rounded(mean_microseconds(line.nanoseconds, line.calls), 3)},
         {"host_calls", line.host_calls},
         {"host_mean_us", rounded(mean_microseconds(line.host_nanoseconds, line.host_calls), 3)},
         {"waiting_us", rounded(static_cast<double>(line.waiting_nanoseconds) / 1000, 3)},
         {"bytes", line.bytes},
         {"algorithm", report.algorithms[row]}});
  }
  return collectives;
}

Json host_reasons_of(const Report& report) {
  Json reasons = Json::array();
  for (size_t reason = 1; reason < reason_count; ++reason)
    if (report.total.reasons[reason] > 0 && reason != one_rank)
      reasons.push_back({{"reason", describe(static_cast<Reason>(reason))},
                         {"calls", report.total.reasons[reason]}});
  return reasons;
}

void write_json(FILE* file, const Report& report) {
  const Numbers& total = report.total;
  Json document{
      {"format", "tutti-report-1"},
      {"mpi", report.mpi},
      {"ranks", report.ranks},
      {"aborted_by", nullptr},
      {"missing_ranks", report.missing},
      {"of_ranks", nullptr},
      {"off", nullptr},
      {"collectives", collectives_of(report)},
      {"host_reasons", host_reasons_of(report)},
      {"time", json_of_shares(total, report.most)},
      {"point_to_point", {{"calls", total.point_to_point.calls}}},
      {"messages",
       {{"between_nodes", total.between_nodes.messages},
        {"bytes_between_nodes", total.between_nodes.bytes},
        {"within_nodes", total.within_nodes.messages},
        {"bytes_within_nodes", total.within_nodes.bytes}}},
      {"among_leaders", {{"hosts_calls", total.led.messages}, {"bytes", total.led.bytes}}},
      {"outliving",
       {{"started", total.started},
        {"completed", total.completed},
        {"most_under_way", report.most.under_way},
        {"most_bytes_held", report.most.bytes}}},
      {"one_sided",
       {{"by_callers", total.one_sided.own},
        {"handed_to_servers", total.one_sided.handed},
        {"taken_back", total.one_sided.taken_back}}},
      {"transfers_between_nodes",
       {{"puts", total.transfers_between_nodes.puts},
        {"gets", total.transfers_between_nodes.gets},
        {"bytes", total.transfers_between_nodes.bytes},
        {"answered_by_servers", total.transfers_between_nodes.by_servers},
        {"answered_by_ranks", total.transfers_between_nodes.by_ranks}}},
      {"endpoints",
       {{"count", total.transfers_between_nodes.endpoints},
        {"handed", total.transfers_between_nodes.handed},
        {"taken_back", total.transfers_between_nodes.taken_back},
        {"lost", total.transfers_between_nodes.lost},
        {"exchanged", total.transfers_between_nodes.exchanged},
        {"most_of_a_server", report.most.most_exchanged},
        {"least_of_a_server", least_exchanged(report.most)},
        {"interfaces", report.most.interfaces}}},
      {"servers",
       {{"count", total.one_sided.servers},
        {"processes", total.one_sided.processes},
        {"where",
         total.one_sided.servers == 0 ? "" : place_of_servers(total.one_sided, report.most)},
        {"sharing_cores", total.one_sided.sharing},
        {"transfers", total.one_sided.transfers},
        {"bytes", total.one_sided.bytes},
        {"sleeps", total.one_sided.sleeps},
        {"slept_s", rounded(seconds(total.one_sided.slept_nanoseconds), 6)},
        {"saturation_map", nullptr}}},
      {"driving",
       {{"servers", total.driving.servers},
        {"looks", total.driving.looks},
        {"busy_s", rounded(seconds(total.driving.nanoseconds), 6)}}},
      {"window_calls",
       {{"puts", window_calls(total, WindowCall::put)},
        {"gets", window_calls(total, WindowCall::get)},
        {"accumulates", window_calls(total, WindowCall::accumulate)}}},
      {"calls_on_one_rank", total.reasons[one_rank]},
      {"not_covered", not_covered},
      {"table", nullptr},
      {"unknown_levels", report.found.unknown_levels},
      {"hidden", report.found.hidden},
      {"refused_plans", report.refused_plans}};
  if (!report.of_node.empty()) document["of_ranks"] = report.of_node;
  if (!report.found.table.file.empty())
    document["table"] = {{"file", report.found.table.file}, {"found", report.found.table.found}};
  if (report.aborted_by >= 0) document["aborted_by"] = report.aborted_by;
  if (!report.found.saturation_map.empty())
    document["servers"]["saturation_map"] = report.found.saturation_map;
  if (!report.why_no_team.empty()) document["off"] = report.why_no_team;
  fprintf(file, "%s\n", json_text(document, 1).c_str());
}

}  // namespace

void write_pages(const std::string& destination, const Report& report) {
  if (destination == "1" || destination == "-") return write_table(stderr, report);
  errno = 0;
  FILE* const file = fopen(destination.c_str(), "we");
  bool whole = file != nullptr;
  if (whole) {
    if (destination.ends_with(".json"))
      write_json(file, report);
    else
      write_table(file, report);
    whole = fflush(file) == 0 && ferror(file) == 0;
    whole = fclose(file) == 0 && whole;  // some file systems say only now that they are full
  }
  if (!whole)
    log_line(LogLevel::error,
             "cannot write the report to %s: %m; give --report or TUTTI_REPORT a file that can be "
             "written",
             destination.c_str());
}

}  // namespace tutti::report
