#include "mpi/job/served.h"

#include <algorithm>

namespace tutti::mpi {
namespace {

shm::Word threads{1};  // notes given to threads; all that have not entered share the first

}  // namespace

ServedCalls::ThreadNote ServedCalls::notes[most];
constinit TUTTI_PER_THREAD shm::Word* ServedCalls::here = &ServedCalls::notes[0].served;

void ServedCalls::take_note() {
  uint64_t mine = shm::load_relaxed(threads);
  while (!shm::advance(threads, mine, mine + 1)) {
  }
  here = &notes[1 + (mine - 1) % (most - 1)].served;
}

size_t ServedCalls::notes_in_use() { return std::min<size_t>(shm::load_relaxed(threads), most); }

uint64_t ServedCalls::of_all_threads() {
  uint64_t all = 0;
  for (size_t i = 0; i < notes_in_use(); ++i) all += shm::load_relaxed(notes[i].served);
  return all;
}

bool ServedCalls::any() {
  return std::any_of(notes, notes + notes_in_use(), [](const ThreadNote& note) {
    return shm::load_relaxed(note.served) != shm::load_relaxed(note.forgotten);
  });
}

void ServedCalls::forget() {
  for (size_t i = 0; i < notes_in_use(); ++i)
    shm::store_relaxed(notes[i].forgotten, shm::load_relaxed(notes[i].served));
}

}  // namespace tutti::mpi
