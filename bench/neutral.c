#define _GNU_SOURCE
#include "neutral.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "statistics.h"

/* Two cache lines of 64 bytes, because processors fetch adjacent lines in pairs. */
struct NeutralShared {
  _Alignas(128) atomic_uint arrived;
  _Alignas(128)
      atomic_uint meeting; /* written with release by the last to arrive: `start` belongs to it */
  uint64_t start;
  _Alignas(128) atomic_int end;
  _Alignas(128) unsigned char ranks[]; /* a RankPart each */
};

typedef struct {
  _Alignas(128) atomic_uint entered;
  _Alignas(128) atomic_uint turn; /* the turn of neutral_hand_over */
  _Alignas(128) uint64_t ticks[]; /* indexed by sample */
} RankPart;

static size_t part_bytes(int samples) {
  return (sizeof(RankPart) + (size_t)samples * sizeof(uint64_t) + 127) / 128 * 128;
}

static size_t bytes_for(int ranks, int samples) {
  return sizeof(NeutralShared) + (size_t)ranks * part_bytes(samples);
}

static RankPart* part_of(const Neutral* neutral, int rank) {
  return (RankPart*)(void*)(neutral->shared->ranks + (size_t)rank * part_bytes(neutral->samples));
}

static const char* open_ground(NeutralName* name, const char* ground) {
  if ((size_t)snprintf(name->path, sizeof name->path, "%s", ground) >= sizeof name->path) {
    errno = ENAMETOOLONG;
    return "the name of the file of --ground is too long";
  }
  name->file = open(name->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (name->file < 0) return "the file of --ground cannot be made";
  name->has_name = true;
  return NULL;
}

static const char* open_memory(NeutralName* name) {
  name->file = memfd_create("tutti-bench", MFD_CLOEXEC);
  if (name->file >= 0) {
    snprintf(name->path, sizeof name->path, "/proc/%ld/fd/%d", (long)getpid(), name->file);
    return NULL;
  }
  snprintf(name->path, sizeof name->path, "/dev/shm/tutti-bench-XXXXXX");
  name->file = mkstemp(name->path);
  if (name->file < 0) return "neither memfd_create nor a file in /dev/shm works";
  name->has_name = true;
  return NULL;
}

const char* neutral_make(NeutralName* name, const char* ground, int ranks, int samples) {
  const char* failed = ground != NULL ? open_ground(name, ground) : open_memory(name);
  if (failed != NULL) return failed;
  if (ftruncate(name->file, (off_t)bytes_for(ranks, samples)) != 0)
    return "shared memory cannot be sized";
  return NULL;
}

const char* neutral_join(Neutral* neutral, const char* path, int rank, int ranks, int cores,
                         int samples) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return "the shared memory of rank 0 cannot be opened";
  const size_t bytes = bytes_for(ranks, samples);
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return "shared memory cannot be mapped";
  *neutral = (Neutral){.shared = memory,
                       .bytes = bytes,
                       .rank = rank,
                       .ranks = ranks,
                       .samples = samples,
                       .yields = ranks > cores,
                       .clock = bench_clock_open()};
  /* Long enough for all ranks to see the release, and short enough that no core enters a sleep
   * state. */
  neutral->lead = (uint64_t)((0.6e-6 + 0.1e-6 * ranks) * neutral->clock.ticks_per_second);
  neutral->late = (uint64_t)(0.05e-6 * neutral->clock.ticks_per_second);
  return NULL;
}

void neutral_unname(const NeutralName* name) {
  close(name->file);
  if (name->has_name) unlink(name->path);
}

void neutral_leave(Neutral* neutral) {
  munmap(neutral->shared, neutral->bytes);
  neutral->shared = NULL;
}

static void doze(void) { nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL); }

static void wait_for(Neutral* neutral, unsigned meeting) {
  uint64_t polls = 0, hook_at = bench_nanoseconds() + 2000000;
  while (atomic_load_explicit(&neutral->shared->meeting, memory_order_acquire) != meeting) {
    ++polls;
    if (neutral->sleeps && polls > 20) {
      doze();
    } else if (neutral->yields && polls > 20) {
      sched_yield();
    } else {
      bench_pause();
    }
    /* A long wait is not part of a measurement, and another rank may still need a message from
     * this rank's MPI. */
    if (neutral->while_waiting != NULL && (neutral->sleeps || polls % 64 == 0) &&
        bench_nanoseconds() > hook_at) {
      neutral->while_waiting();
      hook_at = bench_nanoseconds() + 200000;
    }
  }
}

