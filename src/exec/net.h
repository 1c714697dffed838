// Messages between nodes, as whoever makes a channel hands them in (src/net over the host MPI;
// tests over mailboxes), so that the executor knows no MPI.
//
// A message is known by its sender, its receiver and a tag, which no other under way between the
// two has. Requests are numbered by the caller; one that has been begun is tested until it is done
// before its number is used again. Memory belongs to the message from begin to done. One thread at
// a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tutti::exec {

class Net {
 public:
  enum class State : uint8_t { pending, done, failed };
  virtual ~Net() = default;

  // Room for requests of numbers below `count`; those under way stay.
  virtual void reserve(size_t count) = 0;
  // A message of up to so many bytes goes without its receiver's consent, in one delay. The same at
  // all ranks.
  virtual size_t prompt() const { return size_t{32} << 10; }
  // Ranks are the group's. False where the transport refuses; failure() says why.
  virtual bool receive(size_t request, void* to, size_t bytes, int rank, uint64_t tag) = 0;
  virtual bool send(size_t request, const void* from, size_t bytes, int rank, uint64_t tag) = 0;
  // Drives the transport, and may wait where nothing but a message can come next.
  virtual State test(size_t request) = 0;
  virtual std::string failure() const = 0;
};

}  // namespace tutti::exec
