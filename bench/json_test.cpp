#include "json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

std::string written(BenchJson* json, void (*write)(BenchJson*, FILE*)) {
  char* text = nullptr;
  size_t bytes = 0;
  FILE* const file = open_memstream(&text, &bytes);
  write(json, file);
  std::fclose(file);
  const std::unique_ptr<char, void (*)(void*)> owned(text, std::free);
  return {text, bytes};
}

TEST(BenchJson, PutsValuesIntoTheInnermostThatIsOpen) {
  BenchJson* const json = bench_json_open();
  bench_json_begin_list(json, "cells");
  for (int i = 0; i < 20; ++i) {  // so many that the list moves its elements
    bench_json_begin_object(json, nullptr);
    bench_json_integer(json, "number", i);
    bench_json_begin_list(json, "ns");
    bench_json_number(json, nullptr, 0.123456, 2);
    bench_json_end(json);
    bench_json_flag(json, "verified", true);
    bench_json_end(json);
  }
  bench_json_end(json);
  bench_json_null(json, "flag_exchange_ns");
  std::string cells;
  for (int i = 0; i < 20; ++i)
    cells += std::string(i > 0 ? "," : "") + "{\"number\":" + std::to_string(i) +
             ",\"ns\":[0.12],\"verified\":true}";
  EXPECT_EQ(written(json, bench_json_write_line),
            "{\"cells\":[" + cells + "],\"flag_exchange_ns\":null}\n");
}

TEST(BenchJson, QuotesTextsAndHasNullForNumbersThatAreNotFinite) {
  BenchJson* const json = bench_json_open();
  bench_json_text(json, "library", "a \"b\"\n");
  bench_json_number(json, "us", std::nan(""), 4);
  EXPECT_EQ(written(json, bench_json_write_indented),
            "{\n \"library\": \"a \\\"b\\\"\\n\",\n \"us\": null\n}\n");
}

}  // namespace
