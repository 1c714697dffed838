// Taking: a rank computes its results from the records of others (operation.h).
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/operation.h"
#include "records/record_layout.h"
#include "exec/combine.h"
#include "kernels/kernels.h"
#include "kernels/parts.h"

namespace tutti::records {
namespace {

using plan::Buffer;
using plan::RecordProgram;
using plan::Take;
using plan::TakeSource;

constexpr size_t few = RecordProgram::few;

void combine(const Operation& operation, void* to, const void* const* sources, int32_t count,
             size_t bytes) {
  if (operation.all == nullptr) return exec::combine(*operation.combine, to, sources, count, bytes);
  operation.all(to, sources, count, bytes / operation.combine->element, operation.divisor);
}

// Where a block of a v-form is in a record, from the end of the record's table.
struct Extent {
  size_t begin, bytes;
};
Extent extent_of(const std::byte* table, size_t place) {
  TableEntry begin = 0, end = 0;
  if (place > 0) std::memcpy(&begin, table + (place - 1) * sizeof begin, sizeof begin);
  std::memcpy(&end, table + place * sizeof end, sizeof end);
  return {begin, end - begin};
}

// The long records that an operation reads, by place in its program's `awaits`: the buffers that it
// borrows, each of which it gives back after the last take that reads it, and the records that
// their ranks are filling.
class LongRecords {
 public:
  LongRecords(Sequence& sequence, const Operation& operation)
      : sequence_(sequence), operation_(operation), program_(*operation.program) {}
  ~LongRecords() {
    for (size_t i = 0; i < records_.size(); ++i) give_back(i);
  }
  LongRecords(const LongRecords&) = delete;

  void look_at(size_t awaited) {
    const int32_t rank = program_.awaits[awaited];
    const std::byte* const buffer = sequence_.borrow(rank, operation_.number);
    const shm::Word* filled = nullptr;
    if (buffer == nullptr) {
      filled = &sequence_.filled(rank, operation_.number);
      if (shm::observe(*filled) == Sequence::all_filled) return;
    }
    if (records_.empty()) {
      records_.resize(program_.awaits.size());
      for (const TakeSource& source : program_.sources)
        if (source.awaited >= 0) ++record_of(source).reads_left;
    }
    records_[awaited].buffer = buffer;
    records_[awaited].filled = filled;
  }

  // True if there is a buffer that is borrowed, or a record that is not filled yet.
  bool any() const { return !records_.empty(); }
  // The buffer of the source's rank; null if it is not borrowed.
  const std::byte* buffer(const TakeSource& source) {
    return records_.empty() || source.awaited < 0 ? nullptr : record_of(source).buffer;
  }
  // Returns the word that grows while the rank fills its record; null if the record is filled, or
  // not needed.
  const shm::Word* filled(const TakeSource& source) {
    return records_.empty() || source.awaited < 0 ? nullptr : record_of(source).filled;
  }
  // The take has been executed.
  void note(const Take& take) {
    for (int32_t i = 0; i < take.source_count; ++i) {
      const TakeSource& source = program_.sources[static_cast<size_t>(take.first_source + i)];
      if (source.awaited >= 0 && --record_of(source).reads_left == 0)
        give_back(static_cast<size_t>(source.awaited));
    }
  }

 private:
  struct Record {
    const std::byte* buffer = nullptr;
    const shm::Word* filled = nullptr;
    int32_t reads_left = 0;
  };

  Record& record_of(const TakeSource& source) {
    return records_[static_cast<size_t>(source.awaited)];
  }
  void give_back(size_t awaited) {
    if (std::exchange(records_[awaited].buffer, nullptr) != nullptr)
      sequence_.give_back(program_.awaits[awaited], operation_.number);
  }

