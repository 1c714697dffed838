// The v-collectives, compared with what MPI defines: types, roots, in place or not, parts with gaps
// between them and in any order, empty parts. Every element tells who sent it to whom; memory
// around the parts must not change.
#include "compare.h"
#include "host.h"

enum v_collective {
  GATHERV,
  SCATTERV,
  ALLGATHERV,
  ALLTOALLV,
  ALLTOALLW,
  REDUCE_SCATTERV,
  V_COLLECTIVES
};
static const char* const v_names[] = {"gatherv",   "scatterv",  "allgatherv",
                                      "alltoallv", "alltoallw", "reduce_scatter"};

struct v_call {
  int collective, scale, root, in_place, round;
  const struct layout* layout;
};

// The number of elements from one rank for another.
static int length(const struct v_call* call, int from, int to) {
  if (call->collective == ALLGATHERV || call->collective == REDUCE_SCATTERV) to = from;
  if (call->in_place && (call->collective == ALLTOALLV || call->collective == ALLTOALLW) &&
      from > to) {
    const int swapped = from;
    from = to, to = swapped;
  }
  const int seed = from * 7 + to * 13 + call->round;
  return seed % 4 == 0 ? 0 : call->scale * (seed % 5) / 2 + seed % 3;
}

static int value_of(int from, int to, int i) { return (from * 131 + to * 17 + i * 7 + 1) % 1009; }

// A buffer of parts. Displacements are in elements; in an alltoallw, whose parts have their own
// types, in bytes.
struct parts {
  int count, *counts, *displacements;
  MPI_Datatype* types;
  const struct layout** layouts;
  size_t bytes;
  unsigned char* data;
};

enum { gap = 2 };

static struct parts make_parts(int count) {
  const struct parts parts = {count,
                              malloc(sizeof(int) * (size_t)count),
                              malloc(sizeof(int) * (size_t)count),
                              malloc(sizeof(MPI_Datatype) * (size_t)count),
                              malloc(sizeof(void*) * (size_t)count),
                              0,
                              NULL};
  return parts;
}

static size_t step_of(const struct parts* parts, int part, int in_bytes) {
  return in_bytes ? 1 : parts->layouts[part]->extent;
}

// Computes the places of the parts from the counts and layouts.
static void place_parts(struct parts* parts, int backwards, int in_bytes) {
  size_t next = gap * 64;
  for (int k = 0; k < parts->count; ++k) {
    const int part = backwards ? parts->count - 1 - k : k;
    const size_t extent = parts->layouts[part]->extent;
    if (in_bytes)
      next = (next + 63) / 64 * 64;
    else
      next = (next + extent - 1) / extent * extent;
    parts->displacements[part] = (int)(next / step_of(parts, part, in_bytes));
    parts->types[part] = parts->layouts[part]->type;
    next += extent * (size_t)(parts->counts[part] + gap);
  }
  parts->bytes = next + 64;
  parts->data = malloc(parts->bytes);
  memset(parts->data, 0xA5, parts->bytes);
}

static unsigned char* part_of(const struct parts* parts, int part, int in_bytes) {
  return parts->data + (size_t)parts->displacements[part] * step_of(parts, part, in_bytes);
}

static void fill_part(const struct parts* parts, int part, int in_bytes, int from, int to) {
  const struct layout* const layout = parts->layouts[part];
  for (int i = 0; i < parts->counts[part]; ++i)
    layout->fill(part_of(parts, part, in_bytes) + (size_t)i * layout->extent,
                 value_of(from, to, i));
}

static void free_parts(struct parts* parts) {
  free(parts->counts), free(parts->displacements), free(parts->types), free(parts->layouts),
      free(parts->data);
}

static const struct layout* layout_between(const struct v_call* call, int from, int to) {
  return call->collective == ALLTOALLW ? &layouts[(from + to) % layout_count] : call->layout;
}

