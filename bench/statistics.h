/* Statistics of samples. The functions sort the samples, of which there is one at least. */
#ifndef TUTTI_BENCH_STATISTICS_H
#define TUTTI_BENCH_STATISTICS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void sort_samples(double* samples, size_t count);
double median_of(double* samples, size_t count);
/* The mean of the middle half, which the resolution of the clock does not limit. */
double middle_mean_of(double* samples, size_t count);

#ifdef __cplusplus
}
#endif

#endif
