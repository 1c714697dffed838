#include "exec/in_flight.h"

#include "exec/execution.h"

namespace tutti::exec {

// Keeps what an Execution refers to beside it. One instance for each shape serves programs with
// arrivals and without, and wakes sleepers, whose word costs a load where there are none.
template <Shape shape, bool traced>
class Channel::InPieces final : public InFlight::Pieces {
 public:
  template <class... Ring>
  InPieces(Channel& channel, const Start& start, const Operation& operation, Ring&... ring)
      : recorder_(channel.tracer_, ring...),
        execution_(channel, start, operation, base_of_, recorder_) {}
  Code advance() override { return execution_.advance(); }
  uint64_t executed() const override { return execution_.executed(); }

 private:
  using Execution = Channel::Execution<true, shape, true, traced, Beyond::lanes>;
  std::byte* base_of_[Execution::spaces] = {};
  typename Execution::Records recorder_;
  Execution execution_;
};

InFlight::InFlight(Channel& channel, const BoundProgram& bound, const Operation& operation,
                   trace::Ring* ring)
    : channel_(channel), operation_(operation) {
  const plan::Program& program = *bound.program;
  const auto make = [&]<Shape shape>() {
    if (ring != nullptr)
      pieces_ =
          std::make_unique<Channel::InPieces<shape, true>>(channel, bound.start, operation, *ring);
    else
      pieces_ = std::make_unique<Channel::InPieces<shape, false>>(channel, bound.start, operation);
  };
  if (channel.net_ != nullptr) channel.net_->reserve(static_cast<size_t>(program.requests));
  if (program.parted && !program.uses_lines)
    make.operator()<Shape::parts>();
  else if (program.parted)
    make.operator()<Shape::part_lines>();
  else if (program.uses_lines)
    make.operator()<Shape::lines>();
  else
    make.operator()<Shape::segmented>();
}

InFlight::~InFlight() = default;

InFlight::State InFlight::end(Code code) {
  code_ = code;
  return state_ = code == Code::ok ? State::done : State::failed;
}

InFlight::State InFlight::advance() {
  if (state_ != State::under_way) return state_;
  if (channel_.failed_ != Code::ok) return end(channel_.failed_);
  Code code = Code::ok;
  try {
    code = pieces_->advance();
  } catch (...) {
    code = channel_.fail_thrown(operation_.call);
  }
  if (code == would_wait) return state_;
  channel_.resume();
  return end(code);
}

uint64_t InFlight::executed() const { return pieces_->executed(); }

bool InFlight::needs_driving() const { return channel_.driven_messages_ > 0; }

InFlight::State InFlight::look(bool stalls) {
  if (state_ != State::under_way) return state_;
  const Code code = channel_.look_at_suspended(operation_, stalls);
  return code == Code::ok ? state_ : end(code);
}

}  // namespace tutti::exec
