#include "mpi/job/team.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "exec/core_watch.h"
#include "exec/waiter.h"
#include "mpi/host/polled.h"
#include "mpi/host/types.h"
#include "mpi/job/drive_host.h"
#include "mpi/job/found_table.h"
#include "mpi/job/gathered_placement.h"
#include "placement/cores.h"
#include "report/board.h"

namespace tutti::mpi {
namespace {

// The limit for all further segments of one process together, as a multiple of the node's segment.
constexpr size_t further_segments = 4;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Bytes of the segment's first pages for this many members: introductions, and in a memfd
// directories, with the words of the node and the board after them.
size_t bytes_of_team(shm::Segment::Kind kind, int ranks) {
  const auto all = static_cast<size_t>(ranks);
  size_t bytes = sizeof(Introduction) * all;
  if (kind == shm::Segment::Kind::memfd)
    bytes += sizeof(records::Directory::Page) * all + line_size +
             (options().report.empty() ? 0 : report::Board::bytes(ranks));
  return round_up(bytes, shm::page_size);
}

// Creates the node's segment. The pages of a memfd take no memory before they are used, so a memfd
// has room for the deep rings of several communicators, unless a limit forbids its size. A segment
// in /dev/shm is smaller.
shm::Segment make_segment(shm::Segment::Kind kind, int ranks) {
  constexpr size_t deep_areas = 4;
  const auto all = static_cast<size_t>(ranks);
  const size_t asked = options().shm_bytes_per_rank;
  const size_t more = bytes_of_team(kind, ranks);
  if (asked == 0 && kind == shm::Segment::Kind::memfd) {
    try {
      return shm::Segment::create(kind, deep_areas * shm::deep_area(ranks) * all + more);
    } catch (const Error& error) {
      log_line(LogLevel::info, "%s; long messages go through smaller rings", error.what());
    }
  }
  return shm::Segment::create(kind, (asked != 0 ? asked : shm::modest_area) * all + more);
}

void progress(void* context) {
  static_cast<const PendingReceive*>(context)->ask();
  drive_transfers();
}

// Each simulated rank has a core of its own, however many cores this machine has.
bool ranks_share_cores(const std::vector<placement::CoreMask>& masks) {
  return !simulated && placement::oversubscribed(masks);
}

}  // namespace

void clear_areas(std::byte* areas, const shm::Layout& layout) {
  for (int rank = 0; rank < layout.ranks; ++rank)
    std::memset(areas + static_cast<size_t>(rank) * layout.stride(), 0, layout.slot_offset());
}

void touch_area(std::byte* area, size_t bytes) {
  for (size_t offset = 0; offset < bytes; offset += shm::page_size) shm::touch(area + offset);
}

std::vector<int> places_in(Comm communicator, int ranks, Group group) {
  const Host& mpi = host();
  Group own;
  if (mpi.Comm_group(communicator, &own) != success) return {};
  static TUTTI_PER_THREAD std::vector<int> from;  // 0, 1, 2, ...
  while (from.size() < static_cast<size_t>(ranks)) from.push_back(static_cast<int>(from.size()));
  std::vector<int> to(static_cast<size_t>(ranks), abi.undefined);
  mpi.Group_translate_ranks(own, ranks, from.data(), group, to.data());
  mpi.Group_free(&own);
  if (std::find(to.begin(), to.end(), abi.undefined) != to.end()) to.clear();
  return to;
}

bool all_within(Comm communicator, int ranks, Group group) {
  return !places_in(communicator, ranks, group).empty();
}

void rebase(Group* group, Group from) {
  const Host& mpi = host();
  int size = 0;
  mpi.Group_size(*group, &size);
  std::vector<int> old(static_cast<size_t>(size)), place(static_cast<size_t>(size), abi.undefined);
  std::iota(old.begin(), old.end(), 0);
  mpi.Group_translate_ranks(*group, size, old.data(), from, place.data());
  std::erase(place, abi.undefined);
  Group replacement;
  mpi.Group_incl(from, static_cast<int>(place.size()), place.data(), &replacement);
  mpi.Group_free(group);
  *group = replacement;
}

void Team::enter(PrivateCommunicator own, Comm members) {
  pending_ = PendingReceive(std::move(own));
  host().Comm_size(members, &ranks_);
  host().Comm_rank(members, &rank_);
}

std::unique_ptr<Team> Team::form_of_all(Comm communicator, int ranks, bool of_several_jobs,
                                        std::string* why_not) {
  std::unique_ptr<Team> team(new Team);
  team->of_several_jobs_ = of_several_jobs;
  PrivateCommunicator node = PrivateCommunicator::split_by_node(communicator, 0);
  const Comm members = node.get();
  team->enter(std::move(node), members);
  if (team->ranks_ != ranks || !team->share_segment(members, why_not)) return nullptr;
  team->agree(members);
  return team;
}

// MPI_Comm_split_type polls without rest for long, so it is called only if the launcher tells of
// several nodes, or if the ranks that it says are on one node do not share memory.
std::unique_ptr<Team> Team::form_of_world(bool one_node, std::string* why_not) {
  std::unique_ptr<Team> team(new Team);
  team->of_world_ = true;
  Comm members = host().comm_world;
  const auto is_shared = [&](PrivateCommunicator own) {
    team->enter(std::move(own), members);
    if (team->ranks_ > 1) return team->share_segment(members, why_not);
    *why_not = "one rank on its node";
    return false;
  };
  if (!one_node || !is_shared(PrivateCommunicator::copy_of_self())) {
    PrivateCommunicator node = PrivateCommunicator::split_by_node(members, 0);
    members = node.get();
    if (!is_shared(std::move(node))) return nullptr;
  }
  team->agree(members);
  return team;
}

Team::~Team() {
  // The arena ends after this. Late members must not look for what was there.
  if (pages_ != nullptr) shm::publish(pages_[rank_].ended, 1);
  for (const int memory : memories_)
    if (memory >= 0) close(memory);
  if (may_free_handles() && group_ != host().group_null) host().Group_free(&group_);
}

void Team::leave_world(Group processes) {
  rebase(&group_, processes);
  pending_.reset();
}

bool Team::share_segment(Comm members, std::string* why_not) {
  using Kind = shm::Segment::Kind;
  const ShmChoice choice = options().shm;
  if (choice != ShmChoice::posix && try_segment(members, Kind::memfd, why_not)) return true;
  return choice != ShmChoice::memfd && try_segment(members, Kind::posix, why_not);
}

// Rank 0 creates the node's segment, the other ranks attach to it, and all learn whether all could.
// The introductions take its first pages, and the directories follow. A segment in /dev/shm has no
// directories, because arenas cannot grow there.
bool Team::try_segment(Comm members, shm::Segment::Kind kind, std::string* why_not) {
  struct {
    shm::Segment::Location location;
    uint32_t page;  // the page of the introductions
  } told{};
  try {
    if (rank_ == 0) {
      auto made = std::make_unique<shm::Segment>(make_segment(kind, ranks_));
      const size_t bytes = bytes_of_team(kind, ranks_);
      const auto piece = made->take(bytes, bytes, static_cast<uint32_t>(ranks_));
      if (!piece) throw Error(Code::unavailable, "the node has no memory for its ranks' team");
      told = {made->location(), piece->first_page};
      node_segment_ = std::move(made);
    }
  } catch (const Error& error) {
    *why_not = error.what();
  }
  broadcast(&told, sizeof told, members);
  try {
    if (rank_ != 0 && told.location.bytes > 0)
      node_segment_ = std::make_unique<shm::Segment>(shm::Segment::attach(told.location));
  } catch (const Error& error) {
    *why_not = error.what();
  }
  if (node_segment_ != nullptr) {
    introductions_ = reinterpret_cast<Introduction*>(node_segment_->address(told.page));
    introduce();
  }
  if (node_segment_ != nullptr && kind == shm::Segment::Kind::memfd) {
    pages_ = reinterpret_cast<records::Directory::Page*>(introductions_ + ranks_);
    shm::store_relaxed(pages_[rank_].process, static_cast<uint64_t>(getpid()));
    shm::store_relaxed(pages_[rank_].missing_types, missing_types());
    if (auto board = this->board()) {
      int rank = 0;
      host().Comm_rank(of_world_ ? host().comm_world : members, &rank);
      board->enter(rank);
    }
  }
  if (told.location.bytes > 0 && all_attached(members)) {
    host().Comm_group(members, &group_);
    return true;
  }
  node_segment_.reset();
  pages_ = nullptr;
  if (why_not->empty()) *why_not = "a rank of this node cannot attach to its shared memory";
  return false;
}

// Rank 0 learns whether all have attached, and tells those that have. The reduction and rank 0's
// word order what members have written into their pages before all that others read.
bool Team::all_attached(Comm members) {
  uint64_t least = 0;
  tell_least(node_segment_ != nullptr ? 1 : 0, &least, members);
  if (node_segment_ == nullptr) return false;
  shm::Word& word = introductions_->attached;
  if (rank_ == 0) {
    node_segment_->forget_name();
    shm::publish(word, static_cast<uint64_t>(least == 1 ? Attached::all : Attached::not_all));
  }
  await([&] { return shm::observe(word) != static_cast<uint64_t>(Attached::unknown); });
  return shm::observe(word) == static_cast<uint64_t>(Attached::all);
}

void Team::await(const std::function<bool()>& is_here) {
  const exec::ProgressHook hook = progress_hook();
  exec::Waiter waiter(exec::pace_of_set_up(), hook);
  waiter.until(is_here, [] { return Code::ok; });
}

std::optional<report::Board> Team::board() const {
  if (pages_ == nullptr || options().report.empty()) return std::nullopt;
  return report::Board(reinterpret_cast<std::byte*>(node_words()) + line_size, ranks_, rank_);
}

void Team::introduce() {
  Introduction& own = introductions_[rank_];
  own.place = placement::present_place();
  own.offer = make_offer();
}

// Members meet in the node's memory, because that costs much less than a collective of the host.
void Team::meet() {
  const uint64_t times = shm::load_relaxed(introductions_[rank_].met) + 1;
  shm::publish(introductions_[rank_].met, times);
  int here = 0;
  await([&] {
    while (here < ranks_ && shm::observe(introductions_[here].met) >= times) ++here;
    return here == ranks_;
  });
}

void Team::agree(Comm members) {
  std::vector<placement::Place> places;
  for (int member = 0; member < ranks_; ++member) places.push_back(introductions_[member].place);
  learn_waiting(placement::usable_cores(places));
  // Rank 0 finds the levels and sends them to the others, because the kernel may show each process
  // something else.
  std::string levels = rank_ == 0 ? levels_here(places).text() : std::string();
  introductions_[rank_].levels_bytes = levels.size();
  try_reach();
  meet();
  settle_reach();
  levels.resize(introductions_->levels_bytes);
  if (!levels.empty()) broadcast(levels.data(), levels.size(), members);
  levels_ = placement::read_levels(levels);
  record_levels(levels_, places);
  watch_cores();
}

void Team::learn_waiting(std::vector<placement::CoreMask> masks) {
  const WaitChoice choice = options().wait;
  const bool yields =
      choice == WaitChoice::automatic ? ranks_share_cores(masks) : choice == WaitChoice::yield;
  wait_style_ = yields ? exec::WaitStyle::yield : exec::WaitStyle::spin;
  const topo::Shape shape = placement::shape_of(masks, options().topology);
  several_regions_ =
      std::max(shape.counts[topo::socket_level], 1) * shape.counts[topo::numa_level] > 1;
  if (!options().plans.empty() || table_of_job(of_world_) != nullptr) shape_ = shape;
  cores_ = std::move(masks);
}

// Waits look whether members have been moved to each other's cores, unless TUTTI_WAIT sets how they
// wait.
void Team::watch_cores() const {
  if (simulated || options().wait != WaitChoice::automatic) return;
  std::vector<int64_t> processes;
  for (const Memory& memory : told_) processes.push_back(memory.process);
  exec::watch_cores_of(processes);
}

void Team::know_oversubscribed() {
  if (options().wait == WaitChoice::automatic) wait_style_ = exec::WaitStyle::yield;
}

placement::Levels Team::levels(Comm communicator, int ranks) const {
  if (levels_.one_level()) return levels_;
  const std::vector<int> members = places_in(communicator, ranks, group_);
  return members.empty() ? placement::Levels() : levels_.of(members);
}

exec::ProgressHook Team::progress_hook() { return {progress, &pending_}; }

std::vector<int> Team::members(Comm communicator, int ranks) const {
  return ranks <= ranks_ ? places_in(communicator, ranks, group_) : std::vector<int>();
}

std::vector<int> Team::members_among(Comm communicator, int ranks) const {
  const Host& mpi = host();
  std::vector<int> from(static_cast<size_t>(ranks)), to(static_cast<size_t>(ranks), abi.undefined);
  std::iota(from.begin(), from.end(), 0);
  Group group;
  if (mpi.Comm_group(communicator, &group) == success) {
    mpi.Group_translate_ranks(group, ranks, from.data(), group_, to.data());
    mpi.Group_free(&group);
  }
  std::replace(to.begin(), to.end(), int{abi.undefined}, -1);
  return to;
}

std::vector<Team::Memory> Team::memories() const {
  std::vector<Memory> memories = told_;
  for (size_t member = 0; member < heaps_.size(); ++member)
    memories[member].mapped = heaps_[member];
  if (heaps_.empty())
    for (Memory& memory : memories) memory.location.bytes = 0;
  return memories;
}

bool Team::covers(Comm communicator, int ranks) const {
  return !members(communicator, ranks).empty();
}

// The bytes of the node's segment that the next communicator of this many ranks may take.
// shm::first_area is the rule for a communicator of all members if no other has taken any of the
// segment. Any other takes a quarter of what is left, in proportion to its ranks, so that there is
// always something left for the next. None takes more than deep rings need, unless
// TUTTI_SHM_BYTES_PER_RANK is set.
size_t Team::share_of(int ranks) const {
  const auto all = static_cast<size_t>(ranks_), some = static_cast<size_t>(ranks);
  const size_t asked = options().shm_bytes_per_rank;
  const size_t whole = node_segment_->usable_bytes();
  const size_t left = node_segment_->free_bytes();
  const size_t deep = shm::deep_area(ranks_);
  if (ranks == ranks_ && left == whole - bytes_of_team(node_segment_->location().kind, ranks_))
    return shm::first_area(ranks, asked, whole / 2 < deep * all) * all;
  const size_t fair = left / 4 * some / all;
  return asked != 0 ? fair : std::min(fair, deep * some);
}

AreaGrant Team::grant_areas(int ranks) {
  try {
    if (const auto grant = take(*node_segment_, ranks, share_of(ranks))) return *grant;

    const std::lock_guard<std::mutex> lock(mutex_);
    const size_t whole = node_segment_->usable_bytes();
    const size_t comfortable = shm::comfortable_area * static_cast<size_t>(ranks);
    for (const auto& segment : made_)
      if (const auto grant = take(*segment, ranks, comfortable)) return *grant;
    const size_t bytes = std::max(whole / 4, comfortable);
    if (further_bytes_ + bytes > further_segments * whole) return {};
    made_.push_back(std::make_unique<shm::Segment>(
        shm::Segment::create(node_segment_->location().kind, bytes)));
    made_.back()->forget_name();  // others attach through this process
    further_bytes_ += bytes;
    if (const auto grant = take(*made_.back(), ranks, comfortable)) return *grant;
  } catch (const Error& error) {
    log_once("team/place", LogLevel::info, "%s; some communicators stay on the host MPI",
             error.what());
  }
  return {};
}

std::optional<AreaGrant> Team::take(shm::Segment& segment, int ranks, size_t share) {
  const size_t least = round_up(shm::smallest_area * static_cast<size_t>(ranks), shm::page_size);
  const size_t comfortable = shm::comfortable_area * static_cast<size_t>(ranks);
  const auto piece =
      segment.take(least, std::max(share, comfortable), static_cast<uint32_t>(ranks));
  if (!piece) return std::nullopt;
  // All ranks of the communicator use the same number: rank 0 sends its number to the others of one
  // node, and several nodes use the least of theirs.
  const size_t bytes_per_rank =
      std::min(static_cast<size_t>(piece->pages) * shm::page_size, shm::most_bytes) /
      static_cast<size_t>(ranks);
  AreaGrant grant;
  grant.granted = true;
  grant.node_segment = &segment == node_segment_.get();
  grant.fresh = piece->fresh;
  grant.touch = several_regions_;
  grant.page = piece->first_page;
  grant.bytes_per_rank = bytes_per_rank;
  grant.segment = segment.location();
  if (!piece->fresh)
    clear_areas(segment.address(piece->first_page), shm::Layout::fit(ranks, bytes_per_rank));
  return grant;
}

records::Arena& Team::arena() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (arena_ == nullptr) {
    const auto memory =
        static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
    const size_t asked = options().outstanding_bytes;
    records::Arena::Settings settings;
    settings.kind = node_segment_->location().kind;
    settings.shared = node_segment_.get();
    settings.usual_most = asked != 0 ? asked : memory / 4 / static_cast<size_t>(ranks_);
    arena_ = std::make_unique<records::Arena>(settings);
  }
  return *arena_;
}

records::Directory* Team::directory() {
  if (records::Directory* const made = made_directory_) return made;
  if (pages_ == nullptr) return nullptr;
  records::Arena& arena = this->arena();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (directory_ == nullptr)
    directory_ = std::make_unique<records::Directory>(pages_, ranks_, rank_, arena);
  return made_directory_ = directory_.get();
}

Announcements* Team::announcements() {
  if (Announcements* const made = made_announcements_) return made;
  records::Directory* const directory = this->directory();
  if (directory == nullptr) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (announcements_ == nullptr) announcements_ = std::make_unique<Announcements>(*directory);
  return made_announcements_ = announcements_.get();
}

shm::Segment* Team::segment(const AreaGrant& grant) {
  if (grant.node_segment) return node_segment_.get();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto* list : {&made_, &attached_})
    for (const auto& segment : *list)
      if (segment->is(grant.segment)) return segment.get();
  try {
    attached_.push_back(std::make_unique<shm::Segment>(shm::Segment::attach(grant.segment)));
    return attached_.back().get();
  } catch (const Error& error) {
    log_line(LogLevel::info, "%s", error.what());
    return nullptr;
  }
}

}  // namespace tutti::mpi
