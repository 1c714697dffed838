#include "api/requests.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "group/group.h"
#include "records/programs.h"

namespace tutti::api {
namespace {

using Clock = std::chrono::steady_clock;

records::Sequence::Settings sequence_settings(const Started::Settings& settings) {
  records::Sequence::Settings its;
  its.rank = settings.rank;
  for (int rank = 0; rank < settings.layout.ranks; ++rank)
    its.ledgers.push_back(reinterpret_cast<shm::Ledger*>(
        settings.areas + static_cast<size_t>(rank) * settings.layout.stride() +
        shm::Layout::ledger_offset(shm::LedgerOf::operations)));
  its.arena = settings.arena;
  its.reach = &settings.reach;
  its.concurrent = !settings.processes.empty();
  return its;
}

}  // namespace

Started::Started(Settings settings)
    : settings_(std::move(settings)),
      maker_(getpid()),
      sequence_(sequence_settings(settings_)),
      stores_(group::store_policy(options().stores)) {
  if (settings_.directory != nullptr) letters_.emplace(*settings_.directory, *settings_.arena);
}

Started::~Started() {
  sequence_.abandon();
  flush(std::chrono::seconds(10));
}

bool Started::flush(exec::Pace::Duration longest) {
  const auto is_over = [&] {
    try {
      return sequence_.may_end() && (!letters_ || letters_->all_read());
    } catch (...) {
      return true;  // the memory of a rank cannot be mapped, so nothing would tell
    }
  };
  exec::Waiter waiter(exec::pace_between_calls(settings_.style));
  const Code code = waiter.until(is_over, [&] {
    if (waiter.elapsed() > longest) return Code::unavailable;
    if (!waiter.looks_closely()) return Code::ok;
    for (int rank = 0; rank < ranks(); ++rank)
      if (is_gone(rank) && !is_over()) return Code::dead_peer;
    return Code::ok;
  });
  return code == Code::ok;
}

bool Started::is_own() const { return getpid() == maker_; }

const plan::RecordProgram& Started::program(plan::Collective collective, int root) const {
  return records::program_of(collective, ranks(), rank(), root);
}

void Started::start(records::Operation& operation) {
  const std::lock_guard<std::mutex> lock(starting_);
  records::start(sequence_, operation, stores_);
}

uint64_t Started::process(int rank) const {
  if (settings_.processes.empty()) return 0;
  return static_cast<uint64_t>(settings_.processes[static_cast<size_t>(rank)]);
}

bool Started::is_gone(int rank) const {
  const uint64_t its = process(rank);
  return its != 0 && process_is_gone(its);
}

}  // namespace tutti::api
