// A stand-in for the host MPI's collectives among the leaders of nodes, for tests whose ranks are
// threads.
#pragma once

#include <condition_variable>
#include <mutex>
#include <numeric>

#include "algo/by_host.h"
#include "group/leaders.h"
#include "group/test_nodes.h"

namespace tutti::group::test {

// The place where the leaders of a group meet. The last one to arrive computes the result for all.
struct Meeting {
  struct Guest {
    const void* in = nullptr;
    void* out = nullptr;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Guest> guests;
  size_t come = 0;
  int64_t round = 0;
  int64_t calls = 0;  // the calls of all leaders together

  template <class Compute>
  void meet(size_t place, Guest guest, Compute&& compute) {
    std::unique_lock lock(mutex);
    ++calls;
    guests[place] = guest;
    if (++come == guests.size()) {
      compute(guests);
      come = 0;
      ++round;
      changed.notify_all();
      return;
    }
    changed.wait(lock, [&, was = round] { return round != was; });
  }
};

class ThreadLeaders final : public Leaders {
 public:
  ThreadLeaders(Meeting& meeting, size_t place) : meeting_(meeting), place_(place) {}

  bool run(const group::Call& call) override {
    meeting_.meet(place_, {call.in, call.out}, [&](const std::vector<Meeting::Guest>& all) {
      const Meeting::Guest& root = all[static_cast<size_t>(call.root)];
      if (call.combine == nullptr) {
        for (const Meeting::Guest& one : all)
          if (one.out != root.in && call.count > 0) std::memcpy(one.out, root.in, call.count);
        return;
      }
      const auto sum = combined(all, call.count, *call.combine);
      for (const Meeting::Guest& one : all)
        if (!plan::rooted(call.collective) || &one == &root)
          std::memcpy(one.out, sum.data(), sum.size());
    });
    return works;
  }
  std::string failure() const override { return "the leaders fell out"; }

  bool works = true;

 private:
  static std::vector<char> combined(const std::vector<Meeting::Guest>& all, size_t count,
                                    const exec::Combine& combine) {
    const auto* const last = static_cast<const char*>(all.back().in);
    std::vector<char> result(last, last + count * combine.element);
    for (size_t i = all.size() - 1; i-- > 0;) {
      if (combine.kernel != nullptr) {
        combine.kernel(result.data(), all[i].in, result.data(), count);
      } else {
        combine.apply(combine.context, all[i].in, result.data(), count);
      }
    }
    return result;
  }

  Meeting& meeting_;
  size_t place_;
};

struct Outcome {
  int64_t calls = 0;     // the calls of the stand-in, by all leaders together
  int64_t messages = 0;  // the messages that Tutti sent between nodes
  int64_t leaders = 0;
};

// Runs `body` as with_nodes does, with ThreadLeaders. If `works` is false, all their calls fail.
inline Outcome with_leaders(const std::vector<int32_t>& nodes, const select::Overrides& overrides,
                            const std::function<void(Group&)>& body, size_t slot_bytes = 64 * 1024,
                            bool check = false, bool works = true,
                            trace::Tracer* tracer = nullptr) {
  const placement::Levels levels({{"node", nodes, 0}});
  const std::vector<int32_t> leading = algo::leaders(levels, static_cast<int>(nodes.size()));
  Meeting meeting;
  meeting.guests.resize(leading.size());
  std::vector<std::unique_ptr<ThreadLeaders>> made;
  std::vector<Leaders*> leaders;
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    const auto place =
        std::find(leading.begin(), leading.end(), static_cast<int32_t>(rank)) - leading.begin();
    made.push_back(std::make_unique<ThreadLeaders>(meeting, static_cast<size_t>(place)));
    made.back()->works = works;
    leaders.push_back(made.back().get());
  }
  const std::vector<int64_t> sent =
      with_nodes(nodes, overrides, body, slot_bytes, levels, check, leaders, tracer);
  return {meeting.calls, std::accumulate(sent.begin(), sent.end(), int64_t{0}),
          static_cast<int64_t>(leading.size())};
}

}  // namespace tutti::group::test
