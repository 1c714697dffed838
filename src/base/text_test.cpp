#include "base/text.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Text, InQuotesFitsALine) {
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes("numa:2 \xc3\xa9"), "\"numa:2 \xc3\xa9\"");
  EXPECT_EQ(in_quotes("a\nb\x7f"), "\"a?b?\"");
  EXPECT_EQ(in_quotes("\x7f"
                      "ELF\x02\xff\xfe\xc3(\xe2\x82"),
            "\"?ELF????("
            "??\"");
  EXPECT_EQ(in_quotes("\xc2\x9b"
                      "2J \xe2\x82\xac \xf0\x9f\x8e\xb5"),
            "\"??2J \xe2\x82\xac \xf0\x9f\x8e\xb5\"");
  std::string cut(199, 'x');
  cut.append("\xc3\xa9");
  EXPECT_EQ(in_quotes(cut), '"' + std::string(199, 'x') + "...\"");
  EXPECT_EQ(in_quotes(std::string(200, 'x')), '"' + std::string(200, 'x') + '"');
  EXPECT_EQ(in_quotes(std::string(201, 'x')), '"' + std::string(200, 'x') + "...\"");
}

TEST(Text, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2u);
}

TEST(Text, ListsOfNumbers) {
  EXPECT_EQ(numbers_of(""), std::set<int>());
  EXPECT_EQ(numbers_of("7"), std::set<int>{7});
  EXPECT_EQ(numbers_of("0-3,8"), (std::set<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(numbers_of("8,0-1,1"), (std::set<int>{0, 1, 8}));
  for (const char* list : {"x", "1x", "1-", "-1", "3-1", "1,,2", "1-2-3", "0-2000000", "1 2"})
    EXPECT_EQ(numbers_of(list), std::set<int>()) << list;
  for (const char* list : {"", "7", "0-3,8", "1,3,5-6"}) EXPECT_EQ(list_of(numbers_of(list)), list);
}

TEST(Text, BytesAsWritten) {
  EXPECT_EQ(bytes_as_written(0), "0");
  EXPECT_EQ(bytes_as_written(1000), "1000");
  EXPECT_EQ(bytes_as_written(256 * 1024), "256K");
  EXPECT_EQ(bytes_as_written(uint64_t{1} << 30), "1G");
  EXPECT_EQ(bytes_as_written(uint64_t{1} << 40), "1024G");
}

TEST(Text, ReadableBytes) {
  EXPECT_EQ(readable_bytes(0), "0 bytes");
  EXPECT_EQ(readable_bytes(1023), "1023 bytes");
  EXPECT_EQ(readable_bytes(32 * 1024), "32 KiB");
  EXPECT_EQ(readable_bytes(1536 * 1024), "1.5 MiB");
}

}  // namespace
}  // namespace tutti
