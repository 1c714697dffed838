// Point-to-point messages where ranks sleep when they are idle (exec/idle.h), or where a report
// tells how long they take.
//
// A host's blocking call polls, so where ranks sleep it becomes the non-blocking form and a wait of
// Tutti's, which match the same messages. Whoever has started one side of a message rings for the
// rank of the other side, which may wait for the message, for its acknowledgement or for memory.
// Else each function only calls the host's. Each returns the host's error code. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/time_spent.h"
#include "exec/idle.h"
#include "exec/waiter.h"
#include "mpi/abi/abi_host.h"
#include "mpi/progress/host_waits.h"
#include "mpi/requests/idle_ranks.h"
#include "mpi/requests/own_request.h"
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
// Out of line, so that the usual path saves no registers for it.
template <class Call>
[[gnu::noinline, gnu::cold]] int asleep(Call call) {
  return timed(call);
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

// `start` starts one side of a message. `other` may be MPI_ANY_SOURCE: then nobody is rung for.
template <class Start>
int start_and_ring(MPI_Comm comm, int other, Start start) {
  const int code = start();
  if (code == MPI_SUCCESS) ring_rank(house<Comm>(comm), other);
  return code;
}
[[gnu::cold]] int end_start(int code, Comm comm, int other);
template <class ByHost>
int started(MPI_Comm comm, int other, ByHost by_host) {
  if (!messages_are_watched) [[likely]]
    return by_host();
  begin_timed();
  return end_start(by_host(), house<Comm>(comm), other);
}

template <class Isend>
int send_asleep(MPI_Comm comm, int dest, Isend isend) {
  MPI_Request request = null_request();
  const int code = start_and_ring(comm, dest, [&] { return isend(&request); });
  return code == MPI_SUCCESS ? sleep_until_complete(&request, MPI_STATUS_IGNORE) : code;
}

// `isend` is the non-blocking form of the same mode.
template <auto isend, class ByHost>
int send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
         ByHost by_host) {
  if (!messages_are_watched) [[likely]]
    return by_host();
  if (!exec::sleeps_when_idle()) return timed(by_host);
  return asleep([=] {
    return send_asleep(comm, dest, [&](MPI_Request* made) {
      return (abi_host().*isend)(buf, count, type, dest, tag, comm, made);
    });
  });
}

template <class ByHost>
int recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status, ByHost by_host) {
  if (!messages_are_watched) [[likely]]
    return by_host();
  if (!exec::sleeps_when_idle()) return timed(by_host);
  return asleep([=] {
    MPI_Request request = null_request();
    const int code = start_and_ring(comm, source, [&] {
      return abi_host().Irecv(buf, count, type, source, tag, comm, &request);
    });
    if (code != MPI_SUCCESS) return code;
    return start_and_ring(comm, source, [&] { return sleep_until_complete(&request, status); });
  });
}

// A receive beside a send that could not start is taken back.
template <class Isend>
int exchange_asleep(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                    MPI_Status* status, int dest, Isend isend) {
  MPI_Request receive = null_request();
  int code = start_and_ring(comm, source, [&] {
    return abi_host().Irecv(buf, count, type, source, tag, comm, &receive);
  });
  if (code != MPI_SUCCESS) return code;
  code = send_asleep(comm, dest, isend);
  if (code == MPI_SUCCESS) return sleep_until_complete(&receive, status);
  abi_host().Cancel(&receive);
  abi_host().Wait(&receive, MPI_STATUS_IGNORE);
  return code;
}

template <class ByHost>
int sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status, ByHost by_host) {
  if (!messages_are_watched) [[likely]]
    return by_host();
  if (!exec::sleeps_when_idle()) return timed(by_host);
  return asleep([=] {
    return exchange_asleep(
        recvbuf, recvcount, recvtype, source, recvtag, comm, status, dest, [&](MPI_Request* made) {
          return abi_host().Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, made);
        });
  });
}

// Sends a copy of the buffer.
inline int exchange_copy_asleep(void* buf, int count, MPI_Datatype type, int dest, int sendtag,
                                int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const AbiHost& mpi = abi_host();
  int bytes = 0, packed = 0;
  int code = mpi.Pack_size(count, type, comm, &bytes);
  std::vector<std::byte> sent(static_cast<size_t>(std::max(bytes, 1)));  // Open MPI refuses null
  if (code == MPI_SUCCESS) code = mpi.Pack(buf, count, type, sent.data(), bytes, &packed, comm);
  if (code != MPI_SUCCESS) return code;
  return exchange_asleep(
      buf, count, type, source, recvtag, comm, status, dest, [&](MPI_Request* made) {
        return mpi.Isend(sent.data(), packed, MPI_PACKED, dest, sendtag, comm, made);
      });
}

template <class ByHost>
int sendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag, int source,
                     int recvtag, MPI_Comm comm, MPI_Status* status, ByHost by_host) {
  if (!messages_are_watched) [[likely]]
    return by_host();
  if (!exec::sleeps_when_idle()) return timed(by_host);
  return asleep([=] {
    return exchange_copy_asleep(buf, count, type, dest, sendtag, source, recvtag, comm, status);
  });
}

template <class ByHost>
int probe(int source, int tag, MPI_Comm comm, MPI_Status* status, ByHost by_host) {
  if (!messages_are_watched) [[likely]]
    return by_host();
  if (!exec::sleeps_when_idle()) return timed(by_host);
  return asleep([=] {
    return sleep_until(
        [&](int* flag) { return abi_host().Iprobe(source, tag, comm, flag, status); });
  });
}
template <class ByHost>
int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status,
           ByHost by_host) {
  if (!messages_are_watched) [[likely]]
    return by_host();
  if (!exec::sleeps_when_idle()) return timed(by_host);
  return asleep([=] {
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
