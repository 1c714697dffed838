#include "mpi/requests/lane_nonblocking.h"

#include "base/error.h"
#include "base/log.h"
#include "mpi/collectives/general.h"

namespace tutti::mpi {

void end_lane_requests() noexcept {
  if (const size_t active = RequestPool<LaneNonblocking>::instance().end(); active != 0)
    log_line(
        LogLevel::error,
        "MPI ends, but this rank has not completed %lu non-blocking collectives between nodes; "
        "complete all of them before MPI_Finalize",
        static_cast<unsigned long>(active));
}

Reason LaneNonblocking::try_to_start(Communicator& communicator, const Call& call) {
  try {
    if (const Reason reason = describe(communicator, call); reason != Reason::none) return reason;
    if (fill() != success) return Reason::wrong_arguments;
    use(communicator.several_nodes()->lanes());
    if (!begin_by_servers(*communicator.group()))
      begin([&](group::Lanes& lanes) { return lanes.issue(prepared_call()); });
    return Reason::none;
  } catch (const Error& error) {  // at all ranks alike
    return refused(communicator, error).reason;
  }
}

Reason LaneNonblocking::start_call(Communicator& communicator, const Call& call, Request* request,
                                   int* code) {
  LaneNonblocking* const made = Pool::instance().take(communicator.handle(), code);
  if (made == nullptr) return Reason::none;
  const auto give_up = [&] {
    made->forget();
    Pool::instance().give_back(made);
  };
  Reason reason = Reason::none;
  try {
    reason = made->try_to_start(communicator, call);
  } catch (...) {
    give_up();
    throw;
  }
  if (reason == Reason::none)
    *request = made->handle_;
  else
    give_up();
  return reason;
}

bool LaneNonblocking::tell() noexcept {
  state_ = State::idle;
  Pool::instance().give_back(this);
  return true;
}

}  // namespace tutti::mpi
