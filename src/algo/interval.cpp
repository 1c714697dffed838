#include "algo/interval.h"

#include <algorithm>

namespace tutti::algo {

std::vector<Interval> parts(Interval interval, int32_t degree) {
  int64_t length = 1;
  while (length * degree < interval.size()) length *= degree;
  std::vector<Interval> result;
  for (int64_t low = interval.low; low < interval.high; low += length) {
    result.push_back({static_cast<int32_t>(low),
                      static_cast<int32_t>(std::min<int64_t>(low + length, interval.high))});
  }
  return result;
}

}  // namespace tutti::algo
