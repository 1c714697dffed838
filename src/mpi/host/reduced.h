// The facts about a reduction that its ranks must have in common and that messages name: the class
// and the bytes of its elements, and the operation. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "mpi/host/types.h"

namespace tutti::mpi {

struct Reduced {
  static constexpr int16_t of_user = -1;  // the program has made the type or the operation
  static constexpr int bits_of_class = 5, bits_of_both = 11;
  static constexpr uint32_t user_class = (1u << bits_of_class) - 1;
  static constexpr uint32_t user_op = (1u << (bits_of_both - bits_of_class)) - 1;

  int32_t element_bytes = 0;  // 0: no reduction
  int16_t element_class = 0;
  int16_t op = 0;

  bool operator==(const Reduced&) const = default;
};

// `type`: null for one of the program's.
inline Reduced reduced_of(const NamedType* type, size_t element_bytes,
                          std::optional<kernels::Op> op) {
  return {static_cast<int32_t>(element_bytes),
          type != nullptr ? static_cast<int16_t>(type->kind) : Reduced::of_user,
          op ? static_cast<int16_t>(*op) : Reduced::of_user};
}

// The same as a number (exec::Combine::kind). Its lowest bits are the class and the operation, all
// of them set for of_user; the bytes of large elements are cut off.
inline uint32_t number_of(const Reduced& reduced) {
  return (static_cast<uint32_t>(reduced.element_class) & Reduced::user_class) |
         (static_cast<uint32_t>(reduced.op) & Reduced::user_op) << Reduced::bits_of_class |
         static_cast<uint32_t>(reduced.element_bytes) << Reduced::bits_of_both;
}
Reduced reduced_with(uint32_t number);

// "integers of 4 bytes, MPI_SUM"
std::string text_of(const Reduced& reduced);

}  // namespace tutti::mpi
