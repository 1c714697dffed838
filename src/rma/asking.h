// The client's side of transfers between nodes: sends requests and receives replies.
//
// The bytes that are under way to one rank at once are bounded (rma/window.h); further pieces
// (pieces.h) follow as replies come. So a rank that does not answer holds up no transfer with
// another one. Data of a put is copied when its piece is sent. The memory of the caller is read and
// written until the transfer is over. No function waits. One thread at a time.
//
// A transfer that has started needs no further memory to end: where memory has run out, its pieces
// go one after another through spare buffers.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "rma/message_buffers.h"
#include "rma/pieces.h"
#include "rma/far_ranks.h"
#include "rma/wire.h"
#include "rma/window.h"

namespace tutti::rma {

class Asking {
 public:
  // The wire outlives the object. Each rank gets a window that begins as `window` is.
  // `lists_over`: it lists the transfers that are over.
  Asking(Wire& wire, const Window& window, bool lists_over = false);
  // Nothing is under way, unless messages have failed.
  ~Asking();
  Asking(const Asking&) = delete;

  // The side that answers a transfer: the rank of the wire, the number by which it knows the owner
  // of the target's memory, and that owner's rank, for messages to the user.
  struct Target {
    int answers = 0;
    int number = 0;
    int rank = 0;
  };
  // The transfer has data. Returns its number. Throws bad_alloc, and has then started nothing.
  // `label`: the caller's.
  uint64_t start(const Transfer& transfer, const Target& target, uint64_t label = 0);
  uint64_t label(uint64_t number) const { return moving_.at(number).label; }
  bool knows(uint64_t number) const { return moving_.count(number) != 0; }
  bool is_over(uint64_t number) const;
  // Forgets a transfer that is over.
  Outcome take(uint64_t number) noexcept;
  // The number of the oldest transfer; 0 if there is none.
  uint64_t oldest() const { return moving_.empty() ? 0 : moving_.begin()->first; }
  size_t outstanding() const { return moving_.size(); }
  // Names the thing that a transfer waits for, in one line.
  std::string describe(uint64_t number) const;

  // True if something was sent or received.
  bool drive() noexcept;
  bool is_idle() const { return pieces_under_way_ == 0 && to_send_.empty(); }
  // The list: each number is added once, and the caller clears it.
  std::vector<uint64_t>& list_of_over() { return over_; }
  // The wire has failed, and no more messages are sent.
  const std::string& failure() const { return failure_; }

 private:
  struct Moving {
    Cutter cutter;
    Target target;
    uint64_t label = 0;
    Window* window = nullptr;  // to the rank that answers
    uint32_t under_way = 0;    // pieces
    Code code = Code::ok;      // how it ends
    bool is_over() const { return under_way == 0 && (cutter.is_at_end() || code != Code::ok); }
  };
  struct Piece {
    uint32_t place = 0;
    uint64_t number = 0;  // the number of its transfer; 0: the place is free
    Transfer transfer{};
    MessageBuffer request, reply;
    Wire::Message sending{}, receiving{};
    bool has_arrived = false;  // the reply
    size_t filled = 0;         // the window's limit if the piece took its last room; else 0
    std::chrono::steady_clock::time_point sent{};
  };

  using Pieces = std::deque<Piece>;

  Pieces& pieces() { return pieces_.front(); }
  void add_place();
  bool send_some();
  bool send(uint64_t number, Moving& moving);
  bool receive_some();
  bool advance(Piece& piece);
  void finish(Piece& piece);
  void end(uint64_t number);
  void fail(int rank, int code);

  Wire& wire_;
  const Window window_;
  const bool lists_over_;
  uint64_t last_ = 0;
  std::map<uint64_t, Moving> moving_;  // the transfers whose completion was not told
  std::list<uint64_t> to_send_;        // those of moving_ that have pieces left to send
  std::map<int, Window> windows_;      // indexed by rank
  std::list<Pieces> pieces_;           // one, indexed by place
  std::vector<uint32_t> free_places_;  // has room for all
  MessageBuffers requests_, replies_;
  std::vector<uint64_t> over_;  // has room for all that are moving
  size_t next_look_ = 0;        // a place
  size_t pieces_under_way_ = 0;
  std::string failure_;
};

}  // namespace tutti::rma
