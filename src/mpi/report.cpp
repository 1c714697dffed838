#include "mpi/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "mpi/host.h"
#include "select/library.h"

namespace tutti::mpi {
namespace {

// Rows of sizes: up to each of these bytes, the last without bound.
constexpr std::array<uint64_t, 9> size_limits{0, 8, 64, 512, 4096, 32768, 262144, 2097152, UINT64_MAX};
constexpr size_t row_count = plan::collective_count * size_limits.size();
constexpr size_t reason_count = static_cast<size_t>(Reason::count_);

// Plain numbers, so that ranks can be added up by one reduction.
struct Row {
  uint64_t calls = 0;
  uint64_t host_calls = 0;
  uint64_t bytes = 0;
  uint64_t nanoseconds = 0;
  uint64_t host_nanoseconds = 0;
};
struct Sent {
  uint64_t messages = 0;
  uint64_t bytes = 0;
};
struct Numbers {
  std::array<Row, row_count> rows{};
  std::array<uint64_t, reason_count> reasons{};
  Sent across, within;  // nodes; by Tutti's messages
  Sent led;             // the host's collectives among leaders: calls, and bytes of their vectors
};
constexpr int number_count = static_cast<int>(sizeof(Numbers) / sizeof(uint64_t));

struct Tally {
  std::mutex mutex;
  Numbers numbers;
  std::array<std::string, row_count> algorithms;  // names in the order met, with commas
};

Tally& tally() {
  static Tally& made = *new Tally;
  return made;
}

size_t row_of(plan::Collective collective, size_t bytes) {
  size_t size = 0;
  while (bytes > size_limits[size]) ++size;
  return static_cast<size_t>(collective) * size_limits.size() + size;
}

std::string size_range(size_t row) {
  const size_t size = row % size_limits.size();
  if (size == 0) return "0 B";
  if (size + 1 == size_limits.size()) return "> " + readable_bytes(size_limits[size - 1]);
  return "<= " + readable_bytes(size_limits[size]);
}

void add_name(std::string& names, std::string_view name) {
  if (name.empty() || ("," + names + ",").find("," + std::string(name) + ",") != std::string::npos) return;
  if (!names.empty()) names += ',';
  names += name;
}

double mean_microseconds(uint64_t nanoseconds, uint64_t calls) {
  return calls == 0 ? 0 : static_cast<double>(nanoseconds) / static_cast<double>(calls) / 1000;
}

const std::string_view collective_of(size_t row) {
  return plan::name(static_cast<plan::Collective>(row / size_limits.size()));
}

void write_table(FILE* file, const Numbers& total, int ranks, const std::string& why_no_team) {
  fprintf(file,
          "tutti: report of %d ranks over %s; calls and bytes of all ranks (bytes of a part where there are parts), times "
          "the mean of a call\n",
          ranks, std::string(abi_name).c_str());
  if (!why_no_team.empty()) fprintf(file, "tutti:   off: %s\n", why_no_team.c_str());
  fprintf(file, "tutti:   %-14s %-12s %12s %11s %12s %11s %14s  %s\n", "collective", "size", "tutti calls", "mean us",
          "host calls", "mean us", "bytes", "algorithm");
  for (size_t row = 0; row < row_count; ++row) {
    const Row& line = total.rows[row];
    if (line.calls + line.host_calls == 0) continue;
    fprintf(file, "tutti:   %-14s %-12s %12llu %11.2f %12llu %11.2f %14llu  %s\n",
            std::string(collective_of(row)).c_str(), size_range(row).c_str(),
            static_cast<unsigned long long>(line.calls), mean_microseconds(line.nanoseconds, line.calls),
            static_cast<unsigned long long>(line.host_calls), mean_microseconds(line.host_nanoseconds, line.host_calls),
            static_cast<unsigned long long>(line.bytes), tally().algorithms[row].c_str());
  }
  for (size_t reason = 1; reason < reason_count; ++reason)
    if (total.reasons[reason] > 0)
      fprintf(file, "tutti:   host MPI: %llu calls: %s\n", static_cast<unsigned long long>(total.reasons[reason]),
              describe(static_cast<Reason>(reason)));
  if (total.across.messages + total.within.messages > 0)
    fprintf(file, "tutti:   messages: %llu between nodes (%llu bytes), %llu within (%llu bytes)\n",
            static_cast<unsigned long long>(total.across.messages), static_cast<unsigned long long>(total.across.bytes),
            static_cast<unsigned long long>(total.within.messages), static_cast<unsigned long long>(total.within.bytes));
  if (total.led.messages > 0)
    fprintf(file, "tutti:   messages between nodes, the host's: of %llu calls of leaders in its own collectives (%llu bytes)\n",
            static_cast<unsigned long long>(total.led.messages), static_cast<unsigned long long>(total.led.bytes));
  for (const std::string& refusal : select::refusals()) fprintf(file, "tutti:   built-in choice: %s\n", refusal.c_str());
}

// Text for JSON; our own strings hold nothing stranger than quotes.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c >= 0 && c < ' ' ? ' ' : c;
  }
  return result + "\"";
}

