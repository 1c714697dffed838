// Layouts of derived datatypes: collectives with many kinds of types, compared byte for byte with
// the host's own PMPI_Pack and PMPI_Unpack. Each type is used several times, because only the host
// packs a type that is new. Types are freed and made again, so that their handles come back with
// other layouts.
#include <stddef.h>

#include "check.h"

enum { rounds = 4, most_bytes = 4000, most_extent = 12000, most_fields = 5 };

// The same numbers at all ranks.
static unsigned state = 12345;
static int up_to(int most) {  // 0 to most
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 8) % (unsigned)(most + 1));
}

static MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

static void free_type(MPI_Datatype* type) {
  if (up_to(1))
    MPI_Type_free(type);
  else
    PMPI_Type_free(type);
}

// Memory for `count` elements; `origin` is the address of the first.
struct memory {
  unsigned char *bytes, *origin;
  size_t size;
};

static struct memory memory_for(MPI_Datatype type, int count) {
  MPI_Aint lower, extent;
  MPI_Type_get_true_extent(type, &lower, &extent);
  struct memory made;
  made.size = (size_t)((count - 1) * extent_of(type) + extent) + 16;
  made.bytes = malloc(made.size);
  made.origin = made.bytes - lower + 8;
  return made;
}

static void fill(struct memory memory, int rank) {
  for (size_t i = 0; i < memory.size; ++i) memory.bytes[i] = (unsigned char)(i * 7 + rank * 61 + 1);
}

// Moves `count` elements by the host's functions.
static void move(const void* from, void* to, int count, MPI_Datatype type) {
  int size, place = 0;
  MPI_Pack_size(count, type, MPI_COMM_WORLD, &size);
  char* packed = malloc((size_t)size + 1);
  PMPI_Pack(from, count, type, packed, size, &place, MPI_COMM_WORLD);
  size = place, place = 0;
  PMPI_Unpack(packed, size, &place, to, count, type, MPI_COMM_WORLD);
  free(packed);
}

static void compare(struct memory got, struct memory expected, const char* what, int number) {
  for (size_t i = 0; i < got.size; ++i)
    CHECK(got.bytes[i] == expected.bytes[i], "%s, type %d, byte %ld from the origin: %d, not %d",
          what, number, (long)(got.bytes + i - got.origin), got.bytes[i], expected.bytes[i]);
}

static void check_bcast(MPI_Datatype type, int count, int number) {
  struct memory memory = memory_for(type, count), expected = memory_for(type, count),
                source = memory_for(type, count);
  for (int round = 0; round < rounds; ++round) {
    const int root = (number + round) % world_size;
    fill(memory, world_rank);
    fill(expected, world_rank);
    fill(source, root);
    if (world_rank != root) move(source.origin, expected.origin, count, type);
    MPI_Bcast(memory.origin, count, type, root, MPI_COMM_WORLD);
    compare(memory, expected, "bcast", number);
  }
  free(memory.bytes), free(expected.bytes), free(source.bytes);
}

// An allgather, or an alltoallw of the same elements.
static void check_parts(MPI_Datatype type, int count, int number, int by_alltoallw) {
  struct memory source = memory_for(type, count), memory = memory_for(type, count * world_size),
                expected = memory_for(type, count * world_size);
  const MPI_Aint part = count * extent_of(type);
  int counts[16], from[16], to[16];
  MPI_Datatype types[16];
  for (int rank = 0; rank < world_size; ++rank)
    counts[rank] = count, from[rank] = 0, to[rank] = (int)(rank * part), types[rank] = type;
  fill(memory, 99);
  fill(expected, 99);
  for (int rank = 0; rank < world_size; ++rank) {
    fill(source, rank);
    move(source.origin, expected.origin + rank * part, count, type);
  }
  fill(source, world_rank);
  if (by_alltoallw)
    MPI_Alltoallw(source.origin, counts, from, types, memory.origin, counts, to, types,
                  MPI_COMM_WORLD);
  else
    MPI_Allgather(source.origin, count, type, memory.origin, count, type, MPI_COMM_WORLD);
  compare(memory, expected, by_alltoallw ? "alltoallw" : "allgather", number);
  free(source.bytes), free(memory.bytes), free(expected.bytes);
}

