#include "mpi/requests/call_buffers.h"

#include <algorithm>

#include "mpi/host/held.h"
#include "mpi/host/packing.h"
#include "mpi/host/types.h"
#include "mpi/collectives/general.h"
#include "mpi/job/self.h"

namespace tutti::mpi {
void CallBuffers::SideLayout::clear(size_t in_memory) {
  data_ = nullptr;
  count_ = 0;
  in_memory_ = in_memory;
  bytes_ = 0;
  dense_ = true;
  blocks_.clear();
  derived_.clear();
}

CallBuffers::SideLayout::Element CallBuffers::SideLayout::look_at(Communicator& communicator,
                                                                  Datatype type) {
  if (in_memory_ != 0) return {in_memory_, true, true};
  if (const size_t known = communicator.memory().dense_bytes(type); known != 0)
    return {known, true, true};
  const TypeShape shape = shape_of(type);
  if (!shape.named && (derived_.empty() || derived_.back() != type)) derived_.push_back(type);
  return {shape.bytes, shape.dense, shape.named};
}

bool CallBuffers::SideLayout::describe_equal(Communicator& communicator, void* data, Count count,
                                             Datatype type, size_t blocks) {
  if (count < 0 || type == host().type_null || data == abi.in_place) return false;
  const Element element = look_at(communicator, type);
  data_ = data;
  count_ = static_cast<size_t>(count);
  type_ = type;
  bytes_ = bytes_of(count, TypeShape{element.bytes});
  dense_ = element.dense;
  return bytes_ <= most_bytes / blocks && (data != nullptr || bytes_ == 0 || !element.named);
}

bool CallBuffers::SideLayout::describe_own(Communicator& communicator, const Side& side,
                                           size_t blocks, bool may_be_absolute) {
  if (side.data == abi.in_place || !side.counts.given() || !side.displacements.given())
    return false;
  blocks_.resize(blocks);
  size_t total = 0;
  for (size_t i = 0; i < blocks; ++i) {
    const Count count = side.counts[i];
    Block& block = blocks_[i];
    block = {};
    if (count < 0) return false;
    // Some programs give MPI_DATATYPE_NULL with a count of 0.
    if (count == 0) continue;
    const Datatype type = side.type_of(i);
    if (type == host().type_null) return false;
    const Element element = look_at(communicator, type);
    block.count = static_cast<size_t>(count);
    block.type = type;
    block.bytes = bytes_of(count, TypeShape{element.bytes});
    if (block.bytes > most_bytes - total) return false;
    total += block.bytes;
    dense_ = dense_ && element.dense;
    const auto displacement = side.displacements[i];
    if (side.types.given())
      block.at = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(side.data) +
                                         static_cast<uintptr_t>(displacement));
    else
      block.at = mpi::element(side.data, static_cast<size_t>(displacement), type);
    const bool nowhere = may_be_absolute ? block.at == nullptr : side.data == nullptr;
    if (block.bytes > 0 && nowhere && element.named) return false;
  }
  return true;
}

void CallBuffers::SideLayout::use_block(const SideLayout& other, size_t block) {
  const Block from = other.block(static_cast<int32_t>(block));
  *this = other;
  if (!other.blocks_.empty()) blocks_.assign(1, from);
  data_ = from.at;
}

void CallBuffers::SideLayout::use_all(const SideLayout& other) { *this = other; }

CallBuffers::SideLayout::Block CallBuffers::SideLayout::block(int32_t index) const {
  const auto i = static_cast<size_t>(index);
  if (!blocks_.empty()) return blocks_[i];
  return {i == 0 ? data_ : mpi::element(data_, i * count_, type_), count_, type_, bytes_};
}

exec::Parts CallBuffers::SideLayout::list() {
  if (blocks_.empty()) blocks_.assign(1, block(0));
  // Displacements are relative to a block with data.
  const auto first = std::find_if(blocks_.begin(), blocks_.end(),
                                  [](const Block& block) { return block.bytes > 0; });
  data_ = first != blocks_.end() ? first->at : nullptr;
  at_.resize(blocks_.size());
  lengths_.resize(blocks_.size());
  for (size_t i = 0; i < blocks_.size(); ++i) {
    lengths_[i] = blocks_[i].bytes;
    at_[i] = blocks_[i].bytes > 0 ? static_cast<std::byte*>(blocks_[i].at) - data() : 0;
  }
  return {at_.data(), lengths_.data()};
}

