#include "exec/arrival.h"

#include "exec/combine.h"
#include "exec/entered.h"

namespace tutti::exec {

Channel::ArrivalReduce::ArrivalReduce(Channel& channel, const BoundProgram& bound,
                                      const BoundStep& step, const Operation& operation,
                                      const ReducedSegment& segment, const Record& record)
    : channel_(channel),
      bound_(bound),
      step_(step),
      operation_(operation),
      segment_(segment),
      record_(record),
      dst_(address(0)),
      sources_(step.operand_count - 1) {}

std::byte* Channel::ArrivalReduce::address(uint32_t operand) const {
  const BoundOperand& at =
      operand < 3 ? step_.operands[operand]
                  : bound_.operands[bound_.details[step_.details].more_operands + operand - 3];
  return segment_.base_of[at.space] + at.displacement() + segment_.offsets.of(at);
}

Awaited Channel::ArrivalReduce::awaited(const BoundArrival& arrival) const {
  const uint64_t value = segment_.base + arrival.offset;
  if (!bound_.program->uses_lines)
    return {&channel_.control(arrival.peer).word, value, arrival.peer, nullptr};
  const auto& line =
      *reinterpret_cast<const shm::Line*>(segment_.lines + arrival.line * shm::line_size);
  return {&line.stamp, value, arrival.peer, &line};
}

// True if the data that has arrived belongs to another call. The loop asks this after every wait.
bool Channel::ArrivalReduce::is_of_other_call(const Awaited& seen) const {
  if (seen.line != nullptr) return shm::load_relaxed(seen.line->call) != operation_.call;
  return entered_other_call(channel_.control(seen.peer), channel_.base_, operation_.call);
}

void Channel::ArrivalReduce::make_room() {
  if (sources_ <= most_inline) return;
  const auto sources = static_cast<size_t>(sources_);
  many_sources_.resize(2 * sources + 2);
  many_awaited_.resize(sources);
  taken_ = many_sources_.data() + 1;
  pending_ = many_sources_.data() + sources + 2;
  awaited_ = many_awaited_.data();
}

// If dst is one of the sources, it is the partial result at the beginning, and nothing may be
// written to it before it is read. Lowering gives it no arrival of its own.
void Channel::ArrivalReduce::sort_sources() {
  for (int i = 0; i < sources_; ++i) {
    const std::byte* const source = address(static_cast<uint32_t>(i) + 1);
    const BoundArrival& arrival =
        bound_.arrivals[bound_.details[step_.details].first_arrival + static_cast<uint32_t>(i)];
    if (source == dst_) {
      started_ = true;
    } else if (arrival.peer < 0) {
      taken_[taken_count_++] = source;
    } else {
      awaited_[pending_count_] = awaited(arrival);
      pending_[pending_count_++] = source;
    }
  }
}

Code Channel::ArrivalReduce::take_arrived() {
  int left = 0;
  for (int i = 0; i < pending_count_; ++i) {
    if (awaited_[i].here()) {
      if (is_of_other_call(awaited_[i])) [[unlikely]] {
        const Code code = channel_.fail_mismatch(awaited_[i].peer, operation_);
        if (code != Code::ok) return code;
      }
      taken_[taken_count_++] = pending_[i];
    } else {
      awaited_[left] = awaited_[i];
      pending_[left++] = pending_[i];
    }
  }
  pending_count_ = left;
  return Code::ok;
}

// One source alone stays where it is until the next one arrives: then both are combined into dst.
void Channel::ArrivalReduce::combine_taken() {
  if (taken_count_ == 0 || (taken_count_ == 1 && !started_)) return;
  const Combine& how = *operation_.combine;
  const void** sources = taken_;
  if (started_) {
    // dst is first or last, so that combining needs no scratch memory (combine.h): kernels fold
    // from the left, `apply` from the right.
    if (how.kernel != nullptr) sources = taken_ - 1;
    sources[how.kernel != nullptr ? 0 : taken_count_] = dst_;
  }
  const int count = taken_count_ + (started_ ? 1 : 0);
  if (segment_.bytes == 0) {
    // Nothing to move; the waits were all there is to do.
  } else if (count == 2 && how.kernel != nullptr) {
    how.kernel(dst_, sources[0], sources[1], operation_.count_of(segment_.bytes));
  } else {
    combine(how, dst_, sources, count, segment_.bytes);
  }
  started_ = true;
  combined_ = true;
  taken_count_ = 0;
}

// Records the combination before the wait, the wait itself, and the peer that ended it.
Code Channel::ArrivalReduce::wait_for_next() {
  if (record_.recorder != nullptr && combined_)
    record_.recorder->step(static_cast<uint32_t>(step_.kind), step_.place, record_.segment, -1,
                           segment_.bytes);
  combined_ = false;
  const Code code = channel_.wait_for_any(awaited_, pending_count_, operation_);
  if (record_.recorder == nullptr || code != Code::ok) return code;
  const Awaited* first = awaited_;
  while (!first->here()) ++first;
  record_.recorder->step(static_cast<uint32_t>(trace::Kind::wait_arrival), step_.place,
                         record_.segment, channel_.rank_of(first->peer), 0);
  return code;
}

Code Channel::ArrivalReduce::run() {
  make_room();
  sort_sources();
  return combine_all();
}

Code Channel::ArrivalReduce::run_if_arrived() {
  make_room();
  sort_sources();
  for (int i = 0; i < pending_count_; ++i)
    if (!awaited_[i].here()) return channel_.suspend(awaited_[i], operation_.call);
  return combine_all();
}

Code Channel::ArrivalReduce::combine_all() {
  for (;;) {
    if (const Code code = take_arrived(); code != Code::ok) return code;
    const bool found = taken_count_ > (started_ ? 0 : 1);
    combine_taken();
    if (pending_count_ == 0) return Code::ok;
    if (found) continue;
    if (const Code code = wait_for_next(); code != Code::ok) return code;
  }
}

}  // namespace tutti::exec
