// The standard as a matrix: each of the 17 collectives, non-blocking and persistent, in place and
// not, with each type and each operation that MPI defines for it, on communicators of several
// kinds. Results are compared with those of the host's blocking functions.
//
// For each type and operation all calls are under way at once. Meanwhile the host makes its
// blocking calls on the same communicator. Then each rank completes the calls in an order of its
// own. Prints how many calls of each collective the report must show.
//
// matrix SLICE [few]: all types and operations on the world; on each of four other communicators a
// quarter of them, another one for each SLICE (0 to 3). few: a tenth of them on each, for ranks
// that are on several nodes.
#include "predefined.h"
#include "host.h"
#include "user_types.h"

enum collective {
  BARRIER,
  BCAST,
  GATHER,
  GATHERV,
  SCATTER,
  SCATTERV,
  ALLGATHER,
  ALLGATHERV,
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  REDUCE,  // this one and those after it have an operation
  ALLREDUCE,
  REDUCE_SCATTER_BLOCK,
  REDUCE_SCATTER,
  SCAN,
  EXSCAN,
  COLLECTIVES
};
static const char* const names[] = {"barrier",        "bcast",
                                    "gather",         "gatherv",
                                    "scatter",        "scatterv",
                                    "allgather",      "allgatherv",
                                    "alltoall",       "alltoallv",
                                    "alltoallw",      "reduce",
                                    "allreduce",      "reduce_scatter_block",
                                    "reduce_scatter", "scan",
                                    "exscan"};

enum form { NONBLOCKING, PERSISTENT, BY_HOST };
static const char* const form_names[] = {"non-blocking", "persistent", "blocking"};

static int rooted(int collective) {
  return (collective >= BCAST && collective <= SCATTERV) || collective == REDUCE;
}

enum { most_ranks = 64, margin = 64 };  // bytes of `margin` are before and after each buffer

// A type and an operation: a predefined type or one of user_types.h.
struct element {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  int which;  // the number of the operation in ops_of()
  size_t extent;
  const struct type* predefined;
  const struct layout* layout;
};

// A communicator and the lengths of the parts on it.
struct place {
  const char* kind;
  MPI_Comm comm;
  int rank, size;  // size: of the other group on an intercommunicator
  int between;     // an intercommunicator
  int root, is_root;
  int n;  // elements of a part where all parts are equally long
};

// The arguments that describe parts, in elements and (places_in_bytes) in bytes. Part i of `pairs`
// goes to rank i or comes from it; part i of `shares` has the same length at all ranks.
struct parts {
  int pairs[most_ranks], pair_places[most_ranks], places_in_bytes[most_ranks];
  int shares[most_ranks], share_places[most_ranks];
  MPI_Datatype types[most_ranks];
};

// Parts from a to b and from b to a are equally long, so that they may be in place.
static int length(const struct place* place, int a, int b) {
  if (place->between) return place->n;
  return (a + b) % 4 == 3 ? 0 : place->n + (a + b) % 3;
}

// Between any two parts is one element that no call may change.
static struct parts parts_of(const struct place* place, MPI_Datatype type, size_t extent,
                             int scale) {
  struct parts parts;
  int pair_place = 0, share_place = 0;
  // A rank's own group may have one rank more than the other group.
  for (int i = 0; i < place->size + place->between; ++i) {
    const int pair = length(place, place->rank, i), share = length(place, i, 0);
    parts.pairs[i] = pair * scale, parts.shares[i] = share * scale;
    parts.pair_places[i] = pair_place * scale, parts.share_places[i] = share_place * scale;
    parts.places_in_bytes[i] = pair_place * (int)extent;
    parts.types[i] = type;
    pair_place += pair + 1;
    share_place += share + 1;
  }
  return parts;
}

// The number of elements in a buffer that has a part for each rank.
static size_t room_of(const struct place* place) {
  return (size_t)place->size * (size_t)(place->n + 3);
}