int CallBuffers::SideLayout::pack(int32_t index, std::byte* to, size_t bytes) {
  const Block from = block(index);
  return mpi::pack(from.at, from.count, from.type, self_communicator(), to, bytes);
}

int CallBuffers::SideLayout::unpack(const std::byte* from, int32_t index, size_t bytes) {
  const Block to = block(index);
  return mpi::unpack(from, to.at, to.count, to.type, self_communicator(), bytes);
}

Reason CallBuffers::choose_combine(Communicator& communicator, const Call& call) {
  if (call.op == host().op_null || call.in.type == host().type_null) return Reason::wrong_arguments;
  const bool predefined = predefined_op(call.op);
  combine_ = predefined ? communicator.served_by().kernel(call.in.type, call.op) : nullptr;
  if (combine_ != nullptr) return Reason::none;
  // The host may know an operation that MPI does not define for this type; else it raises its
  // error.
  if (predefined && !communicator.served_by().host_combines(call.in.type, call.op))
    return Reason::wrong_arguments;
  host_op_ = std::make_unique<HostReduction>(
      call.in.type, call.op, HostReduction::facts_of(call.in.type, call.op, predefined),
      self_communicator);
  host_combine_ = host_op_->combine();
  combine_ = &host_combine_;
  return Reason::none;
}

// For vectors that are combined. Returns false if an argument is wrong.
bool CallBuffers::describe_combined(Communicator& communicator, const Call& call) {
  const auto ranks = static_cast<size_t>(communicator.ranks());
  const auto rank = static_cast<size_t>(communicator.rank());
  const plan::Definition definition{call.collective, communicator.ranks(), call.root};
  const bool receives = definition.has_out(communicator.rank());
  if (call.out.data == abi.in_place) return false;
  const bool at_root = !plan::rooted(call.collective) || communicator.rank() == call.root;
  if (call.in.data == abi.in_place && !at_root) return false;
  void* const from = call.in.data == abi.in_place ? call.out.data : call.in.data;
  in_place_ = receives && from == call.out.data;
  Count own = call.in.count;
  Aint elements = own;  // elements that this rank gives
  if (v_form_) {
    if (!call.in.counts.given()) return false;
    std::vector<Aint> starts(ranks);
    elements = 0;
    for (size_t i = 0; i < ranks; ++i) {
      starts[i] = elements;
      elements += call.in.counts[i];
    }
    Side in = call.in;
    in.data = from;
    in.displacements = starts.data();
    if (!in_.describe_own(communicator, in, ranks, false)) return false;
    own = call.in.counts[rank];
  } else if (!in_.describe_equal(communicator, from, call.in.count, call.in.type,
                                 plan::parted_in(call.collective) ? ranks : 1)) {
    return false;
  }
  // A rank that gets nothing of an exscan is judged, too, so that all ranks do the same.
  if (at_root && call.in.data == call.out.data && elements > 0 &&
      host_judges_aliases(call.collective))
    return false;
  return !receives || out_.describe_equal(communicator, call.out.data, own, call.in.type, 1);
}

// For data that is moved. Returns false if an argument is wrong.
bool CallBuffers::describe_moved(Communicator& communicator, const Call& call) {
  const auto ranks = static_cast<size_t>(communicator.ranks());
  const auto rank = static_cast<size_t>(communicator.rank());
  const auto describe = [&](SideLayout& layout, const Side& side, bool parted) {
    const size_t blocks = parted ? ranks : 1;
    if (v_form_ && parted) return layout.describe_own(communicator, side, blocks, false);
    return layout.describe_equal(communicator, side.data, side.count, side.type, blocks);
  };
  if (plan::one_buffer(call.collective)) {
    keeps_own_ = communicator.rank() == call.root;
    if (!describe(in_, call.in, false)) return false;
    out_.use_all(in_);
    return true;
  }
  const Roles roles = roles_of(communicator.rank() == call.root, call);
  if (roles.uses_in && !describe(in_, call.in, plan::parted_in(call.collective))) return false;
  if (roles.uses_out && !describe(out_, call.out, plan::parted_out(call.collective))) return false;
  if (roles.uses_in && roles.uses_out) {
    // One buffer on both sides is an error that the host raises, or means in place.
    if (host_finds_alias(call, communicator.rank())) return false;
    in_place_ = call.in.data == call.out.data && call.in.data != nullptr;
    const auto own_part = static_cast<ptrdiff_t>(rank * in_.bytes());
    if (!plan::exchanges(call.collective))
      alias_ = plan::scatters(call.collective) ? own_part : -own_part;
  }
  if (!roles.in_place) return true;
  in_place_ = true;
  if (plan::scatters(call.collective)) {
    out_.use_block(in_, rank);
    keeps_own_ = true;
  } else if (plan::exchanges(call.collective)) {
    in_.use_all(out_);
  } else {
    in_.use_block(out_, rank);
  }
  return true;
}

