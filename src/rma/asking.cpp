#include "rma/asking.h"

#include <cstdio>
#include <cstring>
#include <list>
#include <mutex>
#include <utility>

namespace tutti::rma {
namespace {

constexpr size_t looks_at_once = 16;

// The transfer with the packed data of its blocks in the place of the target's memory.
Transfer packed(const Transfer& piece) {
  Transfer between = piece;
  between.remote_stride = static_cast<int64_t>(piece.block_bytes);
  return between;
}

const char* name(Kind kind) { return kind == Kind::put ? "put" : "get"; }

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

// After a failure the wire may still write into the memory of its messages, so that stays.
Asking::~Asking() {
  if (pieces_under_way_ == 0) return;
  static std::mutex mutex;
  static auto& kept = *new std::list<std::deque<Piece>>;
  const std::lock_guard<std::mutex> lock(mutex);
  kept.push_back(std::move(pieces_));
}

uint64_t Asking::start(const Transfer& transfer, const Target& target) {
  const uint64_t number = ++last_;
  Moving& moving = moving_.try_emplace(number, Moving{Cutter(transfer, wire_.most_piece()), target})
                       .first->second;
  if (!failure_.empty()) {
    moving.outcome = {Code::dead_peer, failure_};
    end(number);
    return number;
  }
  to_send_.push_back(number);
  send_some();
  return number;
}

bool Asking::is_over(uint64_t number) const {
  const auto found = moving_.find(number);
  return found == moving_.end() || found->second.is_over();
}

Outcome Asking::take(uint64_t number) {
  const auto found = moving_.find(number);
  Outcome outcome = std::move(found->second.outcome);
  moving_.erase(found);
  return outcome;
}

std::string Asking::describe(uint64_t number) const {
  const Moving& moving = moving_.at(number);
  const Transfer& transfer = moving.cutter.whole();
  return "for rank " + std::to_string(moving.target.rank) + ", on another node, to answer a " +
         name(transfer.kind) + " of " + std::to_string(transfer.bytes()) + " bytes";
}

bool Asking::drive() {
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
      to_send_.pop_front();
      const auto found = moving_.find(number);  // one that has failed may be gone
      if (found == moving_.end() || found->second.outcome.code != Code::ok) continue;
      Moving& moving = found->second;
      if (window_to(moving.target.answers).has_room()) {
        send(number, moving);
        sends = true;
      }
      if (!moving.cutter.is_at_end() && failure_.empty()) to_send_.push_back(number);
    }
  }
  return sent;
}

void Asking::send(uint64_t number, Moving& moving) {
  if (free_places_.empty()) {
    free_places_.push_back(static_cast<uint32_t>(pieces_.size()));
    pieces_.emplace_back().place = free_places_.back();
  }
  const uint32_t place = free_places_.back();
  Piece& piece = pieces_[place];
  piece.number = number;
  piece.transfer = moving.cutter.next();
  piece.has_arrived = false;
  const Transfer& transfer = piece.transfer;
  const bool puts = transfer.kind == Kind::put;
  const Asked request{.address = transfer.remote,
                      .stride = transfer.remote_stride,
                      .block_bytes = transfer.block_bytes,
                      .blocks = transfer.blocks,
                      .kind = transfer.kind,
                      .place = place,
                      .target = static_cast<uint32_t>(moving.target.number)};
  piece.request = buffers_.take(sizeof request + (puts ? transfer.bytes() : 0));
  piece.reply = buffers_.take(sizeof(Reply) + (puts ? 0 : transfer.bytes()));
  std::memcpy(piece.request.data(), &request, sizeof request);
  if (puts)
    copy_blocks(packed(transfer), piece.request.data() + sizeof request,
                reinterpret_cast<const std::byte*>(transfer.local));
  free_places_.pop_back();
  ++moving.under_way;
  ++pieces_under_way_;
  piece.filled = window_to(moving.target.answers).sent(transfer.bytes());
  piece.sent = std::chrono::steady_clock::now();
  const int rank = moving.target.answers;
  int code = wire_.receive(piece.reply.data(), piece.reply.size(), rank,
                           first_reply_tag + static_cast<int>(place), &piece.receiving);
  if (code == Wire::success)
    code =
        wire_.send(piece.request.data(), piece.request.size(), rank, request_tag, &piece.sending);
  if (code != Wire::success) fail(rank, code);
}

// Some places at a time, in turn, because each look may cost a call of the network.
bool Asking::receive_some() {
  bool received = false;
  size_t looks = 0;
  for (size_t seen = 0; seen < pieces_.size() && looks < looks_at_once && pieces_under_way_ > 0;
       ++seen) {
    Piece& piece = pieces_[next_look_];
    next_look_ = (next_look_ + 1) % pieces_.size();
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
    if (moving.outcome.code == Code::ok)
      moving.outcome = {code, why(code, moving.cutter.whole(), moving.target.rank)};
  } else if (transfer.kind == Kind::get) {
    copy_blocks(packed(transfer), reinterpret_cast<std::byte*>(transfer.local),
                piece.reply.data() + sizeof reply);
  }
  --moving.under_way;
  --pieces_under_way_;
  window_to(moving.target.answers)
      .answered(transfer.bytes(), std::chrono::steady_clock::now() - piece.sent, piece.filled);
  free_places_.push_back(piece.place);
  const uint64_t number = std::exchange(piece.number, 0);
  buffers_.give(std::move(piece.request));
  buffers_.give(std::move(piece.reply));
  if (moving.is_over()) end(number);
}

void Asking::end(uint64_t number) {
  if (lists_over_) over_.push_back(number);
}

// A wire promises nothing after a failure, so all that is outstanding ends with it.
void Asking::fail(int rank, int code) {
  failure_ = "the host MPI failed to exchange messages with rank " + std::to_string(rank) +
             " (its error " + std::to_string(code) + "); has its process ended?";
  to_send_.clear();
  for (auto& [number, moving] : moving_) {
    if (moving.is_over()) continue;
    moving.under_way = 0;
    moving.outcome = {Code::dead_peer, failure_};
    end(number);
  }
}

}  // namespace tutti::rma
