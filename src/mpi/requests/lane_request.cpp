#include "mpi/requests/lane_request.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "mpi/collectives/general.h"
#include "mpi/job/drive_host.h"
#include "mpi/job/end.h"
#include "mpi/job/self.h"
#include "mpi/job/servers.h"
#include "mpi/job/thrown.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// A start executes the first steps of an operation of up to so many bytes, which takes less time
// than to wake a server. Longer ones are left to the server.
constexpr size_t most_at_start = size_t{64} << 10;

struct Pool {
  std::mutex mutex;
  std::vector<LaneRequest*> idle;
  size_t made = 0;
};

// Never destroyed: exit handlers may still call MPI.
Pool& pool() {
  static Pool& made = *new Pool;
  return made;
}

}  // namespace

LaneRequest* LaneRequest::take(MPI_Comm comm, int* code) {
  Pool& pool = mpi::pool();
  {
    const std::lock_guard<std::mutex> lock(pool.mutex);
    if (!pool.idle.empty()) {
      LaneRequest* const taken = pool.idle.back();
      pool.idle.pop_back();
      return taken;
    }
    pool.idle.reserve(++pool.made);  // giving it back must need no memory
  }
  auto made = std::make_unique<LaneRequest>();
  *code = take_handle(made.get(), &made->handle_);
  if (*code == MPI_SUCCESS) return made.release();
  raise(comm, *code);
  return nullptr;
}

void LaneRequest::give_back() noexcept {
  const std::lock_guard<std::mutex> lock(pool().mutex);
  pool().idle.push_back(this);
}

void end_lane_requests() noexcept {
  const std::lock_guard<std::mutex> lock(pool().mutex);
  if (const size_t active = pool().made - pool().idle.size(); active != 0)
    log_line(
        LogLevel::error,
        "MPI ends, but this rank has not completed %lu non-blocking collectives between nodes; "
        "complete all of them before MPI_Finalize",
        static_cast<unsigned long>(active));
  for (LaneRequest* const one : pool().idle) delete one;
  pool().made -= pool().idle.size();
  pool().idle.clear();
}

MPI_Comm LaneRequest::communicator() const {
  const bool lives = lanes_ != nullptr && lanes_->communicator() == communicator_;
  return lives ? communicator_ : self_communicator();
}

void LaneRequest::forget() noexcept {
  buffers_.release();
  issued_ = {};
  kept_.clear();
  lanes_.reset();
}

// A server runs no function of the program, and the host's for a rare type might be one of the
// program's libraries, so combinations without a kernel stay with the host. All ranks know it from
// the operation and the type.
Reason LaneRequest::describe(Communicator& communicator, const Call& call) {
  if (call.v_form()) return Reason::v_between_nodes;
  if (call.on_neighbourhood()) return Reason::neighbours_between_nodes;
  const Reason reason = buffers_.describe(communicator, call);
  if (reason != Reason::none) return reason;
  described_ = {};
  buffers_.give_to(described_);
  const exec::Combine* const combine = described_.combine;
  return combine != nullptr && combine->kernel == nullptr ? Reason::not_by_servers : Reason::none;
}

Reason LaneRequest::prepare(const Communicator& communicator, const Call& call, group::Call* made) {
  const plan::Definition definition{call.collective, communicator.ranks(), call.root};
  const bool one_buffer = plan::one_buffer(call.collective);
  const bool has_in = one_buffer || definition.has_in(communicator.rank());
  const bool has_out = definition.has_out(communicator.rank());
  const auto ranks = static_cast<size_t>(communicator.ranks());
  const size_t blocks_in = plan::parted_in(call.collective) ? ranks : 1;
  const size_t blocks_out = plan::parted_out(call.collective) ? ranks : 1;
  blocks_out_ = has_out && !described_.keeps_own ? blocks_out : 0;
  // The bytes of a block come from the side that all ranks have; roots judge by their own. If a
  // root's two sides disagree, it still takes part, because the other ranks wait for it.
  const bool by_in = one_buffer || plan::combines(call.collective) || !has_out ||
                     (plan::scatters(call.collective) && has_in);
  bytes_ = by_in ? described_.in_bytes : described_.bytes;
  const bool disagree = has_in && has_out && described_.in_bytes != described_.bytes;
  if (disagree && !plan::rooted(call.collective)) return Reason::wrong_arguments;
  *made = {call.collective, described_.in, described_.out, bytes_, call.root, nullptr};
  if (plan::combines(call.collective)) {
    made->combine = described_.combine;
    made->count = bytes_ / described_.combine->element;
  }
  const bool packs_in = has_in && (described_.packs_in != nullptr || described_.in_bytes != bytes_);
  const bool packs_out = has_out && (described_.packs_out != nullptr || described_.bytes != bytes_);
  packed_out_ = nullptr;
  if (bytes_ == 0 || (!packs_in && !packs_out)) return Reason::none;
  const size_t in_bytes = packs_in ? blocks_in * std::max(bytes_, described_.in_bytes) : 0;
  const bool other_out = packs_out && !one_buffer;
  kept_.resize(in_bytes + (other_out ? blocks_out * std::max(bytes_, described_.bytes) : 0));
  if (packs_in) made->in = kept_.data();
  if (packs_out) made->out = packed_out_ = kept_.data() + (other_out ? in_bytes : 0);
  const bool gives = packs_in && (!one_buffer || communicator.rank() == call.root);
  for (size_t block = 0; gives && block < blocks_in; ++block)
    if (pack(block, kept_.data() + block * bytes_) != MPI_SUCCESS) return Reason::wrong_arguments;
  return Reason::none;
}

