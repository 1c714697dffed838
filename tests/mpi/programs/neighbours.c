// The neighbourhood collectives in all their forms, on grids, graphs and distributed graphs, and
// what they must move. Prints how many calls and starts all ranks have made.
//
//   neighbours [errs]
//
// errs: the host serves the calls, and its non-blocking and persistent alltoalls confuse the two
// neighbours of a periodic dimension with 1 or 2 ranks. The program does not make these.
#include "topologies.h"
#include "host.h"

enum function { allgather, allgatherv, alltoall, alltoallv, alltoallw, functions };
enum form { blocking, nonblocking, persistent, large, large_nonblocking, large_persistent, forms };
static const char* const function_names[] = {"allgather", "allgatherv", "alltoall", "alltoallv",
                                             "alltoallw"};

#if MPI_VERSION >= 4
enum { has_persistent = 1, has_large = 1 };
#elif defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define NO_LARGE
enum { has_persistent = 1, has_large = 0 };
#else
#define NO_LARGE
#define NO_PERSISTENT
enum { has_persistent = 0, has_large = 0 };
#endif

// Data consists of pairs of ints. The ints of a pair are adjacent (`dense`, of type MPI_INT), or
// apart in a derived type.
enum { dense, apart };
enum {
  fewest = 3,
  longest = 3 * 700,
  most_room = 4 * longest,
  most_ints_of_all = most_edges * most_room
};
static int room;  // ints for a block of the v-forms
static MPI_Datatype apart_type;
static long calls;
static int host_errs;

// One side of a call.
struct side {
  int data[most_ints_of_all];
  int blocks;
  int kinds[most_edges], starts[most_edges], pairs[most_edges];
  MPI_Datatype types[most_edges];
  int counts[most_edges], displacements[most_edges];
  MPI_Count large_counts[most_edges];
  MPI_Aint large_displacements[most_edges], bytes_at[most_edges];
  void* base;  // to which bytes_at are relative
};
static struct side in, out;
static int wanted[most_ints_of_all];

static void place_block(struct side* side, int block, int kind, int pairs, int start) {
  const int unit = kind == dense ? 1 : 4;
  CHECK(start % unit == 0 && start + 4 * pairs <= most_ints_of_all, "block %d", block);
  side->kinds[block] = kind, side->pairs[block] = pairs, side->starts[block] = start;
  side->types[block] = kind == dense ? MPI_INT : apart_type;
  side->large_counts[block] = side->counts[block] = kind == dense ? 2 * pairs : pairs;
  side->large_displacements[block] = side->displacements[block] = start / unit;
  side->bytes_at[block] = (MPI_Aint)(start * (int)sizeof(int));
}

// Puts a block of this rank into an array, as it is sent and as it must arrive.
static void put(int* data, const struct side* side, int block, struct origin from, int round) {
  for (int pair = 0; pair < side->pairs[block]; ++pair)
    for (int i = 0; i < 2; ++i) {
      const int at = side->kinds[block] == dense ? 2 * pair + i : 4 * pair + 3 * i;
      data[side->starts[block] + at] =
          from.rank * 1000000 + from.block * 10000 + (2 * pair + i) % 9000 + round;
    }
}

static int one_sent_block(enum function function) {
  return function == allgather || function == allgatherv;
}
static int v_form(enum function function) { return function != allgather && function != alltoall; }

// The length of a block depends on its rank and number in the v-forms.
static int pairs_of(enum function function, struct origin from, int variant) {
  if (!v_form(function)) return variant % 4 == 3 ? longest : variant % 4;
  const int pairs = (from.rank + 2 * from.block + variant) % 4;
  return variant % 4 == 3 ? 700 * pairs : pairs;
}

static int kind_of(enum function function, int own, int block, int variant) {
  return function == alltoallw ? (own + block + variant) % 2 : variant % 2;
}

// Equal blocks are adjacent; the others are in reverse order with gaps.
static int start_of(enum function function, int block, int kind, int pairs) {
  if (v_form(function)) return (most_edges - 1 - block) * room;
  return block * pairs * (kind == dense ? 2 : 4);
}

// Chooses what an alltoallw passes: the data's address, or MPI_BOTTOM with absolute displacements.
static void set_base(struct side* side, int absolute) {
  side->base = absolute ? MPI_BOTTOM : side->data;
  for (int i = 0; absolute && i < most_edges; ++i)
    MPI_Get_address(side->data + side->starts[i], &side->bytes_at[i]);
}

