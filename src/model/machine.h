// A machine as the model sees it: what the steps of a program cost on it, level by level.
//
// It is read from a file that people can write (docs/model.md), or measured. All times are in
// nanoseconds, and all costs of bytes are in nanoseconds a byte.
//
// Within a node, HMPI's model (section 2.1) holds: a rank that gets a vector of n bytes from a rank
// that shares a unit with it (a cache, a socket, the node) waits for the hand-over and then needs
// `byte` for each byte, or `shared` times t if t ranks use the same unit's link at once and that is
// more. These are the paper's a, b and B, for bytes instead of cache lines. `add` is b where the
// reader combines what it reads. Between nodes LogGP
// holds (Alexandrov and others, 1995): overhead o, latency L, gap g, and gap a byte G.
//
// Values, constant once made; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::model {

// The time of a byte, by the length of the access: the first byte of a short one takes longest, and
// long ones may not stay in a cache. Between the lengths that are given, the time of the access
// changes linearly with its length; beyond them the time of a byte stays.
class ByteCost {
 public:
  ByteCost() = default;
  ByteCost(double always) : points_{{1, always}} {}  // NOLINT: a number is such a cost
  // The points are sorted by length, which rises from 1 on.
  explicit ByteCost(std::vector<std::pair<double, double>> points) : points_(std::move(points)) {}

  double at(double bytes) const;
  // The time of an access, which is a part of one to `whole` bytes: it takes as long as an access
  // of its own length, or as its share of the whole, whichever is longer. One that goes on where
  // another has ended takes its share.
  double time(double bytes, double whole, bool goes_on = false) const {
    const double share = at(std::max(bytes, whole));
    return bytes * (goes_on ? share : std::max(at(bytes), share));
  }
  const std::vector<std::pair<double, double>>& points() const { return points_; }

 private:
  std::vector<std::pair<double, double>> points_ = {{1, 0}};
};

// Between two ranks that share a unit of this level, and none of a level inside it.
struct LevelCost {
  std::string name;      // node, socket, numa, cache or core, as in placement/levels.h
  double hand_over = 0;  // from a publication to its sight at another rank
  ByteCost byte;         // to read or write another rank's byte, alone
  ByteCost add;          // to read it and to combine it with what the reader has
  ByteCost shared;       // the link's: t accesses at once take at least t times this a byte
  // The same of accesses that combine. Nothing: as `shared`.
  std::optional<ByteCost> shared_add = std::nullopt;
  // To combine a byte that its owner combines at the same time. Nothing: as `add`.
  std::optional<ByteCost> add_same = std::nullopt;
  // To write a byte where ranks of this level have read since, as into a slot. Nothing: as `copy`.
  std::optional<ByteCost> write = std::nullopt;
  // The link's: t writes at once take at least t times this a byte. Nothing: as `shared`.
  std::optional<ByteCost> shared_write = std::nullopt;
  // To write with stores past the cache, which a writer uses while `write` is slow
  // (exec/slot_stores.h). Nothing: always `write`.
  std::optional<ByteCost> write_past = std::nullopt;
  // To read a byte that was written past the cache. Nothing: as `byte`.
  std::optional<ByteCost> byte_past = std::nullopt;
  // To write a byte of a buffer that ranks of this level read in place each time. Nothing: as
  // `copy`.
  std::optional<ByteCost> write_in_place = std::nullopt;
  // The hand-over where two ranks publish at once and each waits for the other. Nothing: as
  // `hand_over`.
  std::optional<double> exchange = std::nullopt;
  // To read a byte of another process by the system's copies, the call included.
  std::optional<ByteCost> system = std::nullopt;
};

// The costs of a rank's own work.
struct OwnCost {
  double call = 0;   // to enter a collective and to leave it
  double step = 0;   // the cost of every step of a program
  ByteCost copy;     // to copy a byte from the rank's own memory to its own
  ByteCost combine;  // to combine a byte of one more source of its own
  // The time from a rank's yield to the next turn of another rank on the same core. For people:
  // predictions do not model shared cores.
  std::optional<double> yield = std::nullopt;
};

// Between nodes.
struct NetworkCost {
  double overhead = 0;  // o: the sender is busy, and so is the receiver
  double latency = 0;   // L
  double gap = 0;       // g: between two messages of a node's adapter
  double byte = 0;      // G
  // Longer messages wait until the receiver has posted them.
  size_t prompt = 0;
  // The host MPI with which that holds: mpich, openmpi or mpiabi. Tutti cuts segments by it. Empty:
  // segments are cut by `prompt`.
  std::string mpi = {};
};

// The costs of a host MPI's messages between ranks of a node, through its memory. For simulations
// of the host (`tutti sim`); predictions do not use them.
struct MessageCost {
  double overhead = 0;  // the sender is busy, and so is the receiver
  double latency = 0;
  double byte = 0;
  double shared = 0;  // t messages at once take at least t times this a byte
};

struct Machine {
  std::string name;
  std::string what;    // in words; may be empty
  std::string shape;   // as the command line takes it, "node:16 numa:2 core:6"; may be empty
  std::string source;  // where the figures come from
  std::vector<LevelCost> levels;  // from the outside in; the first is the node
  OwnCost own;
  std::optional<NetworkCost> network;
  std::optional<MessageCost> messages = std::nullopt;

  // The costs of a level; null if the machine has no such level.
  const LevelCost* find(std::string_view level) const;
};

inline constexpr std::string_view machine_format = "tutti-machine 1";

// Reads a machine from the text of a file; `file` names it in errors. Throws
// Error(invalid_argument) with one line that names the place at fault and what would be right.
Machine read_machine(std::string_view text, std::string_view file);
// The text of a file from which read_machine makes the same machine.
std::string write_machine(const Machine& machine);

}  // namespace tutti::model
