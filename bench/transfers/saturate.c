/* tutti-saturation-MPI: measures the saturation map of the network between two nodes
 * (rma/saturation.h), as one-sided transfers fill it.
 *
 *   mpiexec -n 4 -ppn 2 -hosts A,B tutti-run tutti-saturation-MPI MILLISECONDS FIRST LAST MESSAGES
 *
 * One program for each MPI ABI; `tutti bench --saturation --hosts` starts it. Ranks are pairs of a
 * client and its target (pairs.h), and a client is one of the map's cores. By the numbers of
 * clients (powers of two, and all), the messages of each (1 to MESSAGES, powers of two) and their
 * bytes (FIRST to LAST, powers of two from 8 on), so many clients at once put or get so many
 * messages, and wait for them; the others idle. All targets wait in calls of Tutti. Before each
 * repetition both ranks rewrite their memory, up to 4 MiB of a rank for all messages, and after it
 * the one that got the data checks it. MILLISECONDS, and three repetitions at least, are spent on
 * each combination. The bandwidth is that of the median.
 *
 * Rank 0 writes the map as one line of JSON to stdout. TUTTI_UNDER_WAY should be large, because the
 * map is to say how much must be under way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network_map.h"
#include "pairs.h"

enum { least_repetitions = 3, most_repetitions = 400, line = 64, most_messages = 4096 };
static const size_t side_bytes = (size_t)4 << 20;

typedef struct {
  bool puts;
  int cores;
  size_t messages, bytes;
} Cell;

typedef struct {
  Pair pair;
  int milliseconds;
  size_t first, last, messages;
  char *mine, *there; /* this rank's side of transfers, and the memory that others reach */
  char* target;       /* the partner's `there` */
  uint64_t seed;      /* as in all ranks */
} Bench;

static void stop(const char* what) { pair_stop("tutti-saturation", what); }

static void require_ok(const Bench* bench, tutti_status status) {
  if (status != TUTTI_OK) stop(bench->pair.tutti.error_message());
}

/* Messages of fewer bytes than a line lie in lines of their own. */
static size_t stride_of(const Cell* cell) { return cell->bytes > line ? cell->bytes : line; }
static size_t places_of(const Cell* cell) {
  const size_t fit = side_bytes / stride_of(cell);
  return cell->messages < fit ? cell->messages : fit; /* no message is longer than a side */
}

static void transfer(const Bench* bench, const Cell* cell) {
  const Tutti* const tutti = &bench->pair.tutti;
  tutti_group* const group = bench->pair.group;
  const size_t stride = stride_of(cell), places = places_of(cell);
  const int partner = bench->pair.partner;
  for (size_t i = 0, place = 0; i < cell->messages; ++i) {
    char *const here = bench->mine + place * stride, *const there = bench->target + place * stride;
    require_ok(bench, cell->puts ? tutti->put(group, partner, there, here, cell->bytes, NULL)
                                 : tutti->get(group, partner, here, there, cell->bytes, NULL));
    if (++place == places) place = 0;
  }
  require_ok(bench, tutti->wait_all(group));
}

/* The time in which all clients of the cell transfer, in microseconds; only rank 0 gets it. */
static double repeat(Bench* bench, const Cell* cell) {
  Pair* const pair = &bench->pair;
  const bool is_client = pair->is_client;
  const bool takes_part = (is_client ? pair->rank : pair->partner) < cell->cores;
  const bool gets_data = is_client != cell->puts;
  char* const memory = is_client ? bench->mine : bench->there;
  const size_t extent = places_of(cell) * stride_of(cell);
  const uint64_t seed = bench->seed += 2;
  if (takes_part) pair_fill(memory, extent, gets_data ? seed + 1 : seed);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!is_client) {
    pair_answer(pair, stop);
  } else {
    MPI_Barrier(pair->side);
  }
  uint64_t times[2] = {UINT64_MAX, UINT64_MAX}; /* the begin, and the end before UINT64_MAX */
  if (is_client && takes_part) {
    times[0] = bench_now(&pair->clock);
    transfer(bench, cell);
    times[1] = UINT64_MAX - bench_now(&pair->clock);
  }
  if (is_client) {
    pair_tell(pair, stop);
    MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_UINT64_T, MPI_MIN, pair->side);
  }
  for (size_t place = 0; takes_part && gets_data && place < places_of(cell); ++place) {
    const size_t at = place * stride_of(cell);
    if (!pair_is_filled_from(memory + at, cell->bytes, at, seed))
      stop("a transfer has brought other data than its owner had written");
  }
  return pair_microseconds(pair, UINT64_MAX - times[1] - times[0]);
}

