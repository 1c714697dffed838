#include "mpi/host/reduced.h"

#include <iterator>
#include <string_view>

namespace tutti::mpi {
namespace {

constexpr std::string_view class_names[] = {"integers",     "natural numbers", "Fortran integers",
                                            "real numbers", "complex numbers", "logicals",
                                            "booleans",     "bytes",           "characters",
                                            "pairs"};

static_assert(std::size(class_names) <= Reduced::user_class &&
              static_cast<uint32_t>(kernels::Op::count_) <= Reduced::user_op);

}  // namespace

Reduced reduced_with(uint32_t number) {
  const uint32_t kind = number & Reduced::user_class;
  const uint32_t op = number >> Reduced::bits_of_class & Reduced::user_op;
  return {static_cast<int32_t>(number >> Reduced::bits_of_both),
          kind == Reduced::user_class ? Reduced::of_user : static_cast<int16_t>(kind),
          op == Reduced::user_op ? Reduced::of_user : static_cast<int16_t>(op)};
}

std::string text_of(const Reduced& reduced) {
  std::string type = "a type of the program's";
  if (reduced.element_class != Reduced::of_user)
    type = std::string(class_names[static_cast<size_t>(reduced.element_class)]) + " of " +
           std::to_string(reduced.element_bytes) +
           (reduced.element_bytes == 1 ? " byte" : " bytes");
  std::optional<kernels::Op> op;
  if (reduced.op != Reduced::of_user) op = static_cast<kernels::Op>(reduced.op);
  return type + ", " + std::string(name_of(op));
}

}  // namespace tutti::mpi
