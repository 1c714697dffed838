#include "mpi/report/messages.h"

#include <algorithm>
#include <string>

#include "base/log.h"
#include "base/options.h"
#include "exec/waiter.h"

namespace tutti::mpi {
namespace {

void require_came(Code code, int peer) {
  if (code != Code::ok)
    throw Error(code, "rank " + std::to_string(peer) + " has " +
                          (code == Code::dead_peer ? "ended" : "not come") +
                          "; there is no trace of this job");
}

}  // namespace

Code Messages::await(Request& request, int peer) {
  // Simulated ranks cannot die, and can wait for each other only inside the host.
  if (simulated) return host().Wait(&request, abi.status_ignore), Code::ok;
  exec::Waiter waiter(exec::pace_of_messages(exec::WaitStyle::spin));
  const auto is_here = [&] {
    int done = 0;
    host().Test(&request, &done, abi.status_ignore);
    return done != 0;
  };
  return waiter.until(is_here, [&] {
    if (!waiter.looks_closely()) return Code::ok;
    if (has_died_(peer)) return is_here() ? Code::ok : Code::dead_peer;
    if (!waiter.stalls()) return Code::ok;
    log_line(LogLevel::warning, "the trace waits for rank %d, which has not come to it", peer);
    return options().stall == StallAction::abort_job ? Code::unavailable : Code::ok;
  });
}

// A message whose peer has died is left alone: nobody takes it.
void Messages::send(const void* bytes, size_t count, int to) {
  const auto* at = static_cast<const std::byte*>(bytes);
  for (size_t sent = 0; sent < count; sent += piece) {
    Request request{};
    host().Isend(at + sent, static_cast<int>(std::min(piece, count - sent)), host().type_byte, to,
                 0, communicator_, &request);
    require_came(await(request, to), to);
  }
}

void Messages::receive(void* bytes, size_t count, int from) {
  auto* at = static_cast<std::byte*>(bytes);
  for (size_t done = 0; done < count; done += piece) {
    Request request{};
    host().Irecv(at + done, static_cast<int>(std::min(piece, count - done)), host().type_byte, from,
                 0, communicator_, &request);
    const Code code = await(request, from);
    if (code != Code::ok) {  // the memory may be gone soon
      host().Cancel(&request);
      host().Request_free(&request);
    }
    require_came(code, from);
  }
}

}  // namespace tutti::mpi
