#include "mpi/entry/children.h"

#include <stdlib.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace tutti::mpi {
namespace {

constexpr const char* variable = "LD_PRELOAD";
constexpr std::string_view separators = ": ";

bool is_own(std::string_view library) {
  const std::string_view name = library.substr(library.rfind('/') + 1);
  return name.starts_with("libtutti-") && name.ends_with(".so");
}

}  // namespace

void spare_children() {
  const char* const found = getenv(variable);
  if (found == nullptr) return;
  const std::string_view all = found;
  std::string others;
  bool has_own = false;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find_first_of(separators, begin), all.size());
    const std::string_view library = all.substr(begin, end - begin);
    begin = end + 1;
    if (is_own(library)) {
      has_own = true;
    } else if (!library.empty()) {
      if (!others.empty()) others += ':';
      others += library;
    }
  }
  if (!has_own) return;
  if (others.empty())
    unsetenv(variable);
  else
    setenv(variable, others.c_str(), 1);
}

}  // namespace tutti::mpi