// The parts that `rank` sends or receives; with data if `filled`.
static struct parts side_of(const struct v_call* call, int rank, int receives, int filled,
                            int backwards) {
  const int in_bytes = call->collective == ALLTOALLW;
  struct parts parts = make_parts(world_size);
  for (int other = 0; other < world_size; ++other) {
    const int from = receives ? other : rank, to = receives ? rank : other;
    parts.counts[other] = length(call, from, to);
    parts.layouts[other] = layout_between(call, from, to);
  }
  if (call->collective == REDUCE_SCATTERV)
    for (int part = 0; part < world_size; ++part) parts.counts[part] = length(call, part, part);
  if (call->collective == REDUCE_SCATTERV) {  // without gaps between parts, as MPI defines
    size_t total = 0;
    for (int part = 0; part < world_size; ++part) {
      parts.displacements[part] = (int)total;
      total += (size_t)parts.counts[part];
    }
    parts.bytes = call->layout->extent * (total + gap);
    parts.data = malloc(parts.bytes);
    memset(parts.data, 0xA5, parts.bytes);
  } else {
    place_parts(&parts, backwards, in_bytes);
  }
  for (int other = 0; filled && other < world_size; ++other)
    fill_part(&parts, other, in_bytes, receives ? other : rank, receives ? rank : other);
  return parts;
}

static void check_same(const struct v_call* call, const void* found, const void* expected,
                       size_t bytes) {
  CHECK(memcmp(found, expected, bytes) == 0, "%s about %d %s, root %d%s, round %d",
        v_names[call->collective], call->scale, call->layout->name, call->root,
        call->in_place ? ", in place" : "", call->round);
}

// One part, with room after it; filled with the data that `from` sends.
static unsigned char* one_part(const struct v_call* call, int count, int from, int to) {
  const size_t extent = call->layout->extent, bytes = extent * (size_t)(count + gap);
  unsigned char* const part = malloc(bytes);
  memset(part, 0xA5, bytes);
  for (int i = 0; from >= 0 && i < count; ++i)
    call->layout->fill(part + (size_t)i * extent, value_of(from, to, i));
  return part;
}

static void gatherv(const struct v_call* call) {
  const int everywhere = call->collective == ALLGATHERV,
            receives = everywhere || world_rank == call->root;
  const int to = everywhere ? 0 : call->root, own = length(call, world_rank, to);
  const MPI_Datatype type = call->layout->type;
  unsigned char* const part = one_part(call, own, world_rank, everywhere ? world_rank : to);
  struct parts found = side_of(call, to, 1, 0, call->round % 2),
               expected = side_of(call, to, 1, 1, call->round % 2);
  for (int from = 0; everywhere && from < world_size; ++from)
    fill_part(&expected, from, 0, from, from);
  const int in_place = call->in_place && receives;
  if (in_place) memcpy(part_of(&found, world_rank, 0), part, (size_t)own * call->layout->extent);
  const void* const in = in_place ? MPI_IN_PLACE : part;
  if (everywhere)
    MPI_Allgatherv(in, own, type, found.data, found.counts, found.displacements, type,
                   MPI_COMM_WORLD);
  else if (receives)
    MPI_Gatherv(in, own, type, found.data, found.counts, found.displacements, type, call->root,
                MPI_COMM_WORLD);
  else
    MPI_Gatherv(in, own, type, NULL, NULL, NULL, MPI_DATATYPE_NULL, call->root, MPI_COMM_WORLD);
  if (receives) check_same(call, found.data, expected.data, found.bytes);
  free_parts(&found), free_parts(&expected), free(part);
}

static void scatterv(const struct v_call* call) {
  const int at_root = world_rank == call->root, own = length(call, call->root, world_rank);
  const MPI_Datatype type = call->layout->type;
  struct parts in = side_of(call, call->root, 0, 1, call->round % 2);
  unsigned char* const found = one_part(call, own, -1, 0);
  unsigned char* const expected = one_part(call, own, call->root, world_rank);
  if (at_root && call->in_place)
    MPI_Scatterv(in.data, in.counts, in.displacements, type, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
                 call->root, MPI_COMM_WORLD);
  else if (at_root)
    MPI_Scatterv(in.data, in.counts, in.displacements, type, found, own, type, call->root,
                 MPI_COMM_WORLD);
  else
    MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, found, own, type, call->root, MPI_COMM_WORLD);
  if (!(at_root && call->in_place))
    check_same(call, found, expected, call->layout->extent * (size_t)(own + gap));
  free_parts(&in), free(found), free(expected);
}

