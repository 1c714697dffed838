#include "mpi/one_sided/between_nodes.h"

#include <unistd.h>

#include <algorithm>
#include <list>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text_or_short.h"
#include "mpi/host/inside.h"
#include "mpi/host/ranks.h"
#include "mpi/communicators/served_lanes.h"
#include "mpi/job/drive_host.h"
#include "mpi/job/end.h"
#include "mpi/job/servers.h"
#include "mpi/one_sided/at_all.h"
#include "api/serving.h"
#include "rma/look.h"
#include "rma/saturation.h"
#include "rma/signal.h"
#include "shm/process_heap.h"

namespace tutti::mpi {
namespace {

using Duration = BetweenNodes::Clock::duration;

// From the start of a transfer until its first reply, at least. A server that looks by so much too
// late is not woken.
constexpr Duration shortest_transfer = std::chrono::microseconds(50);

}  // namespace

rma::Window window_to_rank() {
  // A network of 5 GB/s moves these bytes in the 50 us until a reply comes.
  constexpr size_t first = size_t{256} << 10;
  // A network of 2 GB/s moves these bytes in 2 ms. Copies of puts take as much memory.
  constexpr size_t grown = size_t{4} << 20;
  // Targets take no more from all ranks together (answering.cpp).
  constexpr size_t most = size_t{16} << 20;
  const std::optional<rma::SaturationMap>& map = api::saturation_maps().between_nodes;
  size_t told = map ? std::min(most, rma::bytes_under_way(*map, most_piece())) : 0;
  if (options().under_way_bytes != 0) told = options().under_way_bytes;
  if (told == 0) return {first, grown};
  log_line(LogLevel::info, "%zu bytes are under way at once to a rank of another node", told);
  return {told, told};
}

namespace {

struct Sides {
  std::mutex mutex;
  std::list<std::shared_ptr<BetweenNodes>> all;
  report::TransfersBetweenNodes done;  // the counts of those that are not in the list any more
};
// Never destroyed: a forked child may use it at any time.
Sides& sides() {
  static Sides& made = *new Sides;
  return made;
}

// Null: there is none.
std::shared_ptr<BetweenNodes> first_side() {
  const std::lock_guard lock(sides().mutex);
  return sides().all.empty() ? nullptr : sides().all.front();
}

// Frees what all ranks have left, in a call of the program's, because the host frees communicators.
void remove_ended() {
  std::list<std::shared_ptr<BetweenNodes>> ended;
  {
    const std::lock_guard lock(sides().mutex);
    auto& all = sides().all;
    for (auto side = all.begin(); side != all.end();) {
      const auto one = side++;
      if (!(*one)->has_ended()) continue;
      (*one)->add_to(sides().done);
      ended.splice(ended.end(), all, one);
    }
    if (all.empty()) stop_driving_transfers();
  }
  for (const auto& side : ended) {
    take_from_server(*side);
    side->release();
  }
}

// While it lives, the calling thread drives the side again and again.
class Helping {
 public:
  explicit Helping(shm::Word& helpers) : helpers_(helpers) { shm::count_in(helpers_); }
  ~Helping() { shm::count_out(helpers_); }
  Helping(const Helping&) = delete;

