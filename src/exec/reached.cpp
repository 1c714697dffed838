#include "exec/reached.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "exec/combine.h"

namespace tutti::exec {
namespace {

constexpr uint32_t sources_inline = 64;  // more are gathered on the heap

std::byte* at_address(uint64_t address) { return reinterpret_cast<std::byte*>(address); }

// False for memory of a device, from which the system copies nothing, and where the copies are
// forbidden by now: the data then goes through the slot.
bool system_reads(uint64_t address) {
  std::byte first;
  const iovec here{&first, sizeof first};
  const iovec there{at_address(address), sizeof first};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof first;
}

}  // namespace

Channel::Reached::Reached(Channel& channel, const BoundProgram& bound, const Operation& operation)
    : channel_(channel),
      bound_(bound),
      operation_(operation),
      number_(++channel.reaching_ << number_shift) {}

// A buffer lies in one piece of memory, so its end need not be checked.
uint64_t Channel::Reached::place_of(const void* buffer, bool is_readable) const {
  const Reach& reach = channel_.reach_;
  const auto address = reinterpret_cast<uint64_t>(buffer);
  const uint64_t distance = address - reinterpret_cast<uint64_t>(reach.own_base);
  if (!reach.mapped.empty() && distance < reach.own_bytes) return distance;
  const bool by_system = operation_.bytes >= bound_.cma_from && address < in_other_process;
  if (!by_system || buffer == nullptr) return 0;
  return is_readable || system_reads(address) ? in_other_process | address : 0;
}

uint64_t* Channel::Reached::table_of(int32_t rank) const {
  return reinterpret_cast<uint64_t*>(tables_ + static_cast<size_t>(rank) * channel_.stride_);
}

// Announces all parts or none, because a copy is elided for all parts alike. No rank reads the
// place of an empty part. A rank that writes no slot announces nothing: it has not waited until the
// table may be written.
bool Channel::Reached::announce_parts(const Parts& parts) {
  if (parts.at == nullptr || !bound_.program->writes_shared) return false;
  const int count = plan::parted_in(bound_.program->collective) ? bound_.program->ranks : 1;
  uint64_t* const table = table_of(channel_.index_);
  bool any = false;
  for (int part = 0; part < count; ++part) {
    if (parts.bytes[part] == 0) continue;
    table[part] = place_of(static_cast<const std::byte*>(operation_.in) + parts.at[part], any);
    if (table[part] == 0) return false;
    any = true;
  }
  return any;
}

void Channel::Reached::announce(std::byte* tables) {
  tables_ = tables;
  const plan::Program& program = *bound_.program;
  const bool one_buffer = operation_.in == operation_.out;
  if (one_buffer && !program.elides_in_place) {
    // Others overwrite what they would read.
  } else if (tables != nullptr) {
    own_[0] = announce_parts(operation_.v_parts->in) ? 1 : 0;
  } else {
    own_[0] = place_of(operation_.in);
    own_[1] = place_of(operation_.out);
  }
  for (size_t space = 0; space < 2; ++space)
    shm::store_relaxed(channel_.own_->buffers[space], number_ | own_[space]);
}

const BoundOperand& Channel::Reached::operand(const BoundStep& step, uint32_t i) const {
  return i < 3 ? step.operands[i]
               : bound_.operands[bound_.details[step.details].more_operands + i - 3];
}

// 0: in the slot.
uint64_t Channel::Reached::place_of(const Elsewhere& elsewhere) const {
  const uint64_t word =
      shm::load_relaxed(channel_.control(elsewhere.rank).buffers[elsewhere.operand.space]);
  if ((word ^ number_) >> number_shift != 0 || (word & place_mask) == 0) return 0;
  return tables_ != nullptr ? table_of(elsewhere.rank)[elsewhere.operand.block] : word & place_mask;
}

// Reads by the file of the process's memory. A program may have closed the descriptor, which may
// then be another file.
bool Channel::Reached::read_file(int32_t rank, std::byte* dst, uint64_t address,
                                 size_t bytes) const {
  const auto [process, file] = channel_.reach_.memories[static_cast<size_t>(rank)];
  if (file < 0) return false;
  const std::string name = "/proc/" + std::to_string(process) + "/mem";
  char found[64];
  const ssize_t length =
      readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), found, sizeof found);
  if (length < 0 || std::string_view(found, static_cast<size_t>(length)) != name) return false;
  while (bytes > 0) {
    const ssize_t done = pread(file, dst, bytes, static_cast<off_t>(address));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    dst += done;
    address += static_cast<uint64_t>(done);
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

Code Channel::Reached::read(int32_t rank, std::byte* dst, uint64_t address, size_t bytes) {
  const auto process =
      static_cast<pid_t>(channel_.reach_.memories[static_cast<size_t>(rank)].process);
  while (bytes > 0) {
    const iovec local{dst, bytes};
    const iovec remote{at_address(address), bytes};
    const ssize_t done = process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (done < 0 && errno == EINTR) continue;
    const int error = errno;
    if (done < 0 && read_file(rank, dst, address, bytes)) return Code::ok;
    if (done <= 0) {
      const std::string why = done == 0 ? "nothing came" : std::generic_category().message(error);
      return channel_.fail(Code::unavailable, "rank " + std::to_string(channel_.rank_) +
                                                  " cannot read the memory of rank " +
                                                  std::to_string(rank) + " (process " +
                                                  std::to_string(process) + "): " + why +
                                                  "; TUTTI_REACH=staged does without");
    }
    dst += done;
    address += static_cast<uint64_t>(done);
    bytes -= static_cast<size_t>(done);
  }
  return Code::ok;
}

Code Channel::Reached::move(const BoundStep& step, const MovedSegment& segment) {
  auto address = [&](const BoundOperand& operand) {
    return segment.base_of[operand.space] + operand.displacement() + segment.offsets.of(operand);
  };
  std::byte* const dst = address(step.operands[0]);
  const uint32_t count = step.operand_count - 1u;
  const void* few[sources_inline];
  std::vector<const void*> many(count > sources_inline ? count : 0);
  const void** sources = many.empty() ? few : many.data();
  size_t read_so_far = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Elsewhere& elsewhere = bound_.elsewhere[step.elsewhere + i + 1];
    if (elsewhere.rank == channel_.index_ && of_own(elsewhere.operand.space)) {
      sources[i] = segment.base_of[elsewhere.operand.space] + segment.offsets.of(elsewhere.operand);
      continue;
    }
    const uint64_t buffer = elsewhere.rank < 0 ? 0 : place_of(elsewhere);
    if (buffer == 0) {
      sources[i] = address(operand(step, i + 1));
      continue;
    }
    const size_t before =
        tables_ != nullptr
            ? 0
            : elsewhere.operand.block * segment.offsets.user;  // places in tables are the parts'
    const uint64_t distance = (buffer & ~in_other_process) + before + segment.at;
    if ((buffer & in_other_process) == 0) {
      sources[i] = at_address(
          reinterpret_cast<uint64_t>(channel_.reach_.mapped[static_cast<size_t>(elsewhere.rank)]) +
          distance);
      continue;
    }
    std::byte* into = dst;
    if (count > 1) {
      if (channel_.scratch_.size() < count * segment.bytes)
        channel_.scratch_.resize(count * segment.bytes);
      into = channel_.scratch_.data() + read_so_far;
      read_so_far += segment.bytes;
    }
    if (const Code code = read(elsewhere.rank, into, distance, segment.bytes); code != Code::ok)
      return code;
    sources[i] = into;
  }
  if (count > 1) {
    combine(*operation_.combine, dst, sources, static_cast<int>(count), segment.bytes);
  } else if (sources[0] != dst) {
    kernels::copy_from_other(dst, sources[0], segment.bytes);
  }
  return Code::ok;
}

}  // namespace tutti::exec
