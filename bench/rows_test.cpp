#include "rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace {

// Returns the output of rows_write.
std::string written() {
  testing::internal::CaptureStdout();
  rows_write();
  return testing::internal::GetCapturedStdout();
}

TEST(Rows, AreKeptUntilTheyAreWritten) {
  const int cores[] = {0, 12};
  testing::internal::CaptureStdout();
  row_begin("job");
  row_integers("cores", cores, 2);
  row_end();
  row_begin_call("call", "bcast", 8);
  row_flag("verified", true);
  row_number("ns", 471.25);
  row_end();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(written(),
            "{\"what\":\"job\",\"cores\":[0,12]}\n"
            "{\"what\":\"call\",\"call\":\"bcast\",\"bytes\":8,\"verified\":true,\"ns\":471.25}\n");
  EXPECT_EQ(written(), "");
}

TEST(Rows, QuoteTextsAndHaveNullForNumbersThatAreNotFinite) {
  row_begin_call("call", "barrier", 0);
  row_text("library", "a \"b\\\"\n");
  row_number("ns", std::nan(""));
  row_end();
  EXPECT_EQ(written(),
            "{\"what\":\"call\",\"call\":\"barrier\",\"library\":\"a \\\"b\\\\\\\"\\u000a\","
            "\"ns\":null}\n");
}

}  // namespace
