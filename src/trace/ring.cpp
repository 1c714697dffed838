#include "trace/ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace tutti::trace {

Ring::Ring(size_t records) {
  const size_t bytes = std::max(records, least_records) * sizeof(Record);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(Code::unavailable, "no memory for a trace ring of " + readable_bytes(bytes) +
                                       "; set TUTTI_TRACE_BYTES lower");
  begin_ = next_ = static_cast<Record*>(memory);
  end_ = begin_ + bytes / sizeof(Record);
}

Ring::~Ring() { munmap(begin_, static_cast<size_t>(end_ - begin_) * sizeof(Record)); }

Ring::Contents Ring::contents() const {
  if (laps_ == 0) return {{begin_, next_}, {}, 0};
  const auto written =
      laps_ * static_cast<uint64_t>(end_ - begin_) + static_cast<uint64_t>(next_ - begin_);
  return {{next_, end_}, {begin_, next_}, written - static_cast<uint64_t>(end_ - begin_)};
}

}  // namespace tutti::trace
