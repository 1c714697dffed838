// The words in which a rank tells what it passes to a call, where the ranks of a node compare that
// before the call (tutti-run --verify).
//
// A rank tells it in one line of its Control, with a number that counts such calls, and reads the
// lines of the others. It tells the next call in the other half of the line, so that slow ranks can
// still read this one. It comes back to this half when it tells the call after the next one; then
// all others have told the next one, so they no longer read this one.
//
// A program may show by its lines that the calls of two ranks differ, or seem to (the signatures of
// one rank have bits that another one leaves out). The ranks' words then decide (fail_mismatch).
#pragma once

#include <array>
#include <cstdint>

namespace tutti::exec {

// Two calls fit exactly if their words are equal.
using Passed = std::array<uint64_t, 3>;

}  // namespace tutti::exec
