// Point-to-point messages where ranks sleep when they are idle (exec/idle.h), or where a report
// tells how long they take.
//
// A host's blocking call polls, so where ranks sleep it becomes the non-blocking form and a wait of
// Tutti's, which match the same messages. Whoever has started one side of a message rings for the
// rank of the other side, which may wait for the message, for its acknowledgement or for memory.
// Else each function only calls the host's. Blocking calls also note their peer and tag for
// the roll call (host/last_message.h). Counts are of int or, in the large-count forms, MPI_Count.
// Each returns the host's error code. Any thread.
#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "base/time_spent.h"
#include "exec/idle.h"
#include "exec/waiter.h"
#include "mpi/abi/abi_host.h"
#include "mpi/host/last_message.h"
#include "mpi/progress/host_waits.h"
#include "mpi/requests/idle_ranks.h"
#include "report/tally.h"

namespace tutti::mpi::entry {

inline MPI_Request null_request() { return theirs<MPI_Request>(host().request_null); }

// Around a call that may wait, which a report tells of. They do not nest.
[[gnu::cold]] void begin_timed();
[[gnu::cold]] int end_timed(int code);  // returns the code
template <class Call>
int timed(Call call) {
  begin_timed();
  return end_timed(call());
}

// Calls test(&flag), which returns an error code, until the flag is set. Returns the last code.
template <class Test>
int sleep_until(Test test) {
  int code = MPI_SUCCESS, flag = 0;
  const auto is_over = [&] {
    if (flag == 0 && code == MPI_SUCCESS) code = test(&flag);
    return flag != 0 || code != MPI_SUCCESS;
  };
  exec::Waiter(exec::pace_of_idle()).until(is_over, [] { return Code::ok; });
  return code;
}
inline int sleep_until_complete(MPI_Request* request, MPI_Status* status) {
  return sleep_until([&](int* flag) { return abi_host().Test(request, flag, status); });
}

// Out of line, so that the usual path saves no registers for it.
template <class Call>
[[gnu::noinline, gnu::cold]] int out_of_line(Call call) {
  return call();
}

// Calls the host by `by_host`, usually after one load and one branch, or `asleep` if ranks sleep.
template <class ByHost, class Asleep>
int by_host_or(ByHost by_host, Asleep asleep) {
  if (shm::load_relaxed(messages_go_on) != 0) [[likely]]
    return by_host(abi_functions);
  return out_of_line(
      [=] { return timed([&] { return exec::sleeps_when_idle() ? asleep() : by_host(); }); });
}

inline void note_send(LastMessage::By by, int dest, int tag, MPI_Comm comm) {
  last_message.by = by;
  last_message.dest = dest;
  last_message.send_tag = tag;
  last_message.communicator = house<Comm>(comm);
}
inline void note_receive(LastMessage::By by, int source, int tag, MPI_Comm comm) {
  last_message.by = by;
  last_message.source = source;
  last_message.receive_tag = tag;
  last_message.communicator = house<Comm>(comm);
}

// `by_host` makes the host's call. `other` may be MPI_ANY_SOURCE: then nobody is rung for.
template <class ByHost>
int started(MPI_Comm comm, int other, ByHost by_host) {
  const int code = by_host();
  if (code == MPI_SUCCESS && exec::sleeps_when_idle()) ring_rank(house<Comm>(comm), other);
  return code;
}
template <class ByHost>
int started_at_entry(MPI_Comm comm, int other, ByHost by_host) {
  return by_host_or(by_host, [=] { return started(comm, other, by_host); });
}

// The host's function for counts of a type.
template <auto plain, auto large, class Count>
constexpr auto by_count() {
  if constexpr (std::is_same_v<Count, int>)
    return plain;
  else
    return large;
}
template <class Count>
constexpr auto isend_by = by_count<&AbiHost::Isend, &AbiHost::Isend_c, Count>();
template <class Count>
constexpr auto irecv_by = by_count<&AbiHost::Irecv, &AbiHost::Irecv_c, Count>();

template <class Isend>
int send_asleep(Isend isend, MPI_Comm comm, int dest) {
  MPI_Request request = null_request();
  const int code = started(comm, dest, [&] { return isend(&request); });
  return code == MPI_SUCCESS ? sleep_until_complete(&request, MPI_STATUS_IGNORE) : code;
}

// `plain` and `large` are the non-blocking forms of the same mode.
template <auto plain, auto large, class Count, class ByHost>
int send_by(LastMessage::By by, const void* buf, Count count, MPI_Datatype type, int dest, int tag,
            MPI_Comm comm, ByHost by_host) {
  note_send(by, dest, tag, comm);
  return by_host_or(by_host, [=] {
    return send_asleep(
        [&](MPI_Request* made) {
          return (abi_host().*by_count<plain, large, Count>())(buf, count, type, dest, tag, comm,
                                                               made);
        },
        comm, dest);
  });
}
template <class... Arguments>
int send(Arguments... arguments) {
  return send_by<&AbiHost::Isend, &AbiHost::Isend_c>(LastMessage::By::send, arguments...);
}
template <class... Arguments>
int ssend(Arguments... arguments) {
  return send_by<&AbiHost::Issend, &AbiHost::Issend_c>(LastMessage::By::ssend, arguments...);
}
template <class... Arguments>
int rsend(Arguments... arguments) {
  return send_by<&AbiHost::Irsend, &AbiHost::Irsend_c>(LastMessage::By::rsend, arguments...);
}

template <class Count, class ByHost>
int recv(void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status, ByHost by_host) {
  note_receive(LastMessage::By::recv, source, tag, comm);
  return by_host_or(by_host, [=] {
    MPI_Request request = null_request();
    const int code = started(comm, source, [&] {
      return (abi_host().*irecv_by<Count>)(buf, count, type, source, tag, comm, &request);
    });
    if (code != MPI_SUCCESS) return code;
    return started(comm, source, [&] { return sleep_until_complete(&request, status); });
  });
}

// A receive beside a send that could not start is taken back.
template <class Count, class Isend>
int exchange_asleep(void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                    MPI_Status* status, int dest, Isend isend) {
  MPI_Request receive = null_request();
  int code = started(comm, source, [&] {
    return (abi_host().*irecv_by<Count>)(buf, count, type, source, tag, comm, &receive);
  });
  if (code != MPI_SUCCESS) return code;
  code = send_asleep(isend, comm, dest);
  if (code == MPI_SUCCESS) return sleep_until_complete(&receive, status);
  abi_host().Cancel(&receive);
  abi_host().Wait(&receive, MPI_STATUS_IGNORE);
  return code;
}

template <class Count, class ByHost>
int sendrecv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status, ByHost by_host) {
  note_send(LastMessage::By::sendrecv, dest, sendtag, comm);
  note_receive(LastMessage::By::sendrecv, source, recvtag, comm);
  return by_host_or(by_host, [=] {
    return exchange_asleep(recvbuf, recvcount, recvtype, source, recvtag, comm, status, dest,
                           [&](MPI_Request* made) {
                             return (abi_host().*isend_by<Count>)(sendbuf, sendcount, sendtype,
                                                                  dest, sendtag, comm, made);
                           });
  });
}

