#include "select/library.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tuple>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "select/contents.h"

namespace tutti::select {
namespace {

using plan::Collective;

constexpr const char* flat4 = "tutti-tree 1\ncollective allreduce\nranks 4\nreduce 0: 1..3\n";

class LibraryTest : public testing::Test {
 protected:
  LibraryTest() : path_(testing::TempDir() + "library_test_" + std::to_string(getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~LibraryTest() override { std::filesystem::remove_all(path_); }

  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name) << text;
  }
  void map(const std::string& rules) const { put("map", "tutti-map 1\n" + rules); }
  Library load(bool fixed_order = false) const { return load_library(path_, fixed_order); }

  // The message without the directory, which differs from run to run.
  std::string refusal() const {
    try {
      load();
    } catch (const Error& error) {
      std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos);
      for (size_t at; (at = message.find(path_)) != std::string::npos;)
        message.replace(at, path_.size(), "DIR");
      return message;
    }
    return {};
  }

  // A tree of two levels, with a leader for every 64 ranks.
  void read_large_tree(int ranks) const {
    const std::string leaders = std::to_string(ranks - 64) + "/64";
    std::string text = "tutti-tree 1\ncollective allreduce\nranks " + std::to_string(ranks) +
                       "\nreduce 0: 1..63 64.." + leaders + "\n";
    for (int leader = 64; leader < ranks; leader += 64) {
      text += "reduce " + std::to_string(leader) + ": " + std::to_string(leader + 1) + ".." +
              std::to_string(leader + 63) + "\n";
    }
    put("large.tree", text);
    map("allreduce -> large.tree\n");
    const size_t reduces = static_cast<size_t>(ranks) / 64, copies = static_cast<size_t>(ranks) - 1;
    EXPECT_EQ(load().rules[0].plan->plan.transfers.size(), reduces + copies);
  }

  std::string path_;
};

TEST_F(LibraryTest, LoadsAMapAndItsPlans) {
  put("flat.tree", flat4);
  put("below/same.tree", "# another label\n" + std::string(flat4) + "# and comment\n");
  put("two.plan",
      "tutti-plan 1\ncollective barrier\nranks 2\nshape core:2\nreduce out[0] <- in[0], "
      "in[1]\ncopy out[1] <- out[0]\n");
  map("allreduce ranks 4 -> flat.tree\nallreduce -> below/same.tree segment 8K\nbarrier ranks 2 -> "
      "two.plan\n"
      "barrier -> builtin:flat\n");
  const Library library = load();
  ASSERT_EQ(library.rules.size(), 4u);
  EXPECT_EQ(library.rules[0].place, path_ + "/map:2");
  EXPECT_EQ(library.rules[0].plan->file, "flat.tree");
  EXPECT_EQ(library.rules[0].plan->plan.algorithm, "flat.tree");
  EXPECT_TRUE(library.rules[0].plan->verdict.rank_order);
  EXPECT_EQ(library.rules[1].plan->contents, library.rules[0].plan->contents);
  EXPECT_NE(library.rules[2].plan->contents, library.rules[0].plan->contents);
  EXPECT_EQ(topo::print(library.rules[2].plan->shape), "core:2");
  EXPECT_EQ(library.rules[3].plan, nullptr);
}

TEST_F(LibraryTest, ReadsSeveralMapsInTheOrderOfTheirNames) {
  put("b.map", "tutti-map 1\nbarrier -> builtin:flat\n");
  put("a.map", "tutti-map 1\nbcast -> builtin:flat\n");
  put("c.mapping", "nonsense");
  const Library library = load();
  ASSERT_EQ(library.rules.size(), 2u);
  EXPECT_EQ(library.rules[0].place, path_ + "/a.map:2");
}

TEST_F(LibraryTest, FingerprintsAreOfContents) {
  put("flat.tree", flat4);
  map("allreduce -> flat.tree\n");
  const uint64_t first = load().fingerprint;
  put("flat.tree", "# the same plan\n" + std::string(flat4));
  EXPECT_EQ(load().fingerprint, first);
  put("flat.tree", "tutti-tree 1\ncollective allreduce\nranks 4\nreduce 0: 2 1 3\n");
  EXPECT_NE(load().fingerprint, first);
  put("flat.tree", flat4);
  map("allreduce sizes 8.. -> flat.tree\n");
  EXPECT_NE(load().fingerprint, first);
}

TEST_F(LibraryTest, RefusesBrokenDirectoriesAndFiles) {
  EXPECT_EQ(refusal(),
            "TUTTI_PLANS=\"DIR\": holds no map; write a file 'map' there that says which plan "
            "serves what");
  try {
    load_library("/no/such/directory", false);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "TUTTI_PLANS=\"/no/such/directory\": No such file or directory; give a directory "
                 "with a map and plans");
  }
  map("allreduce -> none.tree\n");
  EXPECT_EQ(refusal(),
            "DIR/none.tree: No such file or directory; put the file there, or take its name out of "
            "the map");
  std::filesystem::create_directory(path_ + "/none.tree");
  EXPECT_EQ(refusal(), "DIR/none.tree: not a file; give the name of a text file");
  map("alreduce -> none.tree\n");
  EXPECT_TRUE(refusal().starts_with("DIR/map:2: there is no collective \"alreduce\""));
  put("bad.tree", "tutti-tree 1\ncollective allreduce\nranks 4\nreduce 0: 1 2\n");
  map("allreduce -> bad.tree\n");
  EXPECT_TRUE(refusal().starts_with("DIR/bad.tree:4: rank 3 has no parent in the reduce tree"));
  put("bad.plan",
      "tutti-plan 1\ncollective allreduce\nranks 2\nreduce out[0] <- in[0], in[1]\ncopy out[1] <- "
      "in[1]\n");
  map("allreduce -> bad.plan\n");
  EXPECT_TRUE(refusal().find("last written at DIR/bad.plan:5 ") != std::string::npos) << refusal();
  put("bad.plan", "tutti-plan 1\ncollective allreduce\nranks 2\nreduce out[0] <- in[0], in[1]\n");
  EXPECT_TRUE(refusal().starts_with("DIR/bad.plan")) << refusal();
  put("bad.plan",
      "tutti-plan 1\ncollective barrier\nranks 1\nshape cores:2\ncopy out[0] <- in[0]\n");
  map("barrier -> bad.plan\n");
  EXPECT_TRUE(refusal().starts_with("DIR/bad.plan: shape \"cores:2\"")) << refusal();
  put("bad.plan", "");
  EXPECT_TRUE(refusal().starts_with("DIR/bad.plan:1: the text is empty")) << refusal();
}

