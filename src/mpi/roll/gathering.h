// Gathers the places of all ranks of a job: it asks each rank of this node, and of every other node
// one rank, which asks those of its node. One of a node's ranks at one place finds its source line.
// The thread that gathers answers others meanwhile, because they may ask it, too.
//
// The watchdog owns one, and its thread uses it; doors_of and is_taken are for any thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/roll/inquiry.h"
#include "mpi/roll/place.h"
#include "mpi/roll/sockets.h"

namespace tutti::mpi::roll {

// The first words of requests; a cause follows some. A rank answers for itself or for its node. A
// table is printed if no rank goes on, at once, or if a rank is in a call of MPI. After `source`
// comes a frame of the rank's, whose line is the answer.
inline constexpr std::string_view ask_place = "place", ask_sure_place = "sure", ask_node = "node",
                                  ask_sure_node = "sure-node", ask_table = "table",
                                  ask_json = "json", ask_watch = "watch", ask_print = "print",
                                  ask_print_now = "now", ask_print_if_awaited = "awaited",
                                  ask_source = "source";

// The duties of the thread that gathers.
class Server {
 public:
  virtual std::vector<pollfd> listeners() const = 0;
  // Takes the requests that have come, and answers those for this rank.
  virtual void serve_rank() = 0;
  // Answers those for this node.
  virtual void serve_node() = 0;
  // This rank's places.
  virtual std::vector<Place> own_places() = 0;
  // How a rank that is gone has ended, if that is known.
  virtual std::string note_of_ended(int rank) const = 0;

 protected:
  ~Server() = default;
};

class Gathering {
 public:
  // `here`: the ranks of this node, rising.
  Gathering(int rank, int ranks, std::vector<int> here, std::string job)
      : rank_(rank), ranks_(ranks), here_(std::move(here)), job_(std::move(job)) {}
  // The contacts of all ranks, of which some are on other nodes.
  void know(std::vector<Contact> contacts);

  const std::string& job() const { return job_; }
  const std::vector<int>& here() const { return here_; }
  // The nodes' ranks, the lowest first; none if all ranks are here. own_node() is one of them.
  const std::vector<std::vector<int>>& nodes() const { return nodes_; }
  size_t own_node() const { return own_node_; }
  std::vector<int> all() const;
  std::vector<Door> doors_of(const std::vector<int>& ranks) const;

  // Waits until something happens, but not long, and goes on with the inquiries. `server`: null in
  // other threads than the watchdog's.
  static void advance(const std::vector<Inquiry*>& inquiries, Server* server);
  // True if a rank is there and will do what it is asked for.
  static bool is_taken(Inquiry* inquiry, Server* server);
  // The places of this node's ranks, or of all. `is_sure`: ranks look many times before they
  // answer.
  std::vector<Place> gather_here(bool is_sure, Server* server) const;
  std::vector<Place> gather(bool is_sure, Server* server) const;

 private:
  void add_sites(std::vector<Place>* places, Server* server) const;

  const int rank_, ranks_;
  const std::vector<int> here_;
  const std::string job_;
  std::vector<Contact> contacts_;  // one a rank; none if all are on this node
  std::vector<std::vector<int>> nodes_;
  size_t own_node_ = 0;
};

}  // namespace tutti::mpi::roll
