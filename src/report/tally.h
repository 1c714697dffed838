// The tally of a process: how often each collective was called, how large the calls were, how long
// they took, and why some stayed on the host MPI. It is what a report is made of (TUTTI_REPORT).
//
// One object a process, never destroyed. Any thread may record; a lock guards the numbers. A
// program that asked for no report never touches it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/time_spent.h"
#include "plan/collective.h"
#include "report/reason.h"

namespace tutti::report {

// True once start_recording() was called, which is before the first call of a collective.
inline constinit bool recording_started = false;
inline bool recording() { return recording_started; }
// True if calls are recorded, or looked at before they are made.
inline constinit bool observing_started = false;
inline void start_observing() { observing_started = true; }
inline bool observing() { return observing_started; }
inline void start_recording() { recording_started = observing_started = true; }

// One call of a collective.
struct Record {
  plan::Collective collective{};
  size_t bytes = 0;              // bytes of one part if the collective has parts
  Reason reason = Reason::none;  // why the host served it; none: Tutti served it
  std::string_view algorithm{};  // Tutti's; copied
  TimeSpent time{};
  bool neighbourhood = false;  // the allgather or alltoall is among neighbours
  bool started = false;        // record_start() was called for it
};

// Messages and their bytes; or, for a leader, its calls of the host's collectives among the nodes'
// leaders and the bytes of their vectors.
struct Sent {
  uint64_t messages = 0;
  uint64_t bytes = 0;
};

// A report has one row for each kind of call and range of sizes. The kinds are the collectives, and
// then the two that exist also among neighbours. Sizes of a row are at most these bytes; the last
// row has no limit.
inline constexpr std::array<uint64_t, 9> size_limits{0,     8,      64,      512,       4096,
                                                     32768, 262144, 2097152, UINT64_MAX};
inline constexpr size_t kind_count = plan::collective_count + 2;
inline constexpr size_t row_count = kind_count * size_limits.size();
// The name of the kind of a row.
std::string_view kind_of(size_t row);
inline constexpr size_t reason_count = static_cast<size_t>(Reason::count_);

struct Row {
  uint64_t calls = 0;  // calls that Tutti served
  uint64_t host_calls = 0;
  uint64_t bytes = 0;
  uint64_t nanoseconds = 0;
  uint64_t host_nanoseconds = 0;
  uint64_t waiting_nanoseconds = 0;  // a part of both, as far as Tutti sees the waits
};
// One-sided transfers, and the servers of this process.
struct OneSided {
  uint64_t own = 0;         // transfers that ranks have executed at once
  uint64_t handed = 0;      // transfers that they have handed to servers
  uint64_t taken_back = 0;  // those of them that they have executed after all
  uint64_t servers = 0;
  uint64_t processes = 0;  // servers that are processes of their own; the others are threads
  uint64_t sharing = 0;    // servers on cores of ranks
  uint64_t transfers = 0;  // transfers that servers have executed
  uint64_t bytes = 0;
  uint64_t sleeps = 0;
  uint64_t slept_nanoseconds = 0;
};
// One-sided transfers between ranks of different nodes, which travel as messages.
struct TransfersBetweenNodes {
  uint64_t puts = 0, gets = 0;  // transfers that ranks have started
  uint64_t bytes = 0;           // the bytes of these transfers
  // Requests of other ranks, each for a piece of a transfer, by who has answered them.
  uint64_t by_servers = 0;
  uint64_t by_ranks = 0;    // inside calls that wait
  uint64_t endpoints = 0;   // servers that exchange such transfers with those of other nodes
  uint64_t handed = 0;      // transfers that ranks have handed to them
  uint64_t taken_back = 0;  // those of them that ranks have executed after all
  uint64_t lost = 0;        // puts whose server has died
  uint64_t exchanged = 0;   // transfers that servers have completed