TEST_F(LibraryTest, RefusesWhatIsTooLarge) {
  map("barrier -> large.plan\n");
  put("large.plan", "");
  std::filesystem::resize_file(path_ + "/large.plan", max_file_bytes + 1);
  EXPECT_EQ(refusal(), "DIR/large.plan: 64 MiB; a plan or map has at most 64 MiB");
}

TEST_F(LibraryTest, RefusesPlansThatTheirRuleCannotMean) {
  put("flat.tree", flat4 + std::string("# 4 ranks\n"));
  put("down.tree", "tutti-tree 1\ncollective bcast\nranks 2\nroot 1\nshape node:2\nbcast 1: 0\n");
  const std::pair<const char*, const char*> table[] = {
      {"reduce -> flat.tree", "flat.tree is for allreduce, the rule for reduce; make them one"},
      {"allreduce ranks 8 -> flat.tree", "flat.tree is for 4 ranks, the rule for 8; make them one"},
      {"allreduce ranks 5..8 -> flat.tree",
       "flat.tree is for 4 ranks, the rule for 5..8; make them one"},
      {"bcast root 0 -> down.tree", "down.tree is for root 1, the rule for root 0; make them one"},
      {"bcast shape node:4 -> down.tree",
       "down.tree is for node:2, the rule for node:4; make them one"},
  };
  for (const auto& [rule, message] : table) {
    map(std::string(rule) + "\n");
    EXPECT_EQ(refusal(), std::string("DIR/map:2: ") + message);
  }
}

// The first rule whose conditions hold, and a range of sizes in which every size has the same
// answer.
TEST_F(LibraryTest, MatchesTheFirstRule) {
  map("allreduce ranks 4 sizes 100..200 -> builtin:tiled\n"
      "allreduce ranks 4 sizes 150..300 -> builtin:nary:2\n"
      "allreduce ranks 2..3 -> builtin:flat\n"
      "bcast root 1 sizes ..8 -> builtin:flat\n"
      "barrier shape node:1 core:2 -> builtin:flat\n");
  const Library library = load();
  const topo::Shape shape = topo::parse_shape("node:1 numa:1 core:2");
  const auto answer = [&](Collective collective, size_t bytes, int ranks, int root) {
    const Match found = match(library, {collective, bytes, ranks, shape, root});
    for (size_t other : {found.sizes.low, found.sizes.high}) {
      EXPECT_EQ(match(library, {collective, other, ranks, shape, root}).rule, found.rule) << other;
    }
    EXPECT_TRUE(found.sizes.low <= bytes && bytes <= found.sizes.high);
    return std::tuple(found.rule == nullptr ? 0 : found.rule->rule.line, found.sizes.low,
                      found.sizes.high);
  };
  EXPECT_EQ(answer(Collective::allreduce, 99, 4, 0), std::tuple(0, size_t{0}, size_t{99}));
  EXPECT_EQ(answer(Collective::allreduce, 100, 4, 0), std::tuple(2, size_t{100}, size_t{200}));
  EXPECT_EQ(answer(Collective::allreduce, 201, 4, 0), std::tuple(3, size_t{201}, size_t{300}));
  EXPECT_EQ(answer(Collective::allreduce, 301, 4, 0), std::tuple(0, size_t{301}, SIZE_MAX));
  EXPECT_EQ(answer(Collective::allreduce, 301, 3, 0), std::tuple(4, size_t{0}, SIZE_MAX));
  EXPECT_EQ(answer(Collective::bcast, 8, 3, 1), std::tuple(5, size_t{0}, size_t{8}));
  EXPECT_EQ(answer(Collective::bcast, 8, 3, 0), std::tuple(0, size_t{0}, SIZE_MAX));
  EXPECT_EQ(answer(Collective::barrier, 0, 7, 0), std::tuple(6, size_t{0}, SIZE_MAX));
  EXPECT_EQ(match(library, {Collective::barrier, 0, 7, topo::parse_shape("core:3"), 0}).rule,
            nullptr);
  EXPECT_EQ(match(library, {Collective::barrier, 0, 7, {}, 0}).rule, nullptr);
}

