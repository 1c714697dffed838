// Point-to-point messages where ranks sleep when they are idle (exec/idle.h).
//
// A host's blocking call polls, so here it becomes the non-blocking form and a wait of Tutti's,
// which match the same messages. Whoever has started one side of a message rings for the rank of
// the other side, which may wait for the message, for its acknowledgement or for memory. Where no
// rank sleeps, each function only calls the host's. Each returns the host's error code. Any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "exec/idle.h"
#include "exec/waiter.h"
#include "mpi/abi/abi_host.h"
#include "mpi/requests/idle_ranks.h"

namespace tutti::mpi::entry {

inline MPI_Request null_request() { return theirs<MPI_Request>(host().request_null); }

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
[[gnu::noinline, gnu::cold]] int asleep(Call call) {
  return call();
}

// `by_host` makes the host's call. `other` may be MPI_ANY_SOURCE: then nobody is rung for.
template <class ByHost>
int started(MPI_Comm comm, int other, ByHost by_host) {
  if (!exec::sleeps_when_idle()) [[likely]]
    return by_host();
  const int code = by_host();
  if (code == MPI_SUCCESS) ring_rank(house<Comm>(comm), other);
  return code;
}

template <class Isend>
int send_asleep(Isend isend, MPI_Comm comm, int dest) {
  MPI_Request request = null_request();
  const int code = started(comm, dest, [&] { return isend(&request); });
  return code == MPI_SUCCESS ? sleep_until_complete(&request, MPI_STATUS_IGNORE) : code;
}

template <class ByHost>
int send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
         ByHost by_host) {
  if (!exec::sleeps_when_idle()) [[likely]]
    return by_host();
  return asleep([=] {
    return send_asleep(
        [&](MPI_Request* made) {
          return abi_host().Isend(buf, count, type, dest, tag, comm, made);
        },
        comm, dest);
  });
}
template <class ByHost>
int ssend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
          ByHost by_host) {
  if (!exec::sleeps_when_idle()) [[likely]]
    return by_host();
  return asleep([=] {
    return send_asleep(
        [&](MPI_Request* made) {
          return abi_host().Issend(buf, count, type, dest, tag, comm, made);
        },
        comm, dest);
  });
}
template <class ByHost>
int rsend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
          ByHost by_host) {
  if (!exec::sleeps_when_idle()) [[likely]]
    return by_host();
  return asleep([=] {
    return send_asleep(
        [&](MPI_Request* made) {
          return abi_host().Irsend(buf, count, type, dest, tag, comm, made);
        },
        comm, dest);
  });
}

template <class ByHost>
int recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status, ByHost by_host) {
  if (!exec::sleeps_when_idle()) [[likely]]
    return by_host();
  return asleep([=] {
    MPI_Request request = null_request();
    const int code = started(comm, source, [&] {
      return abi_host().Irecv(buf, count, type, source, tag, comm, &request);
    });
    if (code != MPI_SUCCESS) return code;
    return started(comm, source, [&] { return sleep_until_complete(&request, status); });
  });
}

// A receive beside a send that could not start is taken back.
template <class Isend>
int exchange_asleep(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                    MPI_Status* status, int dest, Isend isend) {
  MPI_Request receive = null_request();
  int code = started(comm, source, [&] {
    return abi_host().Irecv(buf, count, type, source, tag, comm, &receive);
  });
  if (code != MPI_SUCCESS) return code;
  code = send_asleep(isend, comm, dest);
  if (code == MPI_SUCCESS) return sleep_until_complete(&receive, status);
  abi_host().Cancel(&receive);
  abi_host().Wait(&receive, MPI_STATUS_IGNORE);
  return code;
}

template <class ByHost>
int sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status, ByHost by_host) {
  if (!exec::sleeps_when_idle()) [[likely]]
    return by_host();
  return exchange_asleep(
      recvbuf, recvcount, recvtype, source, recvtag, comm, status, dest, [&](MPI_Request* made) {
        return abi_host().Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, made);
      });
}

template <class ByHost>
int sendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag, int source,
                     int recvtag, MPI_Comm comm, MPI_Status* status, ByHost by_host) {
  if (!exec::sleeps_when_idle()) [[likely]]
    return by_host();
  const AbiHost& mpi = abi_host();
  int bytes = 0, packed = 0;
  int code = mpi.Pack_size(count, type, comm, &bytes);
  std::vector<std::byte> sent(static_cast<size_t>(code == MPI_SUCCESS ? bytes : 0));
  if (code == MPI_SUCCESS) code = mpi.Pack(buf, count, type, sent.data(), bytes, &packed, comm);
  if (code != MPI_SUCCESS) return code;
  return exchange_asleep(
      buf, count, type, source, recvtag, comm, status, dest, [&](MPI_Request* made) {
        return mpi.Isend(sent.data(), packed, MPI_PACKED, dest, sendtag, comm, made);
      });
}

template <class ByHost>
int probe(int source, int tag, MPI_Comm comm, MPI_Status* status, ByHost by_host) {
  if (!exec::sleeps_when_idle()) [[likely]]
    return by_host();
  return sleep_until([&](int* flag) { return abi_host().Iprobe(source, tag, comm, flag, status); });
}
template <class ByHost>
int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status,
           ByHost by_host) {
  if (!exec::sleeps_when_idle()) [[likely]]
    return by_host();
  return sleep_until(
      [&](int* flag) { return abi_host().Improbe(source, tag, comm, flag, message, status); });
}

// For what starts messages to ranks that are not named in the call.
template <class ByHost>
int ring_after(ByHost by_host) {
  const int code = by_host();
  if (exec::sleeps_when_idle()) exec::ring_all_idle();
  return code;
}

}  // namespace tutti::mpi::entry
