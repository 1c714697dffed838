#include "mpi/roll/tracking.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/options.h"
#include "mpi/job/served.h"
#include "mpi/roll/look.h"
#include "mpi/roll/stack.h"
#include "mpi/roll/tripwire.h"

namespace tutti::mpi::roll {
namespace {

using std::chrono::milliseconds;
using Clock = Tracking::Clock;

constexpr int looks_in_limit = 8;
constexpr auto longest_after_change = milliseconds(500);
constexpr auto shortest_interval = milliseconds(20);
// A program that makes one call again and again is sometimes outside it. A rank looks so often, and
// then all others do before a table is printed.
constexpr int looks_to_be_sure = 100;
constexpr auto between_sure_looks = std::chrono::microseconds(500);
constexpr auto longest_sure_looks = milliseconds(300);
constexpr auto longest_sure = milliseconds(1000);  // then a rank looks again
constexpr double suspicious = 0.25;  // the part of the limit after which a call is watched

double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }
Clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double limit() { return options().stall_seconds; }

}  // namespace

void Tracking::begin() {
  own_ = static_cast<pid_t>(syscall(SYS_gettid));
  last_look_ = next_look_ = Clock::now();
}

std::vector<Place> Tracking::places() const {
  std::vector<Place> places;
  const bool has_gone_on = collectives() != seen_;  // since the last look
  for (const pid_t thread : threads()) {
    if (thread == own_) continue;
    const bool is_first = places.empty();
    // Threads of the program matter only if the first one waits for them.
    if (!is_first && places.front().doing != Doing::sleeps) break;
    Place place = place_of(thread);
    place.rank = rank_;
    const auto tracked = tracked_.find(thread);
    if (tracked != tracked_.end() && !has_gone_on) {
      const Place& last = tracked->second.place;
      const bool answers_no_more = place.doing == Doing::silent && last.doing == Doing::mpi;
      if (answers_no_more || (!place.has_answered && place.stays_at(last))) {
        place = last;
        place.calls = counted_calls(place.function);  // it may have made another call since
      }
      if (place.stays_at(last))
        place.seconds = tracked->second.seconds + seconds_of(Clock::now() - last_look_);
    }
    if (is_first || place.doing == Doing::mpi) places.push_back(std::move(place));
  }
  if (places.size() > 1) places.erase(places.begin());  // it waits for the others
  return places;
}

uint64_t Tracking::collectives() const {
  return ServedCalls::of_all_threads() + shm::load_relaxed(left_to_host_);
}

bool Tracking::look() {
  const auto now = Clock::now();
  const auto interval = duration_of(limit() / looks_in_limit);
  const auto after_change = std::min<Clock::duration>(interval, longest_after_change);
  // A pause of the whole process counts 1 s.
  const double passed = std::min(seconds_of(now - last_look_), seconds_of(interval) + 1);
  last_look_ = now;
  look_next_after(after_change);
  if (std::exchange(seen_, collectives()) != seen_) {
    tracked_.clear();
    return false;
  }
  bool is_new = false;
  double longest = 0;
  std::map<pid_t, Tracked> tracked;
  for (const Place& place : places()) {
    const auto before = tracked_.find(place.thread);
    const bool stays = before != tracked_.end() &&
                       (place.doing == Doing::silent || place.stays_at(before->second.place));
    is_new = is_new || !stays;
    const double seconds = stays ? before->second.seconds + passed : 0;
    tracked[place.thread] = {place, seconds};
    if (place.doing != Doing::mpi) continue;
    if (seconds >= suspicious * limit()) set_tripwire(place.function);
    longest = std::max(longest, seconds);
  }
  tracked_ = std::move(tracked);
  if (longest >= limit()) {
    look_next_after(interval);
    return true;
  }
  if (!is_new)
    look_next_after(
        std::clamp<Clock::duration>(duration_of(limit() - longest), shortest_interval, interval));
  return false;
}

bool Tracking::stays() {
  if (!looks_the_same()) {
    tracked_.clear();
    return false;
  }
  sure_until_ = Clock::now() + longest_sure;
  return true;
}

void Tracking::become_sure() {
  const bool in_mpi = std::any_of(tracked_.begin(), tracked_.end(), [](const auto& one) {
    return one.second.place.doing == Doing::mpi;
  });
  if (in_mpi && Clock::now() > sure_until_) stays();
}

bool Tracking::looks_the_same() const {
  const auto end = Clock::now() + longest_sure_looks;
  for (int looks = 0; looks < looks_to_be_sure && Clock::now() < end; ++looks) {
    usleep(static_cast<useconds_t>(between_sure_looks.count()));
    for (const Place& place : places()) {
      if (place.doing == Doing::silent) continue;
      const auto tracked = tracked_.find(place.thread);
      if (tracked == tracked_.end() || !place.stays_at(tracked->second.place)) return false;
    }
  }
  return true;
}

}  // namespace tutti::mpi::roll
