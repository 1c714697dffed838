#include "mpi/requests/persistent.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/combine.h"
#include "kernels/kernels.h"
#include "mpi/job/end.h"
#include "mpi/collectives/general.h"
#include "report/tally.h"

namespace tutti::mpi {

using Clock = std::chrono::steady_clock;

Persistent::Persistent(Communicator& communicator, const Call& call)
    : communicator_(communicator.handle()),
      team_(communicator.shared_team()),
      style_(communicator.team()->wait_style()),
      collective_(call.collective),
      root_(call.root),
      rank_(communicator.group()->rank()),
      ranks_(communicator.group()->ranks()) {}

Persistent::~Persistent() {
  for (MPI_Datatype& type : kept_types_) host().Type_free(&type);
  if (state_ == State::pending)
    (void)deposits_.release();  // not freed: other ranks may still read the data in it
}

int Persistent::hand_over(std::unique_ptr<Persistent> made, MPI_Request* request) {
  const int code = take_handle(made.get(), request);
  if (code == MPI_SUCCESS) (void)made.release();  // the handle's table finds it
  return code;
}

int Persistent::start_round() {
  const auto begin = report::recording() ? Clock::now() : Clock::time_point{};
  if (tracer() != nullptr) traced_.entry = trace::ticks();
  if (state_ == State::pending || state_ == State::taken)
    return fail("a persistent collective is started again before it has been completed",
                MPI_ERR_REQUEST);
  ++round_;
  std::byte* const buffer = deposits_->buffer(round_);
  const Deposits::Block* const table = deposits_->table();
  int code = MPI_SUCCESS;
  for (size_t i = 0; i < given_.size(); ++i) {
    const Part& part = given_[i];
    std::byte* const to = buffer + table[i].at;
    if (!part.dense) {
      code = first_error(code, pack(part.at, part.count, part.type, communicator_, to, part.bytes))
                 .code;
    } else if (part.bytes >= exec::SlotStores::least_bytes) {
      stores_.copy(to, part.at, part.bytes);
    } else if (part.bytes > 0) {
      kernels::copy(to, part.at, part.bytes);
    }
  }
  if (tracer() != nullptr) traced_.deposited = trace::ticks();
  deposits_->publish(round_);
  if (tracer() != nullptr) traced_.published = trace::ticks();
  state_ = State::pending;
  if (report::recording()) spent_ = Clock::now() - begin;
  return code;
}

int Persistent::take_result(const Result& result) {
  const Part& part = result.part;
  const int sources = result.from.high - result.from.low;
  for (int i = 0; i < sources; ++i) {
    const int rank = result.from.low + i;
    if (deposits_->bytes(rank, result.block) != part.bytes)
      return fail(("rank " + std::to_string(rank) + " gives " +
                   std::to_string(deposits_->bytes(rank, result.block)) +
                   " bytes to a persistent " + std::string(plan::name(collective_)) +
                   ", but rank " + std::to_string(rank_) + " expects " + std::to_string(part.bytes))
                      .c_str(),
                  MPI_ERR_TRUNCATE);
    sources_[static_cast<size_t>(i)] = deposits_->block(rank, result.block, round_);
  }
  if (part.bytes == 0) return MPI_SUCCESS;
  if (sources == 1) {
    const auto* const from = static_cast<const std::byte*>(sources_[0]);
    if (!part.dense) return unpack(from, part.at, part.count, part.type, communicator_, part.bytes);
    kernels::copy(part.at, from, part.bytes);
    return MPI_SUCCESS;
  }
  if (!part.dense) packed_.resize(part.bytes);
  exec::combine(combine_, part.dense ? part.at : packed_.data(), sources_.data(), sources,
                part.bytes);
  return part.dense
             ? MPI_SUCCESS
             : unpack(packed_.data(), part.at, part.count, part.type, communicator_, part.bytes);
}

bool Persistent::is_ready() {
  for (int rank = 0; rank < ranks_; ++rank)
    if (!deposits_->has_started(rank, round_)) return false;
  return true;
}

int Persistent::complete_round() {
  const auto begin = report::recording() ? Clock::now() : Clock::time_point{};
  std::optional<trace::Recorder> recorder;
  if (tracer() != nullptr) record_start(recorder);
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!deposits_->has_started(rank, round_))
      if (const int code = wait_for(rank); code != MPI_SUCCESS) return code;
    if (recorder) record_wait(*recorder, rank);
  }
  const int code = take(recorder);
  if (recorder) record_exit(*recorder);
  if (report::recording())
    report::record(
        {collective_, part_bytes_, Reason::none, deposits_name, spent_ + (Clock::now() - begin)});
  return code;
}

int Persistent::wait_for(int rank) {
  const auto has_started = [&] { return deposits_->has_started(rank, round_); };
  exec::Waiter waiter(exec::pace_between_calls(style_));
  const Code ended = waiter.until(has_started, [&] {
    drive_host();
    if (!waiter.looks_closely()) return Code::ok;
    if (process_is_gone(deposits_->process(rank)) && !has_started()) return Code::dead_peer;
    if (waiter.stalls()) say_late(options().stall_seconds, rank);
    return Code::ok;
  });
  if (ended == Code::ok) return MPI_SUCCESS;
  return fail(("rank " + std::to_string(rank) + " ended before it started a persistent " +
               std::string(plan::name(collective_)))
                  .c_str(),
              MPI_ERR_OTHER);
}

// Takes the results of a round that all ranks have started.
int Persistent::take(std::optional<trace::Recorder>& recorder) {
  int code = MPI_SUCCESS;
  for (size_t i = 0; i < results_.size(); ++i) {
    code = first_error(code, take_result(results_[i])).code;
    if (recorder) record_result(*recorder, i);
  }
  if (host_op_ != nullptr) code = first_error(code, host_op_->take_error()).code;
  ServedCalls::note();
  return code;
}

void Persistent::drive_host() {
  const std::shared_ptr<Team> team = team_.lock();
  if (team == nullptr) return;
  const exec::ProgressHook hook = team->progress_hook();
  hook.call(hook.context);
}

void Persistent::say_late(int64_t seconds, int rank) const {
  log_line(
      LogLevel::warning,
      "no progress for %ld s in a persistent %s: rank %d of its communicator has not started it",
      static_cast<long>(seconds), std::string(plan::name(collective_)).c_str(), rank);
  if (options().stall != StallAction::abort_job) return;
  log_line(LogLevel::error, "stalled for %ld s; ended because TUTTI_STALL=abort",
           static_cast<long>(seconds));
  let_launcher_read();
  end_job(communicator_);
}

int Persistent::fail(const char* what, int code) const {
  log_line(LogLevel::error, "%s", what);
  let_launcher_read();  // the handler may abort the job
  const Inside inside;
  host().Comm_call_errhandler(communicator_, code);
  return code;
}

}  // namespace tutti::mpi