static size_t elements_of(const struct place* place, int collective, int in_place) {
  const size_t part = (size_t)place->n + 2;
  switch (collective) {
    case BARRIER: return 0;
    case GATHER:
    case GATHERV:
    case ALLGATHER:
    case ALLGATHERV:
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW: return room_of(place);
    case REDUCE_SCATTER_BLOCK:
    case REDUCE_SCATTER: return in_place ? room_of(place) : part;
    default: return part;
  }
}

static unsigned char* make_buffer(size_t bytes) {
  unsigned char* const buffer = malloc(bytes + 2 * margin);
  memset(buffer, 0xA5, bytes + 2 * margin);
  return buffer + margin;
}
static void free_buffer(unsigned char* buffer) { free(buffer - margin); }

// What this rank gives: the one to collectives without an operation, the other to those with one.
struct inputs {
  unsigned char *moved, *combined;
};

static void put(const struct element* element, unsigned char* buffer, int i, int value) {
  if (element->predefined)
    element->predefined->fill(buffer, i, value);
  else
    element->layout->fill(buffer + (size_t)i * element->extent, value);
}

static struct inputs make_inputs(const struct element* element, const struct place* place) {
  const size_t room = room_of(place);
  const struct inputs inputs = {make_buffer(room * element->extent),
                                make_buffer(room * element->extent)};
  for (int i = 0; i < (int)room; ++i) {
    put(element, inputs.moved, i, (world_rank * 31 + i * 7 + 1) % 1009);
    // Sums and products of all ranks fit into the smallest type.
    const int more = element->op == MPI_PROD ? 0 : i % 3;
    put(element, inputs.combined, i, 1 + (world_rank * 3 + i) % 2 + more);
  }
  return inputs;
}

struct operation {
  int collective, form, in_place;
  MPI_Request request;
  unsigned char* out;
  size_t elements;
};

#define IN_FORM(function, nonblocking, ...)                                     \
  switch (form) {                                                               \
    case BY_HOST: return HOST(function)(__VA_ARGS__);                           \
    case NONBLOCKING: return MPI_##nonblocking(__VA_ARGS__, request);           \
    default: return MPI_##function##_init(__VA_ARGS__, MPI_INFO_NULL, request); \
  }

static int make_combining(const struct place* p, const struct element* element, int collective,
                          int form, const void* in, void* out, const struct parts* parts,
                          MPI_Request* request) {
  const MPI_Datatype type = element->type;
  const MPI_Op op = element->op;
  switch (collective) {
    case REDUCE: IN_FORM(Reduce, Ireduce, in, out, p->n, type, op, p->root, p->comm)
    case ALLREDUCE: IN_FORM(Allreduce, Iallreduce, in, out, p->n, type, op, p->comm)
    case REDUCE_SCATTER_BLOCK:
      IN_FORM(Reduce_scatter_block, Ireduce_scatter_block, in, out, p->n, type, op, p->comm)
    case REDUCE_SCATTER:
      IN_FORM(Reduce_scatter, Ireduce_scatter, in, out, parts->shares, type, op, p->comm)
    case SCAN: IN_FORM(Scan, Iscan, in, out, p->n, type, op, p->comm)
    default: IN_FORM(Exscan, Iexscan, in, out, p->n, type, op, p->comm)
  }
}

