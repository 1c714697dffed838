#include "mpi/requests/nonblocking.h"

#include <mutex>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/waiter.h"
#include "mpi/collectives/general.h"
#include "mpi/job/end.h"
#include "mpi/job/self.h"
#include "mpi/job/thrown.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// A rank that needs nothing of the others waits for them if it has started so many operations that
// some rank has not started, or if their data is so long.
constexpr uint64_t most_ahead = 64;
constexpr size_t most_held_ahead = size_t{1} << 20;

struct Pool {
  std::mutex mutex;
  std::vector<Nonblocking*> idle;
  size_t made = 0;
};

// Never destroyed: exit handlers may still call MPI.
Pool& pool() {
  static Pool& made = *new Pool;
  return made;
}

std::string described(plan::Collective collective) {
  return "a non-blocking " + std::string(plan::name(collective));
}

}  // namespace

Nonblocking* Nonblocking::take(MPI_Comm comm, int* code) {
  Pool& pool = mpi::pool();
  {
    const std::lock_guard<std::mutex> lock(pool.mutex);
    if (!pool.idle.empty()) {
      Nonblocking* const taken = pool.idle.back();
      pool.idle.pop_back();
      return taken;
    }
    pool.idle.reserve(++pool.made);  // giving it back must need no memory
  }
  auto* const made = new Nonblocking;
  *code = take_handle(made, &made->handle_);
  if (*code == MPI_SUCCESS) return made;
  delete made;
  raise(comm, *code);
  return nullptr;
}

void Nonblocking::give_back() noexcept {
  const std::lock_guard<std::mutex> lock(pool().mutex);
  pool().idle.push_back(this);
}

void end_nonblocking() noexcept {
  const std::lock_guard<std::mutex> lock(pool().mutex);
  for (Nonblocking* const one : pool().idle) delete one;
  pool().idle.clear();
  pool().made = 0;
}

// The communicator for errors: that of the operation, or MPI_COMM_SELF after its end.
MPI_Comm Nonblocking::communicator() const {
  const MPI_Comm its = service_ != nullptr ? service_->communicator() : host().comm_null;
  return its != host().comm_null ? its : self_communicator();
}

int Nonblocking::begin(Communicator& communicator, const Call& call, Reason* reason) {
  const auto begin = report::recording() ? Clock::now() : Clock::time_point{};
  *reason = buffers_.describe(communicator, call);
  if (*reason != Reason::none) return MPI_SUCCESS;
  int packing = MPI_SUCCESS;
  try {
    Service& service = communicator.served_by();
    Records& records = service.records();
    operation_.program = &records.program(call.collective, call.root);
    buffers_.give_to(operation_);
    packing = eager::start(records.sequence(), operation_, records.stores());
    records.note_start();
    service_ = &service;
    records_ = &records;
  } catch (const Error& error) {  // the memory of operations under way is exhausted
    buffers_.release();
    log_line(LogLevel::error, "%s: %s", described(call.collective).c_str(), error.what());
    let_launcher_read();
    return raise(communicator.handle(), MPI_ERR_NO_MEM);
  } catch (...) {
    buffers_.release();
    throw;
  }
  collective_ = call.collective;
  state_ = State::pending;
  if (report::recording()) {
    bytes_ = bytes_to_report(call);
    spent_ = Clock::now() - begin;
  }
  return packing;
}

int Nonblocking::start() {
  return raise_error("MPI_Start is given the request of a non-blocking collective",
                     MPI_ERR_REQUEST);
}

bool Nonblocking::is_far_ahead() const {
  const eager::Sequence& sequence = records_->sequence();
  if (operation_.program->awaits.size() + 1 == static_cast<size_t>(sequence.ranks())) return false;
  return sequence.held() > most_held_ahead ||
         sequence.issued(sequence.rank()) - sequence.least_issued() > most_ahead;
}

// A rank for which the completion must wait; -1 if there is none.
int Nonblocking::late_rank() {
  int late = -1;
  if (!eager::is_ready(records_->sequence(), operation_, &late)) return late;
  if (!is_far_ahead()) return -1;
  for (int rank = 0; rank < records_->sequence().ranks(); ++rank)
    if (records_->sequence().issued(rank) <= operation_.number) return rank;
  return -1;
}

// If another rank's memory cannot be mapped, complete() reports it.
bool Nonblocking::is_ready() {
  try {
    return late_rank() < 0;
  } catch (...) {
    return true;
  }
}

eager::Outcome Nonblocking::take_results() {
  eager::Outcome outcome;
  try {
    if (const int late = late_rank(); late < 0 || wait(late) == MPI_SUCCESS)
      return eager::take(records_->sequence(), operation_, scratch_);
    outcome.code = Code::dead_peer;
  } catch (const std::exception& error) {
    outcome.code = Code::unavailable;
    outcome.failure = described(collective_) + ": " + error.what();
  }
  records_->sequence().done(operation_.number);
  return outcome;
}

