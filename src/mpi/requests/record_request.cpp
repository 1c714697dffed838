#include "mpi/requests/record_request.h"

#include <exception>
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/idle.h"
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

// Returns how long a rank waits for others to read its buffer before it copies the data for them:
// about as long as the copy takes, so a wait in vain costs no more than a second copy.
std::chrono::nanoseconds patience(const records::Operation& operation) {
  constexpr size_t bytes_a_nanosecond = 8;
  return std::chrono::nanoseconds(records::record_bytes(operation) / bytes_a_nanosecond);
}

}  // namespace

std::string RecordRequest::described() const {
  return "a " + std::string(form_) + (neighbours_ != nullptr ? " neighbor_" : " ") +
         std::string(plan::name(collective_));
}

// The communicator for errors: that of the call, or MPI_COMM_SELF after its end.
Comm RecordRequest::communicator() const {
  const bool lives = service_ != nullptr && service_->uses() == use_;
  return lives ? communicator_ : self_communicator();
}

// `describe` describes the buffers, and returns a reason.
template <class Describe>
Reason RecordRequest::take_over(Communicator& communicator, const Call& call, Describe describe) {
  service_ = &communicator.served_by();
  records_ = &service_->records();
  communicator_ = communicator.handle();
  use_ = service_->uses();
  collective_ = call.collective;
  traced_as_ = communicator.traced_as();
  try {
    return describe();
  } catch (...) {
    buffers_.release();
    throw;
  }
}

Reason RecordRequest::describe(Communicator& communicator, const Call& call) {
  const Reason reason =
      take_over(communicator, call, [&] { return buffers_.describe(communicator, call); });
  if (reason == Reason::none && (report::recording() || tracer() != nullptr))
    bytes_ = bytes_to_report(call);
  return reason;
}

Reason RecordRequest::describe(Communicator& communicator, const Call& call,
                               const records::Neighbourhood& own) {
  const size_t given = plan::parted_in(call.collective)
                           ? own.destinations.size()
                           : std::min<size_t>(1, own.destinations.size());
  const Reason reason = take_over(communicator, call, [&] {
    return buffers_.describe_neighbours(communicator, call, given, own.sources.size(),
                                        form_ == blocking);
  });
  if (reason == Reason::none) bytes_ = buffers_.first_bytes();
  return reason;
}

void RecordRequest::use(const plan::RecordProgram& program, records::Sequence& sequence) {
  sequence_ = &sequence;
  operation_.program = &program;
  buffers_.give_to(operation_);
  const std::vector<int32_t>& awaits = program.awaits;
  awaits_readers_ =
      std::all_of(sequence.readers().begin(), sequence.readers().end(), [&](int reader) {
        return reader == sequence.rank() ||
               std::binary_search(awaits.begin(), awaits.end(), reader);
      });
  is_whole_ = true;
  operation_.observer = nullptr;
  if (tracer() == nullptr) return;
  if (trace_ == nullptr) trace_ = std::make_unique<RecordTrace>();
  operation_.observer = trace_.get();
}

void RecordRequest::use(std::shared_ptr<NeighbourRecords> neighbours) {
  use(neighbours->program(collective_), neighbours->opened().sequence());
  neighbours_ = std::move(neighbours);
  is_whole_ = neighbours_->is_whole(*operation_.program);
}

int RecordRequest::begin(exec::SlotStores& stores) {
  if (report::recording()) since_ = Stopwatch();
  if (trace_ != nullptr) trace_->enter();
  int packing = success;
  try {
    packing = records::start(*sequence_, operation_, stores);
  } catch (const Error& error) {
    if (!starts_later(stores, &packing)) return raise_lack_of_memory(error);
  }
  records_->note_start();
  if (exec::sleeps_when_idle()) exec::ring_all_idle();
  tests_ = {};
  state_ = State::pending;
  lends_ = operation_.lent;
  if (trace_ != nullptr) trace_->published();
  if (report::recording()) {
    spent_ = since_.read();
    if (form_ != blocking) report::record_start(service_->team->arena().held());
  }
  return packing;
}

// Starts an operation for which the system had no memory. False if there still is none. If this
// rank has completed all before it, it waits a little for the ranks that read its data at this
// moment. They may as well need something of this rank first, so it does not wait for longer.
bool RecordRequest::starts_later(exec::SlotStores& stores, int* packing) {
  constexpr auto longest = std::chrono::seconds(1);
  if (sequence_->held() == 0 || records_->under_way() != 0) return false;
  exec::Waiter waiter(exec::pace_between_calls(service_->team->wait_style()));
  waiter.until([&] { return sequence_->may_end(); },
               [&] {
                 drive_host();
                 return waiter.elapsed() < longest ? Code::ok : Code::unavailable;
               });
  try {
    *packing = records::start(*sequence_, operation_, stores);
  } catch (const Error&) {
    return false;
  }
  return true;
}