  Sequence& sequence_;
  const Operation& operation_;
  const RecordProgram& program_;
  std::vector<Record> records_;  // none until one is noteworthy
};

// The state of one take().
class Taker {
 public:
  Taker(Sequence& sequence, const Operation& operation, std::vector<std::byte>& scratch,
        Waits& waits)
      : sequence_(sequence),
        operation_(operation),
        program_(*operation.program),
        scratch_(scratch),
        waits_(waits),
        long_(sequence, operation) {}

  Outcome run() {
    if (program_.tmp_blocks > 0) {
      const size_t needed = static_cast<size_t>(program_.tmp_blocks) * operation_.bytes;
      if (scratch_.size() < needed) scratch_.resize(needed);
    }
    for (size_t i = 0; i < program_.awaits.size(); ++i)
      if (!agrees(i)) return outcome_;
    if (plan::has_data(program_.collective))
      for (size_t i = 0; i < program_.takes.size(); ++i) {
        const Take& take = program_.takes[i];
        if (!execute(take)) break;
        if (long_.any()) long_.note(take);
        if (operation_.observer != nullptr) operation_.observer->took(program_, i, bytes_of(take));
      }
    return outcome_;
  }

 private:
  bool fail(Code code, std::string message) {
    outcome_.code = code;
    outcome_.failure = std::move(message);
    return false;
  }

  // A call as errors name it.
  std::string text_of(uint64_t call, bool with_bytes) const {
    return exec::describe_call(call, with_bytes, operation_.name_of_kind);
  }
  int root_of(uint64_t call) const {
    return exec::call_root(operation_.name_of_kind == nullptr ? call : exec::without_kind(call));
  }

  // True if the record of an awaited rank is of this collective and kind and, where parts have one
  // length, of this length. Keeps the first records for the takes.
  bool agrees(size_t awaited) {
    const int32_t rank = program_.awaits[awaited];
    const auto blocks = static_cast<size_t>(program_.awaited_blocks[awaited]);
    const Sequence::Record record = sequence_.record(rank, operation_.number);
    if (awaited < few) data_[awaited] = record.data;
    const uint64_t theirs = record.call;
    const uint64_t mine = signature(operation_, blocks * operation_.bytes);
    const bool same =
        operation_.parts == nullptr ? theirs == mine : theirs >> call_shift == mine >> call_shift;
    if (same) {
      if (record.is_long) long_.look_at(awaited);
      return true;
    }
    // The bytes of a record are those that its rank gives. A rank that takes another rank for the
    // root of a broadcast gives none.
    const bool with_bytes = root_of(theirs) == root_of(mine);
    const char* const and_types = operation_.name_of_kind == nullptr ? "" : " and types";
    return fail(Code::mismatch,
                "rank " + std::to_string(rank) + " started " + text_of(theirs, with_bytes) +
                    " where rank " + std::to_string(program_.rank) + " expects " +
                    text_of(mine, with_bytes) + " (operation " + std::to_string(operation_.number) +
                    " of those that outlive their call); all ranks must start the "
                    "same collectives in the same order, with the same sizes" +
                    and_types);
  }

  size_t bytes_of(const Take& take) const {
    return take.buffer == Buffer::out ? bytes_out(take.block) : operation_.bytes;
  }
  size_t bytes_out(int32_t block) const {
    return operation_.parts == nullptr ? operation_.bytes
                                       : operation_.parts->out.bytes[static_cast<size_t>(block)];
  }
  std::byte* address_out(int32_t block) const {
    const auto i = static_cast<size_t>(block);
    return operation_.out + (operation_.parts == nullptr
                                 ? static_cast<ptrdiff_t>(i * operation_.bytes)
                                 : operation_.parts->out.at[i]);
  }
  std::byte* address_tmp(int32_t block) const {
    return scratch_.data() + static_cast<size_t>(block) * operation_.bytes;
  }

