#include "mpi/communicators/node_areas.h"

#include <algorithm>
#include <cstdlib>

#include "base/options.h"
#include "mpi/host/ranks.h"

namespace tutti::mpi {

void NodeAreas::Free::operator()(std::byte* area) const { std::free(area); }

NodeAreas::~NodeAreas() {
  if (segment_ != nullptr) segment_->leave(page_);
}

void NodeAreas::swap(NodeAreas& other) noexcept {
  std::swap(team_, other.team_);
  std::swap(areas_, other.areas_);
  std::swap(layout_, other.layout_);
  std::swap(segment_, other.segment_);
  std::swap(page_, other.page_);
  std::swap(own_, other.own_);
}

namespace {

// The memory that this node has for the areas of `here`.
std::vector<AreaGrant> grants_of(Comm messages, const std::vector<int32_t>& here, int rank,
                                 Team* team, size_t count) {
  const Host& mpi = host();
  std::vector<AreaGrant> grants(count);
  const auto bytes = static_cast<int>(count * sizeof(AreaGrant));
  if (here.size() == 1) {
    const size_t asked = options().shm_bytes_per_rank;
    for (AreaGrant& grant : grants) grant.bytes_per_rank = asked != 0 ? asked : shm::deep_area(1);
  } else if (rank == here.front()) {
    for (AreaGrant& grant : grants) grant = team->areas().grant(static_cast<int>(here.size()));
    for (const int32_t member : here)
      if (member != rank) mpi.Send(grants.data(), bytes, mpi.type_byte, member, 0, messages);
  } else {
    mpi.Recv(grants.data(), bytes, mpi.type_byte, here.front(), 0, messages, abi.status_ignore);
  }
  return grants;
}

}  // namespace

// False if this node has no memory for the areas of `here`.
bool NodeAreas::take(const std::vector<int32_t>& here, const AreaGrant& grant) {
  if (here.size() == 1) return true;
  if (!grant.granted) return false;
  segment_ = team_->areas().segment(grant);
  page_ = grant.page;
  return segment_ != nullptr;
}

// All ranks know that some rank has no memory, and none has used this. Some may not even have
// attached to it, so the first member gives all shares back.
void NodeAreas::forgo(const std::vector<int32_t>& here, int rank) {
  if (segment_ != nullptr && rank == here.front())
    for (size_t member = 0; member < here.size(); ++member) segment_->leave(page_);
  segment_ = nullptr;
}

// Zeroes the areas, except for the slots, and finds their start.
void NodeAreas::ready(const std::vector<int32_t>& here, int rank, const AreaGrant& grant) {
  if (here.size() == 1) {
    own_.reset(static_cast<std::byte*>(std::aligned_alloc(
        shm::page_size, (layout_.bytes() + shm::page_size - 1) / shm::page_size * shm::page_size)));
    areas_ = own_.get();
    if (areas_ != nullptr) team::clear_areas(areas_, layout_);
    return;
  }
  areas_ = segment_->address(grant.page);
  if (rank == here.front() && !grant.fresh) team::clear_areas(areas_, layout_);
  const auto index = static_cast<size_t>(std::find(here.begin(), here.end(), rank) - here.begin());
  if (grant.touch) team::touch_area(areas_ + index * layout_.stride(), layout_.stride());
}

std::vector<NodeAreas> NodeAreas::agree(Comm messages, const std::vector<int32_t>& here,
                                        const std::shared_ptr<Team>& team, size_t count,
                                        bool* willing) {
  const Host& mpi = host();
  const int rank = rank_in(messages);
  std::vector<NodeAreas> made(count);
  const std::vector<AreaGrant> grants = grants_of(messages, here, rank, team.get(), count);
  // The answer of a rank: it is willing and has memory for all; and the least of their bytes.
  uint64_t own[] = {*willing ? uint64_t{1} : 0, 1, UINT64_MAX};
  for (size_t i = 0; i < count; ++i) {
    if (here.size() > 1) made[i].team_ = team;
    if (!made[i].take(here, grants[i])) own[1] = 0;
    own[2] = std::min(own[2], grants[i].bytes_per_rank);
  }
  uint64_t least[3] = {};
  const bool agreed =
      mpi.Allreduce(own, least, 3, mpi.type_uint64, mpi.op_min, messages) == success;
  *willing = least[0] != 0;
  if (!agreed || !*willing || least[1] == 0) {
    for (NodeAreas& areas : made) areas.forgo(here, rank);
    return {};
  }
  bool ready = true;
  for (size_t i = 0; i < count; ++i) {
    made[i].layout_ = shm::Layout::fit(static_cast<int32_t>(here.size()), least[2]);
    made[i].ready(here, rank, grants[i]);
    ready = ready && made[i].areas_ != nullptr;
  }
  if (!all_say(ready, messages)) made.clear();
  return made;
}

}  // namespace tutti::mpi