int RecordRequest::raise_lack_of_memory(const Error& error) {
  log_line(LogLevel::error, "%s: %s", described().c_str(), error.what());
  let_launcher_read();
  return raise(communicator(), abi.err_no_mem);
}

bool RecordRequest::is_far_ahead() const {
  records::Sequence& sequence = *sequence_;
  if (awaits_readers_) return false;
  return sequence.held() > most_held_ahead || sequence.leads_by_more_than(most_ahead);
}

// A rank for which the completion must wait; -1 if there is none.
int RecordRequest::late_rank() {
  int late = -1;
  if (!is_whole_) {
    late = neighbours_->find_program(collective_, &operation_.program);
    if (late >= 0) return late;
    is_whole_ = true;
  }
  if (!records::is_ready(*sequence_, operation_, &late)) return late;
  if (!is_far_ahead()) return -1;
  for (const int rank : sequence_->readers())
    if (sequence_->issued(rank) <= operation_.number) return rank;
  return -1;
}

// If another rank's memory cannot be mapped, complete() reports it.
bool RecordRequest::is_ready() {
  try {
    if (!early_ && late_rank() >= 0) return tests_.is_gone;
    return !operation_.lent || is_returned();
  } catch (...) {
    return true;
  }
}

// For tests of an operation that has lent its buffer: takes the results, so that the other ranks
// get their buffers back. True if complete() would wait for a rank that copies at this moment, or
// for none.
bool RecordRequest::is_returned() {
  if (!early_) take_early();
  return records::is_returned(*sequence_, operation_) ||
         Clock::now() - taken_at_ >= patience(operation_);
}

// Returns false if a rank that is waited for has died.
bool RecordRequest::await_ranks() {
  const size_t awaited = operation_.program->awaits.size();
  for (size_t i = 0; trace_ != nullptr && i < awaited; ++i) {
    if (const int late = late_rank(); late >= 0 && operation_.seen <= i && !wait(late, i + 1))
      return false;
    trace_->waited(i);
  }
  const int late = late_rank();
  return late < 0 || wait(late, SIZE_MAX);
}

records::Outcome RecordRequest::take_results() {
  records::Outcome outcome;
  try {
    if (trace_ != nullptr)
      trace_->begin_completion(*operation_.program, records::record_bytes(operation_));
    if (await_ranks()) return records::take(*sequence_, operation_, scratch_, *this);
    outcome.code = Code::dead_peer;
  } catch (const Error& error) {
    outcome.code = error.code();
    outcome.failure = described() + ": " + error.what();
  } catch (const std::exception& error) {
    outcome.code = Code::unavailable;
    outcome.failure = described() + ": " + error.what();
  }
  return outcome;
}

Code RecordRequest::wait(int rank, const shm::Word& word, uint64_t value) {
  exec::Waiter waiter(exec::pace_of_copies(service_->team->wait_style()));
  return waiter.until([&] { return shm::observe(word) >= value; },
                      [&] {
                        if (!waiter.looks_closely()) return Code::ok;
                        if (process_is_gone(records_->process(rank))) return Code::dead_peer;
                        if (waiter.stalls()) say_late(rank, "does not go on with it");
                        return Code::ok;
                      });
}

void RecordRequest::take_early() {
  early_ = take_results();
  taken_at_ = Clock::now();
}

// Waits until no rank needs the buffer that the operation has lent. A rank whose process has ended
// needs nothing.
void RecordRequest::get_buffer_back() {
  const exec::Pace pace = exec::pace_of_copies(service_->team->wait_style());
  const auto returned = [&] { return records::is_returned(*sequence_, operation_); };
  exec::Waiter patiently(pace);
  const bool is_over = patiently.until(returned, [&] {
    return Clock::now() - taken_at_ < patience(operation_) ? Code::ok : Code::unavailable;
  }) != Code::ok;
  if (!is_over) return;
  records::withdraw(*sequence_, operation_);
  exec::Waiter waiter(pace);
  waiter.until(returned, [&]() -> Code {
    drive_host();
    const auto is_gone = [&](int reader) { return process_is_gone(records_->process(reader)); };
    const std::vector<int>& readers = sequence_->readers();
    if (!waiter.looks_closely()) return Code::ok;
    if (std::any_of(readers.begin(), readers.end(), is_gone)) return Code::dead_peer;
    if (waiter.stalls()) say_late(sequence_->rank(), "waits for ranks that read its buffer");
    return Code::ok;
  });
}

