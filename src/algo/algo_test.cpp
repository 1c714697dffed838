// Every built-in algorithm over all small shapes: its plan and its lowered programs are correct.
#include "algo/algo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <tuple>

#include "base/error.h"
#include "base/sanitized.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "plan/simulate.h"
#include "plan/text.h"

namespace tutti::algo {
namespace {

using plan::Carrier;
using plan::Collective;
using plan::Plan;
using plan::Program;

// The names that users write: each algorithm, those that take a degree with several degrees, and
// trees that combine stepwise. A composed algorithm is one of its two parts if no levels are known.
std::vector<std::string> specs(Collective collective) {
  std::vector<std::string> result;
  for (const Algorithm& algorithm : algorithms()) {
    const auto& serves = algorithm.collectives;
    if (algorithm.is_composed ||
        std::find(serves.begin(), serves.end(), collective) == serves.end())
      continue;
    result.emplace_back(algorithm.name);
    if (!algorithm.takes_degree) continue;
    for (int degree : {2, 3, 8})
      result.push_back(std::string(algorithm.name) + ":" + std::to_string(degree));
  }
  if (collective == Collective::reduce || collective == Collective::allreduce)
    result.insert(result.end(), {"binomial:stepwise", "nary:3:stepwise", "binary:stepwise"});
  return result;
}

void for_each_shape(int from, int to, const std::function<void(const Plan&)>& visit) {
  for (int i = 0; i < plan::collective_count; ++i) {
    const auto collective = static_cast<Collective>(i);
    for (const std::string& spec : specs(collective)) {
      for (int ranks = from; ranks <= to; ++ranks) {
        for (int root = 0; root < (plan::rooted(collective) ? ranks : 1); ++root) {
          SCOPED_TRACE(std::string(plan::name(collective)) + " " + spec + ", ranks " +
                       std::to_string(ranks) + ", root " + std::to_string(root));
          visit(generate(collective, spec, ranks, root));
        }
      }
    }
  }
}

std::vector<Program> programs_of(const Plan& plan, Carrier carrier) {
  const Plan staged = plan::stage(plan);
  const auto dependences = plan::depend(staged, carrier);
  std::vector<Program> programs;
  for (int rank = 0; rank < plan.ranks; ++rank) {
    programs.push_back(plan::lower(staged, dependences, rank, carrier));
    programs.back().in_place = plan::check(plan).in_place;
  }
  return programs;
}

constexpr int most_ranks = looks_at_memory ? 13 : 33;

TEST(Algorithms, PlansAreRightForAllRanksAndRoots) {
  for_each_shape(1, most_ranks, [](const Plan& plan) {
    ASSERT_NO_THROW(plan::validate(plan));
    plan::Verdict verdict;
    ASSERT_NO_THROW(verdict = plan::check(plan));
    const Serves expected = serves(plan.collective, plan.algorithm, {});
    if (plan.ranks > 2) {
      EXPECT_EQ(verdict.rank_order, expected.rank_order);
      EXPECT_EQ(verdict.uniform, expected.uniform);
      EXPECT_EQ(plan.commutative, !expected.rank_order);
    }
    EXPECT_TRUE(verdict.in_place);
  });
}

// Combines the names of ranks as a plan combines their data.
class Expressions {
 public:
  explicit Expressions(const Plan& plan) {
    for (const plan::Transfer& transfer : plan.transfers)
      for (int32_t k = 0; k < transfer.dst.count; ++k) execute(transfer, k);
  }

  // True if no partial results were combined, but the ranks' data one after another.
  bool fold() const { return fold_; }

 private:
  // The ranks of a value, in the order in which they were combined.
  using Value = std::vector<int32_t>;
  using Block = std::tuple<int32_t, plan::Buffer, int32_t>;

  static Block block_of(const plan::Region& region, int32_t k) {
    return {region.rank, region.buffer, region.first + k * region.stride};
  }

  Value value_of(const plan::Region& region, int32_t k) {
    const auto found = values_.find(block_of(region, k));
    return found == values_.end() ? Value{region.rank} : found->second;
  }

