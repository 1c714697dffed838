/* Hashes of answers. One is of the bits of numbers that are divided among ranks: a sum, modulo
 * 2^64, of a hash of each number with its place in the whole, so that it does not depend on the
 * division. */
#ifndef HASH_H
#define HASH_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline uint64_t hash_number(double number, uint64_t place) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  bits = (bits ^ place) * 0x9e3779b97f4a7c15;
  return (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9;
}

/* The hash of a sequence of words: FNV-1a by words. */
static const uint64_t hash_begin = 0xcbf29ce484222325u;
static inline void hash_word(uint64_t* hash, uint64_t word) {
  *hash = (*hash ^ word) * 0x100000001b3u;
}

/* Adds up all ranks' parts, which rank 0 prints as an answer. Collective. */
static inline void hash_print(const char* name, uint64_t mine, MPI_Comm comm) {
  uint64_t all = 0;
  int rank;
  MPI_Comm_rank(comm, &rank);
  MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, comm);
  if (rank == 0) printf("answer %s %016llx\n", name, (unsigned long long)all);
}

#endif