records::Outcome RecordRequest::take_and_end() {
  if (!operation_.lent) {
    records::Outcome outcome = take_results();
    records::end(*sequence_, operation_);
    return outcome;
  }
  if (!early_) take_early();
  get_buffer_back();
  records::end(*sequence_, operation_);
  records::Outcome outcome = std::move(*early_);
  early_.reset();
  return outcome;
}

// Completes a short operation for which nothing needs to be waited for and nothing recorded.
// Returns false, and has done nothing, if it is another one, or if an error is to be raised.
bool RecordRequest::complete_quickly() noexcept {
  const exec::Combine* const combine = operation_.combine;
  if (operation_.lent || !is_whole_ || report::recording() ||
      (combine != nullptr && combine->kernel == nullptr))
    return false;
  try {
    if (is_far_ahead() || !records::take_lines(*sequence_, operation_)) return false;
  } catch (...) {
    return false;
  }
  records::end(*sequence_, operation_);
  note_end();
  return true;
}

int RecordRequest::complete() {
  if (complete_quickly()) return success;
  if (report::recording()) since_ = Stopwatch();
  const bool among_neighbours = neighbours_ != nullptr;  // the end may forget it
  const std::string_view name = among_neighbours ? neighbours_name : records_name;
  const int code = guarded(communicator(), [&] { return finish(take_and_end()); });
  if (report::recording()) {
    spent_ += since_.read();
    report::record({.collective = collective_,
                    .bytes = bytes_,
                    .algorithm = name,
                    .time = spent_,
                    .neighbourhood = among_neighbours,
                    .started = form_ != blocking});
  }
  return code;
}

void RecordRequest::note_end() {
  state_ = State::taken;
  ServedCalls::note();
  records_->note_end();
  ended();
}

// Raises the errors of the operation, which has ended.
int RecordRequest::finish(const records::Outcome& outcome) {
  if (trace_ != nullptr)
    trace_->exit({operation_.program, neighbours_ != nullptr ? neighbours_name : records_name,
                  traced_as_, traced_number(), bytes_});
  const Comm comm = communicator();
  int code = outcome.packing;
  if (code == success) code = buffers_.take_error();
  note_end();
  if (outcome.code == Code::ok) return code;
  if (!outcome.failure.empty()) {
    log_line(LogLevel::error, "%s", outcome.failure.c_str());
    let_launcher_read();  // the handler may abort the job
  }
  return raise(comm, outcome.code == Code::mismatch ? abi.err_truncate : abi.err_other);
}

// Waits until the operation is ready, or `seen` of the ranks that it awaits have started it.
// Returns false, and has said so, if a rank has died.
bool RecordRequest::wait(int late, size_t seen) {
  exec::Waiter waiter(exec::pace_between_calls(service_->team->wait_style()));
  const Code ended = waiter.until(
      [&] {
        late = late_rank();
        return late < 0 || operation_.seen >= seen;
      },
      [&] {
        drive_host();
        waiter.note_peer(records_->process(late));
        if (!waiter.looks_closely()) return Code::ok;
        if (process_is_gone(records_->process(late)) && late_rank() >= 0) return Code::dead_peer;
        if (waiter.stalls()) say_late(late, "has not started it");
        return Code::ok;
      });
  if (ended == Code::ok) return true;
  log_line(LogLevel::error, "rank %d ended before it started %s", late, described().c_str());
  let_launcher_read();
  return false;
}

void RecordRequest::say_late(int rank, const char* what) const {
  const auto seconds = static_cast<long>(options().stall_seconds);
  const char* const stopped = stopped_note(records_->process(rank));
  log_line(LogLevel::warning, "no progress for %ld s in %s: rank %d of its communicator%s%s %s",
           seconds, described().c_str(), rank, stopped, *stopped != '\0' ? "," : "", what);
  end_stalled_job(communicator());
}

// For the usual test this costs a count; a look at the clock follows many tests.
void RecordRequest::note_late() {
  constexpr uint32_t tests_before_look = 32;  // where ranks share cores each may take a time slice
  constexpr auto looks_every = std::chrono::milliseconds(100);
  if (++tests_.late % tests_before_look != 0) return;
  const auto now = Clock::now();
  if (tests_.late == tests_before_look) {
    tests_.watched = exec::WatchedTime(now);
    next_look_ = now + looks_every;
  }
  if (now < next_look_) return;
  next_look_ = now + looks_every;
  tests_.watched.look(now);
  int late = -1;
  try {
    late = late_rank();
  } catch (...) {
    return;  // complete() reports it
  }
  if (late < 0) return;
  if (process_is_gone(records_->process(late))) {
    tests_.is_gone = true;
  } else if (tests_.watched.stalls()) {
    say_late(late, "has not started it");
  }
}

void RecordRequest::drive_host() {
  const exec::ProgressHook hook = service_->team->progress_hook();
  hook.call(hook.context);
}

}  // namespace tutti::mpi