static void alltoallv(const struct v_call* call) {
  const int typed = call->collective == ALLTOALLW;
  const MPI_Datatype type = call->layout->type;
  struct parts in = side_of(call, world_rank, 0, 1, call->round % 2),
               found = side_of(call, world_rank, 1, 0, call->round % 3 == 0);
  struct parts expected = side_of(call, world_rank, 1, 1, call->round % 3 == 0);
  for (int to = 0; call->in_place && to < world_size;
       ++to) {  // the receive side's places hold what is sent
    fill_part(&found, to, typed, world_rank, to);
  }
  const void* const source = call->in_place ? MPI_IN_PLACE : in.data;
  if (typed)
    MPI_Alltoallw(source, in.counts, in.displacements, in.types, found.data, found.counts,
                  found.displacements, found.types, MPI_COMM_WORLD);
  else
    MPI_Alltoallv(source, in.counts, in.displacements, type, found.data, found.counts,
                  found.displacements, type, MPI_COMM_WORLD);
  check_same(call, found.data, expected.data, found.bytes);
  free_parts(&in), free_parts(&found), free_parts(&expected);
}

static void reduce_scatter(const struct v_call* call) {
  const size_t extent = call->layout->extent;
  struct parts in = side_of(call, world_rank, 0, 1, 0);
  const int own = in.counts[world_rank];
  unsigned char* const found = one_part(call, own, -1, 0);
  unsigned char* const expected = one_part(call, own, world_size - 1, world_rank);
  for (int from = world_size - 2; from >= 0;
       --from) {  // from the last rank's operand to the first's
    unsigned char* const operand = one_part(call, own, from, world_rank);
    HOST(Reduce_local)(operand, expected, own, call->layout->type, call->layout->op);
    free(operand);
  }
  MPI_Reduce_scatter(call->in_place ? MPI_IN_PLACE : in.data, call->in_place ? in.data : found,
                     in.counts, call->layout->type, call->layout->op, MPI_COMM_WORLD);
  if (call->in_place)
    check_same(call, in.data, expected, extent * (size_t)own);
  else
    check_same(call, found, expected, extent * (size_t)(own + gap));
  free_parts(&in), free(found), free(expected);
}

static void perform_v(const struct v_call* call) {
  switch (call->collective) {
    case GATHERV:
    case ALLGATHERV: return gatherv(call);
    case SCATTERV: return scatterv(call);
    case REDUCE_SCATTERV: return reduce_scatter(call);
    default: return alltoallv(call);
  }
}

// Only rank 0 sends, to the last rank. The others pass no type where they have no elements; rank 0
// passes all types.
static void no_type_without_elements(void) {
  if (world_size == 1) return;
  const size_t ranks = (size_t)world_size;
  int *const counts = calloc(2 * ranks, sizeof(int)), *const places = calloc(ranks, sizeof(int));
  MPI_Datatype* const types = malloc(2 * ranks * sizeof(MPI_Datatype));
  for (size_t i = 0; i < 2 * ranks; ++i) types[i] = world_rank == 0 ? MPI_INT : MPI_DATATYPE_NULL;
  int in = 42, out = -1;
  if (world_rank == 0) counts[ranks - 1] = 1;
  if (world_rank == world_size - 1) counts[ranks] = 1, types[ranks] = MPI_INT;
  MPI_Alltoallw(&in, counts, places, types, &out, counts + ranks, places, types + ranks,
                MPI_COMM_WORLD);
  CHECK(out == (world_rank == world_size - 1 ? 42 : -1), "alltoallw without types: %d", out);
  free(counts), free(places), free(types);
}

// Rank 0 exchanges nothing, and passes one address for both of its buffers. The host judges that by
// its arrays of counts.
static void one_address_without_elements(void) {
  const size_t ranks = (size_t)world_size;
  int *const counts = calloc(2 * ranks, sizeof(int)), *const places = calloc(ranks, sizeof(int));
  int *const in = malloc(sizeof(int) * ranks), *const out = malloc(sizeof(int) * ranks);
  for (int i = 0; i < world_size; ++i) {
    places[i] = i, in[i] = world_rank * 100 + i, out[i] = -1;
    counts[i] = counts[world_size + i] = world_rank > 0 && i > 0;
  }
  MPI_Alltoallv(in, counts, places, MPI_INT, world_rank == 0 ? in : out, counts + ranks, places,
                MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < world_size; ++i)
    CHECK(out[i] == (world_rank > 0 && i > 0 ? i * 100 + world_rank : -1), "%d from %d", out[i], i);
  free(counts), free(places), free(in), free(out);
}

