/* The Fortran function of tutti-openmp (openmp_fortran.f90). Each thread of a parallel region
 * passes its own vector; `a` is the result, which all share. */
#ifndef TUTTI_BENCH_OPENMP_H
#define TUTTI_BENCH_OPENMP_H

void reduce_in_fortran(double* a, const double* mine, int n);

#endif
