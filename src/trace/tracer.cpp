#include "trace/tracer.h"

#include <utility>

namespace tutti::trace {
namespace {

constexpr size_t most_programs = 1 << 16;  // programs beyond share the last number

}  // namespace

constinit thread_local Tracer::Claim Tracer::claimed_by_thread{};

// Each thread gets one with its first claim; it gives the thread's ring back when the thread ends.
struct Tracer::GiveBack {
  ~GiveBack() {
    if (claimed_by_thread.tracer != nullptr)
      claimed_by_thread.tracer->give_back(claimed_by_thread.ring);
    claimed_by_thread = {};
  }
};

Tracer::Tracer(const Settings& settings)
    : settings_(settings),
      is_wanted_rank_(settings.filter.has_rank(settings.rank)),
      begun_(monotonic_nanoseconds()) {
  for (size_t kind = 0; kind < wanted_steps_.size(); ++kind)
    wanted_steps_[kind] = settings.filter.kinds[kind];
  choose_clock();
  claim();
}

Tracer::~Tracer() {
  if (claimed_by_thread.tracer == this) claimed_by_thread = {};
}

Ring& Tracer::claim() {
  thread_local GiveBack at_the_end;
  static_cast<void>(&at_the_end);
  if (claimed_by_thread.tracer != nullptr)
    claimed_by_thread.tracer->give_back(claimed_by_thread.ring);
  claimed_by_thread = {};
  claimed_by_thread = {this, lend()};
  return *claimed_by_thread.ring;
}

Ring* Tracer::lend() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    rings_.push_back(std::make_unique<Ring>(settings_.records));
    return rings_.back().get();
  }
  Ring* const ring = idle_.back();
  idle_.pop_back();
  return ring;
}

void Tracer::give_back(Ring* ring) {
  const std::lock_guard lock(mutex_);
  if (!rings_.empty()) idle_.push_back(ring);
}

void Tracer::retire() {
  const std::lock_guard lock(mutex_);
  rings_.clear();
  idle_ = {};
  numbers_.clear();
  programs_ = {};
  communicators_ = {};
}

uint32_t Tracer::program(const ProgramText& text) {
  const std::lock_guard lock(mutex_);
  if (const auto found = numbers_.find(text.whole); found != numbers_.end()) return found->second;
  if (programs_.size() >= most_programs) return most_programs - 1;
  const auto number = static_cast<uint32_t>(programs_.size());
  if (described_ + text.whole.size() > settings_.description_bytes) {
    programs_.push_back(text.without_steps);
  } else {
    described_ += text.whole.size();
    programs_.push_back(text.whole);
    numbers_.emplace(text.whole, number);
  }
  return number;
}

uint32_t Tracer::communicator(Communicator communicator) {
  const std::lock_guard lock(mutex_);
  communicators_.push_back(std::move(communicator));
  return static_cast<uint32_t>(communicators_.size() - 1);
}

std::vector<const Ring*> Tracer::rings() const {
  const std::lock_guard lock(mutex_);
  std::vector<const Ring*> all;
  for (const auto& ring : rings_) all.push_back(ring.get());
  return all;
}

}  // namespace tutti::trace
