#include "rma/asking.h"

#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "base/text_or_short.h"

namespace tutti::rma {
namespace {

constexpr size_t looks_at_once = 16;

template <class Value>
void make_room(std::vector<Value>& values, size_t count) {
  if (values.capacity() < count) values.reserve(2 * count);
}

// The transfer with the packed data of its blocks in the place of the target's memory.
Transfer packed(const Transfer& piece) {
  Transfer between = piece;
  between.remote_stride = static_cast<int64_t>(piece.block_bytes);
  return between;
}

const char* name(Kind kind) { return is_put(kind) ? "put" : "get"; }

std::string hexadecimal(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::string why(Code code, const Transfer& transfer, int rank) {
  const std::string what = "a " + std::string(name(transfer.kind)) + " of " +
                           std::to_string(transfer.bytes()) + " bytes at address " +
                           hexadecimal(transfer.remote) + " of rank " + std::to_string(rank);
  if (code == Code::invalid_argument)
    return what +
           " names memory that this rank does not have; nothing or a part of it was moved. Use "
           "addresses that the rank itself has told";
  return what +
         " failed: that rank's system does not permit the copy, and the memory is not in the "
         "rank's shared heap; take it from tutti_alloc";
}

}  // namespace

Asking::Asking(Wire& wire, const Window& window, bool lists_over)
    : wire_(wire),
      window_(window),
      lists_over_(lists_over),
      pieces_(1),
      requests_(window_.most(), sizeof(Asked) + wire.most_piece()),
      replies_(window_.most(), sizeof(Reply) + wire.most_piece()) {
  add_place();
}

// After a failure the wire may still write into the memory of its messages, so that stays, in a
// list that is never destroyed. Nothing is allocated for it.
Asking::~Asking() {
  if (pieces_under_way_ == 0) return;
  using All = std::list<Pieces>;
  static std::mutex mutex;
  alignas(All) static std::byte memory[sizeof(All)];
  static All& kept = *new (memory) All;
  const std::lock_guard<std::mutex> lock(mutex);
  kept.splice(kept.end(), pieces_);
}

// All that may throw comes before the transfer is known.
uint64_t Asking::start(const Transfer& transfer, const Target& target, uint64_t label) {
  const uint64_t number = last_ + 1;
  if (lists_over_) make_room(over_, moving_.size() + 1);
  std::list<uint64_t> to_send{number};
  Window& window = windows_.try_emplace(target.answers, window_).first->second;
  Moving& moving = moving_
                       .try_emplace(number, Moving{.cutter = Cutter(transfer, wire_.most_piece()),
                                                   .target = target,
                                                   .label = label,
                                                   .window = &window})
                       .first->second;
  last_ = number;
  if (!failure_.empty()) {
    moving.code = Code::dead_peer;
    end(number);
    return number;
  }
  to_send_.splice(to_send_.end(), to_send);
  send_some();
  return number;
}

bool Asking::is_over(uint64_t number) const {
  const auto found = moving_.find(number);
  return found == moving_.end() || found->second.is_over();
}

Outcome Asking::take(uint64_t number) noexcept {
  const auto found = moving_.find(number);
  const Moving& moving = found->second;
  Outcome outcome{moving.code};
  if (moving.code != Code::ok)
    outcome.why = text_or_short([&] {
      const bool wire_failed = moving.code == Code::dead_peer && !failure_.empty();
      return wire_failed ? failure_ : why(moving.code, moving.cutter.whole(), moving.target.rank);
    });
  moving_.erase(found);
  return outcome;
}

std::string Asking::describe(uint64_t number) const {
  const Moving& moving = moving_.at(number);
  const Transfer& transfer = moving.cutter.whole();
  return "for rank " + std::to_string(moving.target.rank) + ", on another node, to answer a " +
         name(transfer.kind) + " of " + std::to_string(transfer.bytes()) + " bytes";
}

bool Asking::drive() noexcept {
  if (is_idle() || !failure_.empty()) return false;
  const bool received = receive_some();
  return send_some() || received;
}

// The transfers send their pieces in turn, so that a short one need not wait for a long one.
bool Asking::send_some() {
  bool sent = false;
  for (bool sends = true; sends && failure_.empty(); sent = sent || sends) {
    sends = false;
    for (size_t left = to_send_.size(); left > 0 && failure_.empty(); --left) {
      const uint64_t number = to_send_.front();
      const auto found = moving_.find(number);  // one that has failed may be gone
      if (found == moving_.end() || found->second.code != Code::ok) {
        to_send_.pop_front();
        continue;
      }
      Moving& moving = found->second;
      if (moving.window->has_room()) sends = send(number, moving) || sends;
      if (!failure_.empty()) break;  // the list is empty then
      if (moving.cutter.is_at_end())
        to_send_.pop_front();
      else
        to_send_.splice(to_send_.end(), to_send_, to_send_.begin());
    }
  }
  return sent;
}

// Throws bad_alloc, and has then added nothing.
void Asking::add_place() {
  const auto place = static_cast<uint32_t>(pieces().size());
  make_room(free_places_, pieces().size() + 1);
  pieces().emplace_back().place = place;
  free_places_.push_back(place);
}

// False, with nothing done, if memory has run out and pieces under way use the spare one.
bool Asking::send(uint64_t number, Moving& moving) {
  Cutter after = moving.cutter;
  const Transfer transfer = after.next();
  const bool puts = is_put(transfer.kind);
  if (free_places_.empty()) {
    try {
      add_place();
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  MessageBuffer to_target = requests_.take(sizeof(Asked) + (puts ? transfer.bytes() : 0));
  MessageBuffer from_target = replies_.take(sizeof(Reply) + (puts ? 0 : transfer.bytes()));
  if (to_target.data() == nullptr || from_target.data() == nullptr) {
    requests_.give(std::move(to_target));
    replies_.give(std::move(from_target));
    return false;
  }
  moving.cutter = after;
  const uint32_t place = free_places_.back();
  free_places_.pop_back();
  Piece& piece = pieces()[place];
  piece.number = number;
  piece.transfer = transfer;
  piece.request = std::move(to_target);
  piece.reply = std::move(from_target);
  piece.has_arrived = false;
  const Asked request{.address = transfer.remote,
                      .stride = transfer.remote_stride,
                      .block_bytes = transfer.block_bytes,
                      .blocks = transfer.blocks,
                      .kind = transfer.kind,
                      .place = place,
                      .target = static_cast<uint32_t>(moving.target.number)};
  std::memcpy(piece.request.data(), &request, sizeof request);
  if (puts)
    copy_blocks(packed(transfer), piece.request.data() + sizeof request,
                reinterpret_cast<const std::byte*>(transfer.local));
  ++moving.under_way;
  ++pieces_under_way_;
  piece.filled = moving.window->sent(transfer.bytes());
  piece.sent = std::chrono::steady_clock::now();
  const int rank = moving.target.answers;
  int code = wire_.receive(piece.reply.data(), piece.reply.size(), rank,
                           first_reply_tag + static_cast<int>(place), &piece.receiving);
  if (code == Wire::success)
    code =
        wire_.send(piece.request.data(), piece.request.size(), rank, request_tag, &piece.sending);
  if (code != Wire::success) fail(rank, code);
  return true;
}

// Some places at a time, in turn, because each look may cost a call of the network.
bool Asking::receive_some() {
  bool received = false;
  size_t looks = 0;
  Pieces& all = pieces();
  for (size_t seen = 0; seen < all.size() && looks < looks_at_once && pieces_under_way_ > 0;
       ++seen) {
    Piece& piece = all[next_look_];
    next_look_ = (next_look_ + 1) % all.size();
    if (piece.number == 0) continue;
    if (!advance(piece))
      ++looks;
    else
      received = true;
    if (!failure_.empty()) return true;
  }
  return received;
}

// True if the piece is complete: the reply is here, and the host has let go of the request.
bool Asking::advance(Piece& piece) {
  const int rank = moving_.at(piece.number).target.answers;
  bool done = piece.has_arrived;
  int code = Wire::success;
  if (!done) code = wire_.test(&piece.receiving, &done);
  if (code == Wire::success && done) {
    piece.has_arrived = true;
    code = wire_.test(&piece.sending, &done);
  }
  if (code != Wire::success) fail(rank, code);
  if (code != Wire::success || !done) return false;
  finish(piece);
  return true;
}

void Asking::finish(Piece& piece) {
  Moving& moving = moving_.at(piece.number);
  const Transfer& transfer = piece.transfer;
  Reply reply;
  std::memcpy(&reply, piece.reply.data(), sizeof reply);
  const Code code = static_cast<Code>(reply.code);
  if (code != Code::ok) {
    if (moving.code == Code::ok) moving.code = code;
  } else if (transfer.kind == Kind::get) {
    copy_blocks(packed(transfer), reinterpret_cast<std::byte*>(transfer.local),
                piece.reply.data() + sizeof reply);
  }
  --moving.under_way;
  --pieces_under_way_;
  moving.window->answered(transfer.bytes(), std::chrono::steady_clock::now() - piece.sent,
                          piece.filled);
  free_places_.push_back(piece.place);
  const uint64_t number = std::exchange(piece.number, 0);
  requests_.give(std::move(piece.request));
  replies_.give(std::move(piece.reply));
  if (moving.is_over()) end(number);
}

void Asking::end(uint64_t number) {
  if (lists_over_) over_.push_back(number);
}

// A wire promises nothing after a failure, so all that is outstanding ends with it.
void Asking::fail(int rank, int code) {
  failure_ = text_or_short([&] {
    return "the host MPI failed to exchange messages with rank " + std::to_string(rank) +
           " (its error " + std::to_string(code) + "); has its process ended?";
  });
  to_send_.clear();
  for (auto& [number, moving] : moving_) {
    if (moving.is_over()) continue;
    moving.under_way = 0;
    moving.code = Code::dead_peer;
    end(number);
  }
}

}  // namespace tutti::rma
