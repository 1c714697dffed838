// The doors at which the ranks of a job may be asked where they are.
//
// On a node that is a socket for each rank whose name no file system holds. The system forgets a
// name when its process ends, however it ends, and other network namespaces have names of their
// own. Both ends ask the system who the other is, and talk to no other user. Between nodes it is a
// TCP port, behind which only those are answered who begin with the rank's secret, a random number
// that the ranks of the job have exchanged.
//
// Functions without state; any thread.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptors.h"

namespace tutti::mpi::roll {

// The address of a rank for other nodes. A plain value, which is the same in all processes.
struct Contact {
  static constexpr size_t most_addresses = 3;
  int32_t first_of_node = 0;  // the lowest rank that the rank shares its node with
  uint16_t port = 0;          // in the network's order; 0: other nodes cannot ask it
  uint16_t addresses = 0;
  std::array<uint8_t, 16> secret{};
  std::array<in6_addr, most_addresses> address{};  // IPv4 addresses are mapped
};

struct Door {
  int rank = 0;
  sockaddr_storage address{};
  socklen_t bytes = 0;
  std::string secret;  // opens it; empty for a rank of this node
};
Door door_here(const std::string& job, int rank, int ranks);
// One for each address of a rank of another node.
std::vector<Door> doors_between(int rank, const Contact& contact);
std::string text_of_secret(const Contact& contact);

// Both return a descriptor that accepts connections, or none if the system gives none. *own gets
// port, addresses and secret.
Descriptor listen_here(const std::string& job, int rank, int ranks);
Descriptor listen_to_nodes(Contact* own);
// The next connection, if one waits. The first takes connections of this user and of
// root alone.
Descriptor accept_own_user(const Descriptor& listener);
Descriptor accept_from_node(const Descriptor& listener);

// Returns a connection that may not be complete yet, or none if the door is closed.
Descriptor begin_connecting(const Door& door);
// The process at the other end of a connection on this node; 0 if it is neither this user's nor
// root's.
int64_t own_users_process(const Descriptor& connection);

// False if the other end has gone, or reads nothing.
bool send_text(const Descriptor& connection, const std::string& text);
// One line without its end; empty if none has come within so many milliseconds.
std::string receive_line(const Descriptor& connection, int milliseconds);
// Appends what has come. False at the end of the text.
bool receive_more(const Descriptor& connection, std::string* text);

}  // namespace tutti::mpi::roll