TEST_F(LibraryTest, TellsWhyAPlanCannotServe) {
  put("flat.tree", flat4);
  put("mixed.tree", "tutti-tree 1\ncollective allreduce\nranks 4\nreduce 0: 2 1 3\n");
  put("arrival.tree",
      "tutti-tree 1\ncollective allreduce\nranks 4\nany_order yes\nshape node:2 core:2\nreduce 0: "
      "1..3\n");
  put("root.tree", "tutti-tree 1\ncollective reduce\nranks 4\nroot 2\nreduce 2: 0..3\n");
  // Every rank combines in an order of its own.
  put("own.plan",
      "tutti-plan 1\ncollective allreduce\nranks 2\ncommutative yes\n"
      "reduce out[0] <- in[0], in[1]\nreduce out[1] <- in[1], in[0]\n");
  map("allreduce -> flat.tree\nallreduce -> mixed.tree\nallreduce -> arrival.tree\nreduce -> "
      "root.tree\nallreduce -> own.plan\n");
  const Library library = load();
  const auto why = [&](size_t rule, Call call) {
    return select::refusal(*library.rules[rule].plan, call);
  };
  const topo::Shape shape = topo::parse_shape("node:1 numa:1 core:2");
  EXPECT_EQ(why(0, {Collective::allreduce, 8, 4, shape, 0, true, true}), "");
  EXPECT_EQ(why(0, {Collective::allreduce, 8, 3, shape, 0}),
            "it is for 4 ranks, the communicator has 3");
  EXPECT_EQ(why(1, {Collective::allreduce, 8, 4, shape, 0, false, true}), "");
  EXPECT_EQ(why(1, {Collective::allreduce, 8, 4, shape, 0, true, true}),
            "it does not keep rank order, which operations that do not commute need");
  EXPECT_EQ(why(2, {Collective::allreduce, 8, 4, shape, 0}),
            "it is for the shape node:2 core:2, the communicator runs on node:1 numa:1 core:2");
  EXPECT_EQ(why(2, {Collective::allreduce, 8, 4, {}, 0}),
            "it is for the shape node:2 core:2, the communicator runs on an unknown one");
  EXPECT_EQ(
      why(2, {Collective::allreduce, 8, 4, topo::parse_shape("node:2 core:2"), 0, true, true}),
      "it does not keep rank order, which operations that do not commute need");
  EXPECT_EQ(why(3, {Collective::reduce, 8, 4, shape, 2, true, true}), "");
  EXPECT_EQ(why(3, {Collective::reduce, 8, 4, shape, 0}), "its root is 2, and calls have others");
  EXPECT_EQ(why(4, {Collective::allreduce, 8, 2, shape, 0}), "");
  EXPECT_TRUE(why(4, {Collective::allreduce, 8, 2, shape, 0, false, true})
                  .starts_with("its ranks evaluate different expressions"));
}

TEST_F(LibraryTest, FixesTheOrderWhereAsked) {
  put("arrival.tree",
      "tutti-tree 1\ncollective allreduce\nranks 4\nany_order yes\nreduce 0: 1..3\n");
  map("allreduce -> arrival.tree\n");
  EXPECT_TRUE(load().rules[0].plan->verdict.arrival);
  const Library fixed = load(true);
  EXPECT_FALSE(fixed.rules[0].plan->verdict.arrival);
  EXPECT_NE(fixed.rules[0].plan->contents, load().rules[0].plan->contents);
}

TEST(Examples, Load) {
  const Library library = load_library(TUTTI_SOURCE_DIR "/plans/examples", false);
  ASSERT_EQ(library.rules.size(), 4u);
  EXPECT_EQ(library.rules[0].plan->plan.ranks, 8);
  EXPECT_TRUE(library.rules[0].plan->verdict.rank_order);
  EXPECT_TRUE(library.rules[2].plan->verdict.arrival);
}

// Read and checked at init, by every rank. tests/python/test_reading_cost.py counts the
// instructions.
TEST_F(LibraryTest, ReadsATreeOf1024Ranks) { read_large_tree(1024); }
TEST_F(LibraryTest, ReadsATreeOf4096Ranks) { read_large_tree(4096); }

TEST_F(LibraryTest, NotesEachRefusalOnce) {
  map("barrier -> builtin:flat\n");
  const LoadedRule rule = load().rules[0];
  for (const char* why : {"because", "because", "still"}) note_refusal(rule, why);
  const std::vector<std::string> all = refusals();
  EXPECT_EQ(std::count(all.begin(), all.end(), path_ + "/map:2: flat is refused: because"), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), path_ + "/map:2: flat is refused: still"), 1);
}

}  // namespace
}  // namespace tutti::select
