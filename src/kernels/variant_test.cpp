#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/table.h"

namespace tutti::kernels {
namespace {

TEST(Variant, BaselineRunsEverywhere) {
  const Variant* baseline = find_variant("baseline");
  ASSERT_NE(baseline, nullptr);
  EXPECT_EQ(baseline->table, &table_baseline);
}

TEST(Variant, UnknownNamesAreNotFound) {
  EXPECT_EQ(find_variant(""), nullptr);
  EXPECT_EQ(find_variant("avx"), nullptr);
  EXPECT_EQ(find_variant("AVX2"), nullptr);
}

TEST(Variant, AVariantThatCanRunIsChosenByName) {
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    if (find_variant(name) == nullptr) continue;
    EXPECT_STREQ(choose_variant(name).name, name);
  }
}

TEST(Variant, OtherNamesChooseTheBest) {
  const char* best = "baseline";
  for (const char* name : {"avx2", "avx512"})
    if (find_variant(name) != nullptr) best = name;
  EXPECT_STREQ(choose_variant(nullptr).name, best);
  EXPECT_STREQ(choose_variant("").name, best);
  EXPECT_STREQ(choose_variant("auto").name, best);
  EXPECT_STREQ(choose_variant("nonsense").name, best);
}

// Also run with TUTTI_ISA set to each of its values.
TEST(Variant, TheEnvironmentChooses) {
  const Variant& expected = choose_variant(std::getenv("TUTTI_ISA"));
  EXPECT_STREQ(isa(), expected.name);
  EXPECT_EQ(find_reduce(Type::float64, Op::sum),
            expected.table->reductions
                .entry[static_cast<size_t>(Type::float64)][static_cast<size_t>(Op::sum)]);
}

}  // namespace
}  // namespace tutti::kernels