  void execute(const plan::Transfer& transfer, int32_t k) {
    Value combined = value_of(transfer.src.front(), k);
    for (size_t i = 1; i < transfer.src.size(); ++i) {
      const Value next = value_of(transfer.src[i], k);
      fold_ &= next.size() == 1 && combined.back() < next.front();
      combined.insert(combined.end(), next.begin(), next.end());
    }
    values_[block_of(transfer.dst, k)] = std::move(combined);
  }

  std::map<Block, Value> values_;  // none yet: `in`
  bool fold_ = true;
};

TEST(Algorithms, ResultsThatDoNotDependOnPlacementAreFolds) {
  int folds = 0, others = 0;
  for_each_shape(5, 7, [&](const Plan& plan) {
    if (!plan::combines(plan.collective) || plan.collective == Collective::barrier) return;
    const bool promised = serves(plan.collective, plan.algorithm, {}).folds;
    const bool found = Expressions(plan).fold();
    if (promised) {
      EXPECT_TRUE(found);
    }
    ++(found ? folds : others);
  });
  EXPECT_GT(folds, 0);
  EXPECT_GT(others, 0) << "trees combine partial results";
}

TEST(Algorithms, StagedPlansAreRightForAllRanksAndRoots) {
  for_each_shape(1, most_ranks, [](const Plan& plan) {
    const Plan staged = plan::stage(plan);
    ASSERT_NO_THROW(plan::validate(staged));
    ASSERT_NO_THROW(plan::check(staged));
  });
}

TEST(Algorithms, TextRoundTrip) {
  for_each_shape(1, looks_at_memory ? 9 : 17, [](const Plan& plan) {
    const std::string text = plan::print(plan);
    EXPECT_EQ(plan::print(plan::read(text)), text);
  });
}

// Few ranks are simulated in several orders, more ranks in one.
constexpr int most_in_several_orders = looks_at_memory ? 5 : 9;
constexpr int most_simulated = looks_at_memory ? 8 : 17;

void simulate_shapes(int from, int to, Carrier carrier, const plan::Simulation& how) {
  for_each_shape(from, to, [&](const Plan& plan) {
    if (carrier == Carrier::line && !plan::lines_serve(plan::stage(plan))) return;
    ASSERT_NO_THROW(plan::simulate(plan, programs_of(plan, carrier), how));
  });
}

TEST(Algorithms, ProgramsOverSlotsAreOrdered) {
  simulate_shapes(1, most_in_several_orders, Carrier::slot,
                  {.segments = 4, .positions = 2, .operations = 3, .interleavings = 4, .seed = 11});
  simulate_shapes(most_in_several_orders + 1, most_simulated, Carrier::slot,
                  {.segments = 3, .positions = 0, .operations = 2, .interleavings = 1, .seed = 12});
}

TEST(Algorithms, ProgramsOfOneSegmentAreOrdered) {
  simulate_shapes(1, most_in_several_orders, Carrier::slot,
                  {.segments = 1, .positions = 1, .operations = 4, .interleavings = 3, .seed = 13});
}

TEST(Algorithms, ProgramsOverLinesAreOrdered) {
  simulate_shapes(1, most_in_several_orders, Carrier::line,
                  {.segments = 1, .positions = 0, .operations = 5, .interleavings = 4, .seed = 14});
  simulate_shapes(most_in_several_orders + 1, most_simulated, Carrier::line,
                  {.segments = 1, .positions = 0, .operations = 3, .interleavings = 1, .seed = 15});
}

// Shapes whose text is kept in plans/: a changed algorithm shows as a changed text. The test writes
// the texts anew if TEST_TUTTI_WRITE_GOLDEN is set.
struct Golden {
  Collective collective;
  const char* spec;
  int ranks;
  int root;
  const char* levels = "";
};

// The build gives compilers absolute paths, and the tests run where they are built.
std::filesystem::path plans_folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "plans";
}

std::string file_of(const Golden& golden) {
  std::string spec = golden.spec;
  std::replace_if(
      spec.begin(), spec.end(), [](char c) { return c == ':' || c == '=' || c == '+'; }, '_');
  std::string file =
      std::string(plan::name(golden.collective)) + "-" + spec + "-" + std::to_string(golden.ranks);
  if (plan::rooted(golden.collective)) file += "-root" + std::to_string(golden.root);
  return (plans_folder() / (file + ".plan")).string();
}

class GoldenPlans : public testing::TestWithParam<Golden> {};

TEST_P(GoldenPlans, AreWhatTheGeneratorsWrite) {
  const Golden& golden = GetParam();
  const std::string text =
      plan::print(generate(golden.collective, golden.spec, golden.ranks, golden.root,
                           placement::read_levels(golden.levels)));
  if (std::getenv("TEST_TUTTI_WRITE_GOLDEN") != nullptr) std::ofstream(file_of(golden)) << text;
  std::ifstream file(file_of(golden));
  ASSERT_TRUE(file) << file_of(golden) << " is missing; set TEST_TUTTI_WRITE_GOLDEN=1 to write it";
  std::stringstream kept;
  kept << file.rdbuf();
  EXPECT_EQ(text, kept.str());
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, GoldenPlans,
    testing::Values(
        Golden{Collective::allreduce, "flat", 4, 0},
        Golden{Collective::allreduce, "binomial", 8, 0},
        Golden{Collective::allreduce, "nary:3", 7, 0},
        Golden{Collective::allreduce, "all_read_all", 3, 0},
        Golden{Collective::bcast, "binomial", 6, 2}, Golden{Collective::bcast, "flat", 4, 1},
        Golden{Collective::reduce, "nary:4", 9, 5}, Golden{Collective::reduce, "binomial", 5, 0},
        Golden{Collective::barrier, "binomial", 4, 0}, Golden{Collective::gather, "binomial", 6, 2},
        Golden{Collective::gather, "direct", 4, 1}, Golden{Collective::scatter, "nary:3", 5, 1},
        Golden{Collective::scatter, "direct:2", 6, 4},
        Golden{Collective::gather, "token_ring", 6, 1, "node:0,0,1,1,2,2"},
        Golden{Collective::scatter, "token_ring:2:within", 5, 4},
        Golden{Collective::allgather, "ring", 4, 0}, Golden{Collective::allgather, "direct", 3, 0},
        Golden{Collective::alltoall, "direct", 4, 0},
        Golden{Collective::alltoall, "direct:2", 5, 0},
        Golden{Collective::reduce_scatter, "direct", 3, 0},
        Golden{Collective::reduce_scatter, "direct:2", 5, 0},
        Golden{Collective::scan, "chain", 4, 0}, Golden{Collective::scan, "all_read_all", 3, 0},
        Golden{Collective::exscan, "chain", 4, 0}, Golden{Collective::exscan, "all_read_all", 4, 0},
        Golden{Collective::reduce, "levels:leaves=2:push", 5, 1},
        Golden{Collective::bcast, "levels:fixed", 4, 2},
        Golden{Collective::barrier, "dissemination", 5, 0},
        Golden{Collective::barrier, "staggered:2", 5, 0},
        Golden{Collective::allreduce, "dissemination", 6, 0},
        Golden{Collective::allreduce, "doubling", 5, 0},
        Golden{Collective::allreduce, "halving", 5, 0}, Golden{Collective::reduce, "halving", 5, 1},
        Golden{Collective::reduce_scatter, "halving", 3, 0},
        Golden{Collective::bcast, "halving", 5, 1}, Golden{Collective::bcast, "ring", 5, 2},
        Golden{Collective::allgather, "doubling", 3, 0},
        Golden{Collective::allgather, "bruck", 3, 0}, Golden{Collective::alltoall, "bruck", 4, 0},
        Golden{Collective::allreduce, "ring", 3, 0},
        Golden{Collective::reduce, "tiled:cyclic", 3, 1},
        Golden{Collective::bcast, "hierarchical+flat+flat", 6, 4, "node:0,0,1,1,1,2"},
        Golden{Collective::reduce, "hierarchical:leaders=2+binomial+flat", 6, 1,
               "node:0,0,1,1,2,2"},
        Golden{Collective::allreduce, "hierarchical+all_read_all+flat", 6, 0, "node:0,0,0,1,1,1"},
        Golden{Collective::allreduce, "hierarchical+dissemination+flat", 6, 0, "node:0,0,0,1,1,1"},
        Golden{Collective::barrier, "hierarchical+all_read_all+flat", 6, 0, "node:0,0,1,1,2,2"},
        Golden{Collective::gather, "hierarchical+flat+flat", 5, 1, "node:0,1,0,1,0"},
        Golden{Collective::scatter, "hierarchical+binomial+flat", 6, 3, "node:0,0,1,1,2,2"},
        Golden{Collective::allgather, "hierarchical+ring+flat", 5, 0, "node:0,0,1,2,2"},
        Golden{Collective::alltoall, "hierarchical+direct+flat", 4, 0, "node:0,0,1,1"},
        Golden{Collective::reduce_scatter, "hierarchical:leaders=2+direct+flat", 4, 0,
               "node:0,0,1,1"},
        Golden{Collective::scan, "hierarchical+all_read_all+flat", 6, 0, "node:0,0,1,1,2,2"},
        Golden{Collective::exscan, "hierarchical+flat+flat", 5, 0, "node:0,1,0,0,1"},
        Golden{Collective::bcast, "binary", 7, 1},
        Golden{Collective::gather, "token_ring:1:threshold=32K", 6, 1, "node:0,0,1,1,2,2"},
        Golden{Collective::reduce, "levels:leaves=5:stepwise", 8, 0},
        Golden{Collective::gather, "levels:binary", 6, 0},
        Golden{Collective::reduce, "levels:leaves=4:subphases=2", 8, 0},
        Golden{Collective::allreduce, "levels:binomial:two_stage", 8, 0, "numa:0,0,0,0,1,1,1,1"},
        Golden{Collective::reduce_scatter, "levels:one_stage", 4, 0, "numa:0,0,1,1"},
        Golden{Collective::barrier, "hierarchical+dissemination+dissemination", 6, 0,
               "node:0,0,0,1,1,1"},
        Golden{Collective::scan, "doubling", 4, 0}, Golden{Collective::exscan, "doubling", 5, 0}));

// Every text in plans/ must be readable and pass the check, also those that no generator writes.
TEST(ShippedPlans, PassTheirCheck) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(plans_folder())) {
    if (entry.path().extension() != ".plan") continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const std::string name = entry.path().filename();
    ASSERT_NO_THROW(plan::check(plan::read(text.str(), name))) << name;
    ++count;
  }
  EXPECT_GE(count, 54);
}