// The host moves elements of derived types as bytes: some hosts have errors with gaps (compare.h).
static int make_moving(const struct place* p, const struct element* element, int collective,
                       int form, const void* in, void* out, const struct parts* parts,
                       MPI_Request* request) {
  const int as_bytes = form == BY_HOST && element->layout;
  const MPI_Datatype type = as_bytes ? MPI_BYTE : element->type;
  const int n = as_bytes ? p->n * (int)element->extent : p->n;
  const int share = p->between ? n : parts->shares[p->rank];
  const int *pairs = parts->pairs, *places = parts->pair_places, *bytes = parts->places_in_bytes;
  const int *shares = parts->shares, *share_places = parts->share_places;
  const MPI_Datatype* types = parts->types;
  const int root = p->root;
  const MPI_Comm comm = p->comm;
  switch (collective) {
    case BARRIER: IN_FORM(Barrier, Ibarrier, comm)
    case BCAST: IN_FORM(Bcast, Ibcast, out, n, type, root, comm)
    case GATHER: IN_FORM(Gather, Igather, in, n, type, out, n, type, root, comm)
    case GATHERV:
      IN_FORM(Gatherv, Igatherv, in, share, type, out, shares, share_places, type, root, comm)
    case SCATTER: IN_FORM(Scatter, Iscatter, in, n, type, out, n, type, root, comm)
    case SCATTERV:
      IN_FORM(Scatterv, Iscatterv, in, shares, share_places, type, out, share, type, root, comm)
    case ALLGATHER: IN_FORM(Allgather, Iallgather, in, n, type, out, n, type, comm)
    case ALLGATHERV:
      IN_FORM(Allgatherv, Iallgatherv, in, share, type, out, shares, share_places, type, comm)
    case ALLTOALL: IN_FORM(Alltoall, Ialltoall, in, n, type, out, n, type, comm)
    case ALLTOALLV:
      IN_FORM(Alltoallv, Ialltoallv, in, pairs, places, type, out, pairs, places, type, comm)
    default: IN_FORM(Alltoallw, Ialltoallw, in, pairs, bytes, types, out, pairs, bytes, types, comm)
  }
}

// Makes the call; a persistent one is also started.
static void make_call(const struct place* place, const struct element* element,
                      const struct inputs* inputs, struct operation* operation,
                      struct parts* parts) {
  const int c = operation->collective;
  const int in_place = operation->in_place && (!rooted(c) || place->is_root);
  const void* in = c >= REDUCE ? inputs->combined : inputs->moved;
  void* out = operation->out;
  if (in_place && (c == SCATTER || c == SCATTERV))
    out = MPI_IN_PLACE;
  else if (in_place)
    in = MPI_IN_PLACE;
  int code = (c >= REDUCE ? make_combining : make_moving)(place, element, c, operation->form, in,
                                                          out, parts, &operation->request);
  if (operation->form == PERSISTENT && code == MPI_SUCCESS) code = MPI_Start(&operation->request);
  CHECK(code == MPI_SUCCESS, "%s %s", form_names[operation->form], names[c]);
}

// Writes this rank's operand into `out`, where a call in place reads it.
static void give_in_place(const struct place* place, const struct element* element, int collective,
                          const struct inputs* inputs, const struct parts* parts,
                          unsigned char* out) {
  const size_t extent = element->extent, n = (size_t)place->n;
  const size_t rank = (size_t)place->rank, share_place = (size_t)parts->share_places[rank];
  switch (collective) {
    case GATHER:
    case ALLGATHER: memcpy(out + rank * n * extent, inputs->moved, n * extent); break;
    case GATHERV:
    case ALLGATHERV:
      memcpy(out + share_place * extent, inputs->moved, (size_t)parts->shares[rank] * extent);
      break;
    case ALLTOALL: memcpy(out, inputs->moved, n * (size_t)place->size * extent); break;
    case ALLTOALLV:
    case ALLTOALLW:
      for (int i = 0; i < place->size; ++i) {
        const size_t at = (size_t)parts->places_in_bytes[i];
        memcpy(out + at, inputs->moved + at, (size_t)parts->pairs[i] * extent);
      }
      break;
    case REDUCE_SCATTER_BLOCK:
    case REDUCE_SCATTER: memcpy(out, inputs->combined, room_of(place) * extent); break;
    case SCATTER:
    case SCATTERV: break;
    default: memcpy(out, inputs->combined, n * extent);
  }
}

static struct operation start_operation(const struct place* place, const struct element* element,
                                        const struct inputs* inputs, struct parts* parts,
                                        int collective, int form, int in_place) {
  struct operation operation = {collective, form, in_place, MPI_REQUEST_NULL, NULL, 0};
  operation.elements = elements_of(place, collective, in_place);
  operation.out = make_buffer(operation.elements * element->extent);
  if (collective == BCAST && place->is_root)
    memcpy(operation.out, inputs->moved, (size_t)place->n * element->extent);
  if (in_place && (!rooted(collective) || place->is_root))
    give_in_place(place, element, collective, inputs, parts, operation.out);
  make_call(place, element, inputs, &operation, parts);
  return operation;
}