static void large_count_forms(void) {
#if MPI_VERSION >= 4
  const size_t ranks = (size_t)world_size;
  MPI_Count* const counts = malloc(sizeof(MPI_Count) * ranks);
  MPI_Aint* const places = malloc(sizeof(MPI_Aint) * ranks);
  MPI_Datatype* const types = malloc(sizeof(MPI_Datatype) * ranks);
  int *const in = malloc(sizeof(int) * 4 * ranks), *const out = malloc(sizeof(int) * 4 * ranks);
  for (int i = 0; i < 4 * world_size; ++i) in[i] = world_rank * 1000 + i, out[i] = -1;
  for (int i = 0; i < world_size; ++i) counts[i] = 3, places[i] = 4 * i, types[i] = MPI_INT;
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Alltoallv_c(in, counts, places, MPI_INT, out, counts, places, MPI_INT, world);
  for (int i = 0; i < 4 * world_size; ++i)
    CHECK(out[i] == (i % 4 == 3 ? -1 : i / 4 * 1000 + world_rank * 4 + i % 4), "alltoallv, %d: %d",
          i, out[i]);
  MPI_Allgatherv_c(in, 3, MPI_INT, out, counts, places, MPI_INT, world);
  for (int i = 0; i < 4 * world_size; ++i)
    CHECK(out[i] == (i % 4 == 3 ? -1 : i / 4 * 1000 + i % 4), "allgatherv, %d: %d", i, out[i]);
  MPI_Gatherv_c(in, 3, MPI_INT, out, counts, places, MPI_INT, 0, world);
  MPI_Scatterv_c(out, counts, places, MPI_INT, in + 1, 3, MPI_INT, 0, world);
  CHECK(in[1] == world_rank * 1000 && in[3] == world_rank * 1000 + 2, "scatterv: %d %d", in[1],
        in[3]);
  for (int i = 0; i < world_size; ++i) places[i] *= (MPI_Aint)sizeof(int);
  for (int i = 0; i < 4 * world_size; ++i) in[i] = world_rank * 1000 + i;
  MPI_Alltoallw_c(in, counts, places, types, out, counts, places, types, world);
  for (int i = 0; i < 4 * world_size; ++i)
    CHECK(out[i] == (i % 4 == 3 ? -1 : i / 4 * 1000 + world_rank * 4 + i % 4), "alltoallw, %d: %d",
          i, out[i]);
  MPI_Reduce_scatter_c(in, out, counts, MPI_INT, MPI_SUM, world);
  CHECK(out[0] == world_size * (world_size - 1) * 500 + 3 * world_rank * world_size,
        "reduce_scatter: %d", out[0]);
  free(counts), free(places), free(types), free(in), free(out);
#endif
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  make_layouts();
  set_up(MPI_COMM_WORLD);
  const int scales[] = {0, 2, 9, 700, 12000};
  int round = 0;
  for (int collective = 0; collective < V_COLLECTIVES; ++collective) {
    if (collective == ALLTOALLW && world_size == 1)
      continue;  // Open MPI 5.0.11 by itself moves nothing then
    for (int which = 0; which < layout_count; ++which) {
      for (int s = 0; s < 5; ++s) {
        if (s == 4 && which % 2 == 1) continue;
        for (int turn = 0; turn < 4; ++turn) {
          const int rooted_one = collective == GATHERV || collective == SCATTERV;
          const struct v_call call = {
              collective,    scales[s], rooted_one ? (turn * 3 + s) % world_size : 0,
              turn % 2 == 1, ++round,   &layouts[which]};
          perform_v(&call);
        }
      }
    }
  }
  large_count_forms();
  no_type_without_elements();
  one_address_without_elements();
  free_layouts();
  return finish();
}
