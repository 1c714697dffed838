#include "records/letters.h"

#include <cstring>

namespace tutti::records {
namespace {

// How many letters are looked at, in turn, when another one is sent.
constexpr size_t most_looked_at = 4;

// The data follows its length.
constexpr size_t header_bytes = line_size;

// Different letters have different keys: the second word is a bijection of the number, for one
// first word. It selects the entry, so its low bits must differ (finalizer of SplitMix64).
Key key_of(int to, uint32_t tag, uint64_t number) {
  const uint64_t ends = (static_cast<uint64_t>(to) + 1) << 32 | tag;
  uint64_t mixed = number + ends * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  return {{ends, mixed ^ mixed >> 31}};
}

}  // namespace

// Frees the letters that have been read, of as many as `most`. The caller holds the lock.
void Letters::end_read(size_t most) noexcept {
  for (size_t looked = 0; looked < most && !sent_.empty(); ++looked) {
    if (next_ >= sent_.size()) next_ = 0;
    Sent& one = sent_[next_];
    if (shm::observe(one.entry->closed) == 0) {
      ++next_;
      continue;
    }
    directory_.remove(*one.entry);
    arena_.give_back(one.block);
    one = sent_.back();
    sent_.pop_back();
  }
}

void Letters::send(int to, uint32_t tag, const void* data, size_t bytes,
                   const kernels::Parallel* parallel) {
  const std::lock_guard<std::mutex> lock(mutex_);
  end_read(most_looked_at);
  sent_.reserve(sent_.size() + 1);
  uint64_t& count = sent_count_[{to, tag}];
  const Arena::Block block = arena_.take(header_bytes + bytes);
  const uint64_t length = bytes;
  std::memcpy(block.data, &length, sizeof length);
  kernels::copy_in_parts(parallel, block.data + header_bytes, data, bytes);
  try {
    sent_.push_back({&directory_.enter(key_of(to, tag, count), block.place), block});
  } catch (...) {
    arena_.give_back(block);
    throw;
  }
  ++count;
}

uint64_t Letters::claim(int from, uint32_t tag) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return claimed_[{from, tag}]++;
}

bool Letters::find(int from, uint32_t tag, uint64_t number, Letter* letter) {
  Directory::Entry* const entry = directory_.find(from, key_of(directory_.own(), tag, number));
  if (entry == nullptr) return false;
  const std::byte* const start = directory_.address(*entry);
  uint64_t length = 0;
  std::memcpy(&length, start, sizeof length);
  *letter = {start + header_bytes, length, entry};
  return true;
}

bool Letters::find_next(int from, uint32_t tag, Letter* letter) {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t& number = claimed_[{from, tag}];
  if (!find(from, tag, number, letter)) return false;
  ++number;
  return true;
}

bool Letters::all_read() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  end_read(sent_.size());
  return sent_.empty();
}

}  // namespace tutti::records