// Only a single block may have other bytes than the operation's.
int LaneRequest::pack(size_t block, std::byte* to) {
  if (described_.packs_in != nullptr)
    return described_.packs_in->pack(static_cast<int32_t>(block), to, described_.in_bytes);
  if (described_.in_bytes > 0) std::memcpy(to, described_.in, described_.in_bytes);
  return MPI_SUCCESS;
}

int LaneRequest::issue(Communicator& communicator, const group::Call& call) {
  lanes_ = communicator.lanes();
  const bool empty = plan::has_data(collective_) && bytes_ == 0;  // all ranks know it
  if (!empty) {
    issued_ = lanes_->lanes().issue(call, std::move(kept_));
    const Inside inside;
    if (bytes_ <= most_at_start) issued_.lane->drive();
    if (!issued_.operation->is_over()) hand_to_server(lanes_->lanes());
  }
  state_ = State::pending;
  return MPI_SUCCESS;
}

Reason LaneRequest::start_call(Communicator& communicator, const Call& call, MPI_Request* request,
                               int* code) {
  const auto begin = report::recording() ? Clock::now() : Clock::time_point{};
  LaneRequest* const made = take(communicator.handle(), code);
  if (made == nullptr) return Reason::none;
  const auto give_up = [&] {
    made->forget();
    made->give_back();
  };
  Reason reason = Reason::none;
  try {
    made->collective_ = call.collective;
    made->communicator_ = communicator.handle();
    group::Call as_run;
    reason = made->describe(communicator, call);
    if (reason == Reason::none) reason = made->prepare(communicator, call, &as_run);
    if (reason == Reason::none) *code = made->issue(communicator, as_run);
  } catch (const Error& error) {  // at all ranks alike
    reason = refused(communicator, error).reason;
  } catch (...) {
    give_up();
    throw;
  }
  if (reason != Reason::none) {
    give_up();
    return reason;
  }
  *request = made->handle_;
  if (report::recording()) {
    made->spent_ = Clock::now() - begin;
    report::record_start(0);
  }
  return Reason::none;
}

int LaneRequest::start() {
  return raise_error("MPI_Start is given the request of a non-blocking collective",
                     MPI_ERR_REQUEST);
}

bool LaneRequest::is_ready() {
  if (issued_.operation == nullptr || issued_.operation->is_over()) return true;
  const Inside inside;
  issued_.lane->drive();
  return issued_.operation->is_over();
}

int LaneRequest::complete() {
  const auto begin = report::recording() ? Clock::now() : Clock::time_point{};
  if (issued_.operation != nullptr && !issued_.operation->is_over()) {
    const Inside inside;
    const exec::Lane::Helping helping(*issued_.lane);
    // The lane calls the host only while it waits for a message. If it waits for a rank of this
    // node, that rank may wait for a message of another lane.
    exec::Waiter waiter(exec::pace_of_messages(lanes_->wait_style()),
                        {[](void*) { mpi::drive_host(); }, nullptr});
    waiter.until(
        [&] {
          issued_.lane->drive();
          return issued_.operation->is_over();
        },
        [] { return Code::ok; });
  }
  if (lanes_ != nullptr && !lanes_->lanes().is_idle()) hand_to_server(lanes_->lanes());
  const std::shared_ptr<const exec::BoundProgram> bound =
      issued_.operation != nullptr ? issued_.operation->bound : nullptr;
  const int code = guarded(communicator(), [&] { return finish(); });
  if (report::recording())
    report::record({.collective = collective_,
                    .bytes = bytes_,
                    .algorithm = bound != nullptr ? std::string_view(bound->program->algorithm)
                                                  : std::string_view("none"),
                    .time = spent_ + (Clock::now() - begin),
                    .started = true});
  return code;
}

int LaneRequest::unpack() {
  int code = MPI_SUCCESS;
  for (size_t block = 0; packed_out_ != nullptr && block < blocks_out_; ++block) {
    const std::byte* const from = packed_out_ + block * bytes_;
    int its = MPI_SUCCESS;
    if (described_.packs_out != nullptr)
      its = described_.packs_out->unpack(from, static_cast<int32_t>(block), described_.bytes);
    else if (described_.bytes > 0)
      std::memcpy(described_.out, from, described_.bytes);
    if (code == MPI_SUCCESS) code = its;
  }
  return code;
}

// Raises the errors of the operation, which is over.
int LaneRequest::finish() {
  const MPI_Comm comm = communicator();
  const std::shared_ptr<exec::LaneOperation> operation = issued_.operation;
  const bool failed = operation != nullptr && operation->code != Code::ok;
  const int unpacking = failed ? MPI_SUCCESS : unpack();
  state_ = State::taken;
  ServedCalls::note();
  forget();
  if (!failed) return unpacking == MPI_SUCCESS ? MPI_SUCCESS : raise(comm, unpacking);
  log_line(LogLevel::error, "%s", operation->failure.c_str());
  let_launcher_read();  // the handler may abort the job
  if (operation->stalled) end_job(comm);
  return raise(comm, operation->code == Code::mismatch ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER);
}

bool LaneRequest::tell() noexcept {
  state_ = State::idle;
  give_back();
  return true;
}

int LaneRequest::raise_error(const char* what, int code) {
  log_line(LogLevel::error, "%s", what);
  let_launcher_read();
  return raise(communicator(), code);
}

void LaneRequest::drive_host() { mpi::drive_host(); }

}  // namespace tutti::mpi
