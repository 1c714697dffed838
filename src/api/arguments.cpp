#include "api/arguments.h"

#include <cstdint>
#include <iterator>
#include <string>

#include "base/error.h"
#include "exec/operation.h"

namespace tutti::api {

void require(bool holds, const char* message) {
  if (!holds) throw Error(Code::invalid_argument, message);
}

kernels::Type kernel_type(tutti_type type) {
  using kernels::Type;
  static constexpr Type types[] = {
      Type::int8,    Type::int16,     Type::int32,      Type::int64,     Type::uint8,
      Type::uint16,  Type::uint32,    Type::uint64,     Type::float32,   Type::float64,
      Type::float80, Type::complex64, Type::complex128, Type::complex160};
  require(type != TUTTI_BFLOAT16 && type != TUTTI_FLOAT16,
          "numbers of 16 bits are rounded once, which only calls that start do: tutti_iallreduce "
          "and the like");
  require(static_cast<unsigned>(type) < std::size(types), "unknown type; see tutti_type");
  return types[type];
}

kernels::Op kernel_op(tutti_op op) {
  using kernels::Op;
  static constexpr Op ops[] = {Op::sum, Op::prod, Op::max,  Op::min, Op::land,
                               Op::lor, Op::lxor, Op::band, Op::bor, Op::bxor};
  require(op != TUTTI_AVG, "TUTTI_AVG is for calls that start: tutti_iallreduce and the like");
  require(static_cast<unsigned>(op) < std::size(ops), "unknown operation; see tutti_op");
  return ops[op];
}

exec::Combine combine_of(tutti_type type, tutti_op op) {
  exec::Combine combine;
  const kernels::Type its = kernel_type(type);
  combine.kernel = kernels::find_reduce(its, kernel_op(op));
  combine.element = kernels::size(its);
  const bool has_no_order = (op == TUTTI_MAX || op == TUTTI_MIN) && combine.kernel == nullptr;
  require(!has_no_order, "complex numbers have no order; they have TUTTI_SUM and TUTTI_PROD");
  require(combine.kernel != nullptr, "logical and bitwise operations need an integer type");
  return combine;
}

namespace {

constexpr const char* type_names[] = {"int8",        "int16",
                                      "int32",       "int64",
                                      "uint8",       "uint16",
                                      "uint32",      "uint64",
                                      "float32",     "float64",
                                      "long double", "complex64",
                                      "complex128",  "complex long double",
                                      "bfloat16",    "float16"};
constexpr const char* op_names[] = {"sum",         "product",     "maximum",     "minimum",
                                    "logical and", "logical or",  "logical xor", "bitwise and",
                                    "bitwise or",  "bitwise xor", "average"};
static_assert(std::size(type_names) == TUTTI_FLOAT16 + 1 && std::size(op_names) == TUTTI_AVG + 1);
static_assert(std::size(type_names) * std::size(op_names) <= exec::most_kinds);

}  // namespace

std::string name_of_reduction(uint64_t kind) {
  const uint64_t op = (kind - 1) / std::size(type_names), type = (kind - 1) % std::size(type_names);
  if (kind == 0 || op >= std::size(op_names)) return "an unknown reduction";
  return std::string(op_names[op]) + " of " + type_names[type];
}

Reduction reduction_of(tutti_type type, tutti_op op) {
  using kernels::WholeType;
  Reduction reduction;
  reduction.kind = kind_of(type, op);
  reduction.averages = op == TUTTI_AVG;
  const bool is_short = type == TUTTI_BFLOAT16 || type == TUTTI_FLOAT16;
  if (!reduction.averages && !is_short) {
    reduction.combine = combine_of(type, op);
    return reduction;
  }
  require(is_short || type == TUTTI_FLOAT32 || type == TUTTI_FLOAT64,
          "TUTTI_AVG needs numbers of the types float, double, TUTTI_BFLOAT16 or TUTTI_FLOAT16");
  WholeType whole = type == TUTTI_FLOAT32 ? WholeType::float32 : WholeType::float64;
  if (type == TUTTI_BFLOAT16) whole = WholeType::bfloat16;
  if (type == TUTTI_FLOAT16) whole = WholeType::float16;
  reduction.all = kernels::find_reduce_all(whole, kernel_op(reduction.averages ? TUTTI_SUM : op));
  require(reduction.all != nullptr, "logical and bitwise operations need an integer type");
  reduction.combine.element = kernels::size(whole);
  return reduction;
}

void require_root(int root, int ranks) {
  if (root >= 0 && root < ranks) return;
  throw Error(Code::invalid_argument, "root " + std::to_string(root) +
                                          " is out of range; ranks are 0 to " +
                                          std::to_string(ranks - 1));
}

size_t bytes_of(size_t count, size_t element, int parts) {
  size_t bytes = 0;
  // The limit is half of SIZE_MAX, so that the sum of an address and a length never wraps.
  const bool fits = !__builtin_mul_overflow(count, element, &bytes) &&
                    !__builtin_mul_overflow(bytes, static_cast<size_t>(parts), &bytes) &&
                    bytes <= SIZE_MAX / 2;
  require(fits,
          "the length of a buffer is out of range; count * size, or part * ranks, must be at most "
          "SIZE_MAX / 2 bytes");
  return bytes;
}

void require_buffers(const Buffer& in, const Buffer& out, const char* in_place) {
  require(in.data != nullptr || in.bytes == 0,
          "in is null while its length is not 0; pass its address");
  require(out.data != nullptr || out.bytes == 0,
          "out is null while its length is not 0; pass its address");
  const auto first = reinterpret_cast<uintptr_t>(in.data);
  const auto second = reinterpret_cast<uintptr_t>(out.data);
  if (in.bytes == 0 || out.bytes == 0 || first + in.own == second + out.own) return;
  if (first + in.bytes <= second || second + out.bytes <= first) return;
  throw Error(
      Code::invalid_argument,
      std::string("in and out overlap; pass separate buffers, or ") + in_place + " for in place");
}

}  // namespace tutti::api
