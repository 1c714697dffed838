// Wires between threads, for tests: messages go over tables with a lock where programs have the
// host MPI. Each server number has a wire of its own, so servers with different numbers share
// nothing.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "rma/wire.h"

namespace tutti::rma {

class TestWires {
 public:
  class End final : public Wire {
   public:
    End(TestWires& all, int rank) : all_(all), rank_(rank) {}
    size_t most_piece() const override { return 1000; }  // so that tests cut transfers
    int receive(void* to, size_t bytes, int rank, int tag, Message* message) override {
      *message = ++last_;
      awaited_[last_] = {to, bytes, rank, tag};
      return all_.failure();
    }
    int send(const void* from, size_t bytes, int rank, int tag, Message* message) override {
      *message = 0;  // the message is copied, so it is over
      const auto* const data = static_cast<const char*>(from);
      const std::lock_guard lock(all_.mutex_);
      all_.mail_[{rank, tag}].push_back({rank_, {data, data + bytes}});
      return all_.failure_;
    }
    int test(Message* message, bool* done) override {
      *done = *message == 0;
      if (*done) return all_.failure();
      const auto awaited = awaited_.find(*message);
      const auto& [to, bytes, rank, tag] = awaited->second;
      const std::lock_guard lock(all_.mutex_);
      auto& box = all_.mail_[{rank_, tag}];
      for (auto mail = box.begin(); mail != box.end() && !*done; ++mail) {
        if (mail->from != rank) continue;
        if (mail->data.size() > bytes) return 1;
        std::memcpy(to, mail->data.data(), mail->data.size());
        box.erase(mail);
        awaited_.erase(awaited);
        *done = true;
        break;
      }
      return all_.failure_;
    }
    int probe(int tag, Found* found) override {
      const std::lock_guard lock(all_.mutex_);
      const auto& box = all_.mail_[{rank_, tag}];
      if (!box.empty()) *found = {box.front().from, box.front().data.size()};
      return all_.failure_;
    }

   private:
    struct Awaited {
      void* to;
      size_t bytes;
      int rank, tag;
    };
    TestWires& all_;
    const int rank_;
    Message last_ = 0;
    std::map<Message, Awaited> awaited_;
  };

  // All calls fail from now on, or work again.
  void fail() { answer(1); }
  void work() { answer(Wire::success); }

 private:
  struct Mail {
    int from;
    std::vector<char> data;
  };
  void answer(int code) {
    const std::lock_guard lock(mutex_);
    failure_ = code;
  }
  int failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

  std::mutex mutex_;
  int failure_ = Wire::success;
  std::map<std::pair<int, int>, std::deque<Mail>> mail_;  // indexed by receiver and tag
};

}  // namespace tutti::rma