TEST(Algorithms, LargeTreesAreRight) {
  for (const char* spec : {"binomial", "nary:8", "flat"}) {
    for (int ranks : {64, 1000, 4096}) {
      SCOPED_TRACE(spec + std::string(", ranks ") + std::to_string(ranks));
      const Plan plan = generate(Collective::allreduce, spec, ranks, 0);
      const plan::Verdict verdict = plan::check(plan);
      EXPECT_TRUE(verdict.rank_order && verdict.uniform && verdict.in_place);
    }
  }
}

// The length of the chain of two-vector combinations that ends last, if each takes one unit of time
// and a rank does one thing at a time.
int longest_chain(const Plan& plan) {
  std::vector<int> free(static_cast<size_t>(plan.ranks)), ready(free);
  for (const plan::Transfer& transfer : plan.transfers) {
    int& own = free[static_cast<size_t>(transfer.executor())];
    for (const plan::Region& source : transfer.src)
      if (source.buffer == plan::Buffer::tmp)
        own = std::max(own, ready[static_cast<size_t>(source.rank)]);
    own += static_cast<int>(transfer.src.size()) - 1;
    ready[static_cast<size_t>(transfer.dst.rank)] = own;
  }
  return *std::max_element(free.begin(), free.end());
}

TEST(Algorithms, StepwiseTreesHaveShortCriticalPaths) {
  const auto chain = [](const char* spec, int ranks) {
    return longest_chain(generate(Collective::reduce, spec, ranks, 0));
  };
  EXPECT_EQ(chain("binomial", 16), 10) << "1 + 2 + 3 + 4";
  EXPECT_EQ(chain("binomial:stepwise", 16), 4);
  EXPECT_EQ(chain("binomial:stepwise", 4096), 12);
  EXPECT_EQ(chain("nary:4:stepwise", 16), 6) << "3 a level, as in HMPI's formula";
  EXPECT_EQ(chain("flat", 16), 15);
}

