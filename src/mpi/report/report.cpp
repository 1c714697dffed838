#include "mpi/report/report.h"

#include <memory>
#include <mutex>
#include <string>

#include "mpi/abi/host.h"
#include "base/only_one.h"
#include "mpi/report/report_pages.h"

namespace tutti::mpi {
namespace {

struct Tally {
  std::mutex mutex;
  ReportNumbers numbers;
  AlgorithmNames algorithms;
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

void add_name(std::string& names, std::string_view name) {
  if (name.empty() || ("," + names + ",").find("," + std::string(name) + ",") != std::string::npos)
    return;
  if (!names.empty()) names += ',';
  names += name;
}

}  // namespace

void record(const Record& record) {
  Tally& tally = mpi::tally();
  const std::lock_guard<std::mutex> lock(tally.mutex);
  const size_t place = row_of(record.collective, record.bytes);
  if (record.reason == Reason::one_rank) {  // no call that Tutti could have served: in no row
    ++tally.numbers.reasons[static_cast<size_t>(record.reason)];
    return;
  }
  ReportRow& row = tally.numbers.rows[place];
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

void record_messages(const Sent& across, const Sent& within, const Sent& led) {
  const auto add = [](Sent& sum, const Sent& sent) {
    sum.messages += sent.messages;
    sum.bytes += sent.bytes;
  };
  const std::lock_guard<std::mutex> lock(tally().mutex);
  add(tally().numbers.across, across);
  add(tally().numbers.within, within);
  add(tally().numbers.led, led);
}

void write_report(const std::string& destination, const std::string& why_no_team) {
  static_assert(sizeof(ReportNumbers) % sizeof(uint64_t) == 0);
  const Host& mpi = host();
  const auto total = std::make_unique<ReportNumbers>();
  int rank = 0, ranks = 0;
  mpi.Comm_rank(mpi.comm_world, &rank);
  mpi.Comm_size(mpi.comm_world, &ranks);
  mpi.Reduce(&tally().numbers, total.get(), number_count, mpi.type_uint64, mpi.op_sum, 0,
             mpi.comm_world);
  if (rank == 0) write_pages(destination, {*total, tally().algorithms, why_no_team, ranks});
}

void write_own_report(const std::string& destination, const std::string& why_no_team) {
  static const OnlyOne& writer =
      *new OnlyOne("aborts");  // until this process ends: others may abort meanwhile
  if (!writer.chosen()) return;
  const Host& mpi = host();
  int rank = 0, ranks = 0;
  mpi.Comm_rank(mpi.comm_world, &rank);
  mpi.Comm_size(mpi.comm_world, &ranks);
  Tally& tally = mpi::tally();
  const std::unique_lock<std::mutex> lock(
      tally.mutex, std::try_to_lock);  // a thread may be in the middle of a record for ever
  if (lock.owns_lock())
    write_pages(destination, {tally.numbers, tally.algorithms, why_no_team, ranks, rank});
}

}  // namespace tutti::mpi
