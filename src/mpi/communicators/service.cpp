#include "mpi/communicators/service.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "exec/waiter.h"
#include "mpi/host/reduced.h"
#include "mpi/host/types.h"
#include "mpi/job/threads.h"

namespace tutti::mpi {
namespace {

// The values of Control::parked.
constexpr uint64_t in_use = 0, is_parked = 1, is_retired = 2;

// How many services a leader keeps. A program that makes the same communicators again and again has
// few kinds of them.
constexpr size_t most_led = 8;

// How many of the services that are left are looked at when another one is left.
constexpr size_t most_looked_at = 8;

struct Lot {
  std::mutex mutex;
  std::vector<std::unique_ptr<Service>> services;  // in the order of parking
  std::vector<std::unique_ptr<Service>> left;      // ended, but some rank needs their records
  size_t next_left = 0;                            // the one of these to be looked at next
  std::vector<Service*> with_records;
};

// Never destroyed: exit handlers may still call MPI.
Lot& lot() {
  static Lot& made = *new Lot;
  return made;
}

// The needs of a reduction of this type. Integers need nothing of a plan, because the order of
// combination does not change their bits.
exec::Needs needs_of(kernels::Type type) {
  using kernels::Type;
  switch (type) {
    case Type::float32:
    case Type::float64:
    case Type::float80:
    case Type::complex64:
    case Type::complex128:
    case Type::complex160:
    case Type::float32_int:
    case Type::float64_int:
    case Type::float80_int:
    case Type::float32_float32:
    case Type::float64_float64: return exec::needs_same_expression;
    default: return exec::needs_nothing;
  }
}

using Services = std::vector<std::unique_ptr<Service>>;

bool may_be_parked(const Service& service) {
  return !service.members.empty() && service.group != nullptr && service.group->failure().empty();
}

// Takes the words of all ranks, or of none. A rank may retire its part at any time.
bool take_words(const Service& service) {
  int taken = 0;
  while (taken < service.layout.ranks && shm::take(service.parked(taken), is_parked, in_use))
    ++taken;
  if (taken == service.layout.ranks) return true;
  while (taken > 0) shm::publish(service.parked(--taken), is_parked);
  return false;
}

// True if the leader has retired the service. A service that it took before for a communicator
// stays until this rank takes it for the same one, however far the leader is ahead.
bool is_of_no_use(const Service& service) {
  return shm::observe(service.parked(0)) == is_retired &&
         shm::observe(service.parked(service.group->rank())) != in_use;
}

// Moves the services that the lot should not keep to `ended`. The caller holds the lock.
void sweep(Services& services, Services& ended) {
  const auto move_out = [&](auto which) {
    ended.push_back(std::move(*which));
    return services.erase(which);
  };
  size_t led = 0;
  for (auto one = services.begin(); one != services.end();) {
    led += (*one)->is_leader() ? 1 : 0;
    one = is_of_no_use(**one) ? move_out(one) : one + 1;
  }
  // Half of the memory is kept free for communicators that are not parked.
  for (auto one = services.begin(); one != services.end();) {
    const shm::Segment& segment = *(*one)->segment;
    const bool too_many = led > most_led || segment.free_bytes() < segment.usable_bytes() / 2;
    const bool goes = (*one)->is_leader() && too_many;
    if (goes) --led;
    one = goes ? move_out(one) : one + 1;
    // The memory becomes free only when all ranks have released it, so one service is enough.
    if (goes && led <= most_led) break;
  }
}

// Takes out of the lot the last parked service for which wanted(service) is true; null if there is
// none.
template <class Wanted>
std::unique_ptr<Service> take(Wanted wanted) {
  const std::lock_guard<std::mutex> lock(lot().mutex);
  Services& services = lot().services;
  const auto found = std::find_if(services.rbegin(), services.rend(),
                                  [&](const auto& one) { return wanted(*one); });
  if (found == services.rend()) return nullptr;
  std::unique_ptr<Service> taken = std::move(*found);
  services.erase(std::next(found).base());
  return taken;
}

}  // namespace

// The leader's word decides for all ranks: once the leader has destroyed its part of a service, no
// rank can take the service again.
Service::~Service() {
  if (records_ != nullptr) {
    const std::lock_guard<std::mutex> lock(lot().mutex);
    std::erase(lot().with_records, this);
  }
  records_.reset();
  if (segment != nullptr && is_leader() && !members.empty()) shm::publish(parked(0), is_retired);
  group.reset();
  if (segment != nullptr) segment->leave(page);
}

shm::Word& Service::parked(int rank) const {
  std::byte* const area = segment->address(page) + static_cast<size_t>(rank) * layout.stride();
  return reinterpret_cast<shm::Control*>(area)->parked;
}

const exec::Combine* Service::kernel(Datatype type, Op op) {
  const std::pair<Datatype, Op> key(type, op);
  if (const auto found = kernels.find(key); found != kernels.end()) return &found->second.combine;
  const auto named = named_op(op);
  if (!named) return nullptr;
  const NamedType* const element = predefined_type(type);
  if (element == nullptr || !element->kernel || !takes(*named, element->kind)) return nullptr;
  const tutti::kernels::Reduce reduce = tutti::kernels::find_reduce(*element->kernel, *named);
  if (reduce == nullptr) return nullptr;
  KernelChoice& choice = kernels[key];
  // The combination refers to the choice, in which HostLeaders finds the host's handles.
  choice = {type,
            op,
            {reduce, nullptr, &choice, tutti::kernels::size(*element->kernel), true,
             needs_of(*element->kernel), number_of(reduced_of(element, element->bytes, named))}};
  return &choice.combine;
}

bool Service::host_combines(Datatype type, Op op) const {
  const auto named = named_op(op);
  const NamedType* const element = predefined_type(type);
  if (!named || element == nullptr || !takes(*named, element->kind)) return false;
  return (rare_type_bit(*element) & missing_types) == 0;
}

Records& Service::records() {
  if (records_ != nullptr) [[likely]]
    return *records_;
  Records::Settings settings;
  settings.areas = segment->address(page);
  settings.layout = layout;
  settings.rank = group->rank();
  settings.reach = group->reach();
  add_records(settings);
  return *records_;
}

// Once the ledgers are entered, other ranks may have found them, so they stay if memory runs out.
void Service::open_records(const records::Key& key, std::vector<int> its_members, int rank) {
  Records::Settings settings;
  settings.reach = team->memory().reach(its_members);
  if (by_key_ == nullptr) {
    records::LedgersByKey::Settings ledgers;
    ledgers.directory = team->directory();
    ledgers.arena = &team->arena();
    ledgers.key = key;
    ledgers.members = std::move(its_members);
    ledgers.rank = rank;
    by_key_ = std::make_unique<records::LedgersByKey>(std::move(ledgers));
  }
  settings.by_key = by_key_.get();
  settings.rank = rank;
  add_records(settings);
}

void Service::add_records(Records::Settings settings) {
  settings.arena = &team->arena();
  settings.concurrent = threads_call_at_once();
  settings.stores = group::store_policy(options().stores);
  auto made = std::make_unique<Records>(settings);
  const std::lock_guard<std::mutex> lock(lot().mutex);
  lot().with_records.push_back(this);
  records_ = std::move(made);
}

void retire(std::unique_ptr<Service> service) noexcept {
  const auto is_needed = [](const std::unique_ptr<Service>& one) {
    return one->made_records() != nullptr && !one->made_records()->may_end();
  };
  Services ended;  // declared first, so destroyed without the lock
  const std::lock_guard<std::mutex> lock(lot().mutex);
  Services& left = lot().left;
  try {
    ended.reserve(1 + most_looked_at);
    left.push_back(std::move(service));
  } catch (const std::bad_alloc&) {
    (void)service.release();  // not destroyed, because other ranks may read it
    return;
  }
  // The new one first, because other ranks may wait to learn that it needs nothing of theirs.
  size_t& next = lot().next_left;
  size_t at = left.size() - 1;
  for (size_t looked = 0; looked <= most_looked_at && !left.empty(); ++looked) {
    if (is_needed(left[at])) {
      if (looked > 0) ++next;
    } else {
      ended.push_back(std::move(left[at]));
      left[at] = std::move(left.back());
      left.pop_back();
    }
    if (next >= left.size()) next = 0;
    at = next;
  }
}

void settle_records() {
  std::vector<Service*> all;
  {
    const std::lock_guard<std::mutex> lock(lot().mutex);
    all = lot().with_records;
  }
  for (Service* const service : all) {
    Records& records = *service->made_records();
    if (const uint64_t active = records.under_way(); active != 0)
      log_line(LogLevel::error,
               "MPI ends, but this rank has not completed %lu non-blocking or persistent "
               "collectives of a communicator; complete all of them before MPI_Finalize",
               static_cast<unsigned long>(active));
    records.abandon();
  }
  for (Service* const service : all) {
    Records& records = *service->made_records();
    const exec::ProgressHook hook = service->team->progress_hook();
    exec::Waiter waiter(exec::pace_between_calls(service->team->wait_style()), hook);
    waiter.until([&] { return records.is_settled(); },
                 [&] {
                   if (!waiter.looks_closely()) return Code::ok;
                   if (waiter.stalls())
                     log_line(LogLevel::warning,
                              "MPI ends, but for %d s rank %d of a communicator has not completed "
                              "collectives that this rank has started",
                              options().stall_seconds, records.late_rank());
                   return records.missing_rank() < 0 ? Code::ok : Code::dead_peer;
                 });
  }
  for (Service* const service : all) service->made_records()->leave();
}

// If there is no memory for an entry in the lot, the service is destroyed.
void park(std::unique_ptr<Service> service) noexcept {
  if (!may_be_parked(*service)) return retire(std::move(service));
  Services ended;  // destroyed without the lock
  {
    const std::lock_guard<std::mutex> lock(lot().mutex);
    shm::Word& word = service->parked(service->group->rank());
    try {
      ended.reserve(lot().services.size() + 1);
      lot().services.push_back(std::move(service));
      shm::publish(word, is_parked);
      sweep(lot().services, ended);
    } catch (const std::bad_alloc&) {  // the service was not moved
    }
  }
  if (service != nullptr) retire(std::move(service));
  for (std::unique_ptr<Service>& one : ended) retire(std::move(one));
}

std::unique_ptr<Service> take_parked(const Team& team, const std::vector<int>& members) {
  return take([&](const Service& one) {
    return one.is_leader() && one.team.get() == &team && one.members == members && take_words(one);
  });
}

void park_again(std::unique_ptr<Service> service) noexcept {
  for (int rank = 1; rank < service->layout.ranks; ++rank)
    shm::publish(service->parked(rank), is_parked);
  park(std::move(service));
}

std::unique_ptr<Service> take_parked(const Team& team, uint64_t identity) {
  return take(
      [&](const Service& one) { return one.team.get() == &team && one.identity == identity; });
}

void empty_parking_lot() noexcept {
  Services parked;
  {
    const std::lock_guard<std::mutex> lock(lot().mutex);
    parked.swap(lot().services);
    // A service that its leader has taken stays for the set-up in which the leader names it.
    const auto first_taken =
        std::partition(parked.begin(), parked.end(), [](const std::unique_ptr<Service>& one) {
          return shm::take(one->parked(one->group->rank()), is_parked, is_retired);
        });
    try {
      lot().services.reserve(static_cast<size_t>(parked.end() - first_taken));
    } catch (const std::bad_alloc&) {
      lot().services.swap(parked);  // all stay until the registry closes
      return;
    }
    std::move(first_taken, parked.end(), std::back_inserter(lot().services));
    parked.erase(first_taken, parked.end());
  }
  for (std::unique_ptr<Service>& one : parked) retire(std::move(one));
}

void end_services() {
  Services parked, left;
  const std::lock_guard<std::mutex> lock(lot().mutex);
  parked.swap(lot().services);
  left.swap(lot().left);
}

}  // namespace tutti::mpi
