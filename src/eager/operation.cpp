#include "eager/operation.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "exec/combine.h"
#include "kernels/kernels.h"

namespace tutti::eager {
namespace {

using plan::Buffer;
using plan::EagerProgram;
using plan::Take;
using plan::TakeSource;

constexpr int call_shift = 40;  // the bits of a signature above its bytes: collective and root

// The record of an operation with parts of different lengths begins with a table: for each block
// the end of its data, in bytes from the end of the table.
using TableEntry = uint64_t;

size_t bytes_in(const Operation& operation, int32_t block) {
  return operation.parts == nullptr ? operation.in_bytes
                                    : operation.parts->in.bytes[static_cast<size_t>(block)];
}

const std::byte* address_in(const Operation& operation, int32_t block) {
  const auto i = static_cast<size_t>(block);
  return operation.in + (operation.parts == nullptr ? static_cast<ptrdiff_t>(i * operation.in_bytes)
                                                    : operation.parts->in.at[i]);
}

// True if this rank's own blocks are read from its record, because results may overwrite `in`, or
// because `in` is not packed.
bool own_from_record(const Operation& operation) {
  return operation.in_place || operation.packs_in != nullptr;
}

uint64_t signature(const Operation& operation, size_t bytes) {
  return exec::call_signature(operation.program->collective, bytes, operation.program->root);
}

// The state of one take().
class Taker {
 public:
  Taker(Sequence& sequence, const Operation& operation, std::vector<std::byte>& scratch)
      : sequence_(sequence),
        operation_(operation),
        program_(*operation.program),
        scratch_(scratch) {}

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
        if (operation_.observer != nullptr) operation_.observer->took(program_, i, bytes_of(take));
      }
    return outcome_;
  }

 private:
  static constexpr size_t few = 16;

  bool fail(Code code, std::string message) {
    outcome_.code = code;
    outcome_.failure = std::move(message);
    return false;
  }

  // True if the record of an awaited rank is of this collective and, where parts have one length,
  // of this length. Keeps the first records for the takes.
  bool agrees(size_t awaited) {
    const int32_t rank = program_.awaits[awaited];
    const auto blocks = static_cast<size_t>(program_.awaited_blocks[awaited]);
    const Sequence::Record record = sequence_.record(rank, operation_.number);
    if (awaited < few) data_[awaited] = record.data;
    const uint64_t theirs = record.call;
    const uint64_t mine = signature(operation_, blocks * operation_.bytes);
    const bool same =
        operation_.parts == nullptr ? theirs == mine : theirs >> call_shift == mine >> call_shift;
    if (same) return true;
    return fail(Code::mismatch,
                "rank " + std::to_string(rank) + " started " + exec::describe_call(theirs) +
                    " where rank " + std::to_string(program_.rank) + " expects " +
                    exec::describe_call(mine) + " (operation " + std::to_string(operation_.number) +
                    " of those that outlive their call); all ranks must start the "
                    "same collectives in the same order, with the same sizes");
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
    const std::byte* const data = data_of(source.rank);
    const auto place = static_cast<size_t>(source.place);
    if (operation_.parts == nullptr) return data + place * operation_.bytes;
    TableEntry ends[2] = {0, 0};
    if (place > 0) {
      std::memcpy(ends, data + (place - 1) * sizeof(TableEntry), sizeof ends);
    } else {
      std::memcpy(&ends[1], data, sizeof(TableEntry));
    }
    if (ends[1] - ends[0] != bytes) return lengths_differ(source.rank, ends[1] - ends[0], bytes);
    return data + blocks_of(source.rank) * sizeof(TableEntry) + ends[0];
  }

  std::nullptr_t lengths_differ(int32_t from, size_t given, size_t expected) {
    fail(Code::mismatch, "rank " + std::to_string(from) + " gives " + std::to_string(given) +
                             " bytes to a " + std::string(plan::name(program_.collective)) +
                             ", but rank " + std::to_string(program_.rank) + " expects " +
                             std::to_string(expected));
    return nullptr;
  }

  // The data of a rank's record.
  const std::byte* data_of(int32_t rank) {
    const size_t known = std::min<size_t>(program_.awaits.size(), few);
    for (size_t i = 0; i < known; ++i)
      if (program_.awaits[i] == rank) return data_[i];
    return sequence_.record(rank, operation_.number).data;
  }

  size_t blocks_of(int32_t rank) const {
    if (rank == program_.rank) return program_.gives.size();
    const auto found = std::lower_bound(program_.awaits.begin(), program_.awaits.end(), rank);
    return static_cast<size_t>(
        program_.awaited_blocks[static_cast<size_t>(found - program_.awaits.begin())]);
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
    if (unpacks && count == 1) return unpack(sources[0], take.block, bytes);
    std::byte* to = to_user ? address_out(take.block) : address_tmp(take.block);
    if (unpacks) {
      combined_.resize(std::max(combined_.size(), bytes));
      to = combined_.data();
    }
    if (count > 1) {
      exec::combine(*operation_.combine, to, sources, static_cast<int>(count), bytes);
      return !unpacks || unpack(to, take.block, bytes);
    }
    if (sources[0] == to) return true;
    if (source.rank >= 0 && source.rank != program_.rank)
      kernels::copy_from_other(to, sources[0], bytes);
    else
      std::memmove(to, sources[0], bytes);
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
  const EagerProgram& program_;
  std::vector<std::byte>& scratch_;
  std::vector<std::byte> combined_;
  std::array<const std::byte*, few> data_;  // by place in `awaits`
  std::array<const void*, few> few_;        // the sources of a take
  std::vector<const void*> many_;           // if there are more
  Outcome outcome_;
};

}  // namespace

size_t record_bytes(const Operation& operation) {
  const EagerProgram& program = *operation.program;
  if (operation.parts == nullptr) return program.gives.size() * operation.in_bytes;
  size_t bytes = program.gives.size() * sizeof(TableEntry);
  for (const int32_t block : program.gives) bytes += bytes_in(operation, block);
  return bytes;
}

int start(Sequence& sequence, Operation& operation, exec::SlotStores& stores) {
  const EagerProgram& program = *operation.program;
  const size_t bytes = record_bytes(operation);
  std::byte* const record = sequence.prepare(bytes);
  std::byte* to = record;
  if (operation.parts != nullptr) to += program.gives.size() * sizeof(TableEntry);
  const std::byte* const data = to;
  const bool all = own_from_record(operation);
  int error = 0;
  for (size_t i = 0; i < program.gives.size(); ++i) {
    const int32_t block = program.gives[i];
    const size_t length = bytes_in(operation, block);
    if (length > 0 && (all || program.given_to_others[i])) {
      if (operation.packs_in != nullptr) {
        const int code = operation.packs_in->pack(block, to, length);
        if (error == 0) error = code;
      } else if (length >= exec::SlotStores::least_bytes) {
        stores.copy(to, address_in(operation, block), length);
      } else {
        kernels::copy(to, address_in(operation, block), length);
      }
    }
    to += length;
    if (operation.parts != nullptr) {
      const auto end = static_cast<TableEntry>(to - data);
      std::memcpy(record + i * sizeof(TableEntry), &end, sizeof end);
    }
  }
  if (operation.observer != nullptr) operation.observer->filled();
  operation.number = sequence.publish(signature(operation, bytes));
  operation.seen = 0;
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

Outcome take(Sequence& sequence, const Operation& operation, std::vector<std::byte>& scratch) {
  Outcome outcome = Taker(sequence, operation, scratch).run();
  sequence.done(operation.number);
  return outcome;
}

}  // namespace tutti::eager
