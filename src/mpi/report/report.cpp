#include "mpi/report/report.h"

#include <memory>

#include "base/only_one.h"
#include "mpi/abi/host.h"
#include "report/pages.h"
#include "select/library.h"

namespace tutti::mpi {

using report::Contents;
using report::Numbers;

void write_report(const std::string& destination, const std::string& why_no_team) {
  const Host& mpi = host();
  int rank = 0, ranks = 0;
  mpi.Comm_rank(mpi.comm_world, &rank);
  mpi.Comm_size(mpi.comm_world, &ranks);
  // Copies, because the reduction waits for other ranks and must not hold the tally's lock.
  const auto own = std::make_unique<Contents>();
  const auto total = std::make_unique<Numbers>();
  report::Most most;
  report::read_tally([&](const Contents& contents) { *own = contents; });
  mpi.Reduce(&own->most, &most, report::most_count, mpi.type_uint64, mpi.op_max, 0, mpi.comm_world);
  mpi.Reduce(&own->numbers, total.get(), report::number_count, mpi.type_uint64, mpi.op_sum, 0,
             mpi.comm_world);
  if (rank == 0)
    report::write_pages(destination, {*total, own->algorithms, most, abi_name, why_no_team,
                                      select::refusals(), ranks, -1, own->saturation_map});
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
