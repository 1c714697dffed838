// Reductions of a shared array, on thread ranks.
#include <algorithm>
#include <cstddef>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>

#include "api/test_ranks.h"

using tutti::test::spawn;

namespace {

class Arrays : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Arrays, testing::Values(1, 2, 3, 4, 5, 7, 8),
                         testing::PrintToStringParamName());

size_t at(int rank) { return static_cast<size_t>(rank); }

// The parts of all ranks, of 0 to most - 1 elements; the same at all ranks for one seed.
std::vector<size_t> random_counts(int ranks, size_t most, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<size_t> counts(at(ranks));
  for (size_t& count : counts) count = random() % 3 == 0 ? 0 : random() % most;
  return counts;
}

// Built-in operations: numbers whose results do not depend on the order.

struct TypeCase {
  tutti_type type;
  size_t element;
  void (*write)(void* to, int number);
  bool is_integer, is_complex;
};
template <class T>
void write_number(void* to, int number) {
  const T value = static_cast<T>(number);
  std::memcpy(to, &value, sizeof value);
}
template <class T>
constexpr TypeCase integers(tutti_type type) {
  return {type, sizeof(T), write_number<T>, true, false};
}
template <class T>
constexpr TypeCase reals(tutti_type type) {
  return {type, sizeof(T), write_number<T>, false, false};
}
template <class T>
constexpr TypeCase complexes(tutti_type type) {
  return {type, sizeof(std::complex<T>),
          [](void* to, int number) {
            const T parts[2] = {static_cast<T>(number % 2), static_cast<T>(number / 2)};
            std::memcpy(to, parts, sizeof parts);
          },
          false, true};
}
const TypeCase types[] = {
    integers<int8_t>(TUTTI_INT8),          integers<int16_t>(TUTTI_INT16),
    integers<int32_t>(TUTTI_INT32),        integers<int64_t>(TUTTI_INT64),
    integers<uint8_t>(TUTTI_UINT8),        integers<uint16_t>(TUTTI_UINT16),
    integers<uint32_t>(TUTTI_UINT32),      integers<uint64_t>(TUTTI_UINT64),
    reals<float>(TUTTI_FLOAT32),           reals<double>(TUTTI_FLOAT64),
    reals<long double>(TUTTI_LONG_DOUBLE), complexes<float>(TUTTI_COMPLEX64),
    complexes<double>(TUTTI_COMPLEX128),   complexes<long double>(TUTTI_COMPLEX_LONG_DOUBLE)};
const tutti_op ops[] = {TUTTI_SUM, TUTTI_PROD, TUTTI_MAX,  TUTTI_MIN, TUTTI_LAND,
                        TUTTI_LOR, TUTTI_LXOR, TUTTI_BAND, TUTTI_BOR, TUTTI_BXOR};

bool is_defined(const TypeCase& type, tutti_op op) {
  if (type.is_integer) return true;
  if (type.is_complex) return op == TUTTI_SUM || op == TUTTI_PROD;
  return op == TUTTI_SUM || op == TUTTI_PROD || op == TUTTI_MAX || op == TUTTI_MIN;
}

using Bytes = std::vector<std::byte>;

// Element i of rank r's part. Products have few factors other than 1, so they stay exact.
int number(tutti_op op, int rank, size_t i) {
  const size_t mixed = i * 5 + at(rank) * 3;
  if (op == TUTTI_PROD) return mixed % 40 == 7 ? 2 : 1;
  return static_cast<int>(mixed % 7) + (op == TUTTI_LAND ? 1 : 0);
}

Bytes part_of(const TypeCase& type, tutti_op op, int rank, size_t count) {
  Bytes part(count * type.element, std::byte{0});
  for (size_t i = 0; i < count; ++i)
    type.write(part.data() + i * type.element, number(op, rank, i));
  return part;
}

