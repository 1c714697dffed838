// The registry of communicators, in which a call finds its Communicator.
//
// A process has one registry, with a lock that is not held while communicating; any thread may call
// its functions. registry_is_open and world_lasts take no lock, because only the begin
// and the end of MPI change what they read. The registry is opened by MPI_Init or the first session
// and closed by MPI_Finalize or the end of the last session, whichever comes later. While it is
// closed, every call goes to the host. A thread remembers some communicators that it used, by
// handle. Handles are reused, so all threads forget all of them when a communicator ends that may
// have a group.
//
// The registry learns of the end in one of two ways. If it has seen how the communicator was made,
// and no session was open then, it also sees how it is freed (entry/makers.h). Any other
// communicator has an attribute, whose delete callback the host calls however the communicator is
// freed: from its making, if the registry has seen that, and else from its first call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mpi/host/inside.h"
#include "mpi/communicators/communicator.h"
#include "mpi/communicators/processes.h"

namespace tutti::mpi {

// `record`: calls are recorded for the report.
void open_registry(bool record);
void close_registry();
bool registry_is_open();
// All communicators of the registry. For MPI_Finalize, when no other thread ends one.
std::vector<const Communicator*> known_communicators();
// Calls `visit` for each of them and its name, with the lock held: none ends meanwhile, but another
// thread may use one. For the watchdog.
void visit_communicators(
    const std::function<void(const Communicator&, const std::string& name)>& visit);
// The program has given it this name.
void communicator_named(Comm handle, const char* name) noexcept;

// For MPI_Finalize, if sessions go on. Nothing that was made from MPI_COMM_WORLD may be used any
// more. Decisions stay as they were, because other ranks may not have called MPI_Finalize yet.
void leave_world();
// True if the registry is open and leave_world was not called, so that services may be parked. Also
// true in a process that has sessions and no MPI_COMM_WORLD.
bool world_lasts();
// How the program makes a communicator: by a collective on a parent, by one that does not wait, so
// that the communicator may be used later only (MPI_Comm_idup), by MPI_Comm_create_group, or from a
// group of a session's processes, without a parent.
struct Making {
  enum class By : uint8_t { parent, request, group, session };
  By by = By::parent;
  Comm parent{};
  Group group{};  // for By::group
  int tag = 0;

  static Making by_parent(Comm parent) { return {By::parent, parent, {}, 0}; }
  static Making by_request(Comm parent) { return {By::request, parent, {}, 0}; }
  static Making by_group(Comm parent, Group group, int tag) {
    return {By::group, parent, group, tag};
  }
  static Making by_session() { return {By::session, {}, {}, 0}; }
};

// The needs of a communicator that was just made.
enum class Newborn : uint8_t {
  nothing,
  set_up,    // it is to set up at once, at all of its ranks
  no_memory  // memory lacks at this rank: the program must not use it
};

// Call it after an MPI function has made a communicator at its other ranks, and perhaps at
// this one: `handle` may be MPI_COMM_NULL. So all ranks of a parent count the communicators that
// are made from it. communicator_ends is to be called before a function frees a communicator. It
// has no effect on one that has an attribute.
Newborn communicator_made(const Making& making, Comm handle) noexcept;
void communicator_ends(Comm handle) noexcept;

// True if the host has refused a call for this rank's arguments. It has then not begun the call,
// and no other rank knows of it.
bool refused_for_arguments(int code);

// Leaves all further calls on a communicator to the host, because this rank revokes it.
void communicator_revoked(Comm handle);
// Leaves all calls on a communicator to the host whose ranks are threads, several in a process
// (MPICH's MPIX_Threadcomm_init). They call at once, and Tutti's ranks are processes. So are all
// communicators whose size is not that of their group.
void communicator_of_threads(Comm handle) noexcept;

// How many communicators of the host's this process has, as far as Tutti knows: the program's, and
// Tutti's own.
size_t communicators_in_use();

// The Communicator of a call; null if Tutti must leave the call to the host. It is made if the
// registry has none, and sets up if it is time to. The result is valid until the communicator ends.
// This function and count_call may throw, and set-up is collective.
Communicator* find_communicator(Comm handle);
// Sets up the communicator of a handle if it is time to. Collective; may throw.
void set_up_if_due(Comm handle);
// Sets up the communicator if it meets (Communicator::meet), in the call that this rank makes on
// it. May throw.
void meet(Communicator& communicator, const std::function<bool()>& is_refused);
// Notes that a non-blocking collective has been started on a communicator, which then sets up in
// its next blocking collective. Those that are made from it from now on set up when they are made,
// if they have no lineage.
void expect_nonblocking(Comm handle);
// The Communicator of a handle; null if the registry has none, or must leave the call to the host.
// Makes nothing and sets nothing up, so it makes no collective calls. May throw bad_alloc.
Communicator* known_communicator(Comm handle);
// Call it after a call that the host has made, with its error code. Counts the call, and sets
// up if it was the last one before set-up. The first call also notes how the registry will learn of
// the communicator's end, because the host has found the handle to be valid.
void count_call(Communicator& communicator, int code);

// A communicator that a thread remembers. Each thread has a few places, of which a handle's hash
// selects one.
struct Remembered {
  Comm handle{};
  uint64_t generation = 0;  // 0: empty
  Communicator* communicator = nullptr;
  group::Group* group = nullptr;  // the communicator's
};
inline constexpr int log_of_remembered = 3;
extern constinit TUTTI_PER_THREAD Remembered remembered[1 << log_of_remembered];
// The generation of the registry. It grows when a communicator ends that may have a group, and when
// the registry closes or the world ends.
extern shm::Word generation;
// Makes it grow: all threads forget what they remember, and calls that were noted for being made
// again are looked at anew. Any thread, at any time.
void forget_remembered() noexcept;

inline Remembered& place_of(Comm handle) {
  Remembered* place = &remembered[static_cast<uint32_t>((uint64_t)handle) * 0x9E3779B1u >>
                                  (32 - log_of_remembered)];
  __asm__("" : "+r"(place));  // else compilers compute the address anew for each member
  return *place;
}

// Finds a communicator in the table of those with groups (group/handle_table.h) and remembers it.
// Null if it is not there, if the thread is inside Tutti, if buffers of calls may be in a GPU's
// memory (base/gpu.h) or if tools hide functions (mpi/host/tools.h), which the path of known calls
// does not look for.
const Remembered* recall(Comm handle);

// True if the place has this handle, the generation has not grown since it was filled, and the
// thread is not inside Tutti. One branch, which nearly always goes the same way.
inline bool is_ready(const Remembered& known, Comm handle) {
  return (((uint64_t)known.handle ^ (uint64_t)handle) |
          (known.generation ^ shm::load_relaxed(generation)) |
          static_cast<unsigned>(Inside::depth)) == 0;
}

// The path of every call: the communicator if it has a group and calls are not recorded; else null.
inline const Remembered* ready_communicator(Comm handle) {
  const Remembered& known = place_of(handle);
  if (!is_ready(known, handle)) [[unlikely]]
    return recall(handle);
  return &known;
}

}  // namespace tutti::mpi
