// Records: short parts that travel with the agreement on how long they are (Agreement in
// operation.h).
//
//   record of a part:  longest part of its owner, 8 bytes | the part
//
// The part is left out unless all parts of its owner have room.
//
// Pure functions of one step and its call's data; the loop over steps calls them. Source: the eager
// messages of MPI libraries, whose header travels with the data.
#pragma once

#include "exec/executor.h"

namespace tutti::exec {

// Executes a copy step over records: from a user's part into a record, from a record into a user's
// part, or between two parts of the user. Keeps the length that the record told. Returns the bytes
// that it moved.
size_t move_record(const BoundStep& step, const Operation& operation, std::byte* const* base_of,
                   const Offsets& offsets);

// Completes a trace's record of an operation over records: the collective and the root of the call,
// and the longest part.
void name_records(trace::Recorder::What& what, const BoundProgram& bound,
                  const Operation& operation);

}  // namespace tutti::exec
