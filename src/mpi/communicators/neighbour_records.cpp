#include "mpi/communicators/neighbour_records.h"

#include <span>
#include <utility>
#include <vector>

namespace tutti::mpi {
namespace {

using plan::Collective;

records::PrivateSequence& open(Records& records, const records::Neighbourhood& own, uint64_t call) {
  const std::vector<records::OutEdge> edges = records::out_edges(own);
  records::PrivateSequence::Settings settings;
  settings.call = call;
  settings.note = std::as_bytes(std::span(edges));
  settings.readers.emplace();
  for (const int32_t to : own.destinations)
    if (to >= 0) settings.readers->push_back(to);
  return records.open(std::move(settings));
}

}  // namespace

NeighbourRecords::NeighbourRecords(Records& records, records::Neighbourhood own, uint64_t call)
    : records_(records), own_(std::move(own)), opened_(open(records, own_, call)) {
  const int rank = records.sequence().rank(), ranks = records.sequence().ranks();
  for (const Collective collective : {Collective::allgather, Collective::alltoall})
    programs(collective).start = records::neighbours_start(collective, rank, ranks, own_);
}

NeighbourRecords::~NeighbourRecords() { records_.close(opened_); }

NeighbourRecords::Programs& NeighbourRecords::programs(Collective collective) {
  return programs_[plan::parted_in(collective) ? 1 : 0];
}

const plan::RecordProgram& NeighbourRecords::program(Collective collective) {
  const Programs& known = programs(collective);
  return shm::observe(known.is_whole) != 0 ? known.whole : known.start;
}

int NeighbourRecords::find_program(Collective collective, const plan::RecordProgram** program) {
  Programs& known = programs(collective);
  if (shm::observe(known.is_whole) == 0) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::span<const std::byte> note;
    for (const int32_t from : known.start.awaits)
      if (!opened_.find_note(from, &note)) return from;
    if (shm::observe(known.is_whole) == 0) {
      known.whole = records::neighbours_program(
          collective, known.start.rank, known.start.ranks, own_, [&](int32_t rank) {
            (void)opened_.find_note(rank, &note);
            return std::span(reinterpret_cast<const records::OutEdge*>(note.data()),
                             note.size() / sizeof(records::OutEdge));
          });
      shm::publish(known.is_whole, 1);
    }
  }
  *program = &known.whole;
  return -1;
}

}  // namespace tutti::mpi
