#include "records/operation.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "records/record_layout.h"
#include "kernels/kernels.h"
#include "kernels/parts.h"

namespace tutti::records {
namespace {

using plan::RecordProgram;

// Shorter data is copied, because ranks hand a buffer over more slowly than they copy.
constexpr size_t least_lent = size_t{16} << 10;

// Records of so many bytes are published before they are filled, so that a rank that waits reads a
// piece while the next one is copied.
constexpr size_t least_in_pieces = 2 * piece_bytes;
static_assert(std::min(least_lent, least_in_pieces) > Sequence::most_whole);

// True if start() lends the buffer. The owner must not overwrite it while others may borrow it, and
// it must have the data as it lies in the record.
bool may_lend(const Sequence& sequence, const Operation& operation, size_t record) {
  if (record < least_lent || operation.program->read_by == 0 || operation.packs_in != nullptr ||
      (operation.in_place && !operation.keeps_own) || !sequence.reaches(operation.in))
    return false;
  return std::all_of(
      operation.program->gives.begin(), operation.program->gives.end(), [&](int32_t block) {
        return bytes_in(operation, block) == 0 || sequence.reaches(address_in(operation, block));
      });
}

// Fills the data of this rank's record, by pieces of at most so many bytes, or of more if several
// threads copy: copy(to, from, bytes). After each piece, note(bytes of the data that are there).
// Returns Packing's first error.
template <class Copy, class Note>
int fill_data(const Operation& operation, std::byte* record, size_t piece, Copy copy, Note note) {
  const RecordProgram& program = *operation.program;
  const bool all = own_from_record(operation);
  std::byte* const data = record + table_bytes(operation);
  std::byte* to = data;
  int error = 0;
  for (size_t i = 0; i < program.gives.size(); ++i) {
    const int32_t block = program.gives[i];
    const size_t length = bytes_in(operation, block);
    if (!all && !program.given_to_others[i]) {
      to += length;
      continue;
    }
    if (operation.packs_in != nullptr && length > 0) {
      const int code = operation.packs_in->pack(block, to, length);
      if (error == 0) error = code;
      to += length;
      note(static_cast<size_t>(to - data));
      continue;
    }
    const std::byte* const from = address_in(operation, block);
    const size_t step = kernels::bytes_at_once(operation.parallel, length, piece);
    for (size_t at = 0; at < length; at += step) {
      copy(to + at, from + at, std::min(step, length - at));
      note(static_cast<size_t>(to - data) + std::min(at + step, length));
    }
    to += length;
  }
  return error;
}

void fill_tables(const Operation& operation, std::byte* record) {
  const std::vector<int32_t>& gives = operation.program->gives;
  std::byte* const places = record + record_bytes(operation) - table_bytes(operation);
  TableEntry end = 0;
  for (size_t i = 0; i < gives.size(); ++i) {
    end += bytes_in(operation, gives[i]);
    std::memcpy(record + i * sizeof end, &end, sizeof end);
    if (!operation.lent) continue;
    const ptrdiff_t at = address_in(operation, gives[i]) - operation.in;
    std::memcpy(places + i * sizeof at, &at, sizeof at);
  }
}

// Ranks share the work if there are so many, and so many bytes.
constexpr int least_ranks_of_tiles = 3;
constexpr size_t least_in_tiles = size_t{64} << 10;

// The length of a tile, a multiple of the element; 0 if this rank's record has no tiles.
size_t tile_bytes_of(const Operation& operation) {
  const RecordProgram& program = *operation.program;
  if (program.rank != 0 || program.collective != plan::Collective::allreduce ||
      program.ranks < least_ranks_of_tiles || operation.in_bytes < least_in_tiles ||
      !combines_by_parts(operation))
    return 0;
  const size_t element = operation.combine->element;
  return std::max(piece_bytes / element, size_t{1}) * element;
}

// Memory for this rank's record of so many bytes of data.
std::byte* prepare(Sequence& sequence, size_t bytes, size_t tile_bytes) {
  if (tile_bytes == 0) return sequence.prepare(bytes);
  const TileArea area(bytes, tile_bytes);
  std::byte* const record = sequence.prepare(area.end);
  auto* const claims = new (record + area.claims) shm::Word[area.tiles];
  for (size_t i = 0; i < area.tiles; ++i) shm::store_relaxed(claims[i], 0);
  return record;
}

// True if the record is a line of blocks of one length, which are copied as they are.
bool fills_a_line(const Operation& operation) {
  return operation.parts == nullptr && operation.packs_in == nullptr &&
         operation.observer == nullptr &&
         operation.program->gives.size() * operation.in_bytes <= shm::RecordLine::most_bytes;
}

void start_line(Sequence& sequence, Operation& operation) {
  const std::vector<int32_t>& gives = operation.program->gives;
  const size_t length = operation.in_bytes, bytes = gives.size() * length;
  std::byte* to = sequence.prepare(bytes);
  if (length > 0)
    for (const int32_t block : gives) {
      kernels::copy(to, operation.in + static_cast<size_t>(block) * length, length);
      to += length;
    }
  operation.number = sequence.publish(signature(operation, bytes));
}

}  // namespace

size_t record_bytes(const Operation& operation) {
  const RecordProgram& program = *operation.program;
  if (operation.parts == nullptr) return program.gives.size() * operation.in_bytes;
  size_t bytes = program.gives.size() * sizeof(TableEntry);
  for (const int32_t block : program.gives) bytes += bytes_in(operation, block);
  return operation.lent ? bytes + table_bytes(operation) : bytes;
}

int start(Sequence& sequence, Operation& operation, exec::SlotStores& stores) {
  operation.call = call_of(operation);
  operation.lent = false;
  operation.seen = 0;
  if (fills_a_line(operation)) {
    start_line(sequence, operation);
    return 0;
  }
  size_t bytes = record_bytes(operation);
  operation.lent = may_lend(sequence, operation, bytes);
  if (operation.lent) bytes = record_bytes(operation);
  const size_t tile_bytes = tile_bytes_of(operation);
  std::byte* const record = prepare(sequence, bytes, tile_bytes);
  if (operation.parts != nullptr) fill_tables(operation, record);
  const bool in_pieces = !operation.lent && bytes >= least_in_pieces;
  const auto publish = [&] {
    operation.number = sequence.publish(signature(operation, bytes),
                                        {.lent = operation.lent ? operation.in : nullptr,
                                         .is_filled = !operation.lent && !in_pieces,
                                         .tile_bytes = tile_bytes});
  };
  const auto copy = [&](std::byte* to, const std::byte* from, size_t length) {
    if (length < exec::SlotStores::least_bytes) return kernels::copy(to, from, length);
    const bool past_cache = stores.past_cache();
    kernels::Parts(operation.parallel, length).run([&](int number, size_t at, size_t bytes) {
      if (number == 0)  // one thread uses `stores`
        stores.copy(to, from, bytes);
      else if (past_cache)
        kernels::copy_through(to + at, from + at, bytes);
      else
        kernels::copy(to + at, from + at, bytes);
    });
  };
  int error = 0;
  if (in_pieces) {
    publish();
    error = fill_data(operation, record, piece_bytes, copy,
                      [&](size_t filled) { sequence.note_filled(operation.number, filled); });
    sequence.note_filled(operation.number, Sequence::all_filled);
  } else if (!operation.lent) {
    error = fill_data(operation, record, bytes, copy, [](size_t) {});
  }
  if (operation.observer != nullptr) operation.observer->filled();
  if (!in_pieces) publish();
  return error;
}

bool is_ready(Sequence& sequence, Operation& operation, int* late) {
  const std::vector<int32_t>& awaits = operation.program->awaits;
  for (; operation.seen < awaits.size(); ++operation.seen)
    if (!sequence.has(awaits[operation.seen], operation.number)) {
      *late = awaits[operation.seen];
      return false;
    }
  return true;
}

bool is_returned(Sequence& sequence, const Operation& operation) {
  return sequence.is_returned(operation.number, operation.program->read_by);
}

void withdraw(Sequence& sequence, const Operation& operation) {
  // The record is this rank's own.
  auto* const record =
      const_cast<std::byte*>(sequence.record(sequence.rank(), operation.number).data);
  fill_data(
      operation, record, piece_bytes,
      [&](std::byte* to, const std::byte* from, size_t bytes) {
        kernels::copy_in_parts(operation.parallel, to, from, bytes);
      },
      [](size_t) {});
  sequence.note_filled(operation.number, Sequence::all_filled);
  sequence.withdraw(operation.number);
}

}  // namespace tutti::records
