#include "team/announcements.h"

#include <bit>

namespace tutti::team {
namespace {

// How many announcements are looked at, in turn, when another one is made: a reader may come as
// late as it likes.
constexpr size_t most_looked_at = 4;

// A grant in the node's segment, as it stands in an entry of a directory in place of an ArenaPlace.
struct Packed {
  uint64_t bytes_per_rank, identity, service;
  uint32_t page, missing_types;
  bool granted, touch, taken_over, postponed;
  uint32_t refused;
};

shm::ArenaPlace packed(const AreaGrant& grant) {
  return std::bit_cast<shm::ArenaPlace>(
      Packed{grant.bytes_per_rank, grant.identity, grant.service, grant.page, grant.missing_types,
             grant.granted, grant.touch, grant.taken_over, grant.postponed, grant.refused});
}

AreaGrant unpacked(const shm::ArenaPlace& place) {
  const auto from = std::bit_cast<Packed>(place);
  AreaGrant grant;
  grant.bytes_per_rank = from.bytes_per_rank;
  grant.identity = from.identity;
  grant.service = from.service;
  grant.page = from.page;
  grant.missing_types = from.missing_types;
  grant.granted = from.granted;
  grant.touch = from.touch;
  grant.taken_over = from.taken_over;
  grant.postponed = from.postponed;
  grant.refused = from.refused != 0;
  return grant;
}

Announcements::Announced postponed() {
  Announcements::Announced nothing;
  nothing.grant.postponed = true;
  return nothing;
}

}  // namespace

// Frees the entries that nobody needs any more, of as many as `most`. The caller holds the lock.
void Announcements::end_closed(size_t most) noexcept {
  for (size_t looked = 0; looked < most && !made_.empty(); ++looked) {
    if (next_ >= made_.size()) next_ = 0;
    Made& one = made_[next_];
    if (shm::observe(one.entry->closed) < one.closes) {
      ++next_;
      continue;
    }
    directory_.remove(*one.entry);
    one = made_.back();
    made_.pop_back();
  }
}

Announcements::Announced Announcements::announce(const records::Key& key, const AreaGrant& grant,
                                                 int closes) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (directory_.announces_no_more(directory_.own())) return postponed();
  end_closed(most_looked_at);
  try {
    made_.reserve(made_.size() + 1);
    records::Directory::Entry& entry = directory_.enter(key, packed(grant));
    made_.push_back({&entry, static_cast<uint64_t>(closes)});
    return {grant, &entry.closed};
  } catch (...) {
    directory_.announce_no_more();
    return postponed();
  }
}

bool Announcements::all_closed() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  end_closed(made_.size());
  return made_.empty();
}

bool Announcements::find(int member, const records::Key& key, Announced* found) {
  // The page is read first, because what was announced before it said so is there.
  const bool is_all = directory_.announces_no_more(member);
  records::Directory::Entry* const entry = directory_.find(member, key);
  if (entry != nullptr)
    *found = {unpacked(entry->place), &entry->closed};
  else if (is_all)
    *found = postponed();
  return entry != nullptr || is_all;
}

}  // namespace tutti::team
