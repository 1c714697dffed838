#include "exec/combine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace tutti::exec {
namespace {

// An operation that shows its expression: elements are short strings, combined as (a b).
constexpr size_t element = 64;

std::string text(const std::vector<std::byte>& data, size_t i) {
  return reinterpret_cast<const char*>(data.data() + i * element);
}

std::vector<std::byte> named(const std::string& name, size_t count) {
  std::vector<std::byte> data(count * element);
  for (size_t i = 0; i < count; ++i)
    std::strcpy(reinterpret_cast<char*>(data.data() + i * element), name.c_str());
  return data;
}

void join(void* dst, const void* a, const void* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const std::string left = static_cast<const char*>(a) + i * element;
    const std::string right = static_cast<const char*>(b) + i * element;
    const std::string both = "(" + left + right + ")";
    ASSERT_LT(both.size(), element);
    std::strcpy(static_cast<char*>(dst) + i * element, both.c_str());
  }
}

Combine kernel_form() { return {join, nullptr, nullptr, element, false}; }
Combine apply_form() {
  return {nullptr,
          [](void*, const void* in, void* inout, size_t count) { join(inout, in, inout, count); },
          nullptr, element, false};
}

class FoldOrder : public testing::TestWithParam<bool> {
 protected:
  Combine how() const { return GetParam() ? kernel_form() : apply_form(); }
  std::string expected() const { return GetParam() ? "(((ab)c)d)" : "(a(b(cd)))"; }
};

// More elements than a strip holds, so that partial results are kept strip by strip.
constexpr size_t count = 150;

TEST_P(FoldOrder, SeparateDestination) {
  const auto a = named("a", count), b = named("b", count), c = named("c", count),
             d = named("d", count);
  auto dst = named("?", count);
  const void* sources[] = {a.data(), b.data(), c.data(), d.data()};
  combine(how(), dst.data(), sources, 4, count * element);
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(text(dst, i), expected());
}

TEST_P(FoldOrder, DestinationIsAnySource) {
  for (int place = 0; place < 4; ++place) {
    std::vector<std::vector<std::byte>> data = {named("a", count), named("b", count),
                                                named("c", count), named("d", count)};
    const void* sources[] = {data[0].data(), data[1].data(), data[2].data(), data[3].data()};
    combine(how(), data[place].data(), sources, 4, count * element);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(text(data[place], i), expected()) << "place " << place;
    for (int other = 0; other < 4; ++other) {
      if (other == place) continue;
      ASSERT_EQ(data[other], named(std::string(1, static_cast<char>('a' + other)), count));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, FoldOrder, testing::Bool(),
                         [](const auto& form) { return form.param ? "kernel" : "apply"; });

}  // namespace
}  // namespace tutti::exec