// Equation (1) of HMPI: flat trees until five ranks are left, then a binary tree of these. A rank
// combines its flat tree before it waits for the binary one.
TEST(Algorithms, FlatTreesDoNotWaitForTheBinaryTreeOfTheirLeaders) {
  const auto lines = [](const char* spec) {
    std::string found;
    for (const plan::Transfer& transfer : generate(Collective::reduce, spec, 8, 0).transfers)
      found += plan::print(transfer) + "\n";
    return found;
  };
  EXPECT_EQ(lines("levels:leaves=5"),
            "reduce tmp[1] <- in[1], in[2]\n"
            "reduce tmp[4] <- in[4], in[5]\n"
            "reduce tmp[6] <- in[6], in[7]\n"
            "reduce tmp[4] <- tmp[4], tmp[6]\n"
            "reduce out[0] <- in[0], tmp[1], in[3], tmp[4]\n");
  EXPECT_EQ(lines("levels:leaves=5:stepwise"),
            "reduce tmp[1] <- in[1], in[2]\n"
            "reduce tmp[4] <- in[4], in[5]\n"
            "reduce tmp[6] <- in[6], in[7]\n"
            "reduce tmp[4] <- tmp[4], tmp[6]\n"
            "reduce out[0] <- in[0], tmp[1]\n"
            "reduce out[0] <- out[0], in[3]\n"
            "reduce out[0] <- out[0], tmp[4]\n");
}

