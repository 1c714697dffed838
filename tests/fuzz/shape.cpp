// Shapes, one or two of them (a line each): what is read is printed and read back the same, and
// whether two agree does not hang on which is asked first.
#include <cstdint>

#include "fuzz.h"
#include "topo/shape.h"

namespace tutti::fuzz {
namespace {

using topo::Shape;

void hold_shape(const Shape& shape) {
  const std::string text = topo::print(shape);
  const Shape again =
      surely([&] { return topo::parse_shape(text); }, "what is printed can be read", text);
  hold(again == shape, "what is printed reads the same", text);
  int64_t cores = 1;
  for (const int32_t count : shape.counts) cores *= std::max(count, 1);
  hold(cores <= topo::max_shape_cores, "the number of cores is bounded", text);
  const Shape normal = topo::normalised(shape);
  hold(topo::normalised(normal) == normal, "what is normalised stays as it is", text);
  hold(topo::agree(shape, shape) && topo::agree(shape, normal), "a shape agrees with itself", text);
  hold(topo::agree(shape, {}) && topo::agree({}, shape), "the empty shape agrees with all", text);
}

void run(std::string_view text) {
  const size_t line_end = std::min(text.find('\n'), text.size());
  const auto one = taken([&] { return topo::parse_shape(text.substr(0, line_end)); });
  const auto other =
      taken([&] { return topo::parse_shape(text.substr(std::min(line_end + 1, text.size()))); });
  for (const auto& shape : {one, other}) {
    if (shape) hold_shape(*shape);
  }
  if (one && other)
    hold(topo::agree(*one, *other) == topo::agree(*other, *one), "to agree is mutual", text);
}

}  // namespace
}  // namespace tutti::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tutti::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
