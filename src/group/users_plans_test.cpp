// Tests users' plans in groups of thread ranks: which calls they serve, which calls the built-in
// choice serves, and that results are right either way.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "group/test_functions.h"
#include "group/test_ranks.h"

namespace tutti::group::test {
namespace {

using plan::Collective;

constexpr const char* flat_tree = "tutti-tree 1\ncollective allreduce\nranks 4\nreduce 0: 1..3\n";
constexpr const char* mixed_tree =
    "tutti-tree 1\ncollective allreduce\nranks 4\nreduce 0: 2\nreduce 2: 3 1\n";

size_t refusals_with(const std::string& part) {
  size_t count = 0;
  for (const std::string& line : select::refusals())
    count += line.find(part) != std::string::npos ? 1 : 0;
  return count;
}

class UsersPlans : public testing::Test {
 protected:
  UsersPlans() : path_(testing::TempDir() + "users_plans_test_" + std::to_string(getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~UsersPlans() override { std::filesystem::remove_all(path_); }

  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
  }
  const select::Overrides& load(const std::string& rules) {
    put("map", "tutti-map 1\n" + rules);
    library_ = select::load_library(path_, false);
    overrides_ = {};
    overrides_.library = &library_;
    return overrides_;
  }

  std::string path_;
  select::Library library_;
  select::Overrides overrides_;
};

// The values are small integers, so that their sums are exact in any order.
template <class Number>
void expect_sum(Group& group, const exec::Combine& combine, size_t count, bool in_place) {
  std::vector<Number> in(count), out(count, Number(-1));
  for (size_t i = 0; i < count; ++i)
    in[i] = static_cast<Number>(static_cast<size_t>(group.rank()) * 10 + i % 7);
  if (in_place) out = in;
  ASSERT_EQ(allreduce(group, in_place ? out.data() : in.data(), out.data(), count, combine),
            Code::ok)
      << group.failure();
  const int ranks = group.ranks();
  for (size_t i = 0; i < count; ++i) {
    const auto expected =
        static_cast<Number>(ranks * (ranks - 1) / 2 * 10 + ranks * static_cast<int>(i % 7));
    ASSERT_EQ(out[i], expected) << "count " << count << " at " << i;
  }
}

// x -> ax + b modulo 2^32; applying one after the other does not commute.
struct Affine {
  uint32_t a, b;
  bool operator==(const Affine&) const = default;
};
void compose(void*, const void* in, void* inout, size_t count) {
  const auto* left = static_cast<const Affine*>(in);
  auto* right = static_cast<Affine*>(inout);
  for (size_t i = 0; i < count; ++i)
    right[i] = {left[i].a * right[i].a, left[i].b * right[i].a + right[i].b};
}
const exec::Combine composition{nullptr,        compose, nullptr,
                                sizeof(Affine), false,   exec::needs_rank_order};

void expect_composition(Group& group, size_t count) {
  const auto of = [](int rank, size_t i) {
    return Affine{static_cast<uint32_t>(2 * rank + 3),
                  static_cast<uint32_t>(rank + 5 * static_cast<int>(i % 3))};
  };
  std::vector<Affine> in(count), out(count);
  for (size_t i = 0; i < count; ++i) in[i] = of(group.rank(), i);
  ASSERT_EQ(allreduce(group, in.data(), out.data(), count, composition), Code::ok)
      << group.failure();
  for (size_t i = 0; i < count; ++i) {
    Affine expected = of(0, i);
    for (int rank = 1; rank < group.ranks(); ++rank) {
      Affine next = of(rank, i);
      compose(nullptr, &expected, &next, 1);
      expected = next;
    }
    ASSERT_EQ(out[i], expected) << i;
  }
}

const size_t counts[] = {1, 6, 7, 100, 5000, 40000};

TEST_F(UsersPlans, ServeTheirCalls) {
  put("flat.tree", flat_tree);
  with_groups(4, load("allreduce ranks 4 -> flat.tree\n"), {}, [](Group& group) {
    for (size_t count : counts) {
      for (bool in_place : {false, true}) {
        expect_sum<int64_t>(group, sum_of_integers(), count, in_place);
        EXPECT_EQ(group.algorithm(Collective::allreduce, count * 8, 0), "flat.tree");
        expect_sum<double>(group, sum_of_doubles(), count, in_place);
        EXPECT_EQ(group.algorithm(Collective::allreduce, count * 8, 0), "flat.tree");
      }
      expect_composition(group, count);
      EXPECT_EQ(group.algorithm(Collective::allreduce, count * 8, 0), "flat.tree");
    }
  });
}

TEST_F(UsersPlans, NeverServeOperationsWhoseOrderTheyLose) {
  put("mixed.tree", mixed_tree);
  with_groups(4, load("allreduce -> mixed.tree\n"), {}, [](Group& group) {
    for (size_t count : counts) {
      expect_sum<double>(group, sum_of_doubles(), count, count % 2 == 0);
      EXPECT_EQ(group.algorithm(Collective::allreduce, count * 8, 0), "mixed.tree");
      expect_composition(group, count);
      EXPECT_NE(group.algorithm(Collective::allreduce, count * 8, 0), "mixed.tree");
      expect_sum<int64_t>(group, sum_of_integers(), count, count % 2 == 1);
      EXPECT_EQ(group.algorithm(Collective::allreduce, count * 8, 0), "mixed.tree");
    }
  });
}

TEST_F(UsersPlans, NeverGiveRanksDifferentBits) {
  std::string text = "tutti-plan 1\ncollective allreduce\nranks 3\ncommutative yes\nblocks 1\n";
  for (int rank = 0; rank < 3; ++rank)
    text += "copy tmp[" + std::to_string(rank) + "] <- in[" + std::to_string(rank) + "]\n";
  text +=
      "reduce out[0] <- tmp[0], tmp[1], tmp[2]\nreduce out[1] <- tmp[1], tmp[2], tmp[0]\nreduce "
      "out[2] <- tmp[2], tmp[0], tmp[1]\n";
  put("own.plan", text);
  with_groups(3, load("allreduce -> own.plan\n"), {}, [](Group& group) {
    for (size_t count : counts) {
      expect_sum<int64_t>(group, sum_of_integers(), count, false);
      EXPECT_EQ(group.algorithm(Collective::allreduce, count * 8, 0), "own.plan");
      expect_sum<double>(group, sum_of_doubles(), count, false);
      EXPECT_NE(group.algorithm(Collective::allreduce, count * 8, 0), "own.plan");
    }
  });
}

TEST_F(UsersPlans, ForOthersAreRefusedAndTheBuiltInChoiceRuns) {
  put("flat.tree", flat_tree);
  put("shaped.tree",
      "tutti-tree 1\ncollective allreduce\nranks 3\nshape node:2 core:4\nreduce 0: 1 2\n");
  with_groups(3, load("allreduce sizes ..100 -> flat.tree\nallreduce -> shaped.tree\n"),
              topo::parse_shape("node:1 numa:1 core:2"), [](Group& group) {
                for (size_t count : {size_t{1}, size_t{2}, size_t{100}}) {
                  expect_sum<int64_t>(group, sum_of_integers(), count, false);
                  EXPECT_EQ(group.algorithm(Collective::allreduce, count * 8, 0).find(".tree"),
                            std::string_view::npos);
                }
              });
  EXPECT_EQ(refusals_with(
                path_ + "/map:2: flat.tree is refused: it is for 4 ranks, the communicator has 3"),
            1u);
  EXPECT_EQ(refusals_with("shaped.tree is refused: it is for the shape node:2 core:4, the "
                          "communicator runs on node:1 numa:1 core:2"),
            1u);
  with_groups(3, load("allreduce -> shaped.tree\n"), topo::parse_shape("node:2 core:4"),
              [](Group& group) {
                expect_sum<int64_t>(group, sum_of_integers(), 1, false);
                EXPECT_EQ(group.algorithm(Collective::allreduce, 8, 0), "shaped.tree");
              });
}

TEST_F(UsersPlans, HaveOneRoot) {
  put("down.tree", "tutti-tree 1\ncollective bcast\nranks 3\nroot 1\nbcast 1: 2\nbcast 2: 0\n");
  put("up.tree", "tutti-tree 1\ncollective reduce\nranks 3\nroot 2\nreduce 2: 1 0\n");
  with_groups(3, load("bcast -> down.tree\nreduce -> up.tree\n"), {}, [](Group& group) {
    for (int root : {0, 1, 2, 1, 0}) {
      int64_t value = group.rank() == root ? 7 + root : -1;
      ASSERT_EQ(bcast(group, &value, sizeof value, root), Code::ok);
      ASSERT_EQ(value, 7 + root);
      EXPECT_EQ(group.algorithm(Collective::bcast, sizeof value, root) == "down.tree", root == 1);
      const int64_t own = 1 << group.rank();
      int64_t sum = 0;
      ASSERT_EQ(
          reduce(group, &own, group.rank() == root ? &sum : nullptr, 1, sum_of_integers(), root),
          Code::ok);
      ASSERT_EQ(sum, group.rank() == root ? 7 : 0);
      EXPECT_EQ(group.algorithm(Collective::reduce, sizeof own, root) == "up.tree", root == 2);
    }
  });
}

TEST_F(UsersPlans, AndBuiltInAlgorithmsByRule) {
  put("flat.tree", flat_tree);
  put("same.tree", flat_tree);
  const std::string rules =
      "allreduce sizes 100..200 -> builtin:nary:3\nallreduce sizes ..800 -> flat.tree\n"
      "allreduce sizes 5000.. -> same.tree segment 4K\nbarrier -> builtin:binomial\n";
  with_groups(4, load(rules), {}, [](Group& group) {
    const std::pair<size_t, std::string_view> expected[] = {
        {96, "flat.tree"},  {104, "nary:3"},    {200, "nary:3"},
        {208, "flat.tree"}, {800, "flat.tree"}, {320000, "same.tree"}};
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (const auto& [bytes, name] : expected) {
        expect_sum<int64_t>(group, sum_of_integers(), bytes / 8, false);
        EXPECT_EQ(group.algorithm(Collective::allreduce, bytes, 0), name) << bytes;
      }
      ASSERT_EQ(barrier(group), Code::ok);
      EXPECT_EQ(group.algorithm(Collective::barrier, 0, 0), "binomial");
    }
  });
  // An algorithm that the user names takes precedence over the map.
  overrides_.algorithm[static_cast<size_t>(Collective::allreduce)] = "all_read_all";
  with_groups(4, overrides_, {}, [](Group& group) {
    expect_sum<int64_t>(group, sum_of_integers(), 12, false);
    EXPECT_EQ(group.algorithm(Collective::allreduce, 96, 0), "all_read_all");
  });
}

// Elements of 4 KiB in short slots: a plan that does not fit is replaced by flat, which always
// fits.
TEST_F(UsersPlans, OfTooManySlotsGiveWay) {
  std::string wide = "tutti-plan 1\ncollective allreduce\nranks 2\nblocks 1\n";
  for (int block = 0; block < 200; ++block)
    wide += "copy tmp[1]." + std::to_string(block) + " <- in[1]\n";
  wide += "reduce out[0] <- in[0], tmp[1].199\ncopy out[1] <- out[0]\n";
  put("wide.plan", wide);
  with_groups(
      2, load("allreduce -> wide.plan\n"), {},
      [](Group& group) {
        struct Block {
          std::array<int64_t, 512> values;
        };
        exec::Combine combine{nullptr,
                              [](void*, const void* in, void* inout, size_t count) {
                                const auto* a = static_cast<const int64_t*>(in);
                                auto* b = static_cast<int64_t*>(inout);
                                for (size_t i = 0; i < count * 512; ++i) b[i] += a[i];
                              },
                              nullptr, sizeof(Block)};
        std::vector<Block> in(3), out(3);
        for (Block& block : in) block.values.fill(group.rank() + 1);
        for (int repeat = 0; repeat < 3; ++repeat) {
          ASSERT_EQ(allreduce(group, in.data(), out.data(), 3, combine), Code::ok)
              << group.failure();
          EXPECT_EQ(group.algorithm(Collective::allreduce, 3 * sizeof(Block), 0), "flat");
          for (const Block& block : out) ASSERT_EQ(block.values[511], 3);
          expect_sum<int64_t>(group, sum_of_integers(), 1536, false);
        }
      },
      true, 32 * 1024);
  EXPECT_EQ(refusals_with("wide.plan is refused: it needs more shared memory"), 1u);
}

TEST(Tables, ChangeBetweenCalls) {
  const select::Table& tiled = table_of("tutti-map 1\nallreduce -> builtin:tiled\n", "tiled");
  const select::Table& binary =
      table_of("tutti-map 1\nallreduce -> builtin:binary segment 8K\n", "binary");
  EXPECT_EQ(&table_of("tutti-map 1\nallreduce -> builtin:tiled\n", "again"), &tiled);
  EXPECT_THROW(table_of("tutti-map 1\nallreduce -> own.plan\n", "broken"), Error);
  with_groups(3, {}, {}, [&](Group& group) {
    const auto runs = [&] {
      expect_sum<double>(group, sum_of_doubles(), 5000, false);
      return std::string(group.algorithm(Collective::allreduce, 5000 * sizeof(double), 0));
    };
    const std::string usual = runs();
    for (const select::Table* const table : {&tiled, &binary, &tiled}) {
      group.decide_by(table);
      EXPECT_EQ(runs(), table->name);
    }
    group.decide_by(nullptr);
    EXPECT_EQ(runs(), usual);
    EXPECT_NE(usual, "binary");
  });
}

}  // namespace
}  // namespace tutti::group::test