Reason CallBuffers::describe_sides(Communicator& communicator, const Call& call) {
  if (!plan::has_data(call.collective)) return Reason::none;
  if (plan::rooted(call.collective) && (call.root < 0 || call.root >= communicator.ranks()))
    return Reason::wrong_arguments;
  if (plan::combines(call.collective)) {
    if (const Reason reason = choose_combine(communicator, call); reason != Reason::none)
      return reason;
    const size_t in_memory = combine_->kernel != nullptr ? combine_->element : 0;
    in_.clear(in_memory);
    out_.clear(in_memory);
  }
  const bool right = plan::combines(call.collective) ? describe_combined(communicator, call)
                                                     : describe_moved(communicator, call);
  return right ? Reason::none : Reason::wrong_arguments;
}

size_t CallBuffers::SideLayout::first_bytes() const {
  for (const Block& block : blocks_)
    if (block.bytes > 0) return block.bytes;
  return bytes_;
}

Reason CallBuffers::describe_neighbours(Communicator& communicator, const Call& call, size_t given,
                                        size_t got, bool blocking) {
  clear(call);
  const auto describe = [&](SideLayout& layout, const Side& side, size_t blocks) {
    if (blocks == 0) return true;
    if (side.counts.given())
      return layout.describe_own(communicator, side, blocks, side.types.given());
    return layout.describe_equal(communicator, side.data, side.count, side.type, blocks);
  };
  if (!describe(in_, call.in, given) || !describe(out_, call.out, got))
    return Reason::wrong_arguments;
  if (!blocking) hold_handles(call);
  return Reason::none;
}

void CallBuffers::hold_types() {
  for (const SideLayout* side : {&in_, &out_})
    for (const Datatype type : side->derived()) {
      held_types_.reserve(held_types_.size() + 1);
      hold_type(type);
      held_types_.push_back(type);
    }
}

void CallBuffers::hold_handles(const Call& call) {
  hold_types();
  if (!plan::combines(call.collective) || predefined_op(call.op)) return;
  hold_op(call.op);
  held_op_ = call.op;
  holds_op_ = true;
}

void CallBuffers::clear(const Call& call) {
  in_.clear(0);
  out_.clear(0);
  combine_ = nullptr;
  v_form_ = call.v_form();
  in_place_ = keeps_own_ = false;
  alias_ = no_alias;
}

Reason CallBuffers::describe(Communicator& communicator, const Call& call) {
  clear(call);
  const Reason reason = describe_sides(communicator, call);
  if (reason == Reason::none) hold_handles(call);
  return reason;
}

void CallBuffers::give_to(records::Operation& operation) {
  operation.combine = combine_;
  operation.in_place = in_place_;
  operation.keeps_own = keeps_own_;
  operation.packs_in = in_.is_dense() ? nullptr : &in_;
  operation.packs_out = out_.is_dense() ? nullptr : &out_;
  operation.parts = nullptr;
  operation.bytes = out_.bytes();
  operation.in_bytes = in_.bytes();
  if (v_form_) {
    parts_ = {in_.list(), out_.list()};
    operation.parts = &parts_;
    operation.bytes = operation.in_bytes = 0;
  }
  operation.in = in_.data();
  operation.out = out_.data();
}

void CallBuffers::release() noexcept {
  for (const Datatype type : held_types_) release_type(type);
  held_types_.clear();
  if (holds_op_) release_op(held_op_);
  holds_op_ = false;
  host_op_.reset();
}

}  // namespace tutti::mpi
