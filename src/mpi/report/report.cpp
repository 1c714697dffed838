#include "mpi/report/report.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/launched.h"
#include "base/log.h"
#include "base/only_one.h"
#include "base/options.h"
#include "base/process.h"
#include "mpi/host/ranks.h"
#include "report/board_file.h"
#include "report/pages.h"
#include "select/library.h"

namespace tutti::mpi {

using report::Contents;
using report::Numbers;

namespace {

// The numbers of a process whose MPI ends, copied, because waits for other ranks must not hold the
// tally's lock.
std::unique_ptr<Contents> own_contents(int rank) {
  report::record_end(rank);
  auto own = std::make_unique<Contents>();
  report::read_tally([&](const Contents& contents) { *own = contents; });
  return own;
}

void say_late(const report::Board& board) {
  const auto sum = std::make_unique<report::Board::Sum>(board.sum());
  std::string late;
  for (const int rank : sum->missing) late += (late.empty() ? "" : ", ") + std::to_string(rank);
  log_line(LogLevel::warning, "the report waits for ranks that have not come to MPI_Finalize: %s",
           late.c_str());
}

// Returns the meaning of a stall for a wait. A rank that lives may compute for long before it
// comes, so only TUTTI_STALL=abort limits the wait.
Code code_of_stall() {
  return options().stall == StallAction::abort_job ? Code::unavailable : Code::ok;
}

// Waits until all others of the board have left or died. False if it has ended because of a stall.
bool wait_for_others(const report::Board& board, const exec::ProgressHook& hook) {
  exec::Waiter waiter(exec::pace_of_set_up(), hook);
  bool nobody_comes = board.nobody_comes(true);
  const auto is_over = [&] { return nobody_comes || board.nobody_comes(false); };
  return waiter.until(is_over, [&] {
    nobody_comes = waiter.looks_closely() && board.nobody_comes(true);
    if (nobody_comes || !waiter.stalls()) return Code::ok;
    say_late(board);
    return code_of_stall();
  }) == Code::ok;
}

// Waits for the reductions of all ranks. Code::dead_peer: a process of this node's board has died,
// without which they do not end. Code::unavailable: it has ended because of a stall.
Code wait_for_all(std::array<Request, 2> requests, const std::optional<report::Board>& board) {
  exec::Waiter waiter(exec::pace_of_set_up());
  return waiter.until(
      [&] {
        bool all = true;
        for (Request& request : requests) {
          int done = 0;
          host().Test(&request, &done, abi.status_ignore);
          all = all && done != 0;
        }
        return all;
      },
      [&] {
        if (board && waiter.looks_closely() && board->some_died()) return Code::dead_peer;
        if (!waiter.stalls()) return Code::ok;
        log_line(LogLevel::warning, "the report waits for ranks that have not come to it");
        return code_of_stall();
      });
}

// A file of the node's own where the job has several nodes: REPORT.HOST.json.
std::string file_of_node(const std::string& destination) {
  if (destination == "1" || destination == "-") return destination;
  std::filesystem::path path(destination);
  return path.replace_extension(host_name() + path.extension().string()).string();
}

}  // namespace

bool write_report(const std::string& destination, const std::string& why_no_team,
                  std::optional<report::Board> board, int ranks_of_board,
                  const exec::ProgressHook& hook) {
  const Host& mpi = host();
  const int rank = rank_in(mpi.comm_world), ranks = ranks_in(mpi.comm_world);
  const auto own = own_contents(rank);
  const bool whole = ranks_of_board == ranks;
  const auto write_from_board = [&] {
    if (!board) return write_own_report(destination, why_no_team);
    if (!board->may_write()) return;
    const auto sum = std::make_unique<report::Board::Sum>(board->sum());
    report::write_pages(
        whole ? destination : file_of_node(destination),
        {sum->numbers, own->algorithms, sum->most, abi.name, why_no_team, select::refusals(), ranks,
         -1, own->found, sum->missing, whole ? std::vector<int>() : sum->ranks});
  };
  if (board) board->leave(own->numbers, own->most);
  if (board && whole) {
    const bool is_over = wait_for_others(*board, hook);
    write_from_board();
    return is_over;
  }
  struct Reduced {
    report::Most own_most, most;
    Numbers own_numbers, numbers;
  };
  const auto write = [&](const Reduced& all) {
    report::write_pages(destination, {all.numbers, own->algorithms, all.most, abi.name, why_no_team,
                                      select::refusals(), ranks, -1, own->found});
  };
  auto reduced = std::make_unique<Reduced>();
  reduced->own_most = own->most;
  reduced->own_numbers = own->numbers;
  // Simulated ranks cannot die, and can wait for each other only inside the host.
  if (simulated) {
    mpi.Reduce(&reduced->own_most, &reduced->most, report::most_count, mpi.type_uint64, mpi.op_max,
               0, mpi.comm_world);
    mpi.Reduce(&reduced->own_numbers, &reduced->numbers, report::number_count, mpi.type_uint64,
               mpi.op_sum, 0, mpi.comm_world);
    if (rank == 0) write(*reduced);
    return true;
  }
  // All ranks get the sum, so that none of them ends its wait if one has died.
  std::array<Request, 2> requests{};
  mpi.Iallreduce(&reduced->own_most, &reduced->most, report::most_count, mpi.type_uint64,
                 mpi.op_max, mpi.comm_world, &requests[0]);
  mpi.Iallreduce(&reduced->own_numbers, &reduced->numbers, report::number_count, mpi.type_uint64,
                 mpi.op_sum, mpi.comm_world, &requests[1]);
  const Code ended = wait_for_all(requests, board);
  if (ended == Code::ok) {
    if (rank == 0) write(*reduced);
    return true;
  }
  (void)reduced.release();  // the host may still write there
  write_from_board();
  return ended == Code::dead_peer;
}

namespace {

struct OfSessions {
  std::optional<report::BoardFile> file;
  int ranks = 0;
};
OfSessions& of_sessions() {
  static OfSessions& made = *new OfSessions;
  return made;
}

}  // namespace

void enter_report_of_sessions(int ranks) {
  if (of_sessions().file) return;
  of_sessions().ranks = ranks;
  try {
    const std::string job = ranks == 1 ? std::to_string(getpid()) : job_on_node();
    of_sessions().file.emplace(job, launched_rank());
  } catch (const Error& error) {
    log_once("report/sessions", LogLevel::warning,
             "no numbers of this process in a report of its sessions: %s", error.what());
  }
}

void write_report_of_sessions(const std::string& destination) {
  auto& [file, ranks] = of_sessions();
  if (!file) return;
  const auto own = own_contents(launched_rank());
  report::Board& board = file->board();
  board.leave(own->numbers, own->most);
  if (board.nobody_comes(true) && board.may_write()) {
    const auto sum = std::make_unique<report::Board::Sum>(board.sum());
    const int known = static_cast<int>(sum->ranks.size() + sum->missing.size());
    const int here = std::max(launched_ranks_on_node(), known);
    const std::string none;
    report::write_pages(
        here < ranks ? file_of_node(destination) : destination,
        {sum->numbers, own->algorithms, sum->most, abi.name, none, select::refusals(), ranks, -1,
         own->found, sum->missing, known < ranks ? sum->ranks : std::vector<int>()});
    if (known >= here) file->remove();
  }
  file.reset();
}

void leave_report_of_sessions() {
  auto& file = of_sessions().file;
  if (!file) return;
  file->board().leave({}, {});
  file->remove();
  file.reset();
}

void write_own_report(const std::string& destination, const std::string& why_no_team) {
  // It lives until this process ends, because other ranks may abort meanwhile.
  static const OnlyOne& writer = *new OnlyOne("aborts");
  if (!writer.chosen()) return;
  const Comm world = host().comm_world;
  const int rank = rank_in(world), ranks = ranks_in(world);
  report::try_read_tally([&](const Contents& own) {
    report::write_pages(destination, {own.numbers, own.algorithms, own.most, abi.name, why_no_team,
                                      select::refusals(), ranks, rank, own.found});
  });
}

}  // namespace tutti::mpi
