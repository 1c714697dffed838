#include "report/tally.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace tutti::report {
namespace {

struct Tally : Contents {
  std::mutex mutex;
  std::optional<Stopwatch> life;
};

Tally& tally() {
  static Tally& made = *new Tally;
  return made;
}

constexpr size_t neighbours_allgather = plan::collective_count;
constexpr size_t neighbours_alltoall = neighbours_allgather + 1;

size_t index_of_kind(const Record& record) {
  if (!record.neighbourhood) return static_cast<size_t>(record.collective);
  return plan::parted_in(record.collective) ? neighbours_alltoall : neighbours_allgather;
}

size_t row_of(const Record& record) {
  size_t size = 0;
  while (record.bytes > size_limits[size]) ++size;
  return index_of_kind(record) * size_limits.size() + size;
}

void add_name(std::string& names, std::string_view name) {
  if (name.empty() || ("," + names + ",").find("," + std::string(name) + ",") != std::string::npos)
    return;
  if (!names.empty()) names += ',';
  names += name;
}

uint64_t count_of(std::chrono::nanoseconds time) { return static_cast<uint64_t>(time.count()); }

}  // namespace

std::string_view kind_of(size_t row) {
  const size_t kind = row / size_limits.size();
  if (kind == neighbours_allgather) return "neighbor_allgather";
  if (kind == neighbours_alltoall) return "neighbor_alltoall";
  return plan::name(static_cast<plan::Collective>(kind));
}

void record(const Record& record) {
  Tally& tally = report::tally();
  const std::lock_guard<std::mutex> lock(tally.mutex);
  if (record.started) ++tally.numbers.completed;
  const bool by_tutti = record.reason == Reason::none;
  if (!by_tutti) ++tally.numbers.reasons[static_cast<size_t>(record.reason)];
  // Tutti could not have served the call, so it is in no row.
  if (record.reason == Reason::one_rank) return;
  const size_t at = row_of(record);
  Row& row = tally.numbers.rows[at];
  row.bytes += record.bytes;
  (by_tutti ? row.calls : row.host_calls) += 1;
  (by_tutti ? row.nanoseconds : row.host_nanoseconds) += count_of(record.time.whole);
  row.waiting_nanoseconds += count_of(record.time.waiting);
  try {
    add_name(tally.algorithms[at], record.algorithm);
  } catch (...) {  // memory ran out: the name is missing, the numbers are right
  }
}

void record_start(size_t held) {
  Tally& tally = report::tally();
  const std::lock_guard<std::mutex> lock(tally.mutex);
  ++tally.numbers.started;
  tally.most.under_way =
      std::max(tally.most.under_way, tally.numbers.started - tally.numbers.completed);
  tally.most.bytes = std::max<uint64_t>(tally.most.bytes, held);
}

void record_messages(const Sent& between_nodes, const Sent& within_nodes, const Sent& led) {
  const auto add = [](Sent& sum, const Sent& sent) {
    sum.messages += sent.messages;
    sum.bytes += sent.bytes;
  };
  Numbers& numbers = tally().numbers;
  const std::lock_guard<std::mutex> lock(tally().mutex);
  add(numbers.between_nodes, between_nodes);
  add(numbers.within_nodes, within_nodes);
  add(numbers.led, led);
}

void record_one_sided(const OneSided& done) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  tally().numbers.one_sided = done;
}

void record_transfers_between_nodes(const TransfersBetweenNodes& done) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  tally().numbers.transfers_between_nodes = done;
}

void record_window_call(WindowCall call) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  ++tally().numbers.window_calls[static_cast<size_t>(call)];
}

void record_point_to_point(const TimeSpent& time) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  PointToPoint& all = tally().numbers.point_to_point;
  ++all.calls;
  all.nanoseconds += count_of(time.whole);
  all.waiting_nanoseconds += count_of(time.waiting);
}

void record_begin() {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  tally().life.emplace();
}

void record_end(int rank) {
  Tally& tally = report::tally();
  const std::lock_guard<std::mutex> lock(tally.mutex);
  const uint64_t lifetime = tally.life ? count_of(tally.life->read().whole) : 0;
  uint64_t waiting = tally.numbers.point_to_point.waiting_nanoseconds;
  for (const Row& row : tally.numbers.rows) waiting += row.waiting_nanoseconds;
  const double share =
      static_cast<double>(waiting) / static_cast<double>(std::max<uint64_t>(lifetime, 1));
  tally.numbers.lifetime_nanoseconds = lifetime;
  tally.most.longest_wait = WaitingShare::most(rank, share);
  tally.most.shortest_wait = WaitingShare::least(rank, share);
}

void record_driving(const Driving& done) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  tally().numbers.driving = done;
}

void record_server_unit(uint64_t unit) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  Most& most = tally().most;
  most.after_last_unit = std::max(most.after_last_unit, unit + 1);
  most.first_unit = std::max(most.first_unit, UINT64_MAX - unit);
}

void record_exchanged(uint64_t transfers) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  Most& most = tally().most;
  most.most_exchanged = std::max(most.most_exchanged, transfers);
  most.least_exchanged = std::max(most.least_exchanged, UINT64_MAX - transfers);
}

void record_interfaces(uint64_t interfaces) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  tally().most.interfaces = interfaces;
}

void record_saturation(std::string file) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  tally().found.saturation_map = std::move(file);
}

void record_table(UsersTable table) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  tally().found.table = std::move(table);
}

void record_hidden(std::string tools) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  tally().found.hidden = std::move(tools);
}

void record_unknown_levels(std::string names) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  tally().found.unknown_levels = std::move(names);
}

void read_tally(const ReadTally& read) {
  const std::lock_guard<std::mutex> lock(tally().mutex);
  read(tally());
}

bool try_read_tally(const ReadTally& read) {
  const std::unique_lock<std::mutex> lock(tally().mutex, std::try_to_lock);
  if (lock.owns_lock()) read(tally());
  return lock.owns_lock();
}

}  // namespace tutti::report