// A rank's part is pushed by its owner, or copied by the rank that gets it.
TEST(Algorithms, ARingPushesOrPulls) {
  const auto of_rank_2 = [](Collective collective, const char* spec) {
    std::string found;
    for (const plan::Transfer& transfer : generate(collective, spec, 4, 0).transfers)
      if (transfer.kind != plan::TransferKind::token && transfer.dst.rank != transfer.src[0].rank &&
          (transfer.dst.rank == 2 || transfer.src[0].rank == 2))
        found += plan::print(transfer) + "\n";
    return found;
  };
  EXPECT_EQ(of_rank_2(Collective::gather, "token_ring:1:within"), "push @0 tmp[0].1 <- in[2]\n");
  EXPECT_EQ(of_rank_2(Collective::gather, "token_ring:1:pull"), "copy out[0].2 <- in[2]\n");
  EXPECT_EQ(of_rank_2(Collective::scatter, "token_ring:1:within"), "copy @0 out[2] <- tmp[0].1\n");
  EXPECT_EQ(of_rank_2(Collective::scatter, "token_ring:1:push"), "push out[2] <- in[0].2\n");
}

// NUMACol's ring, section 3.2: a rank copies its last T bytes while its successor copies the first
// ones. In the second segment the stages of the plan are one tick later.
TEST(Algorithms, ARingWithAThresholdGoesOnWithTheLastBytes) {
  const Plan plan = generate(Collective::gather, "token_ring:1:threshold=64K:within", 4, 0);
  EXPECT_EQ(plan.last_segment, 65536);
  std::vector<std::pair<int32_t, int32_t>> pushes, tokens;  // rank and stage; two ranks
  for (const plan::Transfer& transfer : plan.transfers) {
    if (transfer.kind == plan::TransferKind::token)
      tokens.emplace_back(transfer.dst.rank, transfer.src[0].rank);
    else if (transfer.push)
      pushes.emplace_back(transfer.src[0].rank, transfer.stage);
  }
  using Pairs = std::vector<std::pair<int32_t, int32_t>>;
  EXPECT_EQ(pushes, (Pairs{{1, 0}, {2, 1}, {3, 2}}));
  EXPECT_EQ(tokens, (Pairs{{2, 1}, {3, 2}}));
  for (const char* spec : {"token_ring:1:threshold=64K", "token_ring:3:threshold=1M:pull"}) {
    EXPECT_EQ(served_as(spec, 65537).most, spec[11] == '1' ? SIZE_MAX : size_t{1} << 20);
    EXPECT_EQ(served_as(spec, 65536).algorithm, "direct");
  }
  EXPECT_EQ(served_as("token_ring:1:threshold=64K", 65537).algorithm, "token_ring:1:threshold=64K");
  EXPECT_EQ(served_as("binomial", 8).most, SIZE_MAX);
}

