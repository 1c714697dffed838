// Messages between nodes. The maker of a channel hands in a Net (src/net over the host MPI, or
// mailboxes in tests), so that the executor knows no MPI.
//
// A sender, a receiver and a tag identify a message: no other message under way between the two has
// that tag. The caller numbers its requests, and tests a request until it is done before it uses
// the number again. From its begin until it is done, the memory belongs to the message. One thread
// at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tutti::exec {

// A message of up to so many bytes goes without its receiver's consent: Open MPI's TCP asks from
// 64 KiB on, its header included; MPICH's and its relatives' never.
inline constexpr size_t prompt_of_openmpi = size_t{32} << 10;
inline constexpr size_t prompt_of_others = size_t{64} << 10;

class Net {
 public:
  enum class State : uint8_t { pending, done, failed };
  virtual ~Net() = default;

  // Makes room for requests of numbers below `count`; requests under way stay as they are.
  virtual void reserve(size_t count) = 0;
  // A message of up to so many bytes goes without its receiver's consent, in one delay. The same at
  // all ranks.
  virtual size_t prompt() const { return prompt_of_openmpi; }
  // A longer message moves on only while somebody drives the transport, for example because its
  // sender asks for consent and then writes it in several parts.
  virtual size_t most_without_driving() const { return SIZE_MAX; }
  // True if messages to a rank of the group go over a network, whose link they share with others.
  virtual bool is_far(int) const { return true; }
  // Ranks are the group's. False if the transport refuses; failure() says why.
  virtual bool receive(size_t request, void* to, size_t bytes, int rank, uint64_t tag) = 0;
  virtual bool send(size_t request, const void* from, size_t bytes, int rank, uint64_t tag) = 0;
  // Drives the transport. May wait if only a message can come next.
  virtual State test(size_t request) = 0;
  virtual std::string failure() const = 0;
  // True if all messages that are done as sent have left. Until then, somebody should drive the
  // transport: this function does.
  virtual bool all_have_left() { return true; }
};

}  // namespace tutti::exec
