// The numbers of the processes of one job on one node, in memory that they share.
//
// Each process has a place. It enters when it begins MPI, and leaves its numbers when it ends it.
// When nobody is to come any more, because all that have entered have left or died, one of them
// writes the report. So a process that dies holds nobody up. A process may enter again after it has
// left; a further report then has what all have left so far.
//
// The memory is all zero at first and outlives the board. Any thread may use a board, one at a
// time in each process.
#pragma once

#include <cstddef>
#include <vector>

#include "report/tally.h"
#include "shm/order.h"

namespace tutti::report {

class Board {
 public:
  static size_t bytes(int places);
  // `own`: the place of this process.
  Board(std::byte* memory, int places, int own);

  // The place that this process has had or, if it has had none, one that is free; -1: none. For a
  // process that has the memory for itself meanwhile.
  static int place_of_this_process(std::byte* memory, int places);

  // `rank` is how the report names this process.
  void enter(int rank);
  void leave(const Numbers& numbers, const Most& most);

  // True if all that have entered have left. `look`: or have died, which takes system calls.
  bool nobody_comes(bool look) const;
  // True if one has died that has not left. Takes system calls.
  bool some_died() const;
  // True if the processes of all places have ended. Takes system calls.
  bool all_ended() const;
  // True for one process, after each time that nobody_comes was true; it writes the report.
  bool may_write();

  struct Sum {
    Numbers numbers;
    Most most;
    std::vector<int> ranks;    // ranks that have left
    std::vector<int> missing;  // ranks that have entered and not left
  };
  Sum sum() const;

 private:
  struct Head;
  struct Place;
  Place& place(int number) const;
  static bool has_died(const Place& place);

  std::byte* const memory_;
  const int places_;
  const int own_;
};

}  // namespace tutti::report