// The number that a result stands for, so that the padding of long doubles does not matter.
bool same_number(const TypeCase& type, const Bytes& x, const Bytes& y) {
  if (type.type == TUTTI_LONG_DOUBLE || type.type == TUTTI_COMPLEX_LONG_DOUBLE) {
    for (size_t part = 0; part < x.size(); part += sizeof(long double)) {
      long double a, b;
      std::memcpy(&a, x.data() + part, sizeof a);
      std::memcpy(&b, y.data() + part, sizeof b);
      if (a != b) return false;
    }
    return true;
  }
  return x == y;
}

TEST_P(Arrays, EveryTypeAndOperation) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    unsigned seed = 0;
    for (const TypeCase& type : types)
      for (const tutti_op op : ops) {
        if (!is_defined(type, op)) continue;
        const std::vector<size_t> counts = random_counts(ranks, 90, ++seed);
        const int root = static_cast<int>(seed % static_cast<unsigned>(ranks + 1)) - 1;
        Bytes all;
        for (int each = 0; each < ranks; ++each) {
          const Bytes part = part_of(type, op, each, counts[at(each)]);
          all.insert(all.end(), part.begin(), part.end());
        }
        Bytes expected(type.element, std::byte{0}), out(type.element, std::byte{0});
        ASSERT_EQ(tutti_fold(all.data(), all.size() / type.element, type.type, op, expected.data()),
                  TUTTI_OK)
            << tutti_error_message();
        const Bytes mine = part_of(type, op, rank, counts[at(rank)]);
        const bool receives = root == TUTTI_ALL || root == rank;
        ASSERT_EQ(tutti_reduce_array(group, mine.data(), counts[at(rank)], seed % 5, type.type, op,
                                     root, receives ? out.data() : nullptr),
                  TUTTI_OK)
            << tutti_error_message();
        ASSERT_TRUE(!receives || same_number(type, out, expected))
            << "type " << type.type << " op " << op;
      }
  });
}

TEST_P(Arrays, OneRankHasAllElements) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    for (int owner = 0; owner < ranks; ++owner)
      for (const size_t count : {size_t{1}, size_t{32}, size_t{1000}}) {
        std::vector<double> local(rank == owner ? count : 0);
        for (size_t i = 0; i < local.size(); ++i) local[i] = -1.0 / static_cast<double>(3 + i);
        double folded = 0, sum = 0, least = 0;
        std::vector<double> owned(count);
        for (size_t i = 0; i < count; ++i) owned[i] = -1.0 / static_cast<double>(3 + i);
        ASSERT_EQ(tutti_fold(owned.data(), count, TUTTI_FLOAT64, TUTTI_SUM, &folded), TUTTI_OK);
        ASSERT_EQ(tutti_reduce_array(group, local.data(), local.size(), 0, TUTTI_FLOAT64, TUTTI_SUM,
                                     TUTTI_ALL, &sum),
                  TUTTI_OK);
        ASSERT_EQ(sum, folded);  // passive ranks change no bit
        ASSERT_EQ(tutti_reduce_array(group, local.data(), local.size(), 0, TUTTI_FLOAT64, TUTTI_MIN,
                                     TUTTI_ALL, &least),
                  TUTTI_OK);
        ASSERT_EQ(least, owned[0]);
      }
    int32_t product = 7;
    ASSERT_EQ(
        tutti_reduce_array(group, nullptr, 0, 4, TUTTI_INT32, TUTTI_PROD, TUTTI_ALL, &product),
        TUTTI_OK);
    ASSERT_EQ(product, 1);
    const double zero = -0.0;
    double sum = 1;
    ASSERT_EQ(
        tutti_reduce_array(group, &zero, rank == 0, 0, TUTTI_FLOAT64, TUTTI_SUM, TUTTI_ALL, &sum),
        TUTTI_OK);
    ASSERT_TRUE(sum == 0 && std::signbit(sum));
  });
}