 private:
  shm::Word& helpers_;
};

}  // namespace

rma::Extent own_heap() {
  const shm::Heap* const heap = shm::process_heap();
  if (heap == nullptr) return {};
  return {reinterpret_cast<uint64_t>(heap->base()), heap->bytes()};
}

rma::Peer own_memory_of_answers() {
  const rma::Extent heap = own_heap();
  return {.first = heap.first, .bytes = heap.bytes, .process = static_cast<int32_t>(getpid())};
}

std::shared_ptr<BetweenNodes> BetweenNodes::make(Comm over,
                                                 const std::function<Settings()>& find_settings) {
  const Host& mpi = host();
  remove_ended();
  PrivateCommunicator communicator = PrivateCommunicator::split(over, 0, rank_in(over));
  if (!communicator)
    throw Error(Code::unavailable,
                "the host MPI makes no communicator for transfers between nodes");
  communicator.return_errors();
  const Comm between = communicator.get();
  std::list<std::shared_ptr<BetweenNodes>> made;
  at_all(over, [&] {
    made.push_back(std::make_shared<BetweenNodes>(std::move(communicator), find_settings()));
    if (start_server()) hand_to_server(*made.back());
  });
  const std::shared_ptr<BetweenNodes> side = made.back();
  const rma::Extent own = own_heap();
  mpi.Allgather(&own, sizeof own, mpi.type_byte, side->heaps_.data(), sizeof own, mpi.type_byte,
                between);
  const std::lock_guard lock(sides().mutex);
  sides().all.splice(sides().all.end(), made);
  drive_transfers_by(drive_between_nodes);
  return side;
}

BetweenNodes::BetweenNodes(PrivateCommunicator communicator, Settings settings)
    : heaps_(settings.in_world.size()),
      settings_(std::move(settings)),
      made_by_(getpid()),
      communicator_(std::move(communicator)),
      wire_(communicator_.get()),
      asking_(wire_, window_to_rank()),
      answering_(wire_, {own_memory_of_answers()}),
      last_moved_(Clock::now()) {}

// A forked child must not call MPI.
BetweenNodes::~BetweenNodes() {
  if (getpid() != made_by_)
    communicator_.abandon();
  else
    take_from_server(*this);
}

void BetweenNodes::release() {
  const std::lock_guard lock(mutex_);
  communicator_.reset();
}

// The target finds out the rest.
void BetweenNodes::require_heap(const rma::Transfer& transfer, int rank) const {
  const rma::Extent heap = heaps_[static_cast<size_t>(rank)];
  const rma::Extent extent = rma::extent_of(transfer.remote, transfer.remote_stride, transfer);
  const uint64_t offset = extent.first - heap.first;
  if (offset >= heap.bytes || extent.bytes <= heap.bytes - offset) return;
  throw Error(Code::invalid_argument,
              "the transfer goes beyond the end of the heap of rank " + std::to_string(rank) +
                  ": " + std::to_string(extent.bytes) + " bytes at offset " +
                  std::to_string(offset) + " of " + std::to_string(heap.bytes) +
                  "; use addresses of one tutti_alloc");
}

uint64_t BetweenNodes::start(const rma::Transfer& transfer, int rank, rma::Outcome* outcome) {
  if (transfer.bytes() == 0) return 0;
  require_heap(transfer, rank);
  uint64_t number = 0;
  bool exceeds = false, oversleeps = false;
  std::map<uint64_t, rma::Handing::State> signal;
  if (transfer.kind == rma::Kind::put_signal) signal[0] = rma::Handing::State::under_way;
  {
    const Inside inside;
    const std::lock_guard lock(mutex_);
    if (!asking_.failure().empty()) throw Error(Code::dead_peer, asking_.failure());
    if (settings_.handing != nullptr) {
      rma::Transfer handed = transfer;
      handed.target = rma::Transfer::far_target(settings_.in_world[static_cast<size_t>(rank)]);
      number = settings_.handing->start(handed);
    }
    const bool handed = number != 0;
    if (handed && !signal.empty()) {
      auto node = signal.extract(signal.begin());
      node.key() = number;
      signals_.insert(std::move(node));
    }
    if (!handed) {
      exceeds = asking_.outstanding() >= settings_.most;
      number = asking_.start(transfer, {.answers = rank, .rank = rank});
    }
    (rma::is_put(transfer.kind) ? done_.puts : done_.gets) += 1;
    done_.bytes += transfer.bytes();
    if (handed) return number;
    last_moved_ = Clock::now() + shortest_transfer;
    oversleeps = plan_look();
  }
  if (oversleeps) hand_to_server(*this);
  if (!exceeds) return number;
  *outcome = wait(number);
  return 0;
}

bool BetweenNodes::is_outstanding(uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (!rma::Handing::is_number(number)) return asking_.knows(number);
  return settings_.handing != nullptr && settings_.handing->is_outstanding(number);
}

bool BetweenNodes::test(uint64_t number, rma::Outcome* outcome) {
  drive_between_nodes();
  const std::lock_guard lock(mutex_);
  return is_complete(number, of_tests_.is_due(), outcome);
}

// For the usual look this costs a count. A look at the clock follows many looks, and a close look
// follows some of these.
bool BetweenNodes::CloseLooks::is_due() {
  constexpr uint64_t looks_before_look_at_clock = 256;
  constexpr auto close_looks_every = std::chrono::milliseconds(100);
  if (++looks % looks_before_look_at_clock != 0) return false;
  const Clock::time_point now = Clock::now();
  if (now < next) return false;
  next = now + close_looks_every;
  return true;
}

// Completes the transfer if that needs no wait.
bool BetweenNodes::is_complete(uint64_t number, bool closely, rma::Outcome* outcome) {
  if (rma::Handing::is_number(number)) return finish_handed(number, closely, outcome);
  if (!asking_.is_over(number)) return false;
  *outcome = asking_.take(number);
  if (settings_.handing != nullptr) settings_.handing->note_end();
  return true;
}

bool BetweenNodes::finish_handed(uint64_t number, bool closely, rma::Outcome* outcome) {
  using State = rma::Handing::State;
  rma::Handing& handing = *settings_.handing;
  if (const auto executed = executed_.find(number); executed != executed_.end()) {
    if (!asking_.is_over(executed->second)) return false;
    *outcome = asking_.take(executed->second);
    executed_.erase(executed);
    handing.end(number, false);
    return true;
  }
  const auto signal = signals_.find(number);
  const bool is_told = signal != signals_.end() && signal->second != State::under_way;
  const State state = is_told ? signal->second : handing.look(number, closely);
  if (state == State::under_way || (state == State::own && execute(number))) return false;
  signals_.erase(number);
  if (state == State::own) *outcome = {Code::unavailable, "out of memory"};
  if (state == State::lost)
    *outcome = {Code::dead_peer, "a put is lost: this rank has waited " + handing.describe(number) +
                                     ", but the process has died or its messages have "
                                     "failed; the data may arrive at any time, or never"};
  handing.end(number, state == State::done);
  return true;
}

// Executes a transfer that a server had, and that no server executes any more. False, with nothing
// begun, if memory has run out.
bool BetweenNodes::execute(uint64_t number) noexcept {
  const rma::Transfer& transfer = settings_.handing->transfer(number);
  const auto at =
      std::find(settings_.in_world.begin(), settings_.in_world.end(), transfer.far_rank());
  const int rank = static_cast<int>(at - settings_.in_world.begin());
  const Inside inside;
  try {
    std::map<uint64_t, uint64_t> one{{number, 0}};
    one[number] = asking_.start(transfer, {.answers = rank, .rank = rank});
    executed_.merge(one);
    signals_.erase(number);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Executes puts that signal and that no server executes any more. Their targets may wait for them
// while this rank waits for something else, perhaps for a signal of these targets, so it does not
// leave them to their completion. Looks at one of them, in turn, and now and then closely at all.
// True if something has moved.
bool BetweenNodes::take_signals_back() noexcept {
  using State = rma::Handing::State;
  if (signals_.empty()) return false;
  const bool closely = of_signals_.is_due();
  bool moved = false;
  for (size_t left = closely ? signals_.size() : 1; left > 0; --left) {
    auto next = signals_.upper_bound(last_signal_);
    if (next == signals_.end()) next = signals_.begin();
    const uint64_t number = last_signal_ = next->first;
    State& state = next->second;
    if (state == State::under_way) state = settings_.handing->look(number, closely);
    // The completion finds again that a server has executed it.
    if (state == State::done)
      signals_.erase(next);
    else if (state == State::own)
      moved = execute(number) || moved;
    if (signals_.empty()) break;
  }
  return moved;
}

// Describes the transfer with this number as the purpose of a wait.
std::string BetweenNodes::describe(uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto executed = executed_.find(number);
  if (rma::Handing::is_number(number) && executed == executed_.end())
    return settings_.handing->describe(number);
  return asking_.describe(executed == executed_.end() ? number : executed->second) +
         (options().servers.count > 0
              ? "; while servers are disabled on its node (--serve none, tutti_servers_disable)"
              : "; without servers (tutti-run --servers 1)") +
         " it answers only inside calls of Tutti";
}

// While `done` is false, drives all sides.
template <class Done, class Describe>
void BetweenNodes::wait_until(Done done, Describe describe) {
  const Helping helping(helpers_);
  exec::Waiter waiter(exec::pace_of_messages(settings_.style));
  bool closely = false;
  const auto is_done = [&] {
    drive_between_nodes();
    const std::lock_guard lock(mutex_);
    return done(std::exchange(closely, false));
  };
  waiter.until(is_done, [&] {
    closely = waiter.looks_closely();
    if (!waiter.stalls()) return Code::ok;
    log_line(LogLevel::warning, "has waited %d s %s", options().stall_seconds,
             text_or_short(describe).c_str());
    end_stalled_job(communicator_.get());
    return Code::ok;
  });
}

rma::Outcome BetweenNodes::wait(uint64_t number) {
  rma::Outcome outcome;
  if (rma::Handing::is_number(number)) {  // a server may have completed it
    const std::lock_guard lock(mutex_);
    if (is_complete(number, false, &outcome)) return outcome;
  }
  wait_until([&](bool closely) { return is_complete(number, closely, &outcome); },
             [&] { return describe(number); });
  return outcome;
}

rma::Outcome BetweenNodes::wait_for_signal(const shm::Word& signal, uint64_t least) {
  const auto has_come = [&] { return shm::observe(signal) >= least; };
  if (has_come()) return {};
  rma::Outcome outcome;
  const auto is_over = [&](bool) {
    const std::string& failure =
        asking_.failure().empty() ? answering_.failure() : asking_.failure();
    if (has_come()) return true;
    if (!failure.empty()) outcome = {Code::dead_peer, failure};
    return !failure.empty();
  };
  wait_until(is_over, [&] { return rma::describe_signal(signal, least); });
  return outcome;
}

rma::Outcome BetweenNodes::wait_for_all() {
  drive_between_nodes();
  rma::Outcome first;
  const auto oldest = [this] {
    const std::lock_guard lock(mutex_);
    const uint64_t handed = settings_.handing == nullptr ? 0 : settings_.handing->oldest();
    return handed != 0 ? handed : asking_.oldest();
  };
  for (uint64_t number = oldest(); number != 0; number = oldest()) {
    rma::Outcome outcome = wait(number);
    if (first.code == Code::ok) first = std::move(outcome);
  }
  return first;
}

void BetweenNodes::wait_for_end() {
  wait_until(
      [this](bool) { return has_ended(); },
      [] { return std::string("for other ranks to free their groups or to call MPI_Finalize"); });
}

void BetweenNodes::leave() {
  if (getpid() != made_by_) return;
  const Inside inside;
  const std::lock_guard lock(mutex_);
  if (std::exchange(leaves_, true)) return;
  if (asking_.failure().empty() && answering_.failure().empty() &&
      host().Ibarrier(communicator_.get(), &all_have_left_) == success)
    return;
  communicator_.abandon();  // it is of no use, and others may not free it
  shm::publish(ended_, 1);
}

// True if something has moved.
bool BetweenNodes::drive_end() {
  if (!leaves_ || has_ended()) return false;
  int done = 0;
  const bool failed = !answering_.failure().empty() ||
                      host().Test(&all_have_left_, &done, abi.status_ignore) != success;
  if (failed) communicator_.abandon();
  // All have had their replies, so these leave soon.
  if (!failed && (done == 0 || !answering_.is_idle())) return false;
  shm::publish(ended_, 1);
  return true;
}

void BetweenNodes::ask_for_look(Clock::time_point time) {
  shm::store_relaxed(next_look_, static_cast<uint64_t>(time.time_since_epoch().count()));
}

// Asks for the next look. True if the server may sleep for longer, which must then be told. It
// looks no later than it was asked for before: turns of ranks that find nothing ask for later
// looks, and do not tell it.
bool BetweenNodes::plan_look() {
  const auto before = next_look(), now = std::max(Clock::now(), last_moved_);
  const bool awake = shm::load_relaxed(*settings_.told.awake) != 0;
  const auto next = now + rma::until_next_look(now - last_moved_, awake);
  ask_for_look(next);
  return shm::load_relaxed(*settings_.told.enabled) != 0 && next + shortest_transfer < before;
}

// True if something has moved.
bool BetweenNodes::drive_all(uint64_t* answered) {
  const Inside inside;
  const uint64_t before = answering_.answered();
  bool moved = asking_.drive();
  moved = answering_.drive() || moved;
  moved = take_signals_back() || moved;
  moved = drive_end() || moved;
  *answered += answering_.answered() - before;
  if (moved) last_moved_ = Clock::now();
  return moved;
}

bool BetweenNodes::take_turn() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || has_ended()) return false;
  const bool moved = drive_all(&done_.by_ranks);
  const bool oversleeps = plan_look();
  lock.unlock();
  if (oversleeps) hand_to_server(*this);
  return moved;
}

// It never waits for others, because the host was driven.
BetweenNodes::Turn BetweenNodes::drive_for_others() {
  if (shm::load_relaxed(helpers_) != 0) return Turn::taken;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Turn::taken;
  if (has_ended()) return Turn::idle;
  if (shm::load_relaxed(*settings_.told.enabled) == 0) {
    ask_for_look(Clock::now() + rma::longest_rest);
    return Turn::idle;
  }
  // Both hosts find a message by the call after the one that has received it, and the next look may
  // come much later.
  const bool moved = drive_all(&done_.by_servers) || drive_all(&done_.by_servers);
  plan_look();
  return moved ? Turn::moved : Turn::idle;
}

void BetweenNodes::wake_server() {
  {
    const std::lock_guard lock(mutex_);
    if (has_ended()) return;
    ask_for_look(Clock::now());
  }
  hand_to_server(*this);
}

void BetweenNodes::add_to(report::TransfersBetweenNodes& sum) {
  const std::lock_guard lock(mutex_);
  sum += done_;
  if (settings_.handing == nullptr) return;
  const rma::Handing::Counts& handed = settings_.handing->counts();
  sum.handed += handed.handed;
  sum.taken_back += handed.taken_back;
  sum.lost += handed.lost;
}

// A thread that finds another one here lets it drive.
bool drive_between_nodes() {
  const std::unique_lock lock(sides().mutex, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  bool moved = false;
  for (const auto& side : sides().all) moved = side->take_turn() || moved;
  return moved;
}

void wake_servers_between_nodes() {
  const std::lock_guard lock(sides().mutex);
  for (const auto& side : sides().all) side->wake_server();
}

void record_between_nodes(report::TransfersBetweenNodes sum) {
  {
    const std::lock_guard lock(sides().mutex);
    sum += sides().done;
    for (const auto& side : sides().all) side->add_to(sum);
  }
  report::record_transfers_between_nodes(sum);
}

void end_between_nodes() {
  {
    const std::lock_guard lock(sides().mutex);
    for (const auto& side : sides().all) side->leave();
  }
  while (const std::shared_ptr<BetweenNodes> side = first_side()) {
    side->wait_for_end();
    remove_ended();
  }
}

void forget_between_nodes() {
  stop_driving_transfers();
  new (&sides().mutex) std::mutex;  // another thread of the parent may have held it
}

}  // namespace tutti::mpi