static void check_type(MPI_Datatype type, int count, int number) {
  check_bcast(type, count, number);
  check_parts(type, count, number, 0);
  check_parts(type, count, number, 1);
}

static MPI_Datatype basic_type(void) {
  // No long doubles: hosts do not agree on whether the bytes of their padding move.
  const MPI_Datatype types[] = {MPI_CHAR,  MPI_SHORT,      MPI_INT,       MPI_INT,
                                MPI_FLOAT, MPI_DOUBLE,     MPI_DOUBLE,    MPI_LONG_LONG,
                                MPI_BYTE,  MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_2INT};
  return types[up_to((int)(sizeof types / sizeof *types) - 1)];
}

// Blocks at places in any order, some of them empty. The places are a multiple of the longest block
// apart, and some are negative.
static MPI_Datatype blocks_of(MPI_Datatype inner, int kind) {
  enum { longest = 3 };
  int lengths[most_fields], places[most_fields];
  MPI_Aint addresses[most_fields];
  const int blocks = up_to(most_fields - 1) + 1, shift = up_to(2), skew = up_to(1) * 8;
  for (int i = 0; i < blocks; ++i) places[i] = i;
  for (int i = blocks - 1; i > 0; --i) {
    const int other = up_to(i), place = places[i];
    places[i] = places[other], places[other] = place;
  }
  for (int i = 0; i < blocks; ++i) {
    lengths[i] = up_to(longest);
    places[i] = (places[i] - shift) * longest;
    addresses[i] = places[i] * extent_of(inner) + (places[i] + shift * longest) * skew;
  }
  const int length = up_to(longest - 1) + 1;
  MPI_Datatype made;
  if (kind == 0) MPI_Type_indexed(blocks, lengths, places, inner, &made);
  if (kind == 1) MPI_Type_create_hindexed(blocks, lengths, addresses, inner, &made);
  if (kind == 2) MPI_Type_create_indexed_block(blocks, length, places, inner, &made);
  if (kind == 3) MPI_Type_create_hindexed_block(blocks, length, addresses, inner, &made);
  return made;
}

