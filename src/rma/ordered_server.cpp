// The side of the server in its process: tutti-server.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <exception>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/process.h"
#include "base/short_slices.h"
#include "base/version.h"
#include "rma/process_mover.h"
#include "rma/server.h"
#include "rma/server_order.h"
#include "rma/server_processes.h"
#include "topo/binding.h"

namespace tutti::rma {
namespace {

// If the system has no descriptors of processes, the owner is looked at so often.
constexpr auto look_at_owner = std::chrono::milliseconds(500);

// The descriptors of the program must not stay open here: a launcher waits until the last process
// has closed the pipes of standard output.
void keep_only(int descriptor) {
  const int nothing = open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3 && nothing >= 0; ++standard) dup2(nothing, standard);
  const auto close_from = [](int first, int last) {
    if (first > last) return;
    if (syscall(SYS_close_range, first, last, 0) == 0) return;
    const long most = sysconf(_SC_OPEN_MAX);
    for (long one = first; one <= last && one < most; ++one) close(static_cast<int>(one));
  };
  close_from(3, descriptor - 1);
  close_from(descriptor + 1, INT32_MAX);
}

// Ends this process when its owner has ended. The process descriptor is of the owner: its start
// was compared after it was opened.
void end_with(const ProcessId& owner, int owner_descriptor) {
  pollfd ended{.fd = owner_descriptor, .events = POLLIN, .revents = 0};
  if (owner_descriptor >= 0)
    while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
  else
    while (!process_is_gone(owner)) std::this_thread::sleep_for(look_at_owner);
  _exit(0);
}

bool reaches(int64_t process, uint64_t address, uint64_t expected) {
  uint64_t found = 0;
  const iovec here{&found, sizeof found};
  const iovec there{reinterpret_cast<void*>(address), sizeof found};
  return process_vm_readv(static_cast<pid_t>(process), &here, 1, &there, 1, 0) == sizeof found &&
         found == expected;
}

// The memory that the server maps, and its way to the ranks.
struct Reached {
  explicit Reached(ServerOrder& order) : segment(shm::Segment::attach(order.segment)) {
    for (int32_t rank = 0; rank < order.ranks; ++rank) {
      const RankMemory& memory = order.rank_memory()[rank];
      Peer peer{.process = static_cast<int32_t>(memory.process)};
      if (memory.heap.bytes > 0) {
        const shm::PeerHeap& heap = heaps.emplace_back(memory.heap);
        peer.first = memory.heap_base;
        peer.bytes = memory.heap.bytes;
        peer.shift = reinterpret_cast<uint64_t>(heap.base()) - memory.heap_base;
      }
      peers.push_back(peer);
    }
    const Peer& own = peers.at(static_cast<size_t>(order.own_rank));
    if (own.process != 0 && !reaches(order.owner, order.token, order.token_value))
      throw Error(Code::unavailable,
                  "the system does not let it copy from its rank's memory (`tutti doctor` says "
                  "more)");
    if (own.process == 0 && own.bytes == 0)
      throw Error(Code::unavailable,
                  "TUTTI_REACH leaves it no way to its rank's memory; auto leaves all");
  }

  shm::Segment segment;
  std::deque<shm::PeerHeap> heaps;
  std::vector<Peer> peers;
};

void answer(ServerOrder& order, Answer answer, const std::string& reason) {
  std::snprintf(order.reason, sizeof order.reason, "%s", reason.c_str());
  shm::publish(order.answer, static_cast<uint64_t>(answer));
}

int serve(ServerOrder& order) {
  const auto bytes = static_cast<size_t>(order.bytes);
  const ProcessId owner{order.owner, order.owner_started};
  const int owner_descriptor =
      static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(owner.number), 0));
  if (process_is_gone(owner)) return 1;
  std::thread(end_with, owner, owner_descriptor).detach();
  while (shm::observe(order.permitted) == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  try {
    topo::bind_to({order.unit_list(), order.unit_list() + order.units});
    ask_for_short_slices();
    Reached& reached = *new Reached(order);  // as long as the process
    const Domain domain(reached.segment.address(0) + order.offset, order.shape);
    std::vector<int> rank_of;
    for (int32_t client = 0; client < order.shape.clients; ++client)
      rank_of.push_back(client % order.ranks);
    ProcessMover mover(reached.peers, rank_of);
    Server server(domain, order.place, mover, order.polls);
    announce(domain.server(order.place), this_process(), ServerKind::process);
    answer(order, Answer::runs, "");
    munmap(&order, bytes);
    server.run();
    return 0;
  } catch (const std::exception& error) {
    answer(order, Answer::cannot, error.what());
    return 1;
  }
}

}  // namespace

int run_ordered_server(int descriptor) {
  keep_only(descriptor);
  if (chdir("/") != 0) return 1;  // so that no file system stays in use
  struct stat status;
  if (fstat(descriptor, &status) != 0 || status.st_size < static_cast<off_t>(sizeof(ServerOrder)))
    return 1;
  void* const memory = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ | PROT_WRITE,
                            MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) return 1;
  ServerOrder& order = *static_cast<ServerOrder*>(memory);
  if (std::strncmp(order.version, tutti_version(), sizeof order.version) != 0 ||
      order.bytes != static_cast<uint64_t>(status.st_size)) {
    answer(order, Answer::cannot,
           std::string("tutti-server is of version ") + tutti_version() +
               ", and the library of another one; install both from one version");
    return 1;
  }
  return serve(order);
}

}  // namespace tutti::rma
