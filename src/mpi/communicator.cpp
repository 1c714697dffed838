#include "mpi/communicator.h"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "mpi/types.h"

namespace tutti::mpi {

constinit thread_local int Inside::depth = 0;
constinit thread_local Remembered last_used{};
shm::Word generation{1};

namespace {

constinit thread_local std::array<Remembered, 8> remembered{};

Remembered& remembered_slot(MPI_Comm handle) { return remembered[((uint64_t)handle * 0x9E3779B97F4A7C15u) >> 61]; }

struct Book {
  std::mutex mutex;
  bool open = false;
  bool record = false;
  std::unordered_map<uint64_t, std::unique_ptr<Communicator>> communicators;
  std::unique_ptr<Team> team;
  std::string why_no_team;
  int keyval = MPI_KEYVAL_INVALID;
};

// Never destroyed: exit handlers may still call MPI.
Book& book() {
  static Book& made = *new Book;
  return made;
}

uint64_t key_of(MPI_Comm handle) { return (uint64_t)handle; }

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

// The host calls it when a communicator ends.
int forget(MPI_Comm, int, void* value, void*) {
  Book& book = mpi::book();
  std::unique_ptr<Communicator> ended;  // destroyed without the lock
  {
    const std::lock_guard<std::mutex> lock(book.mutex);
    if (!book.open) return MPI_SUCCESS;
    const auto found = book.communicators.find(key_of(static_cast<Communicator*>(value)->handle()));
    if (found == book.communicators.end() || found->second.get() != value) return MPI_SUCCESS;
    ended = std::move(found->second);
    book.communicators.erase(found);
    shm::jot(generation, shm::glance(generation) + 1);
  }
  return MPI_SUCCESS;
}

Communicator* look_up(MPI_Comm handle) {
  Book& book = mpi::book();
  const std::lock_guard<std::mutex> lock(book.mutex);
  const auto found = book.communicators.find(key_of(handle));
  return found == book.communicators.end() ? nullptr : found->second.get();
}

Communicator* make_communicator(MPI_Comm handle) {
  Book& book = mpi::book();
  auto made = std::make_unique<Communicator>(handle);
  Communicator* const communicator = made.get();
  {
    const std::lock_guard<std::mutex> lock(book.mutex);
    book.communicators[key_of(handle)] = std::move(made);
  }
  const Inside inside;
  if (host().Comm_set_attr(handle, book.keyval, communicator) == MPI_SUCCESS) return communicator;
  // No communicator, then: the host says so by itself.
  const std::lock_guard<std::mutex> lock(book.mutex);
  book.communicators.erase(key_of(handle));
  return nullptr;
}

}  // namespace

const char* describe(Reason reason) {
  switch (reason) {
    case Reason::none: return "none";
    case Reason::set_up_pending: return "first calls of a communicator (TUTTI_SETUP_AFTER)";
    case Reason::one_rank: return "communicator of one rank";
    case Reason::intercommunicator: return "intercommunicator";
    case Reason::not_on_one_node: return "ranks on several nodes, or of several jobs";
    case Reason::no_shared_memory: return "no shared memory on this node";
    case Reason::shared_memory_exhausted: return "shared memory exhausted (TUTTI_SHM_BYTES_PER_RANK)";
    case Reason::host_failed: return "host MPI failed in set-up (a revoked communicator)";
    case Reason::no_bytes: return "no data";
    case Reason::no_kernel: return "datatype and operation without a kernel";
    case Reason::large_element: return "elements too large for the slots";
    case Reason::wrong_arguments: return "arguments for the host MPI to judge";
    case Reason::no_program: return "the algorithm that was asked for does not serve this communicator";
    case Reason::count_: break;
  }
  return "unknown";
}

Communicator::~Communicator() {
  group_.reset();
  if (segment_ != nullptr) segment_->leave(page_);
}

void Communicator::enter() {
  if (decided_ || calls_++ < options().setup_after) return;
  decided_ = true;
  const Inside inside;
  reason_ = set_up();
}

Reason Communicator::set_up() {
  const Host& mpi = host();
  int inter = 0, ranks = 0;
  mpi.Comm_test_inter(handle_, &inter);
  if (inter != 0) return Reason::intercommunicator;
  mpi.Comm_size(handle_, &ranks);
  if (ranks < 2) return Reason::one_rank;
  if (team() == nullptr) return Reason::no_shared_memory;
  if (!team()->covers(handle_, ranks)) return Reason::not_on_one_node;
  return join(ranks);
}

// All members are the team's from here on.
Reason Communicator::join(int ranks) {
  const Host& mpi = host();
  int rank = 0;
  mpi.Comm_rank(handle_, &rank);
  Placement placement;
  if (rank == 0) placement = team()->place(ranks);
  // On a revoked communicator it fails at all ranks; the call that set-up is part of will raise the same error.
  if (mpi.Bcast(&placement, sizeof placement, mpi.type_byte, 0, handle_) != MPI_SUCCESS) return Reason::host_failed;
  if (!placement.granted) return Reason::shared_memory_exhausted;
  segment_ = team()->segment(placement);
  page_ = placement.page;
  if (!placement.node_segment && !all_attached(segment_ != nullptr)) return Reason::shared_memory_exhausted;

  group::Group::Settings settings;
  settings.areas = segment_->address(placement.page);
  settings.layout = shm::Layout::fit(ranks, placement.bytes_per_rank);
  settings.rank = rank;
  settings.style = team()->wait_style();
  settings.hook = team()->progress_hook();
  settings.process = static_cast<uint64_t>(getpid());
  settings.check = options().check;
  settings.overrides = group::overrides_of(options());
  group_ = std::make_unique<group::Group>(settings);
  largest_element_ = group_->max_element();
  return Reason::none;
}

bool Communicator::all_attached(bool attached) {
  const Host& mpi = host();
  uint64_t own = attached ? 1 : 0, all = 0;
  mpi.Allreduce(&own, &all, 1, mpi.type_uint64, mpi.op_min, handle_);
  return all == 1;
}

const exec::Combine* Communicator::find_kernel(MPI_Datatype type, MPI_Op op) {
  for (const KernelChoice& choice : kernels_)
    if (choice.type == type && choice.op == op && choice.combine.kernel != nullptr) {
      last_kernel_ = &choice;
      return &choice.combine;
    }
  const auto named = named_op(op);
  if (!named) return nullptr;
  const NamedType* const element = named_type(type);
  if (element == nullptr || !element->kernel) return nullptr;
  const kernels::Reduce kernel = kernels::find_reduce(*element->kernel, *named);
  if (kernel == nullptr) return nullptr;
  KernelChoice& choice = kernels_[next_kernel_];
  next_kernel_ = next_kernel_ % (kernels_.size() - 1) + 1;
  choice = {type, op, {kernel, nullptr, nullptr, kernels::size(*element->kernel), true}};
  last_kernel_ = &choice;
  return &choice.combine;
}

size_t Communicator::find_dense_bytes(MPI_Datatype type) {
  const NamedType* const named = named_type(type);
  if (named == nullptr || !named->dense) return 0;
  dense_type_ = type;
  dense_bytes_ = named->bytes;
  return dense_bytes_;
}

int Communicator::fail() {
  say(group_->failure());
  const Inside inside;
  host().Comm_call_errhandler(handle_, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

void Communicator::say(const std::string& what) {
  if (!std::exchange(said_, true)) log_line(LogLevel::error, "%s", what.c_str());
}

std::byte* Communicator::scratch(int which, size_t bytes) {
  std::vector<std::byte>& memory = scratch_[static_cast<size_t>(which)];
  if (memory.size() < bytes) memory.resize(bytes);
  return memory.data();
}

void Communicator::release_scratch() {
  constexpr size_t kept = 256 * 1024;
  for (std::vector<std::byte>& memory : scratch_)
    if (memory.size() > kept) std::vector<std::byte>().swap(memory);
}

void open_book(std::unique_ptr<Team> team, std::string why_no_team, bool record) {
  Book& book = mpi::book();
  host().Comm_create_keyval(copy_nothing, forget, &book.keyval, nullptr);
  const std::lock_guard<std::mutex> lock(book.mutex);
  book.team = std::move(team);
  book.why_no_team = std::move(why_no_team);
  book.record = record;
  book.open = true;
}

void close_book() {
  Book& book = mpi::book();
  std::unordered_map<uint64_t, std::unique_ptr<Communicator>> ended;
  std::unique_ptr<Team> team;
  {
    const std::lock_guard<std::mutex> lock(book.mutex);
    if (!book.open) return;
    book.open = false;
    shm::jot(generation, shm::glance(generation) + 1);
    ended.swap(book.communicators);
    team = std::move(book.team);
  }
  const Inside inside;
  ended.clear();
  host().Comm_free_keyval(&book.keyval);
  team.reset();
}

bool book_is_open() { return book().open; }
Team* team() { return book().team.get(); }
const std::string& why_no_team() { return book().why_no_team; }

Communicator* recall(MPI_Comm handle) {
  const Remembered& slot = remembered_slot(handle);
  if (slot.handle != handle || slot.generation != shm::glance(generation) || Inside::depth != 0) return nullptr;
  last_used = slot;
  return slot.communicator;
}

Communicator* find_communicator(MPI_Comm handle) {
  Book& book = mpi::book();
  if (!book.open || Inside::depth != 0 || handle == host().comm_null) return nullptr;
  Communicator* communicator = look_up(handle);
  if (communicator == nullptr) communicator = make_communicator(handle);
  if (communicator != nullptr) {
    communicator->enter();
    if (communicator->group() != nullptr && !book.record)
      last_used = remembered_slot(handle) = {handle, shm::glance(generation), communicator};
  }
  return communicator;
}

}  // namespace tutti::mpi
