// One operation of a channel that is under way, and that is advanced in pieces. It executes the
// same steps as Channel::execute, by the same rules (execution.h), but it never waits: where a step
// would have to wait, it returns, and the next call goes on with that step.
//
// It is made when all earlier operations of its channel have ended, and its maker keeps it until it
// is no longer under way. One thread at a time may use it and its channel; several may in turn, if
// each sees what the one before has done (lane.h). The buffers of the operation are the caller's,
// until it has ended. Operations in which readers bypass slots are none of these.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "exec/executor.h"

namespace tutti::exec {

class InFlight {
 public:
  enum class State : uint8_t { under_way, done, failed };

  // The bound program and the operation, with all that it points to, outlive the object. Its steps
  // are recorded in `ring`, unless that is null. May throw bad_alloc, and has then done nothing.
  InFlight(Channel& channel, const BoundProgram& bound, const Operation& operation,
           trace::Ring* ring);
  ~InFlight();
  InFlight(const InFlight&) = delete;

  // Executes steps until all are done, one fails, or one would have to wait. Throws nothing.
  State advance();
  // How many steps it has executed so far, of all segments.
  uint64_t executed() const;
  // True while messages are under way that move on only while somebody drives the transport, as
  // advance() does.
  bool needs_driving() const;
  // Call it now and then while advance() executes nothing: fails if the awaited data cannot come
  // any more, because its rank has died or is in another call. `stalls`: the operation has waited
  // for as long as the watchdog allows; reports it.
  State look(bool stalls);
  // After a failure: its code. The channel has the text, and cannot be used any more.
  Code code() const { return code_; }

 private:
  friend class Channel;
  // An execution of a shape that is known when the program is bound.
  class Pieces {
   public:
    virtual ~Pieces() = default;
    virtual Code advance() = 0;
    virtual uint64_t executed() const = 0;
  };
  State end(Code code);

  Channel& channel_;
  const Operation& operation_;
  std::unique_ptr<Pieces> pieces_;
  State state_ = State::under_way;
  Code code_ = Code::ok;
};

}  // namespace tutti::exec