  // A block of a rank's record; null with a failure if its length is not `bytes`.
  const std::byte* in_record(const TakeSource& source, size_t bytes) {
    const std::byte* const data = data_of(source);
    const std::byte* const lent = long_.buffer(source);
    const auto place = static_cast<size_t>(source.place);
    if (operation_.parts == nullptr)
      return lent != nullptr ? lent + static_cast<size_t>(source.block) * operation_.bytes
                             : data + place * operation_.bytes;
    const Extent extent = extent_of(data, place);
    if (extent.bytes != bytes) return lengths_differ(source.rank, extent.bytes, bytes);
    const size_t table = blocks_of(source) * sizeof(TableEntry);
    if (lent == nullptr) return data + table + extent.begin;
    TableEntry all = 0;
    std::memcpy(&all, data + table - sizeof all, sizeof all);
    ptrdiff_t at = 0;
    std::memcpy(&at, data + table + all + place * sizeof at, sizeof at);
    return lent + at;
  }

  std::nullptr_t lengths_differ(int32_t from, size_t given, size_t expected) {
    fail(Code::mismatch, "rank " + std::to_string(from) + " gives " + std::to_string(given) +
                             " bytes to a " + std::string(plan::name(program_.collective)) +
                             ", but rank " + std::to_string(program_.rank) + " expects " +
                             std::to_string(expected));
    return nullptr;
  }

  // The data of the record of a source's rank.
  const std::byte* data_of(const TakeSource& source) {
    const auto awaited = static_cast<size_t>(source.awaited);
    if (source.awaited >= 0 && awaited < few) return data_[awaited];
    if (source.awaited >= 0) return sequence_.record(source.rank, operation_.number).data;
    if (own_ == nullptr) own_ = sequence_.record(source.rank, operation_.number).data;
    return own_;
  }

  size_t blocks_of(const TakeSource& source) const {
    return source.awaited < 0
               ? program_.gives.size()
               : static_cast<size_t>(program_.awaited_blocks[static_cast<size_t>(source.awaited)]);
  }

  const std::byte* address_of(const TakeSource& source, size_t bytes) {
    if (source.rank < 0)
      return source.buffer == Buffer::out ? address_out(source.block) : address_tmp(source.block);
    if (source.rank != program_.rank) return in_record(source, bytes);
    const size_t given = bytes_in(operation_, source.block);
    if (given != bytes) return lengths_differ(source.rank, given, bytes);
    if (own_from_record(operation_)) return in_record(source, bytes);
    return address_in(operation_, source.block);
  }

  bool execute(const Take& take) {
    const bool to_user = take.buffer == Buffer::out;
    const size_t bytes = bytes_of(take);
    const auto count = static_cast<size_t>(take.source_count);
    if (count > few && many_.size() < count) many_.resize(count);
    const void** const sources = count > few ? many_.data() : few_.data();
    for (size_t i = 0; i < count; ++i) {
      const TakeSource& source = program_.sources[static_cast<size_t>(take.first_source) + i];
      sources[i] = address_of(source, bytes);
      if (sources[i] == nullptr && outcome_.code != Code::ok) return false;
    }
    if (bytes == 0) return true;
    const TakeSource& source = program_.sources[static_cast<size_t>(take.first_source)];
    if (operation_.keeps_own && count == 1 && source.rank == program_.rank) return true;
    const bool unpacks = to_user && operation_.packs_out != nullptr;
    const bool by_pieces = count == 1 ? !unpacks : combines_by_parts(operation_);
    const bool waits = long_.any() && !by_pieces;
    if (waits && !await(take, sources, bytes)) return false;
    if (unpacks && count == 1) return unpack(sources[0], take.block, bytes);
    std::byte* to = to_user ? address_out(take.block) : address_tmp(take.block);
    if (unpacks) {
      combined_.resize(std::max(combined_.size(), bytes));
      to = combined_.data();
    }
    if (count == 1 && sources[0] == to) return true;
    const size_t tile_bytes = tile_bytes_of(take, bytes);
    if (tile_bytes > 0) {
      if (!share_tiles(take, to, sources, bytes, tile_bytes)) return false;
    } else if (!long_.any() || waits)
      move(take, to, sources, bytes);
    else if (!move_by_pieces(take, to, sources, bytes))
      return false;
    return !unpacks || unpack(to, take.block, bytes);
  }

