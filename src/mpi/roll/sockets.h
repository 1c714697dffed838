// The sockets by which processes of a node call the roll: a name for each rank, which no file
// system holds. The system forgets a name when its process ends, however it ends, and other network
// namespaces have names of their own. Both ends ask the system who the other is, and talk to no
// other user.
//
// Functions without state; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::mpi::roll {

// Returns a descriptor that accepts connections, or -1 if the system gives none.
int listen_as(const std::string& job, int rank, int ranks);
// The next connection of this user; -1 if none waits.
int accept_own_user(int listener);
// Returns a connection to a rank of this node, or -1 if no process has its name. *process gets the
// number of that process.
int connect_to(const std::string& job, int rank, int ranks, int64_t* process);

// False if the other end has gone, or reads nothing.
bool send_text(int connection, const std::string& text);
// One line without its end. *in_time: it has come, or the other end has closed the connection and
// the line is empty, within so many milliseconds.
std::string receive_line(int connection, int milliseconds, bool* in_time);
// Appends what has come. False at the end of the text.
bool receive_more(int connection, std::string* text);

}  // namespace tutti::mpi::roll
