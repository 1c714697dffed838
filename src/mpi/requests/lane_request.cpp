#include "mpi/requests/lane_request.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "mpi/collectives/general.h"
#include "mpi/job/drive_host.h"
#include "mpi/job/end.h"
#include "mpi/job/self.h"
#include "mpi/job/servers.h"
#include "mpi/job/thrown.h"
#include "report/tally.h"

namespace tutti::mpi {
namespace {

// A start executes the first steps of an operation of up to so many bytes, which takes less time
// than to wake a server. Longer ones are left to the server, except among neighbours, where the
// first steps only begin messages.
constexpr size_t most_at_start = size_t{64} << 10;

// The blocks of `in` that a rank gives to its neighbours.
size_t blocks_given(plan::Collective collective, const records::Neighbourhood& own) {
  const size_t edges = own.destinations.size();
  return plan::parted_in(collective) ? edges : std::min<size_t>(edges, 1);
}

}  // namespace

Comm LaneRequest::communicator() const {
  const bool lives = lanes_ != nullptr && lanes_->communicator() == communicator_;
  return lives ? communicator_ : self_communicator();
}

void LaneRequest::forget() noexcept {
  buffers_.release();
  issued_ = {};
  exchange_.reset();
  kept_.clear();
  lanes_.reset();
}

// A server runs no function of the program, and the host's for a rare type might be one of the
// program's libraries, so combinations without a kernel stay with the host. All ranks know it from
// the operation and the type.
Reason LaneRequest::describe(Communicator& communicator, const Call& call) {
  among_neighbours_ = call.on_neighbourhood();
  if (among_neighbours_) return describe_neighbours(communicator, call);
  if (call.v_form() && !communicator.group()->serves_v(call.collective))
    return Reason::v_between_nodes;
  communicator_ = communicator.handle();
  const Reason reason = buffers_.describe(communicator, call);
  if (reason != Reason::none) return reason;
  described_ = {};
  buffers_.give_to(described_);
  const exec::Combine* const combine = described_.combine;
  if (combine != nullptr && combine->kernel == nullptr) return Reason::not_by_servers;
  const plan::Definition definition{call.collective, communicator.ranks(), call.root};
  const auto ranks = static_cast<size_t>(communicator.ranks());
  const Shape shape{
      plan::one_buffer(call.collective) || definition.has_in(communicator.rank()),
      definition.has_out(communicator.rank()),
      plan::parted_in(call.collective) ? ranks : 1,
      plan::parted_out(call.collective) ? ranks : 1,
  };
  in_ = {};
  out_ = {};
  if (call.v_form())
    lay_out_parts(call, shape);
  else
    lay_out(call, shape);
  // Only the root of a bcast gives what is in its one buffer. A root in place has its own results.
  if (plan::one_buffer(call.collective) && communicator.rank() != call.root) in_.blocks = 0;
  if (described_.keeps_own) out_.blocks = 0;
  return Reason::none;
}

// Only a rank whose arguments are wrong leaves the call to the host, which raises the error.
Reason LaneRequest::describe_neighbours(Communicator& communicator, const Call& call) {
  const ServedLanes::Neighbours* const neighbours =
      communicator.several_nodes()->lanes()->neighbours();
  if (neighbours == nullptr) return Reason::wrong_arguments;
  const records::Neighbourhood& own = neighbours->own;
  communicator_ = communicator.handle();
  const Reason reason = buffers_.describe_neighbours(
      communicator, call, blocks_given(call.collective, own), own.sources.size(), false);
  if (reason != Reason::none) return reason;
  described_ = {};
  buffers_.give_to(described_);
  lay_out_edges(call, own);
  return Reason::none;
}

exec::Parts LaneRequest::Edges::list(size_t blocks, const exec::Parts* given, size_t length,
                                     const std::vector<int32_t>* ranks) {
  at.resize(blocks);
  bytes.resize(blocks);
  for (size_t i = 0; i < blocks; ++i) {
    const bool moves = ranks == nullptr || (*ranks)[i] >= 0;  // else to MPI_PROC_NULL
    at[i] = given != nullptr ? given->at[i] : static_cast<ptrdiff_t>(i * length);
    bytes[i] = given != nullptr ? given->bytes[i] : length;
    if (!moves) bytes[i] = 0;
  }
  return {at.data(), bytes.data()};
}

size_t LaneRequest::Edges::longest() const {
  return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}

void LaneRequest::lay_out_edges(const Call& call, const records::Neighbourhood& own) {
  in_ = {};
  out_ = {};
  in_.blocks = blocks_given(call.collective, own);
  out_.blocks = own.sources.size();
  const exec::VParts* const given = described_.parts;
  parts_ = {edges_in_.list(in_.blocks, given != nullptr ? &given->in : nullptr, described_.in_bytes,
                           plan::parted_in(call.collective) ? &own.destinations : nullptr),
            edges_out_.list(out_.blocks, given != nullptr ? &given->out : nullptr, described_.bytes,
                            &own.sources)};
  bytes_ = buffers_.first_bytes();
  call_ = {call.collective,
           described_.in,
           described_.out,
           0,
           0,
           nullptr,
           &parts_,
           std::max(edges_in_.longest(), edges_out_.longest())};
  keep_packed();
}

group::Group::Prepared LaneRequest::prepared_call() {
  if (!among_neighbours_) return lanes_->lanes().prepare(call_);
  const ServedLanes::Neighbours& neighbours = *lanes_->neighbours();
  const bool parted = plan::parted_in(call_.collective);
  return group::Lanes::prepare(parted ? neighbours.alltoall : neighbours.allgather, call_);
}

void LaneRequest::lay_out(const Call& call, const Shape& shape) {
  const bool one_buffer = plan::one_buffer(call.collective);
  // The bytes of a block come from the side that all ranks have; roots judge by their own. If a
  // rank's two sides disagree, it still takes part, because the other ranks wait for it.
  const bool by_in = one_buffer || plan::combines(call.collective) || !shape.has_out ||
                     (plan::scatters(call.collective) && shape.has_in);
  bytes_ = by_in ? described_.in_bytes : described_.bytes;
  call_ = {call.collective, described_.in, described_.out, bytes_, call.root, nullptr};
  if (plan::combines(call.collective)) {
    call_.combine = described_.combine;
    call_.count = bytes_ / described_.combine->element;
  }
  in_.is_used = shape.has_in && (described_.packs_in != nullptr || described_.in_bytes != bytes_);
  out_.is_used = shape.has_out && (described_.packs_out != nullptr || described_.bytes != bytes_);
  if (bytes_ == 0) in_.is_used = out_.is_used = false;
  in_.bytes = out_.bytes = bytes_;
  in_.blocks = in_.is_used ? shape.blocks_in : 0;
  out_.blocks = out_.is_used ? shape.blocks_out : 0;
  const size_t in_room = in_.blocks * std::max(bytes_, described_.in_bytes);
  const size_t out_room = out_.blocks * std::max(bytes_, described_.bytes);
  out_.at = one_buffer ? 0 : in_room;
  kept_.resize(one_buffer ? std::max(in_room, out_room) : in_room + out_room);
  if (in_.is_used) call_.in = kept_.data();
  if (out_.is_used) call_.out = kept_.data() + out_.at;
}

// Moves the parts of a side to memory of this object that begins at `at`. Returns the end of them.
size_t LaneRequest::place_parts(Packed& packed, exec::Parts& parts, size_t at) {
  packed.at = at;
  packed.lengths = parts.bytes;
  packed.places.resize(packed.blocks);
  size_t next = 0;
  for (size_t part = 0; part < packed.blocks; ++part) {
    packed.places[part] = static_cast<ptrdiff_t>(next);
    next += parts.bytes[part];
  }
  parts.at = packed.places.data();
  return at + next;
}

void LaneRequest::lay_out_parts(const Call& call, const Shape& shape) {
  const exec::VParts& given = *described_.parts;
  parts_ = {shape.has_in ? given.in : exec::Parts{}, shape.has_out ? given.out : exec::Parts{}};
  bytes_ = buffers_.first_bytes();
  call_ = {call.collective, described_.in, described_.out, 0,
           call.root,       nullptr,       &parts_,        group::unknown_length};
  if (plan::combines(call.collective)) call_.combine = described_.combine;
  in_.blocks = shape.has_in ? shape.blocks_in : 0;
  out_.blocks = shape.has_out ? shape.blocks_out : 0;
  keep_packed();
}

// Finds places in memory of this object for the parts of the sides that must be packed.
void LaneRequest::keep_packed() {
  in_.is_used = in_.blocks > 0 && described_.packs_in != nullptr;
  out_.is_used = out_.blocks > 0 && described_.packs_out != nullptr;
  if (!in_.is_used) in_.blocks = 0;
  if (!out_.is_used) out_.blocks = 0;
  const size_t in_ends = in_.is_used ? place_parts(in_, parts_.in, 0) : 0;
  kept_.resize(out_.is_used ? place_parts(out_, parts_.out, in_ends) : in_ends);
  if (in_.is_used) call_.in = kept_.data();
  if (out_.is_used) call_.out = kept_.data() + out_.at;
}

std::byte* LaneRequest::place(const Packed& packed, size_t block) {
  const size_t from_first =
      packed.lengths != nullptr ? static_cast<size_t>(packed.places[block]) : block * packed.bytes;
  return kept_.data() + packed.at + from_first;
}

// Calls move(BLOCK, PLACE, BYTES), which returns an error code, for each block of a side that is
// packed or unpacked, and returns the first error. `bytes`: of each block, if all have the same. If
// blocks have other bytes than the operation's, the next one overwrites what is too long.
template <class Move>
int LaneRequest::for_packed(const Packed& packed, size_t bytes, Move move) {
  int first = success;
  for (size_t block = 0; block < packed.blocks; ++block) {
    const size_t its = packed.lengths != nullptr ? packed.lengths[block] : bytes;
    if (its > 0) first = first_error(first, move(block, place(packed, block), its)).code;
  }
  return first;
}

int LaneRequest::fill() {
  return for_packed(in_, described_.in_bytes,
                    [&](size_t block, std::byte* to, size_t bytes) -> int {
                      if (described_.packs_in != nullptr)
                        return described_.packs_in->pack(static_cast<int32_t>(block), to, bytes);
                      std::memcpy(to, described_.in + block * bytes, bytes);
                      return success;
                    });
}

int LaneRequest::unpack() {
  return for_packed(
      out_, described_.bytes, [&](size_t block, std::byte* from, size_t bytes) -> int {
        if (described_.packs_out != nullptr)
          return described_.packs_out->unpack(from, static_cast<int32_t>(block), bytes);
        std::memcpy(described_.out, from, bytes);
        return success;
      });
}

void LaneRequest::advance_first() {
  if (issued_.operation == nullptr) return;
  const Inside inside;
  if (bytes_ <= most_at_start || among_neighbours_) issued_.lane->drive();
  if (!issued_.operation->is_over()) hand_over();
}

bool LaneRequest::begin_by_servers(group::Group& group) {
  const group::Group::ByServers served = group.by_servers(call_);
  if (served.exchange == nullptr) return false;
  const Stopwatch stopwatch(report::recording());
  served_as_ = served.algorithm;
  issued_ = {served.exchange->start(served.call), nullptr};
  exchange_ = served.exchange;
  state_ = State::pending;
  note_start(stopwatch);
  return true;
}

void LaneRequest::drive() {
  if (exchange_ != nullptr)
    exchange_->drive();
  else
    issued_.lane->drive();
}

// Without memory for it, only the calls that wait for the operation or test it drive it. The
// operation has been issued, so it is no error of the call.
void LaneRequest::hand_over() noexcept {
  try {
    hand_to_server(lanes_->lanes());
  } catch (const std::bad_alloc&) {
  }
}

void LaneRequest::note_start(const Stopwatch& stopwatch) {
  if (!report::recording()) return;
  spent_ = stopwatch.read();
  report::record_start(0);
}

bool LaneRequest::is_ready() {
  if (issued_.operation == nullptr || issued_.operation->is_over()) return true;
  const Inside inside;
  drive();
  return issued_.operation->is_over();
}

int LaneRequest::complete() {
  const Stopwatch stopwatch(report::recording());
  if (issued_.operation != nullptr && !issued_.operation->is_over()) {
    const Inside inside;
    std::optional<exec::Lane::Helping> helping;
    if (issued_.lane != nullptr) helping.emplace(*issued_.lane);
    // The lane calls the host only while it waits for a message. If it waits for a rank of this
    // node, that rank may wait for a message of another lane.
    exec::Waiter waiter(exec::pace_of_messages(lanes_->wait_style()),
                        {[](void*) { return mpi::drive_host(); }, nullptr});
    waiter.until(
        [&] {
          drive();
          return issued_.operation->is_over();
        },
        [] { return Code::ok; });
  }
  if (!lanes_->lanes().is_idle()) hand_over();
  const std::shared_ptr<const exec::BoundProgram> bound =
      issued_.operation != nullptr ? issued_.operation->bound : nullptr;
  const std::string served_as = std::move(served_as_);
  std::string_view algorithm = exchange_ != nullptr ? std::string_view(served_as) : "none";
  if (bound != nullptr) algorithm = bound->program->algorithm;
  const plan::Collective collective = call_.collective;
  const bool among_neighbours = among_neighbours_;
  const int code = guarded(communicator(), [&] { return finish(); });
  if (report::recording()) {
    spent_ += stopwatch.read();
    report::record({.collective = collective,
                    .bytes = bytes_,
                    .algorithm = algorithm,
                    .time = spent_,
                    .neighbourhood = among_neighbours,
                    .started = true});
  }
  return code;
}

// Raises the errors of the operation, which is over.
int LaneRequest::finish() {
  const Comm comm = communicator();
  const std::shared_ptr<exec::LaneOperation> operation = issued_.operation;
  const bool failed = operation != nullptr && operation->code != Code::ok;
  const int unpacking = failed ? success : unpack();
  const std::shared_ptr<ServedLanes> lanes = lanes_;  // the end may forget them
  state_ = State::taken;
  ServedCalls::note();
  issued_ = {};
  ended();
  if (!failed && among_neighbours_ && !lanes->neighbours()->fault.empty()) {
    log_line(LogLevel::error, "%s", lanes->neighbours()->fault.c_str());
    let_launcher_read();
    return raise(comm, abi.err_truncate);
  }
  if (!failed) return unpacking == success ? success : raise(comm, unpacking);
  log_line(LogLevel::error, "%s", operation->failure.c_str());
  let_launcher_read();  // the handler may abort the job
  if (operation->stalled) end_job(comm);
  return raise(comm, operation->code == Code::mismatch ? abi.err_truncate : abi.err_other);
}

void LaneRequest::drive_host() { mpi::drive_host(); }

}  // namespace tutti::mpi
