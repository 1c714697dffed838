// A domain: the clients and servers that work together, and the memory in which they meet. Any
// client may hand transfers to any server of its domain. Source: "Exploiting Communication
// Concurrency", section 3 and figure 1.
//
// The memory has no pointers in it, so threads and processes may share it. The maker of a domain
// owns the memory, which is all zero at first and outlives all clients and servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/process.h"
#include "rma/queue.h"
#include "shm/doorbell.h"
#include "shm/order.h"

namespace tutti::rma {

// The words that a server and its clients tell each other. Written by the server, where nothing
// else is said.
struct alignas(line_size) ServerState {
  shm::Doorbell doorbell;  // the server sleeps on it
  // First line: clients read it at each transfer, and it seldom changes.
  alignas(line_size) shm::Word life;  // a Standing
  shm::Word process;                  // in which it runs: its number,
  shm::Word process_started;          // and when it began (base/process.h)
  shm::Word is_process;               // 1: this process is the server's alone; 0: it is a rank's
  shm::Word asked_to_stop;            // the generation of the server that is; 0: none yet
  shm::Word reaches_nodes;            // 1: it has an endpoint for transfers with other nodes
  // Second line: for reports.
  alignas(line_size) shm::Word transfers;
  shm::Word bytes;
  shm::Word sleeps;
  shm::Word slept_nanoseconds;
  shm::Word away;  // those of its transfers that it has exchanged with other nodes
};

// The state of a place for a server. Whoever starts a server claims the place first; it then is
// `starting`.
enum class Life : uint64_t { absent, starting, running, ended };

// Also counts how often the place was claimed. So a server is told from those before and after it
// in its place, and a change by somebody who has seen an earlier server fails. A place that is
// `starting` names the process that has claimed it: if that process dies, others get the place.
struct Standing {
  Life life = Life::absent;
  uint64_t generation = 0;
  uint64_t claimant = 0;  // 0 unless `starting`
};
// A server that somebody has started.
struct Started {
  int32_t place;
  uint64_t generation;
};
// The system's numbers of processes have at most 22 bits.
constexpr int claimant_shift = 40;
constexpr uint64_t word_of(const Standing& standing) {
  return (standing.claimant << claimant_shift) + (standing.generation << 2) +
         static_cast<uint64_t>(standing.life);
}
constexpr Standing standing_of(uint64_t word) {
  return {static_cast<Life>(word & 3), (word & ((uint64_t{1} << claimant_shift) - 1)) >> 2,
          word >> claimant_shift};
}
inline Standing standing(const ServerState& state) { return standing_of(shm::observe(state.life)); }
inline bool runs(const ServerState& state) { return standing(state).life == Life::running; }
inline ProcessId process_of(const ServerState& state) {
  return {static_cast<int64_t>(shm::load_relaxed(state.process)),
          shm::load_relaxed(state.process_started)};
}

struct DomainShape {
  int32_t clients = 1;
  int32_t servers = 1;
  // Entries of each queue, a power of two: so many transfers may be outstanding.
  size_t entries = 128;
  // The last clients, which have slots for transfers with other nodes.
  int32_t far_clients = 0;

  size_t slots_offset() const {
    const auto queues = static_cast<size_t>(clients) * static_cast<size_t>(servers);
    return line_size + static_cast<size_t>(servers) * sizeof(ServerState) +
           queues * entries * sizeof(Entry);
  }
  size_t bytes() const;
};

// A slot is memory for the caller's side of one transfer with another node, if that side is where
// servers do not reach it. Each client has so many of its own, so a client that leaves its
// transfers uncompleted takes none of another one's.
inline constexpr size_t slot_bytes = 4096;
inline constexpr size_t slots_of_client = 16;
inline size_t DomainShape::bytes() const {
  return slots_offset() + static_cast<size_t>(far_clients) * slots_of_client * slot_bytes;
}

// The transfers with other nodes that servers get.
enum class ServeFar : uint64_t { none, all, selective };

// Consecutive servers of a domain's memory.
struct ServerRange {
  int32_t first = 0;
  int32_t count = 0;
};

// A view of a domain's memory, as one process has mapped it. Any thread.
class Domain {
 public:
  // `memory` is aligned to line_size and has shape.bytes() bytes.
  Domain(std::byte* memory, const DomainShape& shape) : memory_(memory), shape_(shape) {}

  const DomainShape& shape() const { return shape_; }
  ServerState& server(int32_t place) const {
    return reinterpret_cast<ServerState*>(memory_ + control_bytes)[place];
  }
  Entry* entries(int32_t client, int32_t server) const {
    const auto queue = static_cast<size_t>(client) * static_cast<size_t>(shape_.servers) +
                       static_cast<size_t>(server);
    std::byte* const first =
        memory_ + control_bytes + static_cast<size_t>(shape_.servers) * sizeof(ServerState);
    return reinterpret_cast<Entry*>(first) + queue * shape_.entries;
  }
  std::byte* slot(int32_t client, size_t slot) const {
    const auto nth = static_cast<size_t>(client - (shape_.clients - shape_.far_clients));
    return memory_ + shape_.slots_offset() + (nth * slots_of_client + slot) * slot_bytes;
  }
  // A ServeFar, while `enabled`.
  shm::Word& serve_far() const { return control().serve_far; }
  // 1 if clients hand transfers over, 0 if they execute all themselves.
  shm::Word& enabled() const { return control().enabled; }
  // 1 if servers poll while they are idle, 0 if they sleep.
  shm::Word& awake() const { return control().awake; }
  // Servers look at the queues of the clients with smaller places only; 0: of all.
  shm::Word& clients_in_use() const { return control().clients_in_use; }
  // For users of the domain: the least bytes of a transfer that servers may get. They set it with
  // `enabled`, so that a client knows by one comparison that it executes a transfer itself.
  shm::Word& served_from() const { return control().served_from; }
  // Its value while they are enabled.
  shm::Word& least_bytes() const { return control().least_bytes; }

 private:
  struct alignas(line_size) Control {
    shm::Word enabled;
    shm::Word awake;
    shm::Word clients_in_use;
    shm::Word served_from;
    shm::Word least_bytes;
    shm::Word serve_far;
  };
  static constexpr size_t control_bytes = sizeof(Control);
  static_assert(control_bytes == line_size);

  Control& control() const { return *reinterpret_cast<Control*>(memory_); }

  std::byte* memory_;
  DomainShape shape_;
};

// Claims up to `count` places of the range whose servers are absent, have ended or have died, or
// died as they were started.
// Returns them; fewer if there are no more.
std::vector<int32_t> claim_places(const Domain& domain, const ServerRange& range, int32_t count);
// The same of the whole domain, which has places for all of them. Throws Error(invalid_argument).
std::vector<int32_t> claim_all(const Domain& domain, int32_t count);
// No server was started in these claimed places.
void release_places(const Domain& domain, const std::vector<int32_t>& places);
// The place was claimed, and a server in it has ended: it is claimed still.
void claim_again(ServerState& state);
enum class ServerKind : uint8_t { thread, thread_with_endpoint, process };
// A server runs in a claimed place from now on: clients hand transfers over.
void announce(ServerState& state, const ProcessId& process, ServerKind kind);
// True if the server does not run, or has died, which clients then know: its process has ended, or
// the one that was to start it. Takes some system calls.
bool note_death(ServerState& state);
// Sets served_from() by what is: UINT64_MAX unless clients may hand transfers over and some server
// runs. For whoever has started or ended servers, or changed enabled(). Several processes may call
// it at once: it looks again after it has stored, so the last one stores what is.
void tell_served_from(const Domain& domain);

}  // namespace tutti::rma
