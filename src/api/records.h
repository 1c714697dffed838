// How elements of a user's operation travel in a reduction of a shared array (array.cpp). Internal
// to src/api.
//
// A record is an element and, if the operation has no neutral element, a flag that says whether
// there is one. So a rank without elements takes part like any other. Combining a record without an
// element with another gives that other one.
//
// Records are values in memory of the caller. They may have any alignment; the user's function gets
// aligned copies of their elements. One thread uses a Records.
#pragma once

#include <cstddef>

#include "exec/operation.h"
#include "tutti/tutti.h"

namespace tutti::api {

class Records {
 public:
  // The bytes of a record, and of `aside` below, for an operation that has been checked.
  static size_t bytes_for(const tutti_user_op& op);
  static size_t aside_for(const tutti_user_op& op);

  // `op` and `aside`, aligned memory for three elements, outlive it.
  Records(const tutti_user_op& op, std::byte* aside);

  size_t bytes() const { return bytes_; }
  // For the executor. The object outlives the operation.
  exec::Combine combine();

  // *record = elements[0] op ... op elements[count - 1]; without elements the neutral one, or none.
  void fold(std::byte* record, const std::byte* elements, size_t count);
  // The result of the records that have been appended, from the left; null if none had an element.
  void append(const std::byte* record);
  const std::byte* total() const { return has_total_ ? total_ : nullptr; }

 private:
  bool has_element(const std::byte* record) const {
    return op_.neutral != nullptr || record[bytes_ - 1] != std::byte{0};
  }
  // *inout = *in op *inout
  void combine_one(const std::byte* in, std::byte* inout);

  const tutti_user_op& op_;
  size_t bytes_;
  std::byte *left_, *right_, *total_;  // elements, aligned
  bool has_total_ = false;
};

}  // namespace tutti::api
