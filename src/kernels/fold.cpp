#include "kernels/fold.h"

#include <cstring>

#include "kernels/fold_table.h"

namespace tutti::kernels {
namespace {

struct Named {
  const char* name;
  const Folds* folds;
};
constexpr Named all_folds[] = {
#if defined(__x86_64__)
    {"avx512", &folds_avx512},
    {"avx2", &folds_avx2},
#endif
    {"baseline", &folds_baseline},
};

}  // namespace

const Folds* find_folds(const char* name) {
  if (find_variant(name) == nullptr) return nullptr;
  for (const Named& one : all_folds)
    if (std::strcmp(one.name, name) == 0) return one.folds;
  return nullptr;
}

Fold find_fold(Type type, Op op) {
  static const Folds* const folds = find_folds(isa());
  if (static_cast<size_t>(type) >= fold_types || op >= Op::count_) return nullptr;
  return folds->entry[static_cast<size_t>(type)][static_cast<size_t>(op)];
}

size_t fold_lanes(Type type) {
  if (static_cast<size_t>(type) >= fold_types) return 0;
  if (type == Type::float80) return fold_long_numbers;
  if (type == Type::complex160) return fold_long_numbers / 2;
  return fold_row_bytes / size(type);
}

}  // namespace tutti::kernels