// Describes block 0 also where there are no edges: Open MPI does nothing if a count is 0.
static void describe(const struct topology* at, enum function function, int variant) {
  room = 4 * (variant % 4 == 3 ? longest : fewest);
  in.blocks = one_sent_block(function) ? 1 : at->out;
  for (int i = 0; i < in.blocks || i < 1; ++i) {
    const struct origin own = {at->rank, i};
    const int kind = kind_of(function, at->rank, i, variant / 4);
    const int pairs = pairs_of(function, own, variant);
    place_block(&in, i, kind, pairs,
                one_sent_block(function) ? 0 : start_of(function, i, kind, pairs));
  }
  out.blocks = at->in;
  for (int j = 0; j < at->in || j < 1; ++j) {
    struct origin from = at->origins[j];
    if (one_sent_block(function)) from.block = 0;
    const int kind = kind_of(function, 0, j, variant / 8);
    const int pairs = pairs_of(function, from.rank < 0 ? (struct origin){2, 0} : from, variant);
    place_block(&out, j, kind, pairs, start_of(function, j, kind, pairs));
  }
  // Each rank chooses for itself.
  set_base(&in, (at->rank + variant) % 3 == 0);
  set_base(&out, (at->rank + variant) % 2 == 0);
}

#define UNPACK(...) __VA_ARGS__
#ifdef NO_PERSISTENT
#define PERSISTENT(name, arguments) break
#else
#define PERSISTENT(name, arguments) \
  return MPI_Neighbor_##name(UNPACK arguments, at->comm, MPI_INFO_NULL, request)
#endif
#ifdef NO_LARGE
#define LARGE_FORMS(name, arguments) \
  default: break