template <class Count, class ByHost>
int sendrecv_replace(void* buf, Count count, MPI_Datatype type, int dest, int sendtag, int source,
                     int recvtag, MPI_Comm comm, MPI_Status* status, ByHost by_host) {
  note_send(LastMessage::By::sendrecv_replace, dest, sendtag, comm);
  note_receive(LastMessage::By::sendrecv_replace, source, recvtag, comm);
  return by_host_or(by_host, [=] {
    if (count > INT_MAX) return by_host();  // MPI packs so many elements by other functions
    const AbiHost& mpi = abi_host();
    const int elements = static_cast<int>(count);
    int bytes = 0, packed = 0;
    int code = mpi.Pack_size(elements, type, comm, &bytes);
    std::vector<std::byte> sent(static_cast<size_t>(std::max(bytes, 1)));  // Open MPI refuses null
    if (code == MPI_SUCCESS)
      code = mpi.Pack(buf, elements, type, sent.data(), bytes, &packed, comm);
    if (code != MPI_SUCCESS) return code;
    return exchange_asleep(
        buf, count, type, source, recvtag, comm, status, dest, [&](MPI_Request* made) {
          return mpi.Isend(sent.data(), packed, MPI_PACKED, dest, sendtag, comm, made);
        });
  });
}

template <class ByHost>
int probe(int source, int tag, MPI_Comm comm, MPI_Status* status, ByHost by_host) {
  note_receive(LastMessage::By::probe, source, tag, comm);
  return by_host_or(by_host, [=] {
    return sleep_until(
        [&](int* flag) { return abi_host().Iprobe(source, tag, comm, flag, status); });
  });
}
template <class ByHost>
int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status,
           ByHost by_host) {
  note_receive(LastMessage::By::mprobe, source, tag, comm);
  return by_host_or(by_host, [=] {
    return sleep_until(
        [&](int* flag) { return abi_host().Improbe(source, tag, comm, flag, message, status); });
  });
}

// For what starts messages to ranks that are not named in the call.
template <class ByHost>
int ring_after(ByHost by_host) {
  const int code = by_host();
  if (exec::sleeps_when_idle()) exec::ring_all_idle();
  return code;
}

}  // namespace tutti::mpi::entry
