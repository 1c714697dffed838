// Shapes, one or two of them, one per line: a shape that can be read is printed and read back the
// same, and whether two agree does not depend on their order.
#include <cstdint>

#include "fuzz.h"
#include "topo/shape.h"

namespace tutti::fuzz {
namespace {

using topo::Shape;

void check_shape(const Shape& shape) {
  const std::string text = topo::print(shape);
  const Shape again = must_succeed([&] { return topo::parse_shape(text); },
                                   "a printed text can be read back", text);
  require(again == shape, "a printed text reads back the same", text);
  int64_t cores = 1;
  for (const int32_t count : shape.counts) cores *= std::max(count, 1);
  require(cores <= topo::max_shape_cores, "the number of cores is bounded", text);
  const Shape normal = topo::normalised(shape);
  require(topo::normalised(normal) == normal, "a normalised shape does not change", text);
  require(topo::agree(shape, shape) && topo::agree(shape, normal), "a shape agrees with itself",
          text);
  require(topo::agree(shape, {}) && topo::agree({}, shape), "the empty shape agrees with all",
          text);
}

void run(std::string_view text) {
  const size_t line_end = std::min(text.find('\n'), text.size());
  const auto one = if_accepted([&] { return topo::parse_shape(text.substr(0, line_end)); });
  const auto other = if_accepted(
      [&] { return topo::parse_shape(text.substr(std::min(line_end + 1, text.size()))); });
  for (const auto& shape : {one, other}) {
    if (shape) check_shape(*shape);
  }
  if (one && other)
    require(topo::agree(*one, *other) == topo::agree(*other, *one), "to agree is mutual", text);
}

}  // namespace
}  // namespace tutti::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tutti::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