// Combines the operands of all ranks here: hosts have errors in reductions of derived types
// (compare.h).
static void combine_here(const struct place* place, const struct element* element, int collective,
                         const unsigned char* in, const struct parts* parts, unsigned char* out) {
  const size_t room = room_of(place) * element->extent;
  unsigned char* const all = malloc(room * (size_t)place->size);
  HOST(Allgather)(in, (int)room, MPI_BYTE, all, (int)room, MPI_BYTE, place->comm);
  int first = 0, count = place->n, last = place->size - 1;
  if (collective == REDUCE_SCATTER_BLOCK) first = place->rank * place->n;
  if (collective == REDUCE_SCATTER) {
    for (int i = 0; i < place->rank; ++i) first += parts->shares[i];
    count = parts->shares[place->rank];
  }
  if (collective == SCAN) last = place->rank;
  if (collective == EXSCAN) last = place->rank - 1;
  const size_t at = (size_t)first * element->extent, bytes = (size_t)count * element->extent;
  for (int from = last; from > 0; --from) {
    unsigned char* const right = all + room * (size_t)from + at;
    HOST(Reduce_local)(right - room, right, count, element->type, element->op);
    memcpy(right - room, right, bytes);
  }
  if (last >= 0 && (collective != REDUCE || place->is_root)) memcpy(out, all + at, bytes);
  free(all);
}

// The expected `out` of a call that is not in place.
static unsigned char* expected_of(const struct place* place, const struct element* element,
                                  const struct inputs* inputs, int collective) {
  const int combined_here = element->layout && collective >= REDUCE;
  const int scale = element->layout && !combined_here ? (int)element->extent : 1;
  const MPI_Datatype type = scale > 1 ? MPI_BYTE : element->type;
  struct parts parts = parts_of(place, type, element->extent, scale);
  if (!combined_here)
    return start_operation(place, element, inputs, &parts, collective, BY_HOST, 0).out;
  unsigned char* const out = make_buffer(elements_of(place, collective, 0) * element->extent);
  combine_here(place, element, collective, inputs->combined, &parts, out);
  return out;
}

// The number of elements whose values are defined.
static size_t defined_elements(const struct place* place, const struct parts* parts,
                               const struct operation* operation) {
  const int c = operation->collective;
  // Not even MPI_IN_PLACE gives the first rank of an exscan a result.
  if (c == EXSCAN && place->rank == 0) return 0;
  if (!operation->in_place) return operation->elements;
  if (c == REDUCE_SCATTER) return (size_t)parts->shares[place->rank];
  if (c == REDUCE_SCATTER_BLOCK) return (size_t)place->n;
  if ((c == SCATTER || c == SCATTERV) && place->is_root) return 0;
  return operation->elements;
}

static void check_result(const struct place* place, const struct element* element,
                         const struct parts* parts, const struct operation* operation,
                         const unsigned char* expected) {
  const size_t defined = defined_elements(place, parts, operation);
  const size_t bytes = operation->elements * element->extent;
  const unsigned char* const out = operation->out;
  const int equal = element->predefined ? same(element->predefined, out, expected, (int)defined)
                                        : memcmp(out, expected, defined * element->extent) == 0;
  CHECK(equal, "%s %s%s of %d %s on %s of %d, operation %d", form_names[operation->form],
        names[operation->collective], operation->in_place ? " in place" : "", place->n,
        element->name, place->kind, place->size, element->which);
  for (int i = 0; i < margin; ++i)
    CHECK(out[i - margin] == 0xA5 && out[bytes + (size_t)i] == 0xA5,
          "%s %s of %d %s wrote outside its buffer", form_names[operation->form],
          names[operation->collective], place->n, element->name);
}

