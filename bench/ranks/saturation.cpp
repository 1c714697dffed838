// The saturation map of the network between two nodes (rma/saturation.h), as one-sided transfers
// fill it.
//
//   mpiexec -n 4 -ppn 2 -hosts A,B tutti-run tutti-ranks saturation MILLISECONDS FIRST LAST
//   MESSAGES
//
// `tutti bench --saturation --hosts` starts it. Ranks are pairs of a client and its target
// (pairs.h), and a client is one of the map's cores. By the numbers of clients (powers of two, and
// all), the messages of each (1 to MESSAGES, powers of two) and their bytes (FIRST to LAST, powers
// of two from 8 on), so many clients at once put or get so many messages, and wait for them; the
// others idle. All targets wait in calls of Tutti. Before each repetition both ranks rewrite their
// memory, up to 4 MiB of a rank for all messages, and after it the one that got the data checks it.
// MILLISECONDS, and three repetitions at least, are spent on each combination. The bandwidth is
// that of the median.
//
// If the job has servers that get everything (tutti-run --servers N --serve all), all this is
// measured twice: by the clients, and by servers.
//
// Besides the map, a row says how many bytes should be under way by it. TUTTI_UNDER_WAY should be
// large, because the map is to say how much must be.
#include "saturation_map.h"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/pieces.h"
#include "pairs.h"
#include "rows.h"
#include "statistics.h"

namespace tutti::bench {
namespace {

struct Bench {
  Pair pair;
  int milliseconds;
  std::byte *mine, *there;  // this rank's side of transfers, and the memory that others reach
  std::byte* target;        // the partner's `there`
  uint64_t seed;            // as in all ranks
};

// The time in which all clients of a combination transfer, in nanoseconds; only rank 0 gets it.
double repeat(Bench& bench, const Combination& cell) {
  Pair* const pair = &bench.pair;
  const bool puts = cell.kind == rma::Kind::put;
  const bool is_client = pair->is_client;
  const bool takes_part = static_cast<size_t>(is_client ? pair->rank : pair->partner) < cell.cores;
  const bool gets_data = is_client != puts;
  std::byte* const memory = is_client ? bench.mine : bench.there;
  const size_t extent = cell.extent();
  const uint64_t seed = bench.seed += 2;
  if (takes_part) pair_fill(memory, extent, gets_data ? seed + 1 : seed);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!is_client) {
    pair_answer(pair);
  } else {
    MPI_Barrier(pair->side);
  }
  uint64_t times[2] = {UINT64_MAX, UINT64_MAX};  // the begin, and the end before UINT64_MAX
  if (is_client && takes_part) {
    times[0] = bench_now(&pair->clock);
    transfer(pair->group, pair->partner, cell, bench.mine, bench.target);
    times[1] = UINT64_MAX - bench_now(&pair->clock);
  }
  if (is_client) {
    pair_tell(pair);
    MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_UINT64_T, MPI_MIN, pair->side);
  }
  for (size_t place = 0; takes_part && gets_data && place < cell.places(); ++place) {
    const size_t at = place * cell.stride();
    if (!pair_is_filled_from(memory + at, cell.bytes, at, seed))
      ranks_stop("a transfer has brought other data than its owner had written");
  }
  return 1000 * pair_microseconds(pair, UINT64_MAX - times[1] - times[0]);
}

// The median; only rank 0 gets it.
double time_of(Bench& bench, const Combination& cell) {
  std::vector<double> times;
  const uint64_t begin = bench_now(&bench.pair.clock);
  for (int ends = 0; ends == 0; MPI_Bcast(&ends, 1, MPI_INT, 0, MPI_COMM_WORLD)) {
    times.push_back(repeat(bench, cell));
    const double spent = pair_microseconds(&bench.pair, bench_now(&bench.pair.clock) - begin) / 1e3;
    ends = is_enough(static_cast<int>(times.size()), spent, bench.milliseconds) ? 1 : 0;
  }
  return median_of(times.data(), times.size());
}

const char* name_of_mpi() {
  static char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(library, &length);
  for (char* at = library; *at != '\0'; ++at)  // MPICH's is a table, with its version first
    if (*at == '\t') *at = ' ';
  library[std::strcspn(library, "\n,")] = '\0';
  return library;
}

}  // namespace
}  // namespace tutti::bench

static void measure_saturation(const Ranks* ranks, int argc, char** argv) {
  using namespace tutti;
  using namespace tutti::bench;
  static constexpr char usage[] =
      "saturation: give MILLISECONDS (1 to 60000), FIRST and LAST (8 to 4194304 bytes, FIRST a "
      "multiple of 8), and MESSAGES (1 to 4096)";
  if (argc != 5) ranks_stop(usage);
  constexpr auto longest = static_cast<long>(side_bytes);
  const long first = ranks_number(argv[2], 8, longest, usage) / 8 * 8,
             last = ranks_number(argv[3], first, longest, usage),
             messages = ranks_number(argv[4], 1, 4096, usage);
  Bench bench = {};
  bench.milliseconds = static_cast<int>(ranks_number(argv[1], 1, 60000, usage));
  bench.pair = pair_open(ranks);
  bench.mine = static_cast<std::byte*>(ranks_memory(side_bytes, 0));
  bench.there = static_cast<std::byte*>(ranks_reached_memory(side_bytes));
  bench.target = reinterpret_cast<std::byte*>(
      pair_exchange(&bench.pair, reinterpret_cast<intptr_t>(bench.there)));

  rma::SaturationMap map =
      empty_map(static_cast<size_t>(bench.pair.pairs), static_cast<size_t>(messages),
                static_cast<size_t>(first), static_cast<size_t>(last), rma::Scope::between_nodes);
  tutti_team* const team = tutti_node_team();
  const auto fill = [&](rma::SaturationMap& filled, bool by_servers) {
    require_ok(by_servers ? tutti_servers_enable(team) : tutti_servers_disable(team));
    MPI_Barrier(MPI_COMM_WORLD);
    fill_map(filled, [&](const Combination& one) { return time_of(bench, one); });
  };
  rma::SaturationMap served = map;
  fill(map, false);
  int servers = tutti_servers_count(team);  // at least, on each node
  MPI_Allreduce(MPI_IN_PLACE, &servers, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (servers > 0) {
    fill(served, true);
    map.served = {{static_cast<size_t>(servers), std::move(served.puts), std::move(served.gets)}};
  }
  add_rows(map);
  const char* const library = name_of_mpi();
  const bool open_mpi = std::string_view(library).starts_with("Open MPI");
  row_begin_call("under_way", library, rma::bytes_under_way(map, rma::most_piece_of(open_mpi)));
  row_end();
  MPI_Barrier(MPI_COMM_WORLD);
  tutti_free(bench.there);
  std::free(bench.mine);
  pair_close(&bench.pair);
}

static RanksKind kind = {"saturation", measure_saturation, nullptr};
__attribute__((constructor)) static void add_kind(void) { ranks_add(&kind); }
