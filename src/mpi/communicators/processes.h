// The table of this process's knowledge about other processes: the world, sessions, and teams.
//
// A process has one table of them, with a lock that is not held while communicating; any thread may
// call. why_no_team and may_set_up take no lock, because only the begin and the end of MPI change
// what they read. The registry (registry.h) opens and closes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/host/host.h"
#include "mpi/host/private_group.h"
#include "mpi/job/gathered_placement.h"
#include "mpi/job/team.h"

namespace tutti::mpi {

void open_processes();
void close_processes();
// MPI_COMM_WORLD has ended, and sessions go on.
void end_world();

// Stores what is known about the world, the ranks of MPI_COMM_WORLD, at the end of MPI_Init. The
// team may be null, for the given reason. The placement is null if none was gathered.
void enter_world(std::shared_ptr<Team> team, std::string why_no_team,
                 std::shared_ptr<const GatheredPlacement> placement);
// From now on no communicator sets up, because the ranks have not agreed in MPI_Init.
void switch_off();

std::shared_ptr<Team> world_team();
const std::string& why_no_team();
// True if all ranks of a communicator are in the world.
bool in_world(Comm communicator, int ranks);
// The world's placement; null if none was gathered or MPI_COMM_WORLD has ended. If it is not null,
// *members are the communicator's ranks as ranks of the world, or empty if one is not in it.
std::shared_ptr<const GatheredPlacement> world_placement(Comm communicator, int ranks,
                                                         std::vector<int>* members);
// False after switch_off.
bool may_set_up();

// Adds an open session of this process, and the group of its job's processes, which the table
// then owns. forget_session is false if the table did not have the session.
void note_session(uint64_t session, PrivateGroup processes);
bool forget_session(uint64_t session);
bool knows_session(uint64_t session);
bool any_session();

// Marks a communicator of several jobs as trusted: all of its ranks run under Tutti. Its duplicates
// are then trusted too.
void trust(Comm communicator);
bool trusted(Comm communicator);

// True if Tutti may ask the ranks of a communicator that are not all in the world to form a team,
// because all of them will answer: the communicator is trusted, or they are of one job that has
// sessions, or members of a team that was formed so. The same at all of them.
bool may_ask(Comm communicator, int ranks);
// note_team adds a team that was formed so, for as long as a communicator uses it. noted_team is
// the newest of these that covers a communicator; null if none does.
void note_team(const std::shared_ptr<Team>& team);
std::shared_ptr<Team> noted_team(Comm communicator, int ranks);

}  // namespace tutti::mpi
