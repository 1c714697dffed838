/* Builds the tree of Barnes and Hut for bodies that are distributed over the ranks:
 *
 *   mpiexec -n RANKS barnes_hut [--bodies N] [--heaviest M] [--steps K] [--align-levels 1]
 *
 * All ranks must agree how space is divided. They begin with one cube. On each level every rank
 * counts its own bodies in each subspace, an MPI_Allreduce adds the counts of all ranks, and each
 * subspace with more than M bodies is split into its eight octants, which are the subspaces of the
 * next level. So the length of the allreduce changes from level to level, until no subspace is too
 * heavy. After each tree the bodies move, and the next step builds another one.
 *
 * The bodies are drawn from Plummer's model of a star cluster: the mass within a radius r, in units
 * of the model's own radius, is r^3 / (1 + r^2)^(3/2). Bodies farther than 16 radii are drawn
 * again. A body's number decides where it is, so the tree does not depend on the number of ranks.
 * Counts are whole numbers, so neither do the answers. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "hash.h"
#include "options.h"
#include "phases.h"

enum { move, sort, align, count, allreduce, split, phase_count };
enum { octants = 8, deepest = 20, axes = 3 }; /* 3 bits of a key for each level */
static const double farthest = 16;            /* the cube's half side, in Plummer's radii */

typedef struct {
  double at[axes], by[axes]; /* place, and how far it moves in a step */
} Body;

/* Subspaces of one level. A subspace is all keys that begin with its own 3 * level bits. */
typedef struct {
  long length;
  uint64_t* prefix; /* indexed by subspace */
  long* first;      /* this rank's first body in it, by subspace; `length` + 1 of them */
  long* load;       /* bodies of this rank, later of all ranks */
} Level;

typedef struct {
  int rank, ranks;
  long bodies;          /* the bodies of this rank */
  Body* body;           /* */
  uint64_t *key, *room; /* indexed by body, in ascending order after sorting; and room to sort in */
  long heaviest;
  long aligns_levels; /* a barrier before each allreduce */
} Cluster;

typedef struct {
  long lengths[deepest + 1]; /* lengths of the allreduces, indexed by level, in the first step */
  long levels, calls, leaves;
  uint64_t hash; /* a hash of all counts of all steps */
} Tree;

static void* memory(size_t count, size_t size) {
  return options_memory("barnes_hut", count, size, "give fewer --bodies, or a larger --heaviest");
}

/* The next number of a sequence, from 0 to 1 (xorshift64*, 53 bits). */
static double next(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (double)((*state * 0x2545f4914f6cdd1du) >> 11) * 0x1p-53;
}

static void on_a_sphere(uint64_t* state, double radius, double* to) {
  const double z = 2 * next(state) - 1, angle = 6.283185307179586 * next(state);
  const double across = sqrt(1 - z * z);
  to[0] = radius * across * cos(angle);
  to[1] = radius * across * sin(angle);
  to[2] = radius * z;
}

static void draw(Body* body, uint64_t number) {
  uint64_t state = (number + 1) * 0x9e3779b97f4a7c15u;
  double radius = farthest;
  for (int i = 0; i < 8; ++i) next(&state); /* the first numbers of near states are near */
  while (radius >= farthest) {
    const double mass = next(&state); /* within the radius: Plummer's formula, solved for it */
    radius = mass > 0 ? 1 / sqrt(pow(mass, -2.0 / 3) - 1) : 0;
  }
  on_a_sphere(&state, radius, body->at);
  on_a_sphere(&state, 0.02 * next(&state), body->by);
}

static void move_all(Cluster* cluster) {
  for (long i = 0; i < cluster->bodies; ++i)
    for (int axis = 0; axis < axes; ++axis) {
      double* const at = &cluster->body[i].at[axis];
      *at += cluster->body[i].by[axis];
      if (fabs(*at) >= farthest) *at = copysign(farthest * (1 - 1e-9), *at);
    }
}

/* Every third bit of the result, from bit 0, is one of the lower 20 bits of x. */
static uint64_t spread(uint64_t x) {
  x = (x | x << 32) & 0x1f00000000ffffu;
  x = (x | x << 16) & 0x1f0000ff0000ffu;
  x = (x | x << 8) & 0x100f00f00f00f00fu;
  x = (x | x << 4) & 0x10c30c30c30c30c3u;
  return (x | x << 2) & 0x1249249249249249u;
}

