// HMPI's equations (1) to (11): how long collectives take on a node of `s` sockets with `q` ranks
// each, p = q s ranks in all, for vectors of `m` units (the paper: cache lines).
//
// An access within a socket costs a_alpha + b_alpha m, t at once a_alpha + B_alpha t m; between
// sockets a_beta and so on. 1 / (B t) <= 1 / b, so an access never gains by company.
//
// They say what the paper says; predict() says what a plan of ours does. Tests hold the two against
// each other. Source: HMPI, sections 2.2 to 2.4 and 3.4. Pure; any thread.
#pragma once

#include <cstdint>

namespace tutti::model {

struct AccessTimes {
  double a = 0;  // the time of an access, whatever its length
  double b = 0;  // the time of a unit, alone
  double B = 0;  // the time of a unit of the link, which t accesses share
};

struct Sockets {
  AccessTimes alpha;  // within a socket
  AccessTimes beta;   // between sockets
  int32_t q = 1;      // ranks of a socket
  int32_t s = 1;      // sockets

  // The number of leaves with which a binary tree in a socket has no congestion
  // (algo::leaves_without_congestion).
  int32_t leaves() const;

  double reduce_within(double m) const;                  // (1), by a binary tree of leaves() leaves
  double reduce_within(double m, int32_t degree) const;  // (1), by an n-ary tree
  double reduce_between(double m) const;                 // (2)
  double reduce(double m) const;                         // (3)
  double bcast_in_two_stages(double m) const;            // (4), first form
  double bcast_in_one_stage(double m) const;             // (4), second form
  double bcast(double m) const;                          // (4)
  double allreduce_by_tree(double m) const;              // (5)
  double dissemination(double m) const;                  // (6); p is a power of 2
  double dissemination_at_most(double m) const;          // (7); any p
  double tiled_within(double m) const;                   // (8)
  double tiled_between(double m) const;                  // (9)
  double tiled_reduce(double m) const;                   // (10)
  double allreduce_tiled(double m) const;                // (11)
};

// The time of a reduce of one cache line to the root (section 3.4) on two sockets of six ranks, by
// the times of a read of modified data: in the rank's own cache, in another of the socket, and in
// another socket.
double one_line(double own, double socket, double remote);
// The same on four sockets of eight ranks, in a square; `diagonal`: in the socket across.
double one_line_on_four_sockets(double own, double socket, double remote, double diagonal);

}  // namespace tutti::model
