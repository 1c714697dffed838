/* The kinds of calls that tutti-bench measures: a collective, its bytes, the type of its elements,
 * its root, its communicator and its form.
 *
 * A kind is written as in `bcast:4K:1` or `allreduce:4:uint32:dup:nonblocking`: the collective, its
 * bytes (none for a barrier), then in any order the root (default 0), the element (default double),
 * `dup` for a duplicate of MPI_COMM_WORLD, the lengths of parts that may differ (default ramp), and
 * the form (default blocking). Every rank makes the
 * list of kinds once, from the same words. The list lives as long as the job. */
#ifndef TUTTI_BENCH_KINDS_H
#define TUTTI_BENCH_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "pattern.h"

typedef enum {
#define BENCH_COLLECTIVE(constant, ...) constant,
#include "collectives.inc.h"
#undef BENCH_COLLECTIVE
  BENCH_COLLECTIVES
} BenchCollective;
extern const char* const bench_collective_names[BENCH_COLLECTIVES]; /* MPI's, in lower case */

typedef struct {
  bool rooted;            /* there is a root */
  bool each_in, each_out; /* the buffer holds a part for each rank, otherwise one part */
  bool reduces;
  bool uneven; /* the parts may differ in length */
} BenchShape;
extern const BenchShape bench_shapes[BENCH_COLLECTIVES];

/* How long the parts of such a collective are; their mean is the kind's bytes. RAMP: from 1/2 to
 * 3/2 of them, growing evenly. EQUAL: all alike. HEAVY: one part has nearly everything, the others
 * 1/8 of the mean. */
typedef enum { BENCH_RAMP, BENCH_EQUAL, BENCH_HEAVY, BENCH_LENGTHS } BenchLengths;
extern const char* const bench_lengths_names[BENCH_LENGTHS];

typedef enum { BENCH_WORLD, BENCH_DUP, BENCH_COMMUNICATORS } BenchCommunicator;
extern const char* const bench_communicator_names[BENCH_COMMUNICATORS];

/* How a program calls a collective. A non-blocking or persistent operation is started by one call
 * (MPI_Iallreduce, MPI_Start) and completed by another (MPI_Wait). */
typedef enum { BENCH_BLOCKING, BENCH_NONBLOCKING, BENCH_PERSISTENT, BENCH_FORMS } BenchForm;
extern const char* const bench_form_names[BENCH_FORMS];

typedef struct {
  BenchCollective collective;
  size_t bytes; /* whole elements: see collectives.h for what of; 0 for a barrier */
  PatternElement element;
  int root; /* 0 where the collective has none */
  BenchCommunicator communicator;
  BenchForm form;
  BenchLengths lengths; /* 0 where all parts are alike */
} BenchKind;

typedef struct {
  BenchKind* kinds;
  int count, room;
} BenchKinds;

/* The length of the longest word of a kind, with its terminating 0. */
#define BENCH_KIND_WORD 64

/* The number of a word in a table of `known` names, or `known` if it is not there. */
int bench_word(const char* const* names, int known, const char* word, size_t length);

/* Numbers of words in such a table. */
typedef struct {
  int chosen[BENCH_COLLECTIVES];
  int count;
} WordList;

/* Reads bytes such as 8, 4K or 1M at `word`. False if there are none, or more than 1024M. */
bool bench_parse_bytes(const char* word, size_t length, size_t* bytes);

/* Both are false without memory. The second appends nothing if the kind is there. */
bool kinds_append(BenchKinds* kinds, BenchKind kind);
bool kinds_add(BenchKinds* kinds, BenchKind kind);

/* Parses a list of kinds, each taken once; the word `programs` stands for a list. A root is taken
 * modulo the number of ranks. False, and one line in `message`, if a word is not accepted. */
bool kinds_parse(BenchKinds* kinds, const char* words, int ranks, char message[256]);

/* Replaces each blocking kind by the same kind in each of these forms. False without memory. */
bool kinds_in_forms(BenchKinds* kinds, const WordList* forms);

void kind_word(const BenchKind* kind, char word[BENCH_KIND_WORD]);

/* The kinds that `programs` stands for: short calls, such as programs alternate. */
#define BENCH_PROGRAMS                                                                            \
  "allreduce:4:uint32,allreduce:8,allreduce:64,allreduce:512,allreduce:4K,allreduce:8:dup,bcast:" \
  "8,bcast:8:1,"                                                                                  \
  "bcast:64:2,bcast:512,bcast:4K:1,reduce:8,reduce:8:1,barrier,allgather:8,alltoall:8,gather:8,"  \
  "scan:8"

#endif
