#include "mpi/report/tracing.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "mpi/host/private_communicator.h"
#include "mpi/host/private_group.h"
#include "mpi/report/clocks.h"
#include "mpi/report/messages.h"
#include "trace/file.h"
#include "trace/header.h"

namespace tutti::mpi {

constinit trace::Tracer* process_tracer = nullptr;

namespace {

// The limit for the programs of all ranks in the file's header, so that no trace is too large to be
// read.
constexpr size_t most_description_bytes = size_t{128} << 20;

// The state of this process for writing the job's trace. Made inside MPI_Init and used until the
// end of MPI_Finalize.
struct Job {
  PrivateCommunicator communicator;
  int rank = 0;
  int ranks = 0;
  std::string file;
  std::string_view clock;
  std::unique_ptr<Clocks> clocks;
  std::optional<Messages> messages;
};
Job* job = nullptr;
std::atomic<uint32_t> identities{0};

// This rank's records, ring after ring, the oldest of a ring first.
std::vector<std::span<const trace::Record>> own_parts() {
  std::vector<std::span<const trace::Record>> parts;
  for (const trace::Ring* ring : tracer()->rings())
    for (const auto& part : {ring->contents().first, ring->contents().second})
      parts.push_back(part);
  return parts;
}

void send_all() {
  const std::string text =
      trace::describe_rank(job->rank, job->clock, placement::usable_cores(), *tracer());
  const auto parts = own_parts();
  std::vector<uint64_t> sizes;
  for (const auto& part : parts) sizes.push_back(part.size());
  const uint64_t front[2] = {text.size(), sizes.size()};
  Messages& messages = *job->messages;
  messages.send(front, sizeof front, 0);
  messages.send(text.data(), text.size(), 0);
  messages.send(sizes.data(), sizes.size() * sizeof(uint64_t), 0);
  for (const auto& part : parts) messages.send(part.data(), part.size_bytes(), 0);
}

// The data that a rank sends to rank 0 before its records.
struct Announced {
  std::string text;
  std::vector<uint64_t> sizes;  // sizes of the parts, in records
};

Announced receive_announced(int rank) {
  uint64_t front[2] = {0, 0};
  Messages& messages = *job->messages;
  messages.receive(front, sizeof front, rank);
  Announced announced{std::string(front[0], '\0'), std::vector<uint64_t>(front[1])};
  messages.receive(announced.text.data(), front[0], rank);
  messages.receive(announced.sizes.data(), front[1] * sizeof(uint64_t), rank);
  return announced;
}

// Does what may throw an Error. False, and has said so, if it does.
template <class Work>
bool succeeds(Work work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    log_line(LogLevel::error, "%s", error.what());
    return false;
  }
}

// Appends to the file. If that fails, `file` becomes null: nothing more is written, but the records
// are still received.
void append(std::unique_ptr<trace::File>& file, const void* bytes, size_t count) {
  if (file != nullptr && !succeeds([&] { file->append(bytes, count); })) file.reset();
}

// Receives a part, message by message, and appends it to the file.
void copy_part(int rank, uint64_t records, std::unique_ptr<trace::File>& file) {
  std::vector<std::byte> buffer(
      std::min<uint64_t>(Messages::piece, records * sizeof(trace::Record)));
  for (uint64_t left = records * sizeof(trace::Record); left > 0;) {
    const size_t count = std::min<uint64_t>(buffer.size(), left);
    job->messages->receive(buffer.data(), count, rank);
    append(file, buffer.data(), count);
    left -= count;
  }
}

std::unique_ptr<trace::File> begin_file(const std::string& header, uint64_t records) {
  std::unique_ptr<trace::File> file;
  const bool begun = succeeds([&] {
    file = std::make_unique<trace::File>(job->file);
    file->begin(header, records);
  });
  return begun ? std::move(file) : nullptr;
}

// The job's nodes and their clocks, without its ranks. At rank 0, after both readings of the
// clocks.
trace::Job describe_nodes() {
  const Clocks& clocks = *job->clocks;
  trace::Job description;
  description.mpi = abi.name;
  description.filter = options().trace_filter;
  for (int reason = 0; reason < static_cast<int>(Reason::count_); ++reason)
    description.reasons.emplace_back(describe(static_cast<Reason>(reason)));
  for (size_t node = 0; node < clocks.leaders().size(); ++node) {
    const int number = static_cast<int>(node);
    description.nodes.push_back(
        {clocks.leaders()[node], {clocks.anchor(number, 0), clocks.anchor(number, 1)}});
  }
  for (int rank = 0; rank < job->ranks; ++rank) description.node_of.push_back(clocks.node_of(rank));
  return description;
}

// Does what needs messages of a rank. False, and has said so, if the rank has died.
template <class Work>
bool unless_it_died(Work work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (error.code() != Code::dead_peer) throw;
    log_line(LogLevel::error, "%s", error.what());
    return false;
  }
}

