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
#include "base/process.h"
#include "mpi/abi/host.h"
#include "report/board_file.h"
#include "report/pages.h"
#include "select/library.h"

namespace tutti::mpi {

using report::Contents;
using report::Numbers;

namespace {

// The numbers of a process, copied, because waits for other ranks must not hold the tally's lock.
std::unique_ptr<Contents> own_contents() {
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

// Until all others of the board have left or died. The wait has no limit, because a rank that lives
// may compute for long before it comes.
void wait_for_others(const report::Board& board, const exec::ProgressHook& hook) {
  exec::Waiter waiter(exec::pace_of_set_up(), hook);
  bool nobody_comes = board.nobody_comes(true);
  waiter.until([&] { return nobody_comes || board.nobody_comes(false); },
               [&] {
                 nobody_comes = waiter.looks_closely() && board.nobody_comes(true);
                 if (waiter.stalls()) say_late(board);
                 return Code::ok;
               });
}

// Waits for the reductions of all ranks. False if a process of this node's board has died, without
// which they do not end.
bool wait_for_all(std::array<MPI_Request, 2> requests, const std::optional<report::Board>& board) {
  exec::Waiter waiter(exec::pace_of_set_up());
  bool died = false;
  waiter.until(
      [&] {
        bool all = true;
        for (MPI_Request& request : requests) {
          int done = 0;
          host().Test(&request, &done, MPI_STATUS_IGNORE);
          all = all && done != 0;
        }
        return all || died;
      },
      [&] {
        if (waiter.stalls())
          log_line(LogLevel::warning, "the report waits for ranks that have not come to it");
        died = board && waiter.looks_closely() && board->some_died();
        return Code::ok;
      });
  return !died;
}

}  // namespace

void write_report(const std::string& destination, const std::string& why_no_team,
                  std::optional<report::Board> board, int ranks_of_board,
                  const exec::ProgressHook& hook) {
  const Host& mpi = host();
  int rank = 0, ranks = 0;
  mpi.Comm_rank(mpi.comm_world, &rank);
  mpi.Comm_size(mpi.comm_world, &ranks);
  const auto own = own_contents();
  const auto write = [&](const Numbers& numbers, const report::Most& most,
                         std::vector<int> missing) {
    report::write_pages(destination,
                        {numbers, own->algorithms, most, abi_name, why_no_team, select::refusals(),
                         ranks, -1, own->saturation_map, std::move(missing)});
  };
  const auto write_from_board = [&] {
    if (!board->may_write()) return;
    const auto sum = std::make_unique<report::Board::Sum>(board->sum());
    std::vector<int> missing;
    for (int other = 0; other < ranks; ++other)
      if (std::find(sum->ranks.begin(), sum->ranks.end(), other) == sum->ranks.end())
        missing.push_back(other);
    write(sum->numbers, sum->most, std::move(missing));
  };
  if (board) board->leave(own->numbers, own->most);
  if (board && ranks_of_board == ranks) {
    wait_for_others(*board, hook);
    return write_from_board();
  }
  struct Reduced {
    report::Most own_most, most;
    Numbers own_numbers, numbers;
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
    if (rank == 0) write(reduced->numbers, reduced->most, {});
    return;
  }
  std::array<MPI_Request, 2> requests{};
  mpi.Ireduce(&reduced->own_most, &reduced->most, report::most_count, mpi.type_uint64, mpi.op_max,
              0, mpi.comm_world, &requests[0]);
  mpi.Ireduce(&reduced->own_numbers, &reduced->numbers, report::number_count, mpi.type_uint64,
              mpi.op_sum, 0, mpi.comm_world, &requests[1]);
  if (wait_for_all(requests, board)) {
    if (rank == 0) write(reduced->numbers, reduced->most, {});
    return;
  }
  (void)reduced.release();  // the host may still write there
  write_from_board();
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

// A file of the node's own where the job has several nodes: REPORT.HOST.json.
std::string file_of_node(const std::string& destination) {
  if (destination == "1" || destination == "-") return destination;
  std::filesystem::path path(destination);
  return path.replace_extension(host_name() + path.extension().string()).string();
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
  const auto own = own_contents();
  report::Board& board = file->board();
  board.leave(own->numbers, own->most);
  if (board.nobody_comes(true) && board.may_write()) {
    const auto sum = std::make_unique<report::Board::Sum>(board.sum());
    const int known = static_cast<int>(sum->ranks.size() + sum->missing.size());
    const int here = std::max(launched_ranks_on_node(), known);
    const std::string none;
    report::write_pages(
        here < ranks ? file_of_node(destination) : destination,
        {sum->numbers, own->algorithms, sum->most, abi_name, none, select::refusals(), ranks, -1,
         own->saturation_map, sum->missing, known < ranks ? sum->ranks : std::vector<int>()});
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
  const Host& mpi = host();
  int rank = 0, ranks = 0;
  mpi.Comm_rank(mpi.comm_world, &rank);
  mpi.Comm_size(mpi.comm_world, &ranks);
  report::try_read_tally([&](const Contents& own) {
    report::write_pages(destination, {own.numbers, own.algorithms, own.most, abi_name, why_no_team,
                                      select::refusals(), ranks, rank, own.saturation_map});
  });
}

}  // namespace tutti::mpi
