// The last blocking call of a message that a thread has made, for the roll call (mpi/roll). The
// entry points write it (entry/point_to_point.h), in a few stores, whatever the host does then.
//
// Nothing takes it back when the call returns: a reader must know from the thread's stack that the
// thread is in that function. Each thread has its own, and reads it alone, also in the handler of a
// signal; so it needs no lock.
#pragma once

#include <cstdint>

#include "mpi/host/abi.h"
#include "mpi/host/handles.h"
#include "shm/order.h"

namespace tutti::mpi {

struct LastMessage {
  enum class By : int32_t {
    none,
    send,
    ssend,
    rsend,
    recv,
    probe,
    mprobe,
    sendrecv,
    sendrecv_replace,
  };

  By by = By::none;
  int dest = 0, send_tag = 0;       // written by functions that send
  int source = 0, receive_tag = 0;  // and by those that receive or probe
  Comm communicator{};
};
inline constinit TUTTI_PER_THREAD LastMessage last_message{};

// 1 if calls of messages only call the host's functions: the Host is made (host.h), no rank sleeps
// when it is idle (exec/idle.h), and no report tells of messages.
inline constinit shm::Word messages_go_on{0};

}  // namespace tutti::mpi