// All ranks get the same bits, whatever the block, in a second call too, and at any address.
TEST_P(Arrays, EqualBitsEverywhere) {
  const int ranks = GetParam();
  std::vector<double> results(at(ranks));
  spawn(ranks, [&](tutti_group* group, int rank) {
    std::vector<double> local(2001);
    for (size_t i = 0; i < local.size(); ++i)
      local[i] = 1.0 / static_cast<double>(1 + i * 7 + at(rank) * 13);
    std::vector<double> moved(local.size() + 1);
    std::copy(local.begin(), local.end(), moved.begin() + 1);
    double again = 0;
    ASSERT_EQ(tutti_reduce_array(group, moved.data() + 1, local.size(), 16, TUTTI_FLOAT64,
                                 TUTTI_SUM, TUTTI_ALL, &again),
              TUTTI_OK);
    // The result may replace an element of the part.
    ASSERT_EQ(tutti_reduce_array(group, local.data(), local.size(), 0, TUTTI_FLOAT64, TUTTI_SUM,
                                 TUTTI_ALL, &local[17]),
              TUTTI_OK);
    ASSERT_EQ(again, local[17]);
    results[at(rank)] = again;
  });
  for (const double result : results) ASSERT_EQ(result, results[0]);
}

// Ranks that do not get the result run ahead of the root.
TEST_P(Arrays, LongRuns) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    for (int call = 0; call < 400; ++call) {
      const int64_t local[3] = {rank, call, 1};
      int64_t sum = 0;
      const int root = call / 100 % ranks;
      ASSERT_EQ(tutti_reduce_array(group, local, 3, 0, TUTTI_INT64, TUTTI_SUM, root, &sum),
                TUTTI_OK);
      ASSERT_EQ(sum, rank == root ? ranks * (ranks - 1) / 2 + ranks * (call + 1) : 0);
    }
  });
}

// A user's operation that does not commute: maps x -> a x + b modulo 2^64, applied one after the
// other.

struct Map {
  uint64_t a, b;
  bool operator==(const Map&) const = default;
};
constexpr Map identity{1, 0};

Map then(const Map& first, const Map& second) {
  return {first.a * second.a, second.a * first.b + second.b};
}
void fold_maps(void* folded, const void* in, size_t count, void* context) {
  auto* to = static_cast<Map*>(folded);
  const auto* maps = static_cast<const Map*>(in);
  for (size_t i = 0; i < count; ++i) *to = then(*to, maps[i]);
  if (context != nullptr) ++*static_cast<int*>(context);
}
Map map_at(int rank, size_t i) { return {2 * (i * 977 + at(rank) * 31) + 3, i + at(rank) * 1000}; }

std::vector<Map> maps_of(int rank, size_t count) {
  std::vector<Map> maps(count);
  for (size_t i = 0; i < count; ++i) maps[i] = map_at(rank, i);
  return maps;
}

tutti_user_op maps_op(bool neutral) {
  tutti_user_op op = {};
  op.fold = fold_maps;
  op.element_bytes = sizeof(Map);
  op.neutral = neutral ? &identity : nullptr;
  return op;
}

// Block after block, as many as each rank has.
Map in_order(const std::vector<size_t>& counts, size_t block) {
  Map result = identity;
  const size_t largest = *std::max_element(counts.begin(), counts.end());
  const size_t step = block == 0 ? std::max<size_t>(largest, 1) : block;
  for (size_t first = 0; first < largest; first += step)
    for (size_t rank = 0; rank < counts.size(); ++rank)
      for (size_t i = first; i < std::min(first + step, counts[rank]); ++i)
        result = then(result, map_at(static_cast<int>(rank), i));
  return result;
}

TEST_P(Arrays, KeepTheirOrder) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    unsigned seed = 100;
    for (const size_t block : {0, 1, 3, 7, 64, 1000})
      for (const bool neutral : {true, false})
        for (int root = TUTTI_ALL; root < ranks; ++root) {
          const std::vector<size_t> counts = random_counts(ranks, 200, ++seed);
          const std::vector<Map> mine = maps_of(rank, counts[at(rank)]);
          const tutti_user_op op = maps_op(neutral);
          Map out = {5, 5};
          const tutti_status status =
              tutti_reduce_array_by(group, mine.data(), mine.size(), block, &op, root, &out);
          const bool receives = root == TUTTI_ALL || root == rank;
          const bool none = *std::max_element(counts.begin(), counts.end()) == 0;
          if (receives && none && !neutral) {
            ASSERT_EQ(status, TUTTI_EMPTY);
            ASSERT_EQ(out, (Map{5, 5}));
            continue;
          }
          ASSERT_EQ(status, TUTTI_OK) << tutti_error_message();
          const Map expected = receives ? in_order(counts, block) : Map{5, 5};
          ASSERT_EQ(out, expected) << "block " << block << " root " << root;
        }
  });
}