  // Copies or combines `bytes` of each source.
  void move(const Take& take, std::byte* to, const void* const* sources, size_t bytes) {
    const bool splits = take.source_count == 1 || combines_by_parts(operation_);
    const size_t element = take.source_count == 1 ? 1 : operation_.combine->element;
    const kernels::Parts parts(splits ? operation_.parallel : nullptr, bytes, element);
    if (parts.count() == 1) return move_alone(take, to, sources, bytes);
    const auto count = static_cast<size_t>(take.source_count);
    std::vector<const void*> all(static_cast<size_t>(parts.count()) * count);
    parts.run([&](int number, size_t at, size_t length) {
      const void** const its = &all[static_cast<size_t>(number) * count];
      for (size_t i = 0; i < count; ++i) its[i] = static_cast<const std::byte*>(sources[i]) + at;
      move_alone(take, to + at, its, length);
    });
  }

  // The same by the thread that executes it.
  void move_alone(const Take& take, std::byte* to, const void* const* sources, size_t bytes) const {
    if (take.source_count > 1) {
      combine(operation_, to, sources, take.source_count, bytes);
      return;
    }
    const TakeSource& source = program_.sources[static_cast<size_t>(take.first_source)];
    if (source.awaited >= 0)
      kernels::copy_from_other(to, sources[0], bytes);
    else
      std::memmove(to, sources[0], bytes);
  }

  // The same where ranks are filling their records.
  bool move_by_pieces(const Take& take, std::byte* to, const void** sources, size_t bytes) {
    const auto count = static_cast<size_t>(take.source_count);
    const size_t element = count > 1 ? operation_.combine->element : 1;
    const size_t wanted = kernels::bytes_at_once(operation_.parallel, bytes, piece_bytes);
    const size_t piece = std::max(wanted / element, size_t{1}) * element;
    for (size_t at = 0; at < bytes; at += piece) {
      const size_t length = std::min(piece, bytes - at);
      if (!await(take, sources, length)) return false;
      move(take, to + at, sources, length);
      for (size_t i = 0; i < count; ++i)
        sources[i] = static_cast<const std::byte*>(sources[i]) + length;
    }
    return true;
  }

  // The length of the tiles by which the ranks share the take; 0: this rank executes it alone.
  size_t tile_bytes_of(const Take& take, size_t bytes) {
    if (program_.collective != plan::Collective::allreduce || take.source_count < 2 ||
        !combines_by_parts(operation_) || bytes <= shm::RecordLine::most_bytes)
      return 0;
    const size_t tile_bytes = sequence_.tile_bytes(0, operation_.number);
    return tile_bytes % operation_.combine->element == 0 ? tile_bytes : 0;
  }