#else
#define LARGE_FORMS(name, arguments)                                                            \
  case large: return MPI_Neighbor_##name##_c(UNPACK arguments, at->comm);                       \
  case large_nonblocking: return MPI_Ineighbor_##name##_c(UNPACK arguments, at->comm, request); \
  case large_persistent: PERSISTENT(name##_init_c, arguments);                                  \
  default: break
#endif
#define CALL(name, plain_arguments, large_arguments)                                               \
  switch (form) {                                                                                  \
    case blocking: return MPI_Neighbor_##name(UNPACK plain_arguments, at->comm);                   \
    case nonblocking: return MPI_Ineighbor_##name(UNPACK plain_arguments, at->comm, request);      \
    case persistent: PERSISTENT(name##_init, plain_arguments); LARGE_FORMS(name, large_arguments); \
  }                                                                                                \
  break

static int call(const struct topology* at, enum function function, enum form form,
                MPI_Request* request) {
  const int n = in.counts[0], m = out.counts[0];
  const MPI_Datatype of = in.types[0], as = out.types[0];
  switch (function) {
    case allgather:
      CALL(allgather, (in.data, n, of, out.data, m, as), (in.data, n, of, out.data, m, as));
    case alltoall:
      CALL(alltoall, (in.data, n, of, out.data, m, as), (in.data, n, of, out.data, m, as));
    case allgatherv:
      CALL(allgatherv, (in.data, n, of, out.data, out.counts, out.displacements, as),
           (in.data, n, of, out.data, out.large_counts, out.large_displacements, as));
    case alltoallv:
      CALL(alltoallv,
           (in.data, in.counts, in.displacements, of, out.data, out.counts, out.displacements, as),
           (in.data, in.large_counts, in.large_displacements, of, out.data, out.large_counts,
            out.large_displacements, as));
    case alltoallw:
      CALL(alltoallw,
           (in.base, in.counts, in.bytes_at, in.types, out.base, out.counts, out.bytes_at,
            out.types),
           (in.base, in.large_counts, in.bytes_at, in.types, out.base, out.large_counts,
            out.bytes_at, out.types));
    default: break;
  }
  CHECK(0, "%s has no form %d", function_names[function], form);
  return MPI_ERR_OTHER;
}

static void complete(MPI_Request* request) {
  static int way;
  int flag = 0;
  switch (way++ % 3) {
    case 0: MPI_Wait(request, MPI_STATUS_IGNORE); break;
    case 1: MPI_Waitall(1, request, MPI_STATUSES_IGNORE); break;
    default:
      while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
      break;
  }
}

static void compare(const struct topology* at, enum function function, enum form form, int variant,
                    int round) {
  if (memcmp(out.data, wanted, sizeof(int) * (size_t)(most_edges * room)) == 0) return;
  for (int j = 0; j < at->in; ++j)
    for (int i = out.starts[j]; i < out.starts[j] + 4 * out.pairs[j]; ++i)
      CHECK(out.data[i] == wanted[i], "%s: %s, form %d, variant %d, round %d: block %d: %d, not %d",
            at->name, function_names[function], form, variant, round, j, out.data[i], wanted[i]);
  CHECK(0, "%s: %s, form %d, variant %d: wrote outside of its blocks", at->name,
        function_names[function], form, variant);
}

static void exchange(const struct topology* at, enum function function, enum form form,
                     int variant) {
  const int keeps = form % 3 == persistent;
  if (host_errs && at->short_period && form % 3 != blocking && !one_sent_block(function)) return;
  MPI_Request request = MPI_REQUEST_NULL;
  describe(at, function, variant);
  for (int round = 0; round < (keeps ? 3 : 1); ++round) {
    for (int i = 0; i < most_edges * room; ++i) in.data[i] = -2, out.data[i] = wanted[i] = -1;
    for (int i = 0; i < in.blocks; ++i) put(in.data, &in, i, (struct origin){at->rank, i}, round);
    for (int j = 0; j < out.blocks; ++j) {
      const struct origin from = at->origins[j];
      if (from.rank < 0) continue;
      put(wanted, &out, j, (struct origin){from.rank, one_sent_block(function) ? 0 : from.block},
          round);
    }
    if (round == 0) {
      const int code = call(at, function, form, &request);
      CHECK(code == MPI_SUCCESS, "%s: %d", function_names[function], code);
    }
    if (keeps) MPI_Start(&request);
    ++calls;
    if (form % 3 != blocking) complete(&request);
    CHECK(keeps || request == MPI_REQUEST_NULL, "%s: request", function_names[function]);
    compare(at, function, form, variant, round);
  }
  if (keeps) MPI_Request_free(&request);
}

static void all_calls(struct topology* at) {
  static int first;  // of 32 variants; another one for each communicator
  int variant = first;
  first += 3;
  for (enum form form = blocking; form < forms; ++form) {
    if ((form % 3 == persistent && !has_persistent) || (form >= large && !has_large)) continue;
    for (enum function function = allgather; function < functions; ++function)
      exchange(at, function, form, variant++ % 32);
  }
  MPI_Comm_free(&at->comm);
}

static void grids(MPI_Comm base, int size) {
  static struct topology made;
  int a = 1;
  for (int i = 2; i * i <= size; ++i)
    if (size % i == 0) a = i;
  const int b = size / a, half = size % 2 == 0 ? 2 : 1;
  const int lengths[][3] = {{size}, {a, b}, {size, 1}, {1, size}, {half, a, b / half}};
  const int dimensions[] = {1, 2, 2, 2, 3};
  for (int i = 0; i < 5; ++i)
    for (int bits = 0; bits < 1 << dimensions[i]; ++bits) {
      const int periods[3] = {bits & 1, bits >> 1 & 1, bits >> 2};
      int product = 1;
      for (int d = 0; d < dimensions[i]; ++d) product *= lengths[i][d];
      if (product != size) continue;
      make_grid(&made, base, dimensions[i], lengths[i], periods);
      all_calls(&made);
    }
}

static void graphs(MPI_Comm base) {
  static struct topology made, copy;
  make_double_ring(&made, base);
  all_calls(&made);
  make_star(&made, base);
  make_duplicate(&copy, &made);
  all_calls(&made);
  all_calls(&copy);
  for (int edges = 0; edges <= 20; edges += edges < 4 ? 1 : 4)
    for (int adjacent = 0; adjacent < 2; ++adjacent) {
      make_random(&made, base, edges, adjacent);
      all_calls(&made);
    }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  host_errs = argc > 1 && strcmp(argv[1], "errs") == 0;
  MPI_Datatype pair;
  MPI_Type_vector(2, 1, 3, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 4 * (MPI_Aint)sizeof(int), &apart_type);
  MPI_Type_commit(&apart_type);
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
  grids(MPI_COMM_WORLD, world_size);
  graphs(reversed);
  long all = 0;
  HOST(Reduce)(&calls, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (world_rank == 0) printf("calls %ld\n", all);
  MPI_Comm_free(&reversed);
  MPI_Type_free(&apart_type);
  MPI_Type_free(&pair);
  return finish();
}