  TransfersBetweenNodes& operator+=(const TransfersBetweenNodes& more) {
    using Words = std::array<uint64_t, 10>;
    auto sum = std::bit_cast<Words>(*this);
    const auto added = std::bit_cast<Words>(more);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
    return *this = std::bit_cast<TransfersBetweenNodes>(sum);
  }
};

// MPI's one-sided calls, all of which the host serves, by kind. An atomic operation is an
// accumulate.
enum class WindowCall : uint8_t { put, get, accumulate, count_ };

// The program's messages that this process starts and waits for.
struct PointToPoint {
  uint64_t calls = 0;
  uint64_t nanoseconds = 0;
  uint64_t waiting_nanoseconds = 0;  // seen where the host polls through a hook of Tutti's
};

// The servers that drive non-blocking collectives, and transfers, between nodes.
struct Driving {
  uint64_t servers = 0;
  uint64_t looks = 0;        // at what is under way
  uint64_t nanoseconds = 0;  // time of cores
};
// Consists of 64-bit words only, so that one reduction adds up the numbers of all ranks.
struct Numbers {
  std::array<Row, row_count> rows{};
  std::array<uint64_t, reason_count> reasons{};
  Sent between_nodes, within_nodes;  // Tutti's messages
  Sent led;
  OneSided one_sided;
  TransfersBetweenNodes transfers_between_nodes;
  Driving driving;
  std::array<uint64_t, static_cast<size_t>(WindowCall::count_)> window_calls{};
  uint64_t started = 0, completed = 0;  // operations that outlive their call
  PointToPoint point_to_point;
  uint64_t lifetime_nanoseconds = 0;  // from MPI_Init to MPI_Finalize
};
// A rank and the share of its time that it waits, in one word. The largest word of all ranks is
// that of the rank that waits most, or least.
class WaitingShare {
 public:
  WaitingShare() = default;
  static WaitingShare most(int rank, double share) { return {rank, per_million(share) + 1}; }
  static WaitingShare least(int rank, double share) { return {rank, all - per_million(share) + 1}; }
  bool known() const { return word_ != 0; }
  int rank() const { return static_cast<int>(word_ & UINT32_MAX); }
  double as_most() const { return static_cast<double>((word_ >> 32) - 1) / all; }
  double as_least() const { return 1 - as_most(); }

 private:
  static constexpr uint64_t all = 1'000'000;
  static uint64_t per_million(double share) {
    return static_cast<uint64_t>(std::clamp(share, 0.0, 1.0) * all);
  }
  WaitingShare(int rank, uint64_t order) : word_(order << 32 | static_cast<uint32_t>(rank)) {}
  uint64_t word_ = 0;
};

// The most that a process has had at one time of operations that outlive their call. Consists of
// 64-bit words only, so that one reduction finds the most of all ranks.
struct Most {
  uint64_t under_way = 0;  // operations that it has started and not completed
  uint64_t bytes = 0;      // bytes of shared memory that it held for them
  // The processing units that servers have for themselves: one more than the last one, and the
  // first one subtracted from all ones, so that the most of all ranks are of all servers.
  uint64_t after_last_unit = 0;  // 0: none
  uint64_t first_unit = 0;
  WaitingShare longest_wait{}, shortest_wait{};
  // The transfers with other nodes of the server that has completed most, and all ones less those
  // of the one that has completed least.
  uint64_t most_exchanged = 0;
  uint64_t least_exchanged = 0;
  // The virtual interfaces that the host has; 0: it does not tell, or it has none.
  uint64_t interfaces = 0;
};
inline constexpr int most_count = static_cast<int>(sizeof(Most) / sizeof(uint64_t));
inline constexpr int number_count = static_cast<int>(sizeof(Numbers) / sizeof(uint64_t));
static_assert(sizeof(Numbers) % sizeof(uint64_t) == 0);

// The algorithms that served the calls of each row, in the order of their first calls, with commas.
using AlgorithmNames = std::array<std::string, row_count>;

void record(const Record& record);
// Notes the start of an operation that outlives its call. `held`: the shared memory that this
// process holds for such operations.
void record_start(size_t held);
// Adds the traffic of a communicator over several nodes. Call it when the communicator sends no
// more.
void record_messages(const Sent& between_nodes, const Sent& within_nodes, const Sent& led);

void record_window_call(WindowCall call);
void record_point_to_point(const TimeSpent& time);
// The process's MPI begins here, and ends here: then its share of waiting is known.
void record_begin();
void record_end(int rank);

// Once each, when the process makes no further transfers and starts no further collectives.
void record_one_sided(const OneSided& done);
void record_transfers_between_nodes(const TransfersBetweenNodes& done);
void record_driving(const Driving& done);
// A server with an endpoint has completed so many transfers with other nodes.
void record_exchanged(uint64_t transfers);
// The host has so many virtual interfaces.
void record_interfaces(uint64_t interfaces);
// A server runs on this processing unit alone.
void record_server_unit(uint64_t unit);
// The user's table of rules: its file, and whether it was found or named.
struct UsersTable {
  std::string file;  // empty: none
  bool found = false;
};
// The finds of this process at its start.
struct Found {
  std::string saturation_map;  // the file of the map that the servers' policy follows; empty: none
  UsersTable table;
  // The levels of this node that its ranks might share if they were bound; empty: none.
  std::string unknown_levels;
  std::string hidden;  // tools and the functions of MPI that they hide; empty: none
};
void record_saturation(std::string file);
void record_table(UsersTable table);
void record_unknown_levels(std::string names);
void record_hidden(std::string tools);

// The contents of the tally of this process.
struct Contents {
  Numbers numbers;
  AlgorithmNames algorithms;
  Most most;
  Found found;
};
// Calls `read` with this process's numbers, under the lock. The second function calls nothing and
// returns false if another thread has the lock: a rank that aborts must not wait for a thread that
// may never go on.
using ReadTally = std::function<void(const Contents&)>;
void read_tally(const ReadTally& read);
bool try_read_tally(const ReadTally& read);

}  // namespace tutti::report
