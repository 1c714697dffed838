#include "team/node_team.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/line.h"
#include "base/log.h"
#include "base/options.h"
#include "exec/core_watch.h"
#include "exec/idle.h"
#include "exec/waiter.h"
#include "team/levels.h"

namespace tutti::team {
namespace {

// The node's segment begins with these parts, in this order: the introductions, the text of the
// levels and, in a memfd, the pages of the directories, the words of the node and the board. A
// segment in /dev/shm has no directories, because arenas cannot grow there.
size_t bytes_of_introductions(size_t ranks) { return sizeof(Introduction) * ranks; }

// No text is longer: a level has a name and at most one number of a group for each rank.
size_t bytes_of_levels(size_t ranks) { return round_up(128 + 40 * ranks, line_size); }

size_t bytes_of_team(shm::Segment::Kind kind, int ranks) {
  const auto all = static_cast<size_t>(ranks);
  size_t bytes = bytes_of_introductions(all) + bytes_of_levels(all);
  if (kind == shm::Segment::Kind::memfd)
    bytes += sizeof(records::Directory::Page) * all + line_size +
             (options().report.empty() ? 0 : report::Board::bytes(ranks));
  return round_up(bytes, shm::page_size);
}

// The queues to servers and the slots of their clients (rma/domain.h) take no more, if servers are
// asked for. Without this room they would find none behind the areas of communicators.
size_t room_for_servers(size_t ranks) {
  if (options().servers.count == 0) return 0;
  return (size_t{20} << 20) + ranks * (size_t{128} << 10);
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
      return shm::Segment::create(
          kind, deep_areas * shm::deep_area(ranks) * all + more + room_for_servers(all));
    } catch (const Error& error) {
      log_line(LogLevel::info, "%s; long messages go through smaller rings", error.what());
    }
  }
  return shm::Segment::create(kind, (asked != 0 ? asked : shm::modest_area) * all + more);
}

}  // namespace

NodeTeam::~NodeTeam() {
  if (sleeps_when_idle_) exec::wake_when_idle();
  if (node_segment_ != nullptr) shm::publish(introductions_[rank_].left, 1);
  // The arena ends after this. Late members must not look for what was there.
  if (pages_ != nullptr) shm::publish(pages_[rank_].ended, 1);
}

bool NodeTeam::form(Bootstrap& bootstrap, std::string* why_not) {
  using Kind = shm::Segment::Kind;
  rank_ = bootstrap.rank();
  ranks_ = bootstrap.ranks();
  const ShmChoice choice = options().shm;
  const bool is_shared =
      (choice != ShmChoice::posix && share_segment(bootstrap, Kind::memfd, why_not)) ||
      (choice != ShmChoice::memfd && share_segment(bootstrap, Kind::posix, why_not));
  if (is_shared) agree();
  return is_shared;
}

// Rank 0 creates the node's segment, the other ranks attach to it, and all learn whether all could.
// The introductions take its first pages, and the directories follow. A segment in /dev/shm has no
// directories, because arenas cannot grow there.
bool NodeTeam::share_segment(Bootstrap& bootstrap, shm::Segment::Kind kind, std::string* why_not) {
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
  bootstrap.broadcast(&told, sizeof told);
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
    pages_ = reinterpret_cast<records::Directory::Page*>(text_of_levels() +
                                                         bytes_of_levels(introductions().size()));
    shm::store_relaxed(pages_[rank_].process, static_cast<uint64_t>(getpid()));
    shm::store_relaxed(pages_[rank_].missing_types, settings_.missing_types);
    if (auto board = this->board()) board->enter(settings_.reported_as);
  }
  if (told.location.bytes > 0 && all_attached(bootstrap)) return true;
  node_segment_.reset();
  pages_ = nullptr;
  if (why_not->empty()) *why_not = "a rank of this node cannot attach to its shared memory";
  return false;
}

// Rank 0 learns whether all have attached, and tells those that have. The bootstrap and rank 0's
// word order what members have written into their pages before all that others read.
bool NodeTeam::all_attached(Bootstrap& bootstrap) {
  const bool all = bootstrap.all(node_segment_ != nullptr);
  if (node_segment_ == nullptr) return false;
  shm::Word& word = introductions_->attached;
  if (rank_ == 0) {
    node_segment_->forget_name();
    shm::publish(word, static_cast<uint64_t>(all ? Attached::all : Attached::not_all));
  }
  await([&] { return shm::observe(word) != static_cast<uint64_t>(Attached::unknown); });
  return shm::observe(word) == static_cast<uint64_t>(Attached::all);
}