static unsigned drawn_number = 1;
static int drawn(int below) {
  drawn_number = drawn_number * 1664525u + 1013904223u;
  return (int)((drawn_number >> 10) % (unsigned)below);
}

// Completes all operations, in an order of this rank's own and by the functions in turn.
static void complete(struct operation* operations, int count) {
  static int way = 0;
  MPI_Request requests[4 * COLLECTIVES];
  int order[4 * COLLECTIVES], left = count;
  for (int i = 0; i < count; ++i) {
    const int other = drawn(i + 1);
    order[i] = order[other], order[other] = i;
  }
  for (int i = 0; i < count; ++i) requests[i] = operations[order[i]].request;
  ++way;
  // Half of them one by one, the others together.
  for (; left > count / 2; --left) {
    int flag = 0;
    if (way % 2 == 0) MPI_Wait(&requests[left - 1], MPI_STATUS_IGNORE);
    while (way % 2 == 1 && !flag) MPI_Test(&requests[left - 1], &flag, MPI_STATUS_IGNORE);
  }
  if (way % 4 < 2) MPI_Waitall(left, requests, MPI_STATUSES_IGNORE);
  for (int index = 0, some = 0; way % 4 >= 2 && index != MPI_UNDEFINED && some != MPI_UNDEFINED;) {
    int indices[4 * COLLECTIVES];
    if (way % 4 == 2) MPI_Waitany(left, requests, &index, MPI_STATUS_IGNORE);
    if (way % 4 == 3) MPI_Waitsome(left, requests, &some, indices, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < count; ++i) {
    struct operation* const operation = &operations[order[i]];
    operation->request = requests[i];
    const int persistent = operation->form == PERSISTENT;
    CHECK((requests[i] != MPI_REQUEST_NULL) == persistent, "%s %s", form_names[operation->form],
          names[operation->collective]);
    if (persistent) MPI_Request_free(&operation->request);
  }
}

static long served[COLLECTIVES];

// Hosts fail in these with one rank: an exscan in MPICH 5, an alltoallw in Open MPI 5.
static int fails(const struct place* place, int collective) {
  return place->size == 1 && !place->between && (collective == EXSCAN || collective == ALLTOALLW);
}

// Tries all collectives from `first` to `last` in all forms.
static void try_calls(const struct place* place, const struct element* element, int first,
                      int last) {
  struct operation operations[4 * COLLECTIVES];
  unsigned char* expected[COLLECTIVES] = {NULL};
  struct parts parts = parts_of(place, element->type, element->extent, 1);
  const struct inputs inputs = make_inputs(element, place), before = make_inputs(element, place);
  int count = 0;
  for (int c = first; c <= last; ++c) {
    const int has_place = c != BARRIER && c != BCAST && !place->between;
    for (int form = NONBLOCKING; form < BY_HOST && !fails(place, c); ++form) {
      for (int in_place = 0; in_place <= has_place; ++in_place)
        operations[count++] = start_operation(place, element, &inputs, &parts, c, form, in_place);
      if (!place->between && place->size > 1) served[c] += 1 + has_place;
    }
  }
  for (int c = first; c <= last; ++c)
    if (!fails(place, c)) expected[c] = expected_of(place, element, &inputs, c);
  complete(operations, count);
  for (int i = 0; i < count; ++i) {
    check_result(place, element, &parts, &operations[i], expected[operations[i].collective]);
    free_buffer(operations[i].out);
  }
  const size_t bytes = room_of(place) * element->extent;
  CHECK(memcmp(inputs.moved, before.moved, bytes) == 0, "%s: input written", element->name);
  CHECK(memcmp(inputs.combined, before.combined, bytes) == 0, "%s: input written", element->name);
  for (int c = first; c <= last; ++c)
    if (expected[c]) free_buffer(expected[c]);
  free_buffer(inputs.moved), free_buffer(inputs.combined);
  free_buffer(before.moved), free_buffer(before.combined);
}

// Each type goes through all collectives, and each further operation through those that have one.
// Lengths and roots change from one to the next. Of every `among` pairs of type and operation, the
// one with number `slice` is tried.
static void try_all(struct place place, unsigned slice, unsigned among) {
  static const int lengths[] = {1, 3, 0, 7, 2, 13, 5};
  static struct type types[most_types];
  const int type_count = predefined_types(types);
  unsigned turn = 0;
  for (int t = 0; t < type_count + layout_count - named_layouts; ++t) {
    const int named = t < type_count;
    const struct layout* const layout = named ? NULL : &layouts[named_layouts + t - type_count];
    MPI_Op ops[most_ops];
    int op_count = 1;
    if (named) op_count = ops_of(types[t].kind, ops);
    if (!named) ops[0] = layout->op;
    for (int o = 0; o < op_count; ++o, ++turn) {
      if (turn % among != slice % among) continue;
      const struct element element = {named ? types[t].name : layout->name,
                                      named ? types[t].type : layout->type,
                                      ops[o],
                                      o,
                                      named ? (size_t)types[t].bytes : layout->extent,
                                      named ? &types[t] : NULL,
                                      layout};
      place.n = lengths[turn % (sizeof lengths / sizeof *lengths)];
      if (turn / among % 12 == 11) place.n = 3001;
      place.root = (int)turn % place.size;
      place.is_root = place.rank == place.root;
      try_calls(&place, &element, o == 0 ? BARRIER : REDUCE, EXSCAN);
    }
  }
}

// The two halves of the world, which exchange; the host serves this communicator.
static void try_between(MPI_Comm half) {
  static struct type types[most_types];
  const int type_count = predefined_types(types), side = world_rank % 2;
  struct place place = {"an intercommunicator", MPI_COMM_NULL, 0, 0, 1, 0, 0, 0};
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 7, &place.comm);
  MPI_Comm_rank(place.comm, &place.rank);
  MPI_Comm_remote_size(place.comm, &place.size);
  for (int t = 0; t < type_count; ++t) {
    MPI_Op ops[most_ops];
    ops_of(types[t].kind, ops);
    const struct element element = {types[t].name,          types[t].type, ops[0], 0,
                                    (size_t)types[t].bytes, &types[t],     NULL};
    place.is_root = side == t % 2 && place.rank == 0;
    place.root = 0;
    if (side == t % 2) place.root = place.is_root ? MPI_ROOT : MPI_PROC_NULL;
    place.n = t % 5;
    try_calls(&place, &element, BARRIER, ALLREDUCE);
    place.n = 2 * place.size;  // both sides give equally many elements
    try_calls(&place, &element, REDUCE_SCATTER_BLOCK, REDUCE_SCATTER);
  }
  MPI_Comm_free(&place.comm);
}

