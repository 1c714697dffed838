// A private sequence: operations on a communicator that have numbers of their own, because ranks
// may start them in another order than the communicator's other operations. A persistent collective
// has one, and so have the neighbourhood collectives of a communicator.
//
// All ranks open a private sequence by the same collective call. To open it is an operation of the
// communicator's sequence of openings: its record has the place of the rank's ledger, with a note
// for the other ranks. Opening waits for no rank. A rank finds another's ledger and note when it
// first needs them, and until then takes the other for one that has started nothing.
//
// close() says that this rank will start and complete no operation any more. The others learn that
// a rank has closed when it also knows that its readers are done with all of its records. From then
// on the rank reads no memory of other ranks, and nobody needs its records. The ranks may close in
// any order. Each keeps its memory until all have closed, which try_end() finds out; only then may
// the object be destroyed. If MPI ends, it may be destroyed once try_close() is true. A rank that
// opens later then finds that this rank has ended, which counts as closed, and does not look for
// its ledger.
//
// One thread at a time opens private sequences on a communicator. Afterwards any thread may use the
// object as it may use a sequence (sequence.h). The openings and the arena outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "records/sequence.h"

namespace tutti::records {

class PrivateSequence final : private LedgerSource {
 public:
  struct Settings {
    Sequence* openings = nullptr;
    Arena* arena = nullptr;
    // The call that opens it; the same at all ranks if their calls match.
    uint64_t call = 0;
    std::span<const std::byte> note;          // copied
    std::optional<std::vector<int>> readers;  // nothing: all ranks
    bool concurrent = false;
  };
  // Throws Error(unavailable) or bad_alloc if there is no memory; nothing has been opened then.
  explicit PrivateSequence(const Settings& settings);
  ~PrivateSequence();
  PrivateSequence(const PrivateSequence&) = delete;

  Sequence& sequence() { return *sequence_; }
  uint64_t number() const { return number_; }  // the opening's number; the same at all ranks

  // True if the rank has opened the sequence; *note is then what it tells. Throws Error(mismatch)
  // if it has opened another one in its place, and Error(unavailable) if its memory cannot be
  // mapped.
  bool find_note(int rank, std::span<const std::byte>* note);

  void close() { closing_ = true; }
  // Call try_close() and try_end() after close(). May throw Error as find_note().
  bool try_close();
  bool is_closed() const { return closed_; }
  bool try_end();

 private:
  // The record of an opening. The other ranks read it until they have ended.
  struct Opening {
    shm::ArenaPlace place;
    shm::Word closed;
  };
  static_assert(sizeof(Opening) == shm::line_payload, "it fills a line");
  // A rank as this one knows it; nulls until it has opened the sequence.
  struct Peer {
    const std::byte* memory = nullptr;  // its ledger and its note
    const Opening* opening = nullptr;
    bool closed = false;
  };

  shm::Ledger* find_ledger(int rank) override;
  bool has_ended(int rank) override { return openings_.has_ended(rank); }
  Peer& look_at(int rank);
  bool has_closed(int rank);

  Sequence& openings_;
  Arena& arena_;
  const uint64_t call_;
  uint64_t number_ = 0;
  Arena::Block memory_;  // the ledger, and the note with its length before it
  Opening* own_ = nullptr;
  bool closing_ = false, closed_ = false, ended_ = false;
  std::mutex mutex_;  // guards the peers; the sequence's own lock is taken before it
  std::vector<Peer> peers_;
  std::optional<Sequence> sequence_;
};

}  // namespace tutti::records
