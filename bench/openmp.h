/* What tutti-openmp calls in Fortran (openmp_fortran.f90): each thread of a parallel region brings
 * its vector, `a` is the one result of all. */
#ifndef TUTTI_BENCH_OPENMP_H
#define TUTTI_BENCH_OPENMP_H

void reduce_in_fortran(double* a, const double* mine, int n);

#endif
