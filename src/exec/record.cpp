#include "exec/record.h"

#include <algorithm>
#include <cstring>

namespace tutti::exec {
namespace {

bool is_users(const BoundOperand& operand) {
  return operand.space < static_cast<uint32_t>(plan::Space::slot);
}

class Movement {
 public:
  Movement(const BoundStep& step, const Operation& operation, std::byte* const* base_of,
           const Offsets& offsets)
      : dst_(step.operands[0]),
        src_(step.operands[1]),
        v_parts_(*operation.v_parts),
        agreement_(*operation.v_parts->agreement),
        base_of_(base_of),
        offsets_(offsets) {}

  size_t run() {
    if (!is_users(dst_)) return write();
    const std::byte* const from = address(src_);
    size_t header = 0;
    if (!is_users(src_)) {
      uint64_t longest = 0;
      std::memcpy(&longest, from, header = record_header);
      agreement_.longest = std::max(agreement_.longest, longest);
      if (longest > agreement_.room) return header;
    }
    return header + move(from + header);
  }

 private:
  size_t write() {
    std::byte* const record = address(dst_);
    std::memcpy(record, &agreement_.own, record_header);
    if (!fits()) return record_header;
    const size_t bytes = length(src_);
    kernels::copy(record + record_header, address(src_), bytes);
    return record_header + bytes;
  }

  // Into the user's part. If this rank's own parts are too long, all parts are moved again later,
  // so the part keeps its contents: it may be the memory of one of the own parts.
  size_t move(const std::byte* from) {
    const size_t bytes = fits() ? length(dst_) : 0;
    if (bytes == 0) return 0;
    std::byte* const to = address(dst_);
    if (to != from) kernels::copy(to, from, bytes);
    return bytes;
  }

  bool fits() const { return agreement_.own <= agreement_.room; }

  // Never more than has room, whatever a wrong program's arguments say.
  size_t length(const BoundOperand& user) const {
    const Parts& parts =
        user.space == static_cast<uint32_t>(plan::Space::in) ? v_parts_.in : v_parts_.out;
    return parts.bytes == nullptr ? 0 : std::min(parts.bytes[user.block], agreement_.room);
  }

  std::byte* address(const BoundOperand& operand) const {
    return base_of_[operand.space] + operand.displacement() + offsets_.of(operand);
  }

  const BoundOperand& dst_;
  const BoundOperand& src_;
  const VParts& v_parts_;
  Agreement& agreement_;
  std::byte* const* base_of_;
  const Offsets& offsets_;
};

}  // namespace

size_t move_record(const BoundStep& step, const Operation& operation, std::byte* const* base_of,
                   const Offsets& offsets) {
  return Movement(step, operation, base_of, offsets).run();
}

void name_records(trace::Recorder::What& what, const BoundProgram& bound,
                  const Operation& operation) {
  const Agreement& agreement = *operation.v_parts->agreement;
  what.bytes = std::max(agreement.own, agreement.longest);
  what.root = call_root(operation.call);
  if (plan::gathers(call_collective(operation.call))) what.program = bound.traced_as_gather;
}

}  // namespace tutti::exec