uint64_t neutral_meet(Neutral* neutral) {
  NeutralShared* shared = neutral->shared;
  const unsigned meeting = ++neutral->meetings;
  const unsigned last = meeting * (unsigned)neutral->ranks;
  if (atomic_fetch_add_explicit(&shared->arrived, 1, memory_order_acq_rel) + 1 == last) {
    shared->start =
        bench_now(&neutral->clock) + (neutral->yields && !neutral->sleeps ? 0 : neutral->lead);
    atomic_store_explicit(&shared->meeting, meeting, memory_order_release);
  } else {
    wait_for(neutral, meeting);
  }
  return shared->start; /* no rank writes it before this rank has arrived at the next meeting */
}

/* A rank that wakes up late starts late. On cores that nodes and the network share, nothing better
 * is possible. */
static void sleep_until(const Neutral* neutral, uint64_t start) {
  const uint64_t nearly = start - (uint64_t)(0.1e-3 * neutral->clock.ticks_per_second);
  while (bench_now(&neutral->clock) < nearly) doze();
  while (bench_now(&neutral->clock) < start) sched_yield();
}

void neutral_sleep(Neutral* neutral) {
  neutral->sleeps = true;
  neutral->lead = (uint64_t)(0.5e-3 * neutral->clock.ticks_per_second); /* all are awake by then */
}

bool neutral_start(Neutral* neutral, uint64_t* start) {
  *start = neutral_meet(neutral);
  if (neutral->sleeps) {
    sleep_until(neutral, *start);
    return true;
  }
  if (neutral->yields) return true;
  uint64_t now = bench_now(&neutral->clock);
  if (now > *start + neutral->late) return false;
  while (now < *start) now = bench_now(&neutral->clock);
  return now <= *start + neutral->late;
}

bool neutral_hand_over(Neutral* neutral, double* nanoseconds) {
  enum { batches = 21, rounds = 100 };
  if (neutral->ranks < 2 || neutral->yields || neutral->sleeps) return false;
  neutral_meet(neutral);
  if (neutral->rank < 2) {
    double batch[batches];
    atomic_uint *mine = &part_of(neutral, neutral->rank)->turn,
                *other = &part_of(neutral, !neutral->rank)->turn;
    unsigned turn =
        atomic_load_explicit(mine, memory_order_relaxed); /* the same at both, from the last time */
    for (int b = 0; b < batches; ++b) {
      const uint64_t began = bench_now(&neutral->clock);
      for (int i = 0; i < rounds; ++i) {
        ++turn;
        if (neutral->rank == 0) atomic_store_explicit(mine, turn, memory_order_release);
        while (atomic_load_explicit(other, memory_order_acquire) != turn) bench_pause();
        if (neutral->rank == 1) atomic_store_explicit(mine, turn, memory_order_release);
      }
      batch[b] = (double)(bench_now(&neutral->clock) - began) * 1e9 / (2 * rounds) /
                 neutral->clock.ticks_per_second;
    }
    *nanoseconds = median_of(batch, batches);
  }
  neutral_meet(neutral);
  return true;
}

void neutral_set_end(Neutral* neutral, int operations) {
  atomic_store_explicit(&neutral->shared->end, operations, memory_order_relaxed);
}

int neutral_end(const Neutral* neutral) {
  return atomic_load_explicit(&neutral->shared->end, memory_order_relaxed);
}

void neutral_enter(const Neutral* neutral, uint32_t number) {
  atomic_store_explicit(&part_of(neutral, neutral->rank)->entered, number, memory_order_release);
}

bool neutral_all_entered(const Neutral* neutral, uint32_t number) {
  bool all = true;
  for (int rank = 0; rank < neutral->ranks; ++rank) {
    all = all &&
          atomic_load_explicit(&part_of(neutral, rank)->entered, memory_order_acquire) >= number;
  }
  return all;
}

void neutral_note(Neutral* neutral, int sample, uint64_t ticks) {
  part_of(neutral, neutral->rank)->ticks[sample] = ticks;
}

uint64_t neutral_largest(const Neutral* neutral, int sample) {
  uint64_t largest = 0;
  for (int rank = 0; rank < neutral->ranks; ++rank) {
    const uint64_t ticks = part_of(neutral, rank)->ticks[sample];
    if (ticks > largest) largest = ticks; /* "no sample" is the largest number */
  }
  return largest;
}
