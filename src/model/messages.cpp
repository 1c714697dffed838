#include "model/virtual_run.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "model/lengths.h"

namespace tutti::model {

using plan::Program;
using plan::Step;
using plan::StepKind;

VirtualRun::Mail& VirtualRun::mail_of(int32_t rank, const plan::Message& message, int64_t segment) {
  const int64_t tag = plan::tag_of(program(rank), message, segment);
  return message.sends ? mail_[{rank, message.peer, tag}] : mail_[{message.peer, rank, tag}];
}

bool VirtualRun::share_node(int32_t one, int32_t other) const {
  return links_.node(one) == links_.node(other);
}

double VirtualRun::overhead(int32_t one, int32_t other) const {
  return share_node(one, other) ? messages().overhead : network().overhead;
}

VirtualRun::Progress VirtualRun::await_turn(int32_t rank, double bytes, int64_t number) {
  Rank& self = of(rank);
  const auto has_ended = [&](const Leaving& one) {
    return one.mail->left && *one.mail->left <= self.now;
  };
  for (;;) {
    std::erase_if(self.leaving, has_ended);
    double together = bytes;
    for (const Leaving& one : self.leaving) together += one.bytes;
    if (together <= static_cast<double>(plan::most_leaving)) return Progress::done;
    const auto awaited = std::find_if(self.leaving.begin(), self.leaving.end(),
                                      [&](const Leaving& one) { return one.posted < number; });
    if (awaited == self.leaving.end()) return Progress::done;
    if (!awaited->mail->left) {
      awaited->mail->waiting.push_back(rank);
      return Progress::later;
    }
    self.now = *awaited->mail->left;
  }
}

VirtualRun::Progress VirtualRun::start_message(int32_t rank, const Step& step, int64_t segment) {
  Rank& self = of(rank);
  const Program& mine = program(rank);
  const plan::Message& message = mine.messages[static_cast<size_t>(step.message)];
  const double bytes = model::length_of(mine, geometry_, question_.bytes, message, segment);
  const bool is_prompt = bytes <= static_cast<double>(network().prompt);
  if (self.operand == 0) {
    if (message.sends && !is_prompt &&
        await_turn(rank, bytes, plan::tag_of(mine, message, segment)) == Progress::later)
      return Progress::later;
    self.operand = 1;
    self.now += machine_.own.step + (message.sends ? overhead(rank, message.peer) : 0);
  }
  if (self.now > time_) {  // adapters take messages in the order of time
    resume(rank, self.now);
    return Progress::later;
  }
  note(rank, segment);
  Mail& mail = mail_of(rank, message, segment);
  if (message.sends && !is_prompt)
    self.leaving.push_back({&mail, bytes, plan::posted_number(mine, message, segment)});
  (message.sends ? mail.is_sent : mail.is_posted) = true;
  (message.sends ? mail.sent : mail.posted) = self.now;
  (message.sends ? mail.send_event : mail.post_event) = self.last;
  // A prompt message is on its way when its receiver posts it.
  const bool leaves = is_prompt ? message.sends : mail.is_sent && mail.is_posted;
  if (!leaves) return Progress::done;
  const int32_t sender = message.sends ? rank : message.peer;
  const int32_t receiver = message.sends ? message.peer : rank;
  const size_t flight = flights_.size();
  flights_.push_back({&mail, sender, receiver, bytes});
  if (is_prompt) mail.left = mail.sent;
  double ready = time_;
  if (share_node(sender, receiver))
    ready += messages().latency;
  else if (!is_prompt)
    ready = std::max(mail.sent + network().latency, mail.posted) + network().latency;
  queue_.push({ready, ++order_, Kind::message_leaves, flight, 0});
  return Progress::done;
}

void VirtualRun::leave(const Flight& flight, size_t index) {
  if (share_node(flight.sender, flight.receiver)) {
    const size_t link = links_.memory(links_.node(flight.sender));
    const MessageCost& costs = messages();
    const double share = costs.byte > 0 ? std::min(1.0, costs.shared / costs.byte) : 0;
    links_.links()[link].begin(time_, costs.byte * flight.bytes, share, flight.bytes,
                               ranks_.size() + index);
    return schedule(link);
  }
  const double moving = network().byte * flight.bytes;
  Adapter& adapter = out_[static_cast<size_t>(links_.node(flight.sender))];
  const double first = adapter.pass(time_, moving, network().gap, flight.bytes);
  if (!flight.mail->left) {
    flight.mail->left = first + moving;
    wake(*flight.mail);
  }
  queue_.push({first + network().latency, ++order_, Kind::message_arrives, index, 0});
}

void VirtualRun::arrive(const Flight& flight) {
  const double moving = network().byte * flight.bytes;
  Adapter& adapter = in_[static_cast<size_t>(links_.node(flight.receiver))];
  flight.mail->here = adapter.pass(time_, moving, network().gap, flight.bytes) + moving;
  wake(*flight.mail);
}

void VirtualRun::end_flight(const Flight& flight) {
  if (!flight.mail->left) flight.mail->left = time_;
  flight.mail->here = time_;
  wake(*flight.mail);
}

void VirtualRun::wake(Mail& mail) {
  for (const int32_t waiter : std::exchange(mail.waiting, {})) resume(waiter, time_);
}

VirtualRun::Progress VirtualRun::end_message(int32_t rank, const Step& step, int64_t segment) {
  Rank& self = of(rank);
  const Program& mine = program(rank);
  const plan::Message& message = mine.messages[static_cast<size_t>(step.message)];
  Mail& mail = mail_of(rank, message, segment);
  const bool receives = step.kind == StepKind::receive;
  const std::optional<double>& awaited = receives ? mail.here : mail.left;
  if (!awaited) {
    mail.waiting.push_back(rank);
    return Progress::later;
  }
  self.now = std::max(self.now, *awaited);
  if (receives) self.now += overhead(rank, message.peer);
  if (self.now > self.begin) note(rank, segment, receives ? mail.send_event : mail.post_event);
  return Progress::done;
}

const NetworkCost& VirtualRun::network() const {
  if (!machine_.network)
    throw Error(Code::invalid_argument, "machine '" + machine_.name +
                                            "' has no network, but the ranks are on " +
                                            std::to_string(question_.nodes.count()) +
                                            " nodes; add \"network\" to its file");
  return *machine_.network;
}

const MessageCost& VirtualRun::messages() const {
  if (!machine_.messages)
    throw Error(Code::invalid_argument,
                "machine '" + machine_.name +
                    "' has no costs of messages within a node; add \"messages\" to its file");
  return *machine_.messages;
}

}  // namespace tutti::model
