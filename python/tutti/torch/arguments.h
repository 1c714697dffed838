// The arguments of calls: their checks, how elements are combined, and where parts are. Pure
// functions of tensors; any thread.
//
// Errors of arguments are RuntimeErrors with gloo's terms, so that programs treat both alike. Each
// names the argument, and is raised before the call has started anything with it.
#pragma once

#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/extension.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/tutti.h"
#include "works.h"

namespace tutti_torch {

using c10d::ReduceOp;

// How a tensor's elements are combined, as the C API names it.
struct Combination {
  tutti_type type;
  tutti_op op;
};

inline size_t count_of(const at::Tensor& tensor) { return static_cast<size_t>(tensor.numel()); }

inline const char* name_of(ReduceOp::RedOpType op) {
  constexpr const char* names[] = {"SUM",  "AVG", "PRODUCT", "MIN",       "MAX",
                                   "BAND", "BOR", "BXOR",    "PREMUL_SUM"};
  return op < ReduceOp::UNUSED ? names[op] : "an unknown operation";
}

inline tutti_op op_of(ReduceOp::RedOpType op, at::ScalarType type) {
  const bool whole = c10::isIntegralType(type, true);
  const bool bitwise = op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR;
  const bool divides = op == ReduceOp::AVG || op == ReduceOp::PREMUL_SUM;
  TORCH_CHECK_TYPE(op < ReduceOp::UNUSED && (!bitwise || whole) && (!divides || !whole),
                   "tutti has no ", name_of(op), " of ", c10::toString(type));
  if (type == at::kBool) {
    if (op == ReduceOp::BXOR) return TUTTI_LXOR;
    const bool any = op == ReduceOp::SUM || op == ReduceOp::MAX || op == ReduceOp::BOR;
    return any ? TUTTI_LOR : TUTTI_LAND;
  }
  // The factors of PREMUL_SUM are in the data.
  constexpr tutti_op ops[] = {TUTTI_SUM,  TUTTI_AVG, TUTTI_PROD, TUTTI_MIN, TUTTI_MAX,
                              TUTTI_BAND, TUTTI_BOR, TUTTI_BXOR, TUTTI_SUM};
  return ops[op];
}

inline Combination combination_of(ReduceOp::RedOpType op, at::ScalarType type) {
  const auto of = [&](tutti_type its) { return Combination{its, op_of(op, type)}; };
  switch (type) {
    case at::kByte:
    case at::kBool: return of(TUTTI_UINT8);
    case at::kChar: return of(TUTTI_INT8);
    case at::kShort: return of(TUTTI_INT16);
    case at::kInt: return of(TUTTI_INT32);
    case at::kLong: return of(TUTTI_INT64);
    case at::kUInt16: return of(TUTTI_UINT16);
    case at::kUInt32: return of(TUTTI_UINT32);
    case at::kUInt64: return of(TUTTI_UINT64);
    case at::kFloat: return of(TUTTI_FLOAT32);
    case at::kDouble: return of(TUTTI_FLOAT64);
    case at::kHalf: return of(TUTTI_FLOAT16);
    case at::kBFloat16: return of(TUTTI_BFLOAT16);
    default: TORCH_CHECK_TYPE(false, "tutti does not reduce tensors of type ", c10::toString(type));
  }
}

// Sums of complex numbers are sums of twice as many reals.
inline at::Tensor as_real(const at::Tensor& tensor, ReduceOp::RedOpType op) {
  if (!tensor.is_complex()) return tensor;
  TORCH_CHECK_TYPE(op == ReduceOp::SUM || op == ReduceOp::AVG || op == ReduceOp::PREMUL_SUM,
                   "tutti has no ", name_of(op), " of complex numbers");
  return at::view_as_real(tensor);
}

// The numbers that this rank gives to a reduction: the tensor itself, if they need no change.
// Numbers of 8 bits, and those of 16 bits that are multiplied first, are combined in float and
// rounded once.
inline at::Tensor given_by(const at::Tensor& real, const ReduceOp& op) {
  const at::ScalarType type = real.scalar_type();
  const bool widens = c10::isFloat8Type(type) ||
                      (op == ReduceOp::PREMUL_SUM && (type == at::kHalf || type == at::kBFloat16));
  if (!widens && op != ReduceOp::PREMUL_SUM) return real;
  const at::Tensor wide = widens ? real.to(at::kFloat) : real;
  if (op != ReduceOp::PREMUL_SUM) return wide;
  (void)op_of(op.op_, wide.scalar_type());
  const auto& factor = static_cast<const c10d::PreMulSumSupplement&>(*op.supplement_);
  return factor.tensor_factor.defined()
             ? wide.mul(factor.tensor_factor.to(wide.options()).reshape({}))
             : wide.mul(factor.double_factor);
}

inline void require_dense(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.defined() && tensor.layout() == at::kStrided && tensor.is_cpu(),
              "tutti: unsupported layout or unsupported device type: this call takes dense tensors "
              "of the CPU; for others use gloo or nccl, as in "
              "init_process_group(\"cpu:tutti,cuda:nccl\")");
}

