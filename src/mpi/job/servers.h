// The server of this process: a thread that drives the lanes of communicators over several nodes
// (group/lanes.h), and one-sided transfers between nodes (one_sided/between_nodes.h), while the
// program computes. TUTTI_SERVERS asks for it.
//
// It needs MPI_THREAD_MULTIPLE, because it calls the host's point-to-point functions; MPI_Init asks
// the host for that level only if servers are asked for (entry/life.h). The thread starts with the
// first lanes and ends when MPI ends. It blocks all signals, so that the program's handlers run in
// its own threads, and runs none of the program's code. A forked child has no such thread, and must
// not call MPI.
//
// The hosts have no wait that costs no core, so the thread sleeps until the time at which its lanes
// ask for a look (exec/look_times.h), by a timer that whoever issues an operation sets. So a start
// does not wake the thread. While no operation is under way the timer is off.
//
// Any thread may call these functions. The state is never destroyed.
#pragma once

#include "exec/lane.h"

namespace tutti::mpi {

// Something that the server drives. It refers to the object, which has the functions of
// group::Lanes that are called here.
struct Driven {
  void* object = nullptr;
  exec::Lane::Turn (*drive)(const Driven&) = nullptr;
  bool (*is_idle)(const Driven&) = nullptr;
  exec::Lane::Clock::time_point (*next_look)(const Driven&) = nullptr;

  template <class Object>
  static Driven of(Object& object) {
    return {&object, [](const Driven& driven) { return driven.as<Object>().drive_for_others(); },
            [](const Driven& driven) { return driven.as<Object>().is_idle(); },
            [](const Driven& driven) { return driven.as<Object>().next_look(); }};
  }

 private:
  template <class Object>
  Object& as() const {
    return *static_cast<Object*>(object);
  }
};

// Call it inside MPI_Init if servers are asked for. `permitted`: the host grants the thread level
// that they need.
void permit_servers(bool permitted);
// True if a server may run in this process; starts it if none runs. False if the host does not
// permit it, or the system refuses a thread, which is logged once.
bool start_server();
// Ends the server, when MPI ends. Lanes are then driven by the ranks that wait.
void stop_server();

// The server drives the object until it is idle. For lanes to be called after each operation that
// has been issued, and when a rank stops driving them with operations left. It has no effect if no
// server runs.
void hand_to_server(const Driven& driven);
template <class Object>
void hand_to_server(Object& object) {
  hand_to_server(Driven::of(object));
}
// Returns when the server does not use the object any more.
void take_from_server(const void* object);
template <class Object>
void take_from_server(Object& object) {
  take_from_server(static_cast<const void*>(&object));
}

// Call it before the report is written.
void record_server();

}  // namespace tutti::mpi
