#include "api/team_trace.h"

#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "trace/file.h"
#include "trace/header.h"

namespace tutti::api {
namespace {

// The limit for the programs of all ranks in the file's header.
constexpr size_t most_description_bytes = size_t{128} << 20;
constexpr uint64_t identity = 1;  // the team's, as the only communicator of its trace

// A path relative to the present directory, because the program may change it.
std::string next_file() {
  static std::atomic<int> files{0};
  const int number = ++files;
  std::string name = std::filesystem::absolute(options().trace).string();
  return number == 1 ? name : name + "." + std::to_string(number);
}

// Threads that recorded still know their tracers, so these stay, without their records.
void keep(std::vector<std::unique_ptr<trace::Tracer>>& tracers) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::unique_ptr<trace::Tracer>>;
  const std::lock_guard lock(mutex);
  for (std::unique_ptr<trace::Tracer>& tracer : tracers) {
    tracer->retire();
    kept.push_back(std::move(tracer));
  }
}

}  // namespace

std::unique_ptr<TeamTrace> TeamTrace::begin(int ranks) {
  if (options().trace.empty() || trace::is_of_mpi.load()) return nullptr;
  trace::Filter filter = trace::read_filter(options().trace_filter);
  std::string file = next_file();
  trace::require_writable(file);
  return std::unique_ptr<TeamTrace>(new TeamTrace(ranks, std::move(file), std::move(filter)));
}

TeamTrace::TeamTrace(int ranks, std::string file, trace::Filter filter)
    : file_(std::move(file)),
      filter_(std::move(filter)),
      clock_(trace::choose_clock()),
      begun_(trace::now_by_both()),
      tracers_(static_cast<size_t>(ranks)),
      cores_(static_cast<size_t>(ranks)) {}

trace::Tracer* TeamTrace::join(int rank) {
  const auto place = static_cast<size_t>(rank);
  tracers_[place] = std::make_unique<trace::Tracer>(
      trace::Tracer::Settings{options().trace_bytes / sizeof(trace::Record),
                              most_description_bytes / tracers_.size(), filter_, rank});
  cores_[place] = placement::usable_cores();
  std::vector<int> members(rank == 0 ? tracers_.size() : 0);  // one rank lists them
  std::iota(members.begin(), members.end(), 0);
  tracers_[place]->communicator({identity, std::move(members)});
  return tracers_[place].get();
}

TeamTrace::~TeamTrace() {
  try {
    for (size_t rank = 0; rank < tracers_.size(); ++rank)
      if (tracers_[rank] == nullptr) join(static_cast<int>(rank));  // it has not joined
    write();
    keep(tracers_);
  } catch (const std::exception& error) {
    log_line(LogLevel::error, "the trace of a team is not written: %s", error.what());
    for (auto& tracer : tracers_) static_cast<void>(tracer.release());
  }
}

void TeamTrace::write() const {
  const trace::Moment ended = trace::later_by_both(begun_);
  const auto passed = static_cast<double>(ended.nanoseconds - begun_.nanoseconds);
  // There is no host for a call.
  trace::Job job{"threads", {"none"}, {}, {}, {}, options().trace_filter};
  job.nodes.push_back({0, {{{begun_.ticks, 0, 0}, {ended.ticks, passed, 0}}}});
  job.node_of.assign(tracers_.size(), 0);
  uint64_t records = 0;
  for (size_t rank = 0; rank < tracers_.size(); ++rank) {
    job.ranks.push_back(
        trace::describe_rank(static_cast<int>(rank), clock_, cores_[rank], *tracers_[rank]));
    for (const trace::Ring* ring : tracers_[rank]->rings()) records += ring->contents().size();
  }
  trace::File out(file_);
  out.begin(trace::describe_job(job), records);
  for (const auto& tracer : tracers_)
    for (const trace::Ring* ring : tracer->rings())
      for (const auto& part : {ring->contents().first, ring->contents().second})
        out.append(part.data(), part.size_bytes());
  out.commit();
}

}  // namespace tutti::api