// The layout of UPC: element i of the array is in block i / block, at rank i / block % ranks.
TEST_P(Arrays, KeepTheOrderOfABlockCyclicArray) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const auto ranks = static_cast<size_t>(tutti_group_size(group));
    for (const size_t total : {1, 17, 100, 1001})
      for (const size_t block : {1, 4, 10}) {
        std::vector<Map> mine;
        Map expected = identity;
        for (size_t i = 0; i < total; ++i) {
          const Map map = map_at(1, i);
          expected = then(expected, map);
          if (i / block % ranks == at(rank)) mine.push_back(map);
        }
        const tutti_user_op op = maps_op(total % 2 == 0);
        Map out{};
        ASSERT_EQ(
            tutti_reduce_array_by(group, mine.data(), mine.size(), block, &op, TUTTI_ALL, &out),
            TUTTI_OK);
        ASSERT_EQ(out, expected) << total << " elements in blocks of " << block;
      }
  });
}

// More blocks at a rank than are reduced at a time.
TEST_P(Arrays, ManyBlocks) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    std::vector<size_t> counts(at(ranks));
    for (size_t r = 0; r < counts.size(); ++r) counts[r] = 6000 + 100 * (r % 3);
    const std::vector<Map> mine = maps_of(rank, counts[at(rank)]);
    tutti_user_op op = maps_op(false);
    int calls = 0;  // the calls by this rank's thread
    op.context = &calls;
    Map out{};
    ASSERT_EQ(tutti_reduce_array_by(group, mine.data(), mine.size(), 1, &op, ranks - 1, &out),
              TUTTI_OK);
    ASSERT_EQ(out, rank == ranks - 1 ? in_order(counts, 1) : Map{});
    ASSERT_TRUE(ranks > 1 || calls == 1) << calls << " folds of one rank's part";
  });
}

// Elements of a size that is no type's: `bytes` bytes, which are added one by one.
struct Vectors {
  size_t bytes;
};
void add_bytes(void* folded, const void* in, size_t count, void* context) {
  const size_t bytes = static_cast<const Vectors*>(context)->bytes;
  auto* to = static_cast<unsigned char*>(folded);
  const auto* from = static_cast<const unsigned char*>(in);
  for (size_t i = 0; i < count * bytes; ++i)
    to[i % bytes] = static_cast<unsigned char>(to[i % bytes] + from[i]);
}

TEST_P(Arrays, ElementsOfAnySize) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    unsigned seed = 900;
    for (const size_t bytes : {1, 7, 8, 13, 47, 48, 200, 1000}) {
      Vectors vectors{bytes};
      tutti_user_op op = {};
      op.fold = add_bytes;
      op.context = &vectors;
      op.element_bytes = bytes;
      for (const int commutes : {1, 0})
        for (const size_t block : {0, 2}) {
          op.commutes = commutes;
          std::vector<size_t> counts = random_counts(ranks, 9, ++seed);
          counts[0] = 2;
          std::vector<unsigned char> mine(counts[at(rank)] * bytes), expected(bytes), out(bytes);
          for (size_t i = 0; i < mine.size(); ++i)
            mine[i] = static_cast<unsigned char>(i + at(rank));
          for (size_t each = 0; each < counts.size(); ++each)
            for (size_t i = 0; i < counts[each] * bytes; ++i)
              expected[i % bytes] = static_cast<unsigned char>(expected[i % bytes] + i + each);
          ASSERT_EQ(tutti_reduce_array_by(group, mine.data(), counts[at(rank)], block, &op,
                                          TUTTI_ALL, out.data()),
                    TUTTI_OK)
              << tutti_error_message();
          ASSERT_EQ(out, expected) << bytes << " bytes";
        }
    }
  });
}

}  // namespace
