// Messages between thread ranks, for tests: they go over a table with a lock where src/net uses
// MPI. A short message goes at once, as hosts' eager messages do; a long one goes when its receiver
// has posted it.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "exec/net.h"

namespace tutti::exec {

class Mailboxes {
 public:
  class Box final : public Net {
   public:
    Box(Mailboxes& all, int rank) : all_(all), rank_(rank) {}
    void reserve(size_t count) override {
      if (requests_.size() < count) requests_.resize(count);
    }
    size_t most_without_driving() const override { return most_eager; }
    bool receive(size_t request, void* to, size_t bytes, int rank, uint64_t tag) override {
      requests_[request] = {{rank, rank_, tag}, false};
      return all_.post(requests_[request].key, to, bytes);
    }
    bool send(size_t request, const void* from, size_t bytes, int rank, uint64_t tag) override {
      const size_t leaving = bytes > prompt() ? bytes : 0;
      requests_[request] = {{rank_, rank, tag}, true, leaving};
      ++sent_;
      leaving_ += leaving;
      most_leaving_ = std::max(most_leaving_, leaving_);
      return all_.send(requests_[request].key, from, bytes);
    }
    State test(size_t request) override {
      Request& tested = requests_[request];
      const State state = all_.test(tested.key, tested.sends);
      if (state == State::done) leaving_ -= std::exchange(tested.leaving, 0);
      return state;
    }
    bool all_have_left() override { return !keeps_; }
    // Messages that were sent have not left yet while `keeps` is true.
    void keep_messages(bool keeps) { keeps_ = keeps; }
    std::string failure() const override { return "a message of another length than was posted"; }
    int64_t sent() const { return sent_; }
    // The most bytes of messages beyond prompt() that this rank had begun to send and had not seen
    // end.
    size_t most_leaving() const { return most_leaving_; }

   private:
    friend class Mailboxes;
    struct Request {
      std::tuple<int, int, uint64_t> key;
      bool sends = false;
      size_t leaving = 0;  // bytes that are under way
    };
    Mailboxes& all_;
    const int rank_;
    bool keeps_ = false;
    int64_t sent_ = 0;
    size_t leaving_ = 0, most_leaving_ = 0;
    std::vector<Request> requests_;
  };

 private:
  using Key = std::tuple<int, int, uint64_t>;  // from, to, tag
  static constexpr size_t most_eager = 4096;

  struct Mail {
    void* to = nullptr;
    const void* from = nullptr;
    std::vector<char> eager;
    size_t posted_bytes = 0, sent_bytes = 0;
    bool posted = false, sent = false, moved = false, wrong = false, received = false,
         ended = false;
  };

  bool post(const Key& key, void* to, size_t bytes) {
    const std::lock_guard lock(mutex_);
    Mail& mail = mail_[key];
    if (mail.posted) return false;
    mail.posted = true;
    mail.to = to;
    mail.posted_bytes = bytes;
    move(mail);
    return true;
  }

  bool send(const Key& key, const void* from, size_t bytes) {
    const std::lock_guard lock(mutex_);
    Mail& mail = mail_[key];
    if (mail.sent) return false;
    mail.sent = true;
    mail.sent_bytes = bytes;
    mail.from = from;
    if (bytes <= most_eager && bytes > 0) {
      mail.eager.assign(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
      mail.from = nullptr;
    }
    move(mail);
    return true;
  }

  // The lock is held.
  static void move(Mail& mail) {
    if (!mail.posted || !mail.sent) return;
    mail.moved = true;
    mail.wrong = mail.posted_bytes != mail.sent_bytes;
    if (mail.wrong) return;
    if (mail.sent_bytes > 0)
      std::memcpy(mail.to, mail.from != nullptr ? mail.from : mail.eager.data(), mail.sent_bytes);
  }

  Net::State test(const Key& key, bool sends) {
    const std::lock_guard lock(mutex_);
    const auto found = mail_.find(key);
    Mail& mail = found->second;
    const bool done = mail.moved || (sends && mail.from == nullptr && mail.sent);
    if (!done) return Net::State::pending;
    if (mail.wrong && !sends) return Net::State::failed;
    (sends ? mail.ended : mail.received) = true;
    if (mail.ended && mail.received) mail_.erase(found);
    return Net::State::done;
  }

  std::mutex mutex_;
  std::map<Key, Mail> mail_;
};

}  // namespace tutti::exec