static MPI_Datatype subarray_of(MPI_Datatype inner) {
  int sizes[3], parts[3], starts[3];
  const int dimensions = 1 + up_to(2);
  for (int i = 0; i < dimensions; ++i) {
    sizes[i] = 1 + up_to(4);
    parts[i] = 1 + up_to(sizes[i] - 1);
    starts[i] = up_to(sizes[i] - parts[i]);
  }
  MPI_Datatype made;
  MPI_Type_create_subarray(dimensions, sizes, parts, starts,
                           up_to(1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner, &made);
  return made;
}

static MPI_Datatype random_type(int depth);

// Fields of several types with gaps between them, in any order.
static MPI_Datatype struct_of(MPI_Datatype inner, int depth) {
  MPI_Datatype types[3] = {inner, random_type(depth - 1), basic_type()}, ordered[3], made;
  MPI_Aint places[3], ordered_places[3], end = up_to(1) * -24;
  int lengths[3], ordered_lengths[3];
  const int turn = up_to(2);
  for (int i = 0; i < 3; ++i) {
    MPI_Aint lower, extent;
    MPI_Type_get_true_extent(types[i], &lower, &extent);
    lengths[i] = up_to(2);
    places[i] = end - lower;
    end += lengths[i] * extent_of(types[i]) + up_to(5);
  }
  for (int i = 0; i < 3; ++i) {
    const int from = (i + turn) % 3;
    ordered[i] = types[from], ordered_lengths[i] = lengths[from], ordered_places[i] = places[from];
  }
  MPI_Type_create_struct(3, ordered_lengths, ordered_places, ordered, &made);
  free_type(&types[1]);
  return made;
}

static MPI_Datatype resized(MPI_Datatype inner) {
  MPI_Aint lower, extent;
  MPI_Datatype made;
  MPI_Type_get_true_extent(inner, &lower, &extent);
  MPI_Type_create_resized(inner, lower - 8 * up_to(3), extent + 8 * up_to(3), &made);
  return made;
}

static MPI_Datatype build(MPI_Datatype inner, int depth) {
  MPI_Datatype made;
  const int count = 1 + up_to(4), length = 1 + up_to(2), gap = up_to(3);
  const int sign = up_to(3) == 0 ? -1 : 1;
  switch (up_to(10)) {
    case 0: MPI_Type_contiguous(count, inner, &made); break;
    case 1: MPI_Type_dup(inner, &made); break;
    case 2: MPI_Type_vector(count, length, sign * (length + gap), inner, &made); break;
    case 3:
      MPI_Type_create_hvector(count, length, sign * (length * extent_of(inner) + gap), inner,
                              &made);
      break;
    case 4: made = resized(inner); break;
    case 5: made = struct_of(inner, depth); break;
    case 6:
    case 7: made = subarray_of(inner); break;
    default: made = blocks_of(inner, up_to(3)); break;
  }
  return made;
}

// A type of `depth` constructors inside each other. Inner types are freed at once.
static MPI_Datatype random_type(int depth) {
  MPI_Datatype type = basic_type();
  int derived = 0;
  for (int level = 0; level < depth; ++level) {
    MPI_Datatype outer = build(type, depth);
    int bytes;
    MPI_Aint lower, extent;
    MPI_Type_size(outer, &bytes);
    MPI_Type_get_true_extent(outer, &lower, &extent);
    if (bytes == 0 || bytes > most_bytes || extent > most_extent ||
        extent_of(outer) < extent) {  // elements of the last would overlap
      MPI_Type_free(&outer);
      continue;
    }
    if (derived) free_type(&type);
    type = outer;
    derived = 1;
  }
  if (!derived) MPI_Type_dup(type, &type);
  return type;
}

static void check_random_types(int types) {
  for (int i = 0; i < types; ++i) {
    MPI_Datatype type = random_type(1 + up_to(3));
    MPI_Type_commit(&type);
    check_type(type, 1 + up_to(2), i);
    free_type(&type);
  }
}

// The named pairs, some of which have gaps.
static void check_pairs(void) {
  const MPI_Datatype pairs[] = {MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_LONG_INT,
                                MPI_2INT,      MPI_FLOAT_INT,  MPI_INT};
  for (int i = 0; i < (int)(sizeof pairs / sizeof *pairs); ++i) check_type(pairs[i], 5, i);
  struct {
    long double value;
    int index;
  } elements[5];
  for (int round = 0; round < rounds; ++round) {
    const int root = round % world_size;
    for (int i = 0; i < 5; ++i)
      elements[i].value = world_rank * 10 + i, elements[i].index = world_rank * 100 - i;
    MPI_Bcast(elements, 5, MPI_LONG_DOUBLE_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < 5; ++i)
      CHECK(elements[i].value == root * 10 + i && elements[i].index == root * 100 - i,
            "element %d of %d: %Lg %d", i, root, elements[i].value, elements[i].index);
  }
}

// Types that come and go by every name, with the handle of the last one and another layout.
static void check_reused_handles(void) {
  int reused = 0;
  MPI_Datatype last = MPI_DATATYPE_NULL;
  for (int i = 0; i < 40; ++i) {
    MPI_Datatype type;
    if (i % 3 == 0)
      MPI_Type_vector(3 + i % 5, 1 + i % 2, 3, MPI_INT, &type);
    else
      MPI_Type_create_hvector(4, 1, 9 + i % 7, i % 2 ? MPI_DOUBLE : MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    reused += type == last;
    check_bcast(type, 2, i);
    last = type;
    free_type(&type);
  }
  CHECK(reused > 0, "no handle came back in %d types", 40);
}

// A type is freed while an operation uses it, and another one made before the operation ends.
static void check_freed_while_used(void) {
  for (int i = 0; i < 10; ++i) {
    MPI_Datatype used, next;
    MPI_Type_vector(5, 1, 2 + i % 3, MPI_INT, &used);
    MPI_Type_commit(&used);
    if (i % 2) check_bcast(used, 1, i);
    struct memory memory = memory_for(used, 2), expected = memory_for(used, 2);
    const int root = i % world_size;
    fill(memory, root);
    fill(expected, world_rank);
    if (world_rank != root) move(memory.origin, expected.origin, 2, used);
    fill(memory, world_rank);
    MPI_Request request;
    MPI_Ibcast(memory.origin, 2, used, root, MPI_COMM_WORLD, &request);
    free_type(&used);
    MPI_Type_vector(3, 2, 7, MPI_DOUBLE, &next);
    MPI_Type_commit(&next);
    check_bcast(next, 1, i);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    compare(memory, expected, "ibcast", i);
    free_type(&next);
    free(memory.bytes), free(expected.bytes);
  }
}

static void check_absolute(void) {
  double here[4] = {0};
  int there[6] = {0};
  MPI_Aint places[2];
  MPI_Get_address(there, &places[0]);
  MPI_Get_address(here + 1, &places[1]);
  const int lengths[] = {6, 2};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype absolute;
  MPI_Type_create_struct(2, lengths, places, types, &absolute);
  MPI_Type_commit(&absolute);
  for (int round = 0; round < 2 * rounds; ++round) {
    const int root = round % world_size;
    for (int i = 0; i < 6; ++i) there[i] = world_rank == root ? 100 * round + i : -1;
    for (int i = 0; i < 4; ++i) here[i] = world_rank == root ? round + 0.5 * i : -1;
    MPI_Bcast(MPI_BOTTOM, 1, absolute, root, MPI_COMM_WORLD);
    CHECK(there[5] == 100 * round + 5 && here[2] == round + 1.0, "%d %g", there[5], here[2]);
    CHECK(here[3] == (world_rank == root ? round + 1.5 : -1), "%g is outside", here[3]);
  }
  free_type(&absolute);
}

// Types that only the host packs: distributed arrays, too many irregular blocks, large counts.
static void check_types_of_the_host(void) {
  MPI_Datatype type;
  const int sizes[] = {10, 7}, kinds[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const int arguments[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, processes[] = {2, 2};
  MPI_Type_create_darray(4, 1, 2, sizes, kinds, arguments, processes, MPI_ORDER_C, MPI_INT, &type);
  MPI_Type_commit(&type);
  check_type(type, 2, 0);
  free_type(&type);
  enum { many = 20000 };
  int* lengths = malloc(sizeof(int) * many);
  int* places = malloc(sizeof(int) * many);
  for (int i = 0; i < many; ++i) lengths[i] = 1 + i % 2, places[i] = 4 * i + i % 3 % 2;
  MPI_Type_indexed(many, lengths, places, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  check_type(type, 1, 1);
  free_type(&type);
  free(lengths), free(places);
#if MPI_VERSION >= 4
  MPI_Type_vector_c(5, 2, 3, MPI_INT, &type);
  MPI_Type_commit(&type);
  check_type(type, 2, 2);
  free_type(&type);
#endif
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK(world_size <= 16, "%d ranks", world_size);
  set_up(MPI_COMM_WORLD);
  check_pairs();
  check_random_types(argc > 1 ? 1500 : 250);
  check_reused_handles();
  check_freed_while_used();
  check_absolute();
  check_types_of_the_host();
  return finish();
}
