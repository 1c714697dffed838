#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tutti {
namespace {

TEST(JsonText, KeepsTheOrderOfMembers) {
  Json object{{"ranks", 2}, {"bytes", 8}};
  object["aborted_by"] = nullptr;
  EXPECT_EQ(json_text(object), R"({"ranks":2,"bytes":8,"aborted_by":null})");
}

TEST(JsonText, HoldsNothingThatBreaksALine) {
  EXPECT_EQ(json_text("a \"b\" \\"), R"("a \"b\" \\")");
  EXPECT_EQ(json_text("a\nb"), R"("a\nb")");
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) { EXPECT_EQ(json_text("a\xff"), "\"a\xef\xbf\xbd\""); }

TEST(JsonText, HasNullForNumbersThatAreNotFinite) {
  EXPECT_EQ(json_text(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(json_text(std::nan("")), "null");
}

TEST(Rounded, LeavesNoMoreDigitsThanAskedFor) {
  EXPECT_EQ(json_text(rounded(1.23456, 4)), "1.2346");
  EXPECT_EQ(json_text(rounded(0.1 + 0.2, 3)), "0.3");
  EXPECT_EQ(json_text(rounded(-1e15 / 3, 1)), "-333333333333333.3");
}

TEST(JsonArray, PutsTextsTogether) {
  EXPECT_EQ(json_array({}), "[]");
  EXPECT_EQ(Json::parse(json_array({"{\"rank\":0}", "[1]"})), Json::parse(R"([{"rank":0},[1]])"));
}

TEST(JsonObjectWith, AddsAMember) {
  EXPECT_EQ(Json::parse(json_object_with({{"rank", 0}}, "a \"b\"", "[1]")),
            Json::parse(R"({"rank":0,"a \"b\"":[1]})"));
}

}  // namespace
}  // namespace tutti