void write_json(FILE* file, const Numbers& total, int ranks, const std::string& why_no_team) {
  fprintf(file, "{\"format\": \"tutti-report-1\", \"mpi\": %s, \"ranks\": %d, \"off\": %s,\n \"collectives\": [",
          quoted(abi_name).c_str(), ranks, why_no_team.empty() ? "null" : quoted(why_no_team).c_str());
  const char* separator = "\n";
  for (size_t row = 0; row < row_count; ++row) {
    const Row& line = total.rows[row];
    if (line.calls + line.host_calls == 0) continue;
    fprintf(file,
            "%s  {\"collective\": %s, \"size\": %s, \"calls\": %llu, \"mean_us\": %.3f, \"host_calls\": %llu, "
            "\"host_mean_us\": %.3f, \"bytes\": %llu, \"algorithm\": %s}",
            separator, quoted(collective_of(row)).c_str(), quoted(size_range(row)).c_str(),
            static_cast<unsigned long long>(line.calls), mean_microseconds(line.nanoseconds, line.calls),
            static_cast<unsigned long long>(line.host_calls), mean_microseconds(line.host_nanoseconds, line.host_calls),
            static_cast<unsigned long long>(line.bytes), quoted(tally().algorithms[row]).c_str());
    separator = ",\n";
  }
  fprintf(file, "\n ],\n \"host_reasons\": [");
  separator = "\n";
  for (size_t reason = 1; reason < reason_count; ++reason) {
    if (total.reasons[reason] == 0) continue;
    fprintf(file, "%s  {\"reason\": %s, \"calls\": %llu}", separator,
            quoted(describe(static_cast<Reason>(reason))).c_str(),
            static_cast<unsigned long long>(total.reasons[reason]));
    separator = ",\n";
  }
  fprintf(file,
          "\n ],\n \"messages\": {\"between_nodes\": %llu, \"bytes_between_nodes\": %llu, \"within_nodes\": %llu, "
          "\"bytes_within_nodes\": %llu},\n \"among_leaders\": {\"hosts_calls\": %llu, \"bytes\": %llu},",
          static_cast<unsigned long long>(total.across.messages), static_cast<unsigned long long>(total.across.bytes),
          static_cast<unsigned long long>(total.within.messages), static_cast<unsigned long long>(total.within.bytes),
          static_cast<unsigned long long>(total.led.messages), static_cast<unsigned long long>(total.led.bytes));
  fprintf(file, "\n \"refused_plans\": [");
  separator = "\n";
  for (const std::string& refusal : select::refusals()) {
    fprintf(file, "%s  %s", separator, quoted(refusal).c_str());
    separator = ",\n";
  }
  fprintf(file, "\n ]\n}\n");
}

void write_to(const std::string& destination, const Numbers& total, int ranks, const std::string& why_no_team) {
  const bool terminal = destination == "1" || destination == "-";
  const std::unique_ptr<FILE, int (*)(FILE*)> opened(terminal ? nullptr : fopen(destination.c_str(), "w"),
                                                     [](FILE* file) { return file != nullptr ? fclose(file) : 0; });
  if (!terminal && opened == nullptr) {
    log_line(LogLevel::error, "cannot write the report to %s: %m; set TUTTI_REPORT to a file that can be written",
             destination.c_str());
    return;
  }
  FILE* const file = terminal ? stderr : opened.get();
  if (destination.ends_with(".json"))
    write_json(file, total, ranks, why_no_team);
  else
    write_table(file, total, ranks, why_no_team);
}

}  // namespace

void record(const Record& record) {
  Tally& tally = mpi::tally();
  const std::lock_guard<std::mutex> lock(tally.mutex);
  const size_t place = row_of(record.collective, record.bytes);
  Row& row = tally.numbers.rows[place];
  const auto time = static_cast<uint64_t>(record.time.count());
  row.bytes += record.bytes;
  (record.reason == Reason::none ? row.calls : row.host_calls) += 1;
  (record.reason == Reason::none ? row.nanoseconds : row.host_nanoseconds) += time;
  if (record.reason != Reason::none) ++tally.numbers.reasons[static_cast<size_t>(record.reason)];
  try {
    add_name(tally.algorithms[place], record.algorithm);
  } catch (...) {  // memory ran out: the numbers are right, and the call was
  }
}

void record_messages(const Communicator& communicator) {
  Tally& tally = mpi::tally();
  const std::lock_guard<std::mutex> lock(tally.mutex);
  const auto add = [](Sent& sum, const net::PointToPoint::Sent& sent) {
    sum.messages += sent.messages;
    sum.bytes += sent.bytes;
  };
  add(tally.numbers.across, communicator.net()->sent_across());
  add(tally.numbers.within, communicator.net()->sent_within());
  if (communicator.leaders() == nullptr) return;
  tally.numbers.led.messages += communicator.leaders()->calls().calls;
  tally.numbers.led.bytes += communicator.leaders()->calls().bytes;
}

void write_report(const std::string& destination, const std::string& why_no_team) {
  static_assert(sizeof(Numbers) % sizeof(uint64_t) == 0);
  const Host& mpi = host();
  const auto total = std::make_unique<Numbers>();
  int rank = 0, ranks = 0;
  mpi.Comm_rank(mpi.comm_world, &rank);
  mpi.Comm_size(mpi.comm_world, &ranks);
  mpi.Reduce(&tally().numbers, total.get(), number_count, mpi.type_uint64, mpi.op_sum, 0, mpi.comm_world);
  if (rank == 0) write_to(destination, *total, ranks, why_no_team);
}

}  // namespace tutti::mpi