int Nonblocking::complete() {
  const auto begin = report::recording() ? Clock::now() : Clock::time_point{};
  const int code = guarded(communicator(), [&] { return finish(take_results()); });
  if (report::recording())
    report::record(
        {collective_, bytes_, Reason::none, records_name, spent_ + (Clock::now() - begin)});
  return code;
}

// Raises the errors of the operation, which has ended.
int Nonblocking::finish(const eager::Outcome& outcome) {
  state_ = State::taken;
  ServedCalls::note();
  const MPI_Comm comm = communicator();
  records_->note_end();
  service_ = nullptr;
  int code = outcome.packing;
  if (code == MPI_SUCCESS) code = buffers_.take_error();
  buffers_.release();
  if (outcome.code == Code::ok) return code;
  if (outcome.code != Code::dead_peer) {
    log_line(LogLevel::error, "%s", outcome.failure.c_str());
    let_launcher_read();  // the handler may abort the job
  }
  return raise(comm, outcome.code == Code::mismatch ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER);
}

int Nonblocking::wait(int late) {
  exec::Waiter waiter(exec::pace_between_calls(service_->team->wait_style()));
  const Code ended = waiter.until(
      [&] {
        late = late_rank();
        return late < 0;
      },
      [&] {
        drive_host();
        if (!waiter.looks_closely()) return Code::ok;
        if (process_is_gone(records_->process(late)) && !is_ready()) return Code::dead_peer;
        if (waiter.stalls()) say_late(options().stall_seconds, late);
        return Code::ok;
      });
  if (ended == Code::ok) return MPI_SUCCESS;
  log_line(LogLevel::error, "rank %d ended before it started %s", late,
           described(collective_).c_str());
  let_launcher_read();
  return MPI_ERR_OTHER;
}

void Nonblocking::say_late(int64_t seconds, int rank) const {
  log_line(LogLevel::warning,
           "no progress for %ld s in %s: rank %d of its communicator has not started it",
           static_cast<long>(seconds), described(collective_).c_str(), rank);
  if (options().stall != StallAction::abort_job) return;
  log_line(LogLevel::error, "stalled for %ld s; ended because TUTTI_STALL=abort",
           static_cast<long>(seconds));
  let_launcher_read();
  end_job(communicator());
}

bool Nonblocking::tell() noexcept {
  state_ = State::idle;
  give_back();
  return true;
}

int Nonblocking::raise_error(const char* what, int code) {
  log_line(LogLevel::error, "%s", what);
  let_launcher_read();
  return raise(communicator(), code);
}

void Nonblocking::drive_host() {
  const exec::ProgressHook hook = service_->team->progress_hook();
  hook.call(hook.context);
}

namespace {

// Why the host makes the non-blocking collectives of a communicator; none: Tutti makes them.
Reason why_by_host(const Communicator* known) {
  if (known == nullptr) return Reason::set_up_pending;
  if (known->group() == nullptr) return known->reason();
  if (!known->group()->on_one_node()) return Reason::nonblocking_between_nodes;
  return known->served_by().may_have_records() ? Reason::none : Reason::no_growing_memory;
}

int start_by_host(const Call& call, MPI_Comm comm, MPI_Request* request, Reason reason) {
  const bool records = report::recording();
  const auto begin = records ? Clock::now() : Clock::time_point{};
  const uint64_t entry = tracer() != nullptr ? trace::ticks() : 0;
  int code = MPI_SUCCESS;
  {
    const Inside inside;
    code = call_host(call, comm, request);
  }
  // A call that the host has refused at this rank alone must not change what this rank does next.
  if (code == MPI_SUCCESS && !host_refuses(comm, call)) expect_nonblocking(comm);
  const size_t bytes = bytes_to_report(call);
  if (tracer() != nullptr) trace_host_call(entry, call.collective, reason, bytes, call.root);
  if (records && code == MPI_SUCCESS)
    report::record({call.collective, bytes, reason, {}, Clock::now() - begin});
  return code;
}

}  // namespace

int start_nonblocking(const Call& call, MPI_Comm comm, MPI_Request* request) {
  if (host().foreign || Inside::depth != 0) return call_host(call, comm, request);
  return guarded(comm, [&]() -> int {
    Communicator* const known = known_communicator(comm);
    Reason reason = why_by_host(known);
    if (reason == Reason::none) {
      int code = MPI_SUCCESS;
      Nonblocking* const operation = Nonblocking::take(comm, &code);
      if (operation == nullptr) return code;
      try {
        code = operation->begin(*known, call, &reason);
      } catch (...) {
        operation->give_back();
        throw;
      }
      // Also if memory ran out at this rank alone: the others have made the call.
      if (reason == Reason::none && !known->expects_nonblocking()) known->expect_nonblocking();
      if (operation->state() == OwnRequest::State::pending) {
        *request = operation->handle();
        return code;
      }
      operation->give_back();
      if (reason == Reason::none) return code;
    }
    return start_by_host(call, comm, request, reason);
  });
}

}  // namespace tutti::mpi
