// The registry of communicators: how a call finds what Tutti knows of its communicator, and what
// this process knows of the others that it may meet.
//
// One a process, with a lock that is not held while communicating. It is opened by MPI_Init or the
// first session and closed by MPI_Finalize or the last session, whichever comes later; while
// closed, every call goes to the host. A thread remembers some communicators that it used, by
// handle. Handles are reused, so it forgets them when any communicator ends. The registry learns of
// the end in one of two ways. If it has seen how the communicator was made, and no session was open
// then, it also sees how it is freed (entry_communicators.cpp). Any other communicator has an
// attribute, whose delete callback the host calls however the communicator is freed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/abi/inside.h"
#include "mpi/communicators/communicator.h"
#include "mpi/job/gathered_placement.h"

namespace tutti::mpi {

void open_registry(bool record);
void close_registry();
bool registry_is_open();
// All that are known, at MPI_Finalize, where no other thread ends one.
std::vector<const Communicator*> known_communicators();

// The world, MPI_COMM_WORLD's ranks, from the end of MPI_Init on; its team may be null, for the
// reason given; places are null where the team has all ranks.
void enter_world(std::shared_ptr<Team> team, std::string why_no_team,
                 std::shared_ptr<const GatheredPlacement> placement);
// At MPI_Finalize, where sessions go on: other ranks may not have come to it yet, so decisions stay
// what they were; but nothing of the world may be used any more.
void leave_world();
// Whether MPI_COMM_WORLD has not ended: what served its communicators may serve others.
bool world_lasts();
// From now on no communicator sets up: the ranks' options differ.
void switch_off();

std::shared_ptr<Team> world_team();
const std::string& why_no_team();
bool in_world(MPI_Comm communicator, int ranks);
// Null where nobody knows, or MPI_COMM_WORLD has ended; else with the places in the world of a
// communicator's ranks, empty where one is not in it.
std::shared_ptr<const GatheredPlacement> world_placement(MPI_Comm communicator, int ranks,
                                                         std::vector<int>* members);
bool may_set_up();

// A session of this process, and the processes of its job; the group is the registry's from here
// on. Forgetting says whether it was known.
void note_session(uint64_t session, MPI_Group processes);
bool forget_session(uint64_t session);
bool knows_session(uint64_t session);
bool any_session();

// The communicator's ranks, of several jobs, are known to run under Tutti, all of them.
void trust(MPI_Comm communicator);
bool trusted(MPI_Comm communicator);

// True where all ranks of a communicator that the world's team does not cover may be asked for a
// team of their own: they are trusted, of one job that has sessions, or members of such a team. The
// same at all of them.
bool may_ask(MPI_Comm communicator, int ranks);
// A team made so, kept for as long as a communicator uses it, and the newest that covers a
// communicator.
void note_team(const std::shared_ptr<Team>& team);
std::shared_ptr<Team> noted_team(MPI_Comm communicator, int ranks);

// An MPI function has made a communicator; an MPI function is about to free one. If memory runs
// out, the first call has no effect.
void communicator_made(MPI_Comm handle) noexcept;
void communicator_ends(MPI_Comm handle) noexcept;

// The communicator of a call; null where the call is none of Tutti's.
Communicator* find_communicator(MPI_Comm handle);
// After a call that the host has made. The first one notes the communicator, whose handle the host
// has found to be right.
void count_call(Communicator& communicator, int code);

// The path of every call: the communicator if it has a group and nothing is being recorded; null
// otherwise. Each thread remembers a few that it used, one a place, by their handles; others are
// found by their handles' hash (group/handle_table.h).
struct Remembered {
  MPI_Comm handle{};
  uint64_t generation = 0;  // 0: empty
  Communicator* communicator = nullptr;
  group::Group* group = nullptr;  // the communicator's
};
inline constexpr int log_of_remembered = 3;
extern constinit TUTTI_PER_THREAD Remembered remembered[1 << log_of_remembered];
extern shm::Word generation;  // of the registry; grows when a communicator ends

inline Remembered& place_of(MPI_Comm handle) {
  Remembered* place = &remembered[static_cast<uint32_t>((uint64_t)handle) * 0x9E3779B1u >>
                                  (32 - log_of_remembered)];
  __asm__("" : "+r"(place));  // or compilers compute it anew for each member
  return *place;
}

const Remembered* recall(MPI_Comm handle);

// One branch, which is nearly always taken alike.
inline bool is_ready(const Remembered& known, MPI_Comm handle) {
  return (((uint64_t)known.handle ^ (uint64_t)handle) |
          (known.generation ^ shm::load_relaxed(generation)) |
          static_cast<unsigned>(Inside::depth)) == 0;
}

inline const Remembered* ready_communicator(MPI_Comm handle) {
  const Remembered& known = place_of(handle);
  if (!is_ready(known, handle)) [[unlikely]]
    return recall(handle);
  return &known;
}

}  // namespace tutti::mpi