  // The same where the ranks share the work. This rank begins with tiles of its own, so that ranks
  // seldom claim the same one at once. Its threads execute several tiles at once, but this one
  // alone waits.
  bool share_tiles(const Take& take, std::byte* to, const void** sources, size_t bytes,
                   size_t tile_bytes) {
    const TileArea area(bytes, tile_bytes);
    // Shared memory, which rank 0 has left to all.
    auto* const record = const_cast<std::byte*>(sequence_.record(0, operation_.number).data);
    std::byte* const results = record + area.results;
    auto* const claims = reinterpret_cast<shm::Word*>(record + area.claims);
    const auto rank = static_cast<size_t>(program_.rank);
    const size_t first = rank * area.tiles / static_cast<size_t>(program_.ranks);
    const auto count = static_cast<size_t>(take.source_count);
    const auto tile_of = [&](size_t i) { return (first + i) % area.tiles; };
    const auto length_of = [&](size_t tile) {
      return std::min(tile_bytes, bytes - tile * tile_bytes);
    };
    const size_t at_once = kernels::bytes_at_once(operation_.parallel, bytes, tile_bytes);
    const size_t turn = std::max(at_once / tile_bytes, size_t{1});
    const auto execute_turn = [&](size_t begin, size_t end, const auto& execute) {
      const kernels::Parts tiles(operation_.parallel, (end - begin) * tile_bytes, tile_bytes);
      tiles.run([&](int, size_t at, size_t length) {
        const size_t i = begin + at / tile_bytes;
        for (size_t k = 0; k < length / tile_bytes; ++k) execute(i + k, tile_of(i + k));
      });
    };
    std::vector<char> mine(area.tiles);
    std::vector<const void*> parts(turn * count);  // the sources of the tiles of a turn
    for (size_t begin = 0; begin < area.tiles; begin += turn) {
      const size_t end = std::min(begin + turn, area.tiles);
      for (size_t i = begin; i < end; ++i) {
        const size_t tile = tile_of(i);
        if (shm::load_relaxed(claims[tile]) != 0) continue;
        const void** const its = &parts[(i - begin) * count];
        for (size_t k = 0; k < count; ++k)
          its[k] = static_cast<const std::byte*>(sources[k]) + tile * tile_bytes;
        // Before the claim, because what a rank has claimed it must finish.
        if (!await(take, its, length_of(tile))) return false;
      }
      execute_turn(begin, end, [&](size_t i, size_t tile) {
        if (shm::load_relaxed(claims[tile]) != 0 || !shm::claim(claims[tile], 1 + rank)) return;
        const size_t at = tile * tile_bytes;
        move_alone(take, results + at, &parts[(i - begin) * count], length_of(tile));
        shm::publish(claims[tile], tile_is_done);
        kernels::copy(to + at, results + at, length_of(tile));
        mine[tile] = 1;
      });
    }
    for (size_t begin = 0; begin < area.tiles; begin += turn) {
      const size_t end = std::min(begin + turn, area.tiles);
      for (size_t i = begin; i < end; ++i) {
        const shm::Word& claim = claims[tile_of(i)];
        const uint64_t state = shm::observe(claim);
        const int claimer = static_cast<int>(state - 1);
        if (state != tile_is_done && waits_.wait(claimer, claim, tile_is_done) != Code::ok)
          return fail(Code::dead_peer, "rank " + std::to_string(claimer) +
                                           " ended while it combined a part of the result");
      }
      execute_turn(begin, end, [&](size_t, size_t tile) {
        const size_t at = tile * tile_bytes;
        if (mine[tile] == 0) kernels::copy_from_other(to + at, results + at, length_of(tile));
      });
    }
    return true;
  }

  // Waits until `bytes` from each source on are there.
  bool await(const Take& take, const void* const* sources, size_t bytes) {
    for (int32_t i = 0; i < take.source_count; ++i) {
      const TakeSource& source = program_.sources[static_cast<size_t>(take.first_source + i)];
      const shm::Word* const filled = long_.filled(source);
      if (filled == nullptr) continue;
      const std::byte* data = data_of(source);
      if (operation_.parts != nullptr) data += blocks_of(source) * sizeof(TableEntry);
      const auto end =
          static_cast<uint64_t>(static_cast<const std::byte*>(sources[i]) + bytes - data);
      if (shm::observe(*filled) >= end) continue;
      if (const Code code = waits_.wait(source.rank, *filled, end); code != Code::ok)
        return fail(
            code, "rank " + std::to_string(source.rank) + " ended while it started the operation");
    }
    return true;
  }

  bool unpack(const void* from, int32_t block, size_t bytes) {
    const int error =
        operation_.packs_out->unpack(static_cast<const std::byte*>(from), block, bytes);
    if (outcome_.packing == 0) outcome_.packing = error;
    return true;
  }