/* The octants in which a body lies, from the first level to the deepest: 3 bits for each. */
static uint64_t key_of(const Body* body) {
  uint64_t key = 0;
  for (int axis = 0; axis < axes; ++axis) {
    const double unit = (body->at[axis] + farthest) / (2 * farthest); /* 0 to 1 */
    key |= spread((uint64_t)(unit * (1 << deepest))) << axis;
  }
  return key;
}

/* Sorts the keys by bytes, the lowest first. */
static void sort_keys(Cluster* cluster) {
  for (int shift = 0; shift < 3 * deepest; shift += 8) {
    long place[257] = {0};
    for (long i = 0; i < cluster->bodies; ++i) ++place[(cluster->key[i] >> shift & 255) + 1];
    for (int i = 0; i < 256; ++i) place[i + 1] += place[i];
    for (long i = 0; i < cluster->bodies; ++i)
      cluster->room[place[cluster->key[i] >> shift & 255]++] = cluster->key[i];
    uint64_t* const sorted = cluster->room;
    cluster->room = cluster->key;
    cluster->key = sorted;
  }
}

/* The first of this rank's bodies from `from` to `to` whose key is not below `least`. */
static long first_from(const Cluster* cluster, long from, long to, uint64_t least) {
  while (from < to) {
    const long middle = from + (to - from) / 2;
    if (cluster->key[middle] < least)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

static Level make_level(long length) {
  const size_t subspaces = (size_t)length;
  Level level = {.length = length};
  level.prefix = memory(subspaces, sizeof *level.prefix);
  level.first = memory(subspaces + 1, sizeof *level.first);
  level.load = memory(subspaces, sizeof *level.load);
  return level;
}

static void free_level(Level* level) {
  free(level->prefix);
  free(level->first);
  free(level->load);
}

static void count_own(const Cluster* cluster, Level* level, int depth) {
  const int below = 3 * (deepest - depth);
  for (long i = 0; i < level->length; ++i) {
    const long end = i + 1 < level->length ? level->first[i + 1] : cluster->bodies;
    const uint64_t behind = (level->prefix[i] + 1) << below;
    level->load[i] = first_from(cluster, level->first[i], end, behind) - level->first[i];
  }
}

/* The octants of all subspaces that are too heavy. */
static Level split_heavy(const Cluster* cluster, const Level* level, int depth, long* leaves) {
  long heavy = 0;
  for (long i = 0; i < level->length; ++i) heavy += level->load[i] > cluster->heaviest;
  *leaves += level->length - heavy;
  Level next_level = make_level(octants * heavy);
  const int below = 3 * (deepest - depth - 1);
  long to = 0;
  for (long i = 0; i < level->length; ++i) {
    if (level->load[i] <= cluster->heaviest) continue;
    long from = level->first[i];
    for (uint64_t octant = 0; octant < octants; ++octant, ++to) {
      const uint64_t prefix = level->prefix[i] << 3 | octant;
      from = first_from(cluster, from, cluster->bodies, prefix << below);
      next_level.prefix[to] = prefix;
      next_level.first[to] = from;
    }
  }
  return next_level;
}

static void note(Tree* tree, const Level* level) {
  for (long i = 0; i < level->length; ++i) hash_word(&tree->hash, (uint64_t)level->load[i]);
}

/* Builds one tree; returns the bodies in the subspaces of the first level. */
static long build(const Cluster* cluster, Tree* tree, int is_first, Phase* phases) {
  Level level = make_level(1);
  level.prefix[0] = 0;
  level.first[0] = 0;
  long all = 0;
  for (int depth = 0; level.length > 0; ++depth) {
    phase_begin(&phases[count]);
    count_own(cluster, &level, depth);
    phase_end(&phases[count]);
    if (cluster->aligns_levels) {
      phase_begin(&phases[align]);
      MPI_Barrier(MPI_COMM_WORLD);
      phase_end(&phases[align]);
    }
    phase_begin(&phases[allreduce]);
    MPI_Allreduce(MPI_IN_PLACE, level.load, (int)level.length, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    phase_end(&phases[allreduce]);
    phase_begin(&phases[split]);
    if (depth == 0) all = level.load[0];
    if (is_first) tree->lengths[tree->levels++] = level.length;
    ++tree->calls;
    note(tree, &level);
    /* Bodies at one place cannot be separated: the deepest subspaces stay as they are. */
    Level below = depth < deepest ? split_heavy(cluster, &level, depth, &tree->leaves) : (Level){0};
    if (depth == deepest) tree->leaves += level.length;
    free_level(&level);
    level = below;
    phase_end(&phases[split]);
  }
  free_level(&level);
  return all;
}

static void print(const Tree* tree, long bodies, long steps, long heaviest) {
  printf("answer leaves %ld\nanswer counts %016" PRIx64 "\n", tree->leaves, tree->hash);
  printf("# %ld bodies, at most %ld in a subspace, %ld trees, %ld allreduces\n", bodies, heaviest,
         steps, tree->calls);
  printf("# lengths of the first tree's allreduces:");
  for (long i = 0; i < tree->levels; ++i) printf(" %ld", tree->lengths[i]);
  printf("\n");
}

int main(int argc, char** argv) {
  long bodies = 200000, heaviest = 64, steps = 200, aligns_levels = 0;
  const Option options[] = {
      {"--bodies", &bodies, 1, 1000000000, "bodies of all ranks", 1, NULL},
      {"--heaviest", &heaviest, 1, 1000000000, "most bodies in a subspace that is not split", 1,
       NULL},
      {"--steps", &steps, 1, 100000, "trees", 1, NULL},
      {"--align-levels", &aligns_levels, 0, 1, "1: a barrier before each allreduce, timed apart", 1,
       NULL},
  };
  Cluster cluster = {0};
  MPI_Init(&argc, &argv);
  options_read("barnes_hut", "Builds Barnes-Hut trees of a star cluster.", argc, argv, options, 4);
  MPI_Comm_rank(MPI_COMM_WORLD, &cluster.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &cluster.ranks);
  cluster.heaviest = heaviest;
  cluster.aligns_levels = aligns_levels;
  const long first = bodies * cluster.rank / cluster.ranks;
  cluster.bodies = bodies * (cluster.rank + 1) / cluster.ranks - first;
  const size_t own = (size_t)cluster.bodies + 1;
  cluster.body = memory(own, sizeof *cluster.body);
  cluster.key = memory(own, sizeof *cluster.key);
  cluster.room = memory(own, sizeof *cluster.room);
  for (long i = 0; i < cluster.bodies; ++i) draw(&cluster.body[i], (uint64_t)(first + i));

  Phase phases[phase_count] = {
      {"move", PHASE_COMPUTATION, 0, 0},        {"sort", PHASE_COMPUTATION, 0, 0},
      {"align", PHASE_COMPUTATION, 0, 0},       {"count", PHASE_COMPUTATION, 0, 0},
      {"allreduce", PHASE_COMMUNICATION, 0, 0}, {"split", PHASE_COMPUTATION, 0, 0}};
  Tree tree = {.hash = hash_begin};
  int right = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (long step = 0; step < steps; ++step) {
    phase_begin(&phases[move]);
    move_all(&cluster);
    phase_end(&phases[move]);
    phase_begin(&phases[sort]);
    for (long i = 0; i < cluster.bodies; ++i) cluster.key[i] = key_of(&cluster.body[i]);
    sort_keys(&cluster);
    phase_end(&phases[sort]);
    /* The ranks begin the tree together, so that the first allreduce is not charged for the time in
     * which a rank waits for another that is still sorting. */
    phase_begin(&phases[align]);
    MPI_Barrier(MPI_COMM_WORLD);
    phase_end(&phases[align]);
    if (build(&cluster, &tree, step == 0, phases) != bodies) right = 0;
  }
  const double whole = MPI_Wtime() - began;

  phases_print(phases, phase_count, whole, MPI_COMM_WORLD);
  if (cluster.rank == 0) {
    print(&tree, bodies, steps, heaviest);
    if (!right) fprintf(stderr, "barnes_hut: the first subspace does not have all bodies\n");
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