// HMPI compares dissemination with trees by sums of doubles (figures 17 and 18).
TEST(Algorithms, DisseminationServesFloatingPointWhereASpecAllowsAnyBits) {
  const auto uniform = [](const char* spec, const placement::Levels& levels = {}) {
    return serves(Collective::allreduce, spec, levels).uniform;
  };
  const placement::Levels nodes = placement::read_levels("node:0,0,1,1");
  EXPECT_FALSE(uniform("dissemination"));
  EXPECT_TRUE(uniform("dissemination:any_bits"));
  EXPECT_FALSE(uniform("hierarchical+dissemination+flat", nodes));
  EXPECT_TRUE(uniform("hierarchical+dissemination:any_bits+flat", nodes));
  EXPECT_FALSE(serves(Collective::allreduce, "dissemination:any_bits", {}).rank_order);
}

TEST(Algorithms, ServersExchangeThePartsOfAlltoallsAlone) {
  EXPECT_EQ(served_at_once("direct:128:served"), 128);
  EXPECT_EQ(served_at_once("direct:served"), 16);
  EXPECT_EQ(served_at_once("direct:128"), 0);
  EXPECT_EQ(served_at_once("flat"), 0);
  Plan served = generate(Collective::alltoall, "direct:4:served", 6, 0);
  served.algorithm = "direct:4";
  EXPECT_EQ(plan::print(served), plan::print(generate(Collective::alltoall, "direct:4", 6, 0)));
  EXPECT_THROW(generate(Collective::gather, "direct:4:served", 6, 0), Error);
}

TEST(Algorithms, UnknownNamesAreRefused) {
  EXPECT_THROW(generate(Collective::barrier, "no_such", 4, 0), Error);
  EXPECT_THROW(generate(Collective::bcast, "all_read_all", 4, 0), Error);
  EXPECT_THROW(generate(Collective::bcast, "flat:3", 4, 0), Error);
  EXPECT_THROW(generate(Collective::bcast, "nary:x", 4, 0), Error);
  EXPECT_THROW(generate(Collective::bcast, "nary:1", 4, 0), Error);
  EXPECT_THROW(generate(Collective::bcast, "flat", 0, 0), Error);
  EXPECT_THROW(generate(Collective::bcast, "flat", 4, 4), Error);
  EXPECT_THROW(generate(Collective::barrier, "flat", 4, 1), Error);
  for (const char* spec :
       {"levels:1", "levels:2:3:4", "levels:push:push", "levels:leaves=0",
        "levels:one_stage:two_stage", "levels:leaves=", "levels:", "levels:subphases=2",
        "levels:leaves=2:subphases=0", "levels:cyclic", "tiled:cyclic:levels", "tiled:4",
        "nary:4:4", "nary:4:stepwise:stepwise", "doubling:2", "flat:stepwise"}) {
    EXPECT_THROW(generate(Collective::allreduce, spec, 4, 0), Error) << spec;
  }
  EXPECT_THROW(generate(Collective::barrier, "staggered:0", 4, 0), Error);
  EXPECT_THROW(generate(Collective::allreduce, "staggered", 4, 0), Error);
  for (const char* spec : {"token_ring:0", "token_ring:1:threshold=0", "token_ring:1:threshold=",
                           "token_ring:1:push:pull", "token_ring:1:threshold=2048M",
                           "token_ring:1:threshold=8:threshold=8", "direct:2:push"})
    EXPECT_THROW(generate(Collective::gather, spec, 4, 0), Error) << spec;
  EXPECT_THROW(generate(Collective::barrier, "levels", 4, 0, placement::read_levels("numa:0,0,1")),
               Error);
}

}  // namespace
}  // namespace tutti::algo