  Sequence& sequence_;
  const Operation& operation_;
  const RecordProgram& program_;
  std::vector<std::byte>& scratch_;
  Waits& waits_;
  LongRecords long_;
  std::vector<std::byte> combined_;
  const std::byte* own_ = nullptr;          // the data of this rank's record, once it is known
  std::array<const std::byte*, few> data_;  // indexed by the place in `awaits`
  std::array<const void*, few> few_;        // the sources of a take
  std::vector<const void*> many_;           // if there are more
  Outcome outcome_;
};

// take_lines, for blocks that have one length, or (by_parts) lengths of their own.
template <bool by_parts>
bool take_lines_of(Sequence& sequence, const Operation& operation) {
  const RecordProgram& program = *operation.program;
  const size_t equal = operation.bytes;
  const auto blocks_of = [&](int32_t awaited) {
    return static_cast<size_t>(program.awaited_blocks[static_cast<size_t>(awaited)]);
  };
  const std::byte* data[RecordProgram::few];
  for (size_t i = 0; i < program.awaits.size(); ++i) {
    const auto [theirs, its, is_long] = sequence.find_whole(program.awaits[i], operation.number);
    if (its == nullptr) return false;
    const size_t bytes = by_parts ? 0 : blocks_of(static_cast<int32_t>(i)) * equal;
    const uint64_t mine = signature(operation, bytes);
    if (by_parts ? theirs >> call_shift != mine >> call_shift : theirs != mine) return false;
    data[i] = its;
  }
  if (!by_parts && equal == 0) return true;
  if (!by_parts && program.reads_own && operation.in_bytes != equal) return false;
  const std::byte* own = operation.in;
  if (program.reads_own && operation.in_place) {
    own = sequence.find_whole(program.rank, operation.number).data;
    if (own == nullptr) return false;
  }
  const auto find = [&](const TakeSource& source, size_t bytes, const void** block) {
    const auto place = static_cast<size_t>(source.place);
    const bool is_own = source.awaited < 0, in_record = !is_own || operation.in_place;
    const std::byte* const from = is_own ? own : data[source.awaited];
    if constexpr (!by_parts) {
      *block = from + (in_record ? place : static_cast<size_t>(source.block)) * bytes;
      return true;
    }
    if (!in_record) {
      *block = address_in(operation, source.block);
      return bytes_in(operation, source.block) == bytes;
    }
    const Extent extent = extent_of(from, place);
    const size_t blocks = is_own ? program.gives.size() : blocks_of(source.awaited);
    *block = from + blocks * sizeof(TableEntry) + extent.begin;
    return extent.bytes == bytes;
  };
  for (const Take& take : program.takes) {
    const TakeSource* const sources = &program.sources[static_cast<size_t>(take.first_source)];
    const auto block = static_cast<size_t>(take.block);
    const size_t bytes = by_parts ? operation.parts->out.bytes[block] : equal;
    std::byte* const to = operation.out + (by_parts ? operation.parts->out.at[block]
                                                    : static_cast<ptrdiff_t>(block * equal));
    const void* from[RecordProgram::few];
    for (int32_t i = 0; i < take.source_count; ++i)
      if (!find(sources[i], bytes, &from[i])) return false;
    if (by_parts && bytes == 0) continue;
    if (take.source_count > 1)
      combine(operation, to, from, take.source_count, bytes);
    else if (from[0] != to && !(operation.keeps_own && sources->awaited < 0))
      kernels::copy(to, from[0], bytes);
  }
  return true;
}

}  // namespace

bool take_lines(Sequence& sequence, const Operation& operation) {
  if (operation.packs_in != nullptr || operation.packs_out != nullptr ||
      operation.observer != nullptr || !operation.program->is_simple)
    return false;
  return operation.parts == nullptr ? take_lines_of<false>(sequence, operation)
                                    : take_lines_of<true>(sequence, operation);
}

Outcome take(Sequence& sequence, const Operation& operation, std::vector<std::byte>& scratch,
             Waits& waits) {
  if (take_lines(sequence, operation)) return {};
  return Taker(sequence, operation, scratch, waits).run();
}

}  // namespace tutti::records