static struct place on(const char* kind, MPI_Comm comm) {
  struct place place = {kind, comm, 0, 0, 0, 0, 0, 0};
  MPI_Comm_rank(comm, &place.rank);
  MPI_Comm_size(comm, &place.size);
  return place;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const unsigned slice = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
  const int few = argc > 2 && strcmp(argv[2], "few") == 0;
  drawn_number += (unsigned)world_rank;
  make_layouts();
  MPI_Comm copy, half, reversed, grid;
  int lengths[2] = {0, 0};
  const int periods[2] = {0, 1};
  MPI_Dims_create(world_size, 2, lengths);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
  MPI_Cart_create(MPI_COMM_WORLD, 2, lengths, periods, 0, &grid);
  const unsigned all = few ? 10 : 1, part = few ? 10 : 4;
  try_all(on("the world", MPI_COMM_WORLD), slice, all);
  try_all(on("a duplicate", copy), slice, part);
  try_all(on("a half", half), slice + 1, part);
  try_all(on("reversed ranks", reversed), slice + 2, part);
  try_all(on("a grid", grid), slice + 3, part);
  try_between(half);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&grid);
  free_layouts();
  for (int c = 0; c < COLLECTIVES; ++c) {
    long all = 0;
    HOST(Reduce)(&served[c], &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0) printf("served %s %ld\n", names[c], all);
  }
  return finish();
}