void NodeTeam::await(const std::function<bool()>& is_here) const {
  exec::Waiter waiter(exec::pace_of_set_up(), settings_.hook);
  const Code code = waiter.until(is_here, [&] {
    return std::chrono::steady_clock::now() < settings_.deadline ? Code::ok : Code::dead_peer;
  });
  if (code == Code::ok) return;
  throw Error(code, "a rank of the team has not gone on with forming it; has it ended?");
}

std::optional<report::Board> NodeTeam::board() const {
  if (pages_ == nullptr || options().report.empty()) return std::nullopt;
  return report::Board(reinterpret_cast<std::byte*>(node_words()) + line_size, ranks_, rank_);
}

char* NodeTeam::text_of_levels() const { return reinterpret_cast<char*>(introductions_ + ranks_); }

void NodeTeam::introduce() {
  Introduction& own = introductions_[rank_];
  own.place = placement::present_place();
  own.offer = make_offer();
}

// Members meet in the node's memory, because that costs much less than a collective of the host.
void NodeTeam::meet() {
  const uint64_t times = shm::load_relaxed(introductions_[rank_].met) + 1;
  shm::publish(introductions_[rank_].met, times);
  int here = 0;
  await([&] {
    while (here < ranks_ && shm::observe(introductions_[here].met) >= times) ++here;
    return here == ranks_;
  });
}

void NodeTeam::agree() {
  std::vector<placement::Place> places;
  for (const Introduction& member : introductions()) places.push_back(member.place);
  learn_cores(placement::usable_cores(places));
  // Rank 0 reads the system's files about all cores, and not every member.
  if (rank_ == 0) {
    introductions_->shape = placement::shape_of(cores_, options().topology);
    const std::string levels = levels_here(places).text();
    // A text that has no room counts as one level.
    if (levels.size() <= bytes_of_levels(introductions().size())) {
      std::memcpy(text_of_levels(), levels.data(), levels.size());
      introductions_->levels_bytes = levels.size();
    }
  }
  memory_.attempt(introductions(), rank_, settings_.system_copies, [this] { meet(); });
  meet();
  memory_.settle(introductions(), rank_);
  learn_shape(introductions_->shape);
  levels_ = placement::read_levels({text_of_levels(), introductions_->levels_bytes});
  record_levels(levels_, places);
  watch_cores();
}

void NodeTeam::learn_cores(std::vector<placement::CoreMask> masks) {
  const WaitChoice choice = options().wait;
  const bool yield =
      choice == WaitChoice::automatic ? placement::oversubscribed(masks) : yields(choice);
  wait_style_ = yield ? exec::WaitStyle::yield : exec::WaitStyle::spin;
  cores_ = std::move(masks);
}

void NodeTeam::learn_shape(const topo::Shape& shape) {
  const bool several_regions =
      std::max(shape.counts[topo::socket_level], 1) * shape.counts[topo::numa_level] > 1;
  areas_.emplace(*node_segment_, ranks_, bytes_of_team(node_segment_->location().kind, ranks_),
                 several_regions);
  if (settings_.needs_shape) shape_ = shape;
}

// Waits look whether members have been moved to each other's cores, unless TUTTI_WAIT sets how they
// wait.
void NodeTeam::watch_cores() const {
  if (options().wait != WaitChoice::automatic) return;
  std::vector<int64_t> processes;
  for (const MemberMemory::Memory& memory : memory_.memories()) processes.push_back(memory.process);
  exec::watch_cores_of(processes);
}

void NodeTeam::sleep_when_idle(std::chrono::microseconds longest_sleep) {
  sleeps_when_idle_ = true;
  exec::sleep_when_idle({.first = reinterpret_cast<std::byte*>(&introductions_->idle),
                         .stride = sizeof(Introduction),
                         .ranks = ranks_,
                         .own = rank_,
                         .longest_sleep = longest_sleep});
}

void NodeTeam::know_oversubscribed() {
  if (options().wait == WaitChoice::automatic) wait_style_ = exec::WaitStyle::yield;
}

records::Arena& NodeTeam::arena() {
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

records::Directory* NodeTeam::directory() {
  if (records::Directory* const made = made_directory_) return made;
  if (pages_ == nullptr) return nullptr;
  records::Arena& arena = this->arena();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (directory_ == nullptr)
    directory_ = std::make_unique<records::Directory>(pages_, ranks_, rank_, arena);
  return made_directory_ = directory_.get();
}

Announcements* NodeTeam::announcements() {
  if (Announcements* const made = made_announcements_) return made;
  records::Directory* const directory = this->directory();
  if (directory == nullptr) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (announcements_ == nullptr) announcements_ = std::make_unique<Announcements>(*directory);
  return made_announcements_ = announcements_.get();
}

}  // namespace tutti::team