// If a rank has died, there is no file, but the others' records are received, so that they go on.
// False if a rank has died.
bool collect_all() {
  trace::Job description = describe_nodes();
  description.ranks.push_back(
      trace::describe_rank(0, job->clock, placement::usable_cores(), *tracer()));
  const auto own = own_parts();
  uint64_t records = 0;
  for (const auto& part : own) records += part.size();
  std::vector<std::vector<uint64_t>> sizes;
  bool all_live = true;
  for (int rank = 1; rank < job->ranks; ++rank) {
    Announced announced;
    all_live &= unless_it_died([&] { announced = receive_announced(rank); });
    description.ranks.push_back(std::move(announced.text));
    sizes.push_back(std::move(announced.sizes));
    records = std::accumulate(sizes.back().begin(), sizes.back().end(), records);
  }
  auto file = all_live ? begin_file(trace::describe_job(description), records) : nullptr;
  for (const auto& part : own) append(file, part.data(), part.size_bytes());
  for (int rank = 1; rank < job->ranks; ++rank)
    all_live &= unless_it_died([&] {
      for (const uint64_t size : sizes[static_cast<size_t>(rank) - 1]) copy_part(rank, size, file);
    });
  if (!all_live) file.reset();
  if (file != nullptr) succeeds([&] { file->commit(); });
  return all_live;
}

// True, at all ranks, if rank 0 can write the file. If it cannot, rank 0 logs why.
bool can_write(const Job& made) {
  const Host& mpi = host();
  const auto is_writable = [&] { return succeeds([&] { trace::require_writable(made.file); }); };
  uint64_t writable = made.rank != 0 || is_writable() ? 1 : 0;
  mpi.Bcast(&writable, sizeof writable, mpi.type_byte, 0, made.communicator.get());
  return writable == 1;
}

}  // namespace

void check_trace_filter() { trace::read_filter(options().trace_filter); }

void start_tracing() {
  const Host& mpi = host();
  trace::is_of_mpi.store(true);
  auto made = std::make_unique<Job>();
  // A program may change its directory later; the user's path is relative to this one.
  made->file = std::filesystem::absolute(options().trace).string();
  mpi.Comm_rank(mpi.comm_world, &made->rank);
  mpi.Comm_size(mpi.comm_world, &made->ranks);
  made->communicator = PrivateCommunicator::split(mpi.comm_world, 0, made->rank);
  if (!can_write(*made)) _exit(2);
  made->clock = trace::choose_clock();
  made->clocks = std::make_unique<Clocks>(made->communicator.get());
  made->messages.emplace(made->communicator.get());
  made->clocks->read(*made->messages);
  const size_t descriptions = most_description_bytes / static_cast<size_t>(made->ranks);
  const bool has_tracer = succeeds([&] {
    process_tracer = new trace::Tracer({options().trace_bytes / sizeof(trace::Record), descriptions,
                                        trace::read_filter(options().trace_filter), made->rank});
  });
  if (!has_tracer) _exit(2);
  job = made.release();
}

bool write_trace(std::function<bool(int)> has_died) {
  if (tracer() == nullptr) return true;
  bool all_live = false;
  job->messages->know_who_died(std::move(has_died));
  const bool came = succeeds([&] {
    job->clocks->read(*job->messages);
    all_live = job->rank == 0 ? collect_all() : unless_it_died(send_all);
  });
  if (!came) return false;
  job->messages.reset();  // the messages tell who has died, and so keep the team's memory
  if (all_live)
    job->communicator.reset();
  else
    job->communicator.abandon();
  process_tracer = nullptr;  // not destroyed: threads that recorded use it when they end
  return true;
}

uint64_t new_identity() { return static_cast<uint64_t>(job->rank) << 32 | identities.fetch_add(1); }

uint32_t note_communicator(Comm communicator, uint64_t identity, int rank, int ranks) {
  std::vector<int> world;
  // Only one member lists all members; otherwise the file would grow with the square of the ranks.
  if (rank == 0) {
    const Host& mpi = host();
    std::vector<int> own(static_cast<size_t>(ranks));
    std::iota(own.begin(), own.end(), 0);
    world.resize(own.size());
    const PrivateGroup group = PrivateGroup::of(communicator);
    const PrivateGroup all = PrivateGroup::of(mpi.comm_world);
    mpi.Group_translate_ranks(group.get(), ranks, own.data(), all.get(), world.data());
    for (int& member : world) member = member == abi.undefined ? -1 : member;
  }
  return tracer()->communicator({identity, std::move(world)});
}

void trace_host_call(uint64_t entry, plan::Collective collective, Reason reason, size_t bytes,
                     int root) {
  trace::record_host_call(*tracer(), {entry, -1, static_cast<uint32_t>(collective),
                                      static_cast<uint32_t>(reason), bytes, root});
}

}  // namespace tutti::mpi
