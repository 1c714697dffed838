#include "mpi/job/served.h"

#include <algorithm>

namespace tutti::mpi {
namespace {

shm::Word threads{1};  // places given away; the first one is for threads that have not entered yet

}  // namespace

ServedCalls::Place ServedCalls::places[most];
constinit TUTTI_PER_THREAD shm::Word* ServedCalls::here = &ServedCalls::places[0].served;

void ServedCalls::take_place() {
  uint64_t mine = shm::load_relaxed(threads);
  while (!shm::advance(threads, mine, mine + 1)) {
  }
  here = &places[1 + (mine - 1) % (most - 1)].served;
}

size_t ServedCalls::places_in_use() { return std::min<size_t>(shm::load_relaxed(threads), most); }

bool ServedCalls::any() {
  return std::any_of(places, places + places_in_use(),
                     [](const Place& place) { return shm::load_relaxed(place.served) != 0; });
}

void ServedCalls::forget() {
  for (size_t place = 0; place < places_in_use(); ++place)
    shm::store_relaxed(places[place].served, 0);
}

}  // namespace tutti::mpi
