// The board (report/board.h) of the processes that a launcher has started on this node and that
// have no other memory in common: a file in /dev/shm, named by the job.
//
// A process makes the object when it enters and destroys it when it has left. A lock on the file
// orders those that enter and the one that removes it; the system frees it when a process dies. A
// process that enters also removes the files of jobs whose processes were all killed. One thread at
// a time.
#pragma once

#include <optional>
#include <string>

#include "report/board.h"

namespace tutti::report {

class BoardFile {
 public:
  // Enters as `rank`. `job` is a name that all processes of the job have, and no other job. Throws
  // Error(unavailable).
  BoardFile(const std::string& job, int rank);
  ~BoardFile();
  BoardFile(const BoardFile&) = delete;

  Board& board() { return *board_; }
  // For a process that has left: removes the file if nobody has entered again meanwhile.
  void remove();

 private:
  bool open_and_lock();  // false if the file was removed meanwhile
  void remove_left_files() const;

  std::string path_;
  int file_ = -1;
  std::byte* memory_ = nullptr;
  std::optional<Board> board_;
};

}  // namespace tutti::report
