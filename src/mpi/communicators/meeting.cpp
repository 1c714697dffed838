// The set-up of a communicator with a lineage, through the memory of the team that its ranks are
// in.
//
// Rank 0 takes memory for it, or a parked service, and announces that in the team's memory
// (job/announcements.h). The others find the announcement under a key of the lineage. No message is
// sent, and only ranks that come before rank 0 wait. So set-up costs little enough to be made in
// the first call (docs/decisions/set-up-after-some-collectives.md).
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/waiter.h"
#include "mpi/communicators/communicator.h"
#include "mpi/communicators/registry.h"
#include "mpi/job/end.h"
#include "mpi/report/tracing.h"

namespace tutti::mpi {
namespace {

// Some of the node's memory is kept for communicators that make many calls. Each that meets takes
// at most a quarter of what is left (Team::share_of), so about eleven meet at one time.
bool is_roomy(const shm::Segment& segment) {
  return segment.free_bytes() >= segment.usable_bytes() / 32;
}

}  // namespace

// Throws before it has judged, if memory runs out.
void Communicator::judge_meeting() {
  meeting_ = may_meet_by_lineage() ? Meeting::expected : Meeting::no;
}

bool Communicator::may_meet_by_lineage() {
  if (decided_ || !born().known() || !may_set_up() || options().reach == ReachChoice::net ||
      options().setup_after != setup_after_automatic ||
      options().reproducible == Reproducible::placement)
    return false;
  const Host& mpi = host();
  const Inside inside;
  int inter = 0;
  mpi.Comm_test_inter(handle_, &inter);
  if (inter != 0) return false;
  mpi.Comm_size(handle_, &ranks_);
  mpi.Comm_rank(handle_, &rank_);
  // Only the world's team stays until all announcements have been read (settle_announcements).
  const std::shared_ptr<Team> team = born().team != nullptr ? nullptr : world_team();
  if (ranks_ < 2 || team == nullptr || team->announcements() == nullptr) return false;
  members_ = team->members(handle_, ranks_);
  if (members_.empty()) return false;
  team_ = team;
  return true;
}

void Communicator::meet(const std::function<bool()>& is_refused) {
  const Inside inside;
  const bool refused = is_refused();
  if (refused && rank_ != 0) return;
  const records::Key key = key_of_child(born().key, Descent::granted, 0);
  const Announcements::Announced announced =
      rank_ == 0 ? announce(key, refused) : await_rank_0(key);
  meeting_ = Meeting::over;
  const auto close = [&] {
    if (announced.closed != nullptr && (rank_ != 0 || announced.grant.touch)) announced.close();
  };
  if (announced.grant.postponed) {
    team_.reset();
    reason_ = announced.grant.refused ? Reason::set_up_pending : Reason::set_up_postponed;
    calls_left_ = std::max(calls_left_, 1);
    close();
    return;
  }
  decided_ = true;
  if (announced.closed == nullptr) {
    reason_ = Reason::set_up_broken;  // rank 0 has ended
    return;
  }
  try {
    reason_ = use(announced.grant, members_, announced.closed);
  } catch (...) {
    reason_ = Reason::set_up_broken;
    close();
    throw;
  }
  close();
}

// Where ranks touch their areas, all of them wait for all of them, and each closes twice. For a
// refused call no memory is taken, because the other ranks may never make a call.
Announcements::Announced Communicator::announce(const records::Key& key, bool refused) {
  AreaGrant grant;
  if (!refused) grant = make_grant(members_);
  const bool is_fit =
      grant.taken_over || (grant.granted && grant.node_segment && is_roomy(team_->node_segment()));
  if (!is_fit) {
    forgo(grant);
    grant = {};
    grant.postponed = true;
    grant.refused = refused;
  }
  const Announcements::Announced announced =
      team_->announcements()->announce(key, grant, grant.touch ? 2 * ranks_ : ranks_ - 1);
  if (announced.grant.postponed) forgo(grant);
  return announced;
}

// Waits for the announcement of rank 0. It has no entry if rank 0 has ended before.
Announcements::Announced Communicator::await_rank_0(const records::Key& key) {
  Announcements::Announced found;
  const int leader = members_.front();
  const auto is_announced = [&] { return team_->announcements()->find(leader, key, &found); };
  if (is_announced() || await({leader}, is_announced) == Code::ok) return found;
  log_line(LogLevel::error, "rank 0 ended before its first collective on a communicator");
  let_launcher_read();
  return {};
}

// Waits for what these members of the team do in set-up. Code::dead_peer: one of them has ended.
Code Communicator::await(const std::vector<int>& awaited, const std::function<bool()>& is_here) {
  const records::Directory& directory = *team_->directory();
  const auto process_of = [&](int member) {
    return shm::load_relaxed(directory.page(member).process);
  };
  const auto has_ended = [&](int member) {
    return process_is_gone(process_of(member)) || directory.has_left(member);
  };
  const exec::ProgressHook hook = team_->progress_hook();
  exec::Waiter waiter(exec::pace_between_calls(team_->wait_style()), hook);
  return waiter.until(is_here, [&]() -> Code {
    waiter.note_peer(process_of(awaited.front()));
    if (!waiter.looks_closely()) return Code::ok;
    if (std::any_of(awaited.begin(), awaited.end(), has_ended) && !is_here())
      return Code::dead_peer;
    if (!waiter.stalls()) return Code::ok;
    log_line(LogLevel::warning,
             "no progress for %d s: rank %d of a communicator waits in its first collective for %s",
             options().stall_seconds, rank_, awaited.size() == 1 ? "rank 0" : "the other ranks");
    if (options().stall != StallAction::abort_job) return Code::ok;
    log_line(LogLevel::error, "stalled for %d s; ended because TUTTI_STALL=abort",
             options().stall_seconds);
    let_launcher_read();
    end_job(handle_);
    return Code::ok;
  });
}

void settle_announcements() {
  const std::shared_ptr<Team> team = world_team();
  Announcements* const made = team != nullptr ? team->announcements() : nullptr;
  if (made == nullptr) return;
  records::Directory& directory = *team->directory();
  directory.read_no_more();
  const Inside inside;
  const exec::ProgressHook hook = team->progress_hook();
  exec::Waiter waiter(exec::pace_between_calls(team->wait_style()), hook);
  waiter.until(
      [&] { return made->all_closed(); },
      [&]() -> Code {
        int reader = 0;
        while (reader < team->ranks() &&
               (directory.reads_no_more(reader) ||
                (waiter.looks_closely() &&
                 process_is_gone(shm::load_relaxed(directory.page(reader).process)))))
          ++reader;
        if (reader == team->ranks()) return Code::dead_peer;
        if (waiter.looks_closely() && waiter.stalls())
          log_line(
              LogLevel::warning,
              "MPI ends, but for %d s rank %d of this node has not come to its end, nor has every "
              "rank made its first collective on a communicator on which this rank has made one",
              options().stall_seconds, reader);
        return Code::ok;
      });
}

// True when all ranks have touched their areas, which they tell by `closed`, or by the host if it
// is null.
bool Communicator::all_have_touched(shm::Word* closed) {
  if (closed == nullptr) return host().Barrier(handle_) == success;
  shm::add(*closed, 1);
  const auto all = static_cast<uint64_t>(ranks_);
  return await(members_, [&] { return shm::observe(*closed) >= all; }) == Code::ok;
}

}  // namespace tutti::mpi