inline at::Tensor& only(Tensors& tensors, const char* what) {
  TORCH_CHECK(tensors.size() == 1, "tutti: the call requires a single-element ", what, ", not ",
              tensors.size(), " tensors");
  require_dense(tensors[0]);
  return tensors[0];
}

inline void require_root(int64_t rank, int ranks) {
  TORCH_CHECK(rank >= 0 && rank < ranks, "tutti: invalid root rank: ", rank, "; ranks are 0 to ",
              ranks - 1);
}

inline void require_root_tensor(int64_t tensor, size_t tensors) {
  TORCH_CHECK(tensor >= 0 && static_cast<size_t>(tensor) < tensors,
              "tutti: invalid root tensor: ", tensor, " of ", tensors);
}

// All are like the first.
inline void require_same(const Tensors& tensors, const at::Tensor& first) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i];
    TORCH_CHECK(tensor.layout() == first.layout(), "tutti: invalid tensor layout at index ", i);
    TORCH_CHECK(tensor.scalar_type() == first.scalar_type(), "tutti: invalid tensor type at index ",
                i, ": ", tensor.scalar_type(), " instead of ", first.scalar_type());
    TORCH_CHECK(first.layout() != at::kStrided ? tensor.sizes() == first.sizes()
                                               : tensor.numel() == first.numel(),
                "tutti: invalid tensor size at index ", i, ": ", tensor.sizes(), " instead of ",
                first.sizes(), "; alltoall has parts of any sizes");
  }
}

// Tensors of one type and number of elements, one for each rank.
inline void require_alike(const Tensors& parts, const at::Tensor& own, int ranks,
                          const char* list) {
  TORCH_CHECK(parts.size() == static_cast<size_t>(ranks), "tutti: ", list, parts.size(),
              " tensors for ", ranks, " ranks");
  for (const at::Tensor& part : parts) require_dense(part);
  require_same(parts, own);
}

// The combination of several tensors of one rank. Numbers of 16 bits are combined in float.
inline at::Tensor combined(const Tensors& tensors, const ReduceOp& op) {
  const bool is_half = tensors[0].scalar_type() == at::kHalf ||
                       tensors[0].scalar_type() == at::kBFloat16 ||
                       c10::isFloat8Type(tensors[0].scalar_type());
  const auto wide = [&](const at::Tensor& one) { return is_half ? one.to(at::kFloat) : one; };
  at::Tensor all = wide(tensors[0]);
  for (size_t i = 1; i < tensors.size(); ++i) {
    const at::Tensor next = wide(tensors[i]).view_as(all);
    switch (op.op_) {
      case ReduceOp::SUM: all = all.add(next); break;
      case ReduceOp::PRODUCT: all = all.mul(next); break;
      case ReduceOp::MIN: all = at::minimum(all, next); break;
      case ReduceOp::MAX: all = at::maximum(all, next); break;
      case ReduceOp::BAND: all = all.bitwise_and(next); break;
      case ReduceOp::BOR: all = all.bitwise_or(next); break;
      case ReduceOp::BXOR: all = all.bitwise_xor(next); break;
      default: TORCH_CHECK(false, "tutti has no ", name_of(op), " of several tensors a rank");
    }
  }
  return all;
}

inline at::Tensor flat_for(const at::Tensor& own, int ranks) {
  return at::empty({ranks * own.numel()}, own.options());
}

inline Tensors views_of(const at::Tensor& flat, const at::Tensor& like, int ranks) {
  Tensors views;
  for (int rank = 0; rank < ranks; ++rank)
    views.push_back(flat.narrow(0, rank * like.numel(), like.numel()));
  return views;
}

// One side of an alltoall: where its parts are.
struct Parts {
  char* first = nullptr;
  std::vector<ptrdiff_t> at;
  std::vector<size_t> bytes;

  void add(char* data, size_t length) {
    if (first == nullptr) first = data;
    at.push_back(length == 0 ? 0 : data - first);
    bytes.push_back(length);
  }
};

inline Parts parts_of(const at::Tensor& tensor, const std::vector<int64_t>& splits, int ranks) {
  const auto all = static_cast<size_t>(ranks);
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  TORCH_CHECK(splits.empty() ? rows % ranks == 0 : splits.size() == all,
              "tutti: the first dimension, ", rows, ", does not split into ", ranks,
              " parts, one for each rank");
  int64_t total = 0;
  for (const int64_t split : splits) {
    TORCH_CHECK(split >= 0, "tutti: a split is negative");
    total += split;
  }
  TORCH_CHECK(splits.empty() || total == rows, "tutti: the splits sum to ", total,
              ", but the first dimension is ", rows);
  const size_t row_bytes = rows == 0 ? 0 : tensor.nbytes() / static_cast<size_t>(rows);
  Parts parts;
  auto* data = static_cast<char*>(tensor.data_ptr());
  for (size_t rank = 0; rank < all; ++rank) {
    const int64_t part = splits.empty() ? rows / ranks : splits[rank];
    parts.add(data, static_cast<size_t>(part) * row_bytes);
    data += static_cast<size_t>(part) * row_bytes;
  }
  return parts;
}

}  // namespace tutti_torch
