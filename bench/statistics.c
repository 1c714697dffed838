#include "statistics.h"

#include <stdlib.h>

static int ascending(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

void sort_samples(double* samples, size_t count) {
  qsort(samples, count, sizeof *samples, ascending);
}

double median_of(double* samples, size_t count) {
  sort_samples(samples, count);
  const size_t middle = count / 2;
  return count % 2 == 1 ? samples[middle] : 0.5 * (samples[middle - 1] + samples[middle]);
}

double middle_mean_of(double* samples, size_t count) {
  sort_samples(samples, count);
  const size_t outside = count / 4;
  double sum = 0;
  for (size_t i = outside; i < count - outside; ++i) sum += samples[i];
  return sum / (double)(count - 2 * outside);
}
