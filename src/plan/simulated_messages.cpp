// Messages in a simulated run. They are as late as MPI allows: neither the send nor the receive of
// a message ends before its receiver has posted it. When a send ends, its source must still have
// the contents that it had when the send began. In half of the runs all messages count as long, and
// leave one after another (exec/leaving.h).
#include "plan/simulated_run.h"

#include <algorithm>

namespace tutti::plan {

// Visits every block of a message at this end.
template <class Visit>
void SimulatedRun::each_cell(int32_t rank, SimulatedStep at, const Message& message, Visit visit) {
  const Program& program = what_.programs[rank];
  size_t index = 0;
  for (int32_t i = 0; i < message.piece_count; ++i) {
    const Piece& piece = program.pieces[static_cast<size_t>(message.first_piece + i)];
    for (int32_t k = 0; k < piece.extent_count; ++k) {
      visit(cell(rank, at.segment, piece.operand, k, piece.extent_first + k), piece.operand, k,
            piece.extent_first + k, index++);
    }
  }
}

bool SimulatedRun::message(int32_t rank, SimulatedStep at) {
  const Program& program = what_.programs[rank];
  const Step& step = program.steps[at.step];
  const Message& message = program.messages[static_cast<size_t>(step.message)];
  if (what_.nodes.together(rank, message.peer))
    refuse_programs(context(rank) + ": a message within a node");
  switch (step.kind) {
    case StepKind::post: return post(rank, at, message);
    case StepKind::send: return send(rank, at, message);
    case StepKind::receive: return receive(rank, at, message);
    default: return sent(rank, at, message);
  }
}

bool SimulatedRun::post(int32_t rank, SimulatedStep at, const Message& message) {
  const Program& program = what_.programs[rank];
  for (int32_t i = 0; i < message.piece_count; ++i) {
    const Operand& operand = program.pieces[static_cast<size_t>(message.first_piece + i)].operand;
    check_destination(rank, operand);
    if ((operand.space == Space::slot || operand.space == Space::line) && !reserve(rank))
      return false;
  }
  const Access access{rank, ++ranks_[rank].clock[rank], at.step, at.segment,
                      ranks_[rank].operation};
  each_cell(rank, at, message,
            [&](OrderedCell& cell, const Operand& operand, int32_t k, int32_t, size_t) {
              // The message may overwrite the block at any time after this point.
              if (const auto race = cell.write(access, ranks_[rank].clock, Symbol{}))
                refuse_race(rank, "lets a message write", operand, k, *race);
            });
  mail_[{message.peer, rank, tag(rank, at, message)}].posted = true;
  released_ = true;
  return true;
}

// A message waits for the earlier ones of its rank whose posts have smaller numbers than its send.
bool SimulatedRun::must_wait_its_turn(int32_t rank, int64_t number) const {
  const std::vector<Leaving>& leaving = ranks_[rank].leaving;
  return in_turn_ && std::any_of(leaving.begin(), leaving.end(), [&](const Leaving& one) {
           return one.posted < number && !mail_.at(one.mail).posted;
         });
}

bool SimulatedRun::send(int32_t rank, SimulatedStep at, const Message& message) {
  const MailKey key{rank, message.peer, tag(rank, at, message)};
  if (must_wait_its_turn(rank, std::get<2>(key))) return false;
  Mail& mail = mail_[key];
  ranks_[rank].leaving.push_back(
      {key,
       base(ranks_[rank].operation) + posted_number(what_.programs[rank], message, at.segment)});
  const Access access{rank, ++ranks_[rank].clock[rank], at.step, at.segment,
                      ranks_[rank].operation};
  each_cell(rank, at, message,
            [&](OrderedCell& cell, const Operand& operand, int32_t k, int32_t extent, size_t) {
              if (const auto race = cell.read(access, ranks_[rank].clock))
                refuse_race(rank, "sends", operand, k, *race);
              check_source(rank, cell.symbol(), operand, k, extent);
              mail.data.push_back(cell.symbol());
            });
  mail.clock = ranks_[rank].clock;
  mail.gone = true;
  released_ = true;
  return true;
}

bool SimulatedRun::receive(int32_t rank, SimulatedStep at, const Message& message) {
  const auto found = mail_.find({message.peer, rank, tag(rank, at, message)});
  if (found == mail_.end() || !found->second.posted)
    refuse_programs(context(rank) + ": awaits a message that it has not posted");
  const Mail& mail = found->second;
  if (!mail.gone) return false;
  join(ranks_[rank].clock, mail.clock);
  const Access access{rank, ++ranks_[rank].clock[rank], at.step, at.segment,
                      ranks_[rank].operation};
  each_cell(
      rank, at, message,
      [&](OrderedCell& cell, const Operand& operand, int32_t k, int32_t extent, size_t index) {
        if (cell.symbol().expression != 0)
          refuse_programs(context(rank) + ": something was written where a message is to come");
        const Symbol symbol{mail.data[index].expression, extent};
        if (const auto race = cell.write(access, ranks_[rank].clock, symbol))
          refuse_race(rank, "receives", operand, k, *race);
      });
  return true;
}

bool SimulatedRun::sent(int32_t rank, SimulatedStep at, const Message& message) {
  const MailKey key{rank, message.peer, tag(rank, at, message)};
  const auto found = mail_.find(key);
  if (found == mail_.end() || !found->second.gone)
    refuse_programs(context(rank) + ": ends a message that it has not sent");
  if (!found->second.posted) return false;
  std::erase_if(ranks_[rank].leaving, [&](const Leaving& one) { return one.mail == key; });
  const Access access{rank, ++ranks_[rank].clock[rank], at.step, at.segment,
                      ranks_[rank].operation};
  each_cell(rank, at, message,
            [&](OrderedCell& cell, const Operand& operand, int32_t k, int32_t, size_t index) {
              if (const auto race = cell.read(access, ranks_[rank].clock))
                refuse_race(rank, "is sending", operand, k, *race);
              if (cell.symbol().expression != found->second.data[index].expression) {
                refuse_programs(context(rank) +
                                ": a message's source was overwritten while it was under way");
              }
            });
  return true;
}

}  // namespace tutti::plan