/* GB/s of all clients together; only rank 0 gets it. */
static double bandwidth(Bench* bench, const Cell* cell) {
  static double times[most_repetitions];
  const uint64_t begin = bench_now(&bench->pair.clock);
  int count = 0, ends = 0;
  while (!ends) {
    times[count++] = repeat(bench, cell);
    const double spent =
        pair_microseconds(&bench->pair, bench_now(&bench->pair.clock) - begin) / 1e3;
    ends =
        count == most_repetitions || (count >= least_repetitions && spent >= bench->milliseconds);
    MPI_Bcast(&ends, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  const double bytes = (double)cell->cores * (double)(cell->messages * cell->bytes);
  const double rate = bytes / (pair_median(times, (size_t)count) * 1e3);
  return rate < 1e-6 ? 1e-6 : rate; /* the format's least, as it is written */
}

/* Powers of two from `first`, and the last number. */
static NetworkMapAxis axis_of(size_t first, size_t last, bool with_last) {
  NetworkMapAxis axis = {0};
  for (size_t number = first; number <= last; number *= 2) axis.numbers[axis.count++] = number;
  if (with_last && axis.numbers[axis.count - 1] != last) axis.numbers[axis.count++] = last;
  return axis;
}

/* GB/s of all combinations, in the order of the map; only rank 0 gets them. */
static double* measure(Bench* bench, const NetworkMap* map, bool puts) {
  const size_t values = map->cores.count * map->messages.count * map->bytes.count;
  double* const rates = malloc(values * sizeof *rates);
  if (rates == NULL) stop("there is no memory for the map");
  size_t at = 0;
  for (size_t c = 0; c < map->cores.count; ++c)
    for (size_t m = 0; m < map->messages.count; ++m)
      for (size_t b = 0; b < map->bytes.count; ++b)
        rates[at++] = bandwidth(bench, &(Cell){.puts = puts,
                                               .cores = (int)map->cores.numbers[c],
                                               .messages = map->messages.numbers[m],
                                               .bytes = map->bytes.numbers[b]});
  return rates;
}

static const char* name_of_mpi(void) {
  static char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(library, &length);
  for (char* at = library; *at != '\0'; ++at) /* MPICH's is a table, with its version first */
    if (*at == '\t') *at = ' ';
  library[strcspn(library, "\n,")] = '\0';
  return library;
}

static size_t read_number(const char* text, size_t least, size_t most) {
  char* end = NULL;
  const unsigned long long value = strtoull(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > most)
    stop(
        "give MILLISECONDS (1 to 60000), FIRST and LAST (8 to 4194304 bytes, FIRST a multiple of "
        "8), and MESSAGES (1 to 4096)");
  return (size_t)value;
}

static char* memory_of(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, bytes) != 0) stop("there is no memory for transfers");
  return memset(memory, 0, bytes);
}

int main(int argc, char** argv) {
  Bench bench = {0};
  MPI_Init(&argc, &argv);
  if (argc != 5) stop("give MILLISECONDS FIRST LAST MESSAGES");
  bench.milliseconds = (int)read_number(argv[1], 1, 60000);
  bench.first = read_number(argv[2], 8, side_bytes) / 8 * 8;
  bench.last = read_number(argv[3], bench.first, side_bytes);
  bench.messages = read_number(argv[4], 1, most_messages);
  bench.pair = pair_open(stop);
  bench.mine = memory_of(side_bytes);
  bench.there = bench.pair.tutti.alloc(side_bytes);
  if (bench.there == NULL) stop("no memory from tutti_alloc");
  bench.target = (char*)(uintptr_t)pair_exchange(&bench.pair, (int64_t)(uintptr_t)bench.there);

  NetworkMap map = {.mpi = name_of_mpi(),
                    .cores = axis_of(1, (size_t)bench.pair.pairs, true),
                    .messages = axis_of(1, bench.messages, false),
                    .bytes = axis_of(bench.first, bench.last, false)};
  double* const puts = measure(&bench, &map, true);
  double* const gets = measure(&bench, &map, false);
  map.puts = puts;
  map.gets = gets;
  if (bench.pair.rank == 0) network_map_write(&map, stdout);
  free(puts);
  free(gets);
  MPI_Barrier(MPI_COMM_WORLD);
  bench.pair.tutti.free(bench.there);
  free(bench.mine);
  pair_close(&bench.pair);
  return MPI_Finalize();
}
