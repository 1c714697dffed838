// Records: short parts that travel with the agreement on how long they are (Agreement in
// executor.h).
//
//   record of a part:  longest part of its owner, 8 bytes | the part, where all parts of its owner
//   have room
//
// Pure functions of one step and its call's data; the loop over steps calls them. Source: the eager
// messages of MPI libraries, whose header travels with the data.
#pragma once

#include "exec/executor.h"

namespace tutti::exec {

// Does a copy of a plan that is run over records: from the user's part into a record, from a record
// into the user's part, or from the user to the user. Notes what the record said. Returns the bytes
// moved.
size_t move_record(const BoundStep& step, const Operation& operation, std::byte* const* base_of,
                   const Offsets& offsets);

// What a trace says of an operation over records: the collective and the root of the call, the
// longest part of all.
void name_records(trace::Recorder::What& what, const BoundProgram& bound,
                  const Operation& operation);

}  // namespace tutti::exec
