// Requests: collectives that a group starts and completes in separate calls, by records
// (records/operation.h), and messages between processes (records/letters.h).
//
// Started is what a group has for all of its requests. It is made at the group's first one; the
// areas of the group's ranks and the arena outlive it. A tutti_request belongs to the caller from
// its start to its completion.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/reach.h"
#include "exec/slot_stores.h"
#include "exec/waiter.h"
#include "kernels/parts.h"
#include "records/letters.h"
#include "records/operation.h"
#include "records/sequence.h"
#include "shm/layout.h"
#include "tutti/tutti.h"

namespace tutti::api {

class Started {
 public:
  struct Settings {
    std::byte* areas = nullptr;
    shm::Layout layout;
    int rank = 0;
    records::Arena* arena = nullptr;
    records::Directory* directory = nullptr;  // null: there are no messages
    exec::Reach reach;                        // how the ranks reach each other's buffers
    exec::WaitStyle style = exec::WaitStyle::spin;
    // Indexed by rank: the processes; none if the ranks are threads, of which each has its own
    // group.
    std::vector<int64_t> processes;
  };
  explicit Started(Settings settings);
  // Waits a little for ranks that may still read this rank's records. A rank whose process ends
  // before another has read them would leave that one with an error.
  ~Started();
  Started(const Started&) = delete;

  // Publishes the record of an operation whose members are set.
  void start(records::Operation& operation);
  const plan::RecordProgram& program(plan::Collective collective, int root) const;

  records::Sequence& sequence() { return sequence_; }
  // Null if the ranks are threads.
  records::Letters* letters() { return letters_ ? &*letters_ : nullptr; }
  int ranks() const { return settings_.layout.ranks; }
  int rank() const { return settings_.rank; }
  exec::WaitStyle style() const { return settings_.style; }
  // 0: the ranks are threads, or the process is unknown.
  uint64_t process(int rank) const;
  bool is_gone(int rank) const;

  // The threads that share long copies and reductions. Set before the first start.
  void set_parallel(const kernels::Parallel& parallel) { parallel_ = parallel; }
  const kernels::Parallel* parallel() const {
    return parallel_.run == nullptr ? nullptr : &parallel_;
  }

  // From now on waits of requests fail, and so do starts. Any thread.
  void abort() { aborted_ = true; }
  bool is_aborted() const { return aborted_; }
  // Waits until the other ranks have read all that this rank has given. False: they have not after
  // this time, or one has ended.
  bool flush(exec::Pace::Duration longest);
  // False in a process that was forked from the one that has made this.
  bool is_own() const;

 private:
  const Settings settings_;
  const int64_t maker_;  // the process
  std::atomic<bool> aborted_{false};
  kernels::Parallel parallel_;
  records::Sequence sequence_;
  std::mutex starting_;  // guards stores_ and the order of starts
  exec::SlotStores stores_;
  std::optional<records::Letters> letters_;
};

}  // namespace tutti::api

struct tutti_request {
  explicit tutti_request(tutti::api::Started& its) : started(its) {}
  tutti_request(const tutti_request&) = delete;
  virtual ~tutti_request() = default;

  // True if finish() waits for no rank's start. Else *late is a rank that is waited for; -1: any.
  virtual bool is_ready(int* late) = 0;
  // Takes the results; the request has ended then. Throws Error.
  virtual void finish() = 0;
  // Ends the request without results.
  virtual void abandon() = 0;
  virtual std::string described() const = 0;  // for messages

  tutti::api::Started& started;
  // How long finish() waits for a rank that has begun to give its data and does not go on.
  std::chrono::duration<double> limit = std::chrono::duration<double>::max();
  // When a test looks for processes that have ended; the clock's epoch: none has failed yet.
  std::chrono::steady_clock::time_point next_look;
};
