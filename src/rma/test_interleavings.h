// Runs a few threads of a test in all interleavings of their atomic operations, so that what every
// interleaving must hold is checked in each.
//
// The threads are coroutines of one real thread. Each pauses before every atomic operation, and the
// explorer chooses which goes on: depth first over all choices, by running the whole test again
// for each. A store first goes into its thread's store buffer and reaches the memory later, when
// the explorer chooses so; others see it only then. A compare-and-exchange acts on the memory, and
// leaves earlier stores to other words in the buffer, as weakly ordered processors may. So tests
// find a missing fence.
//
// Vector clocks find accesses to plain data that no release and acquire orders. A thread that
// polls calls pause() after each round, and goes on when the memory has changed since the round
// began. If no thread can go on, the interleaving is a deadlock.
//
// Idea: Loom (github.com/tokio-rs/loom) and CHESS (Musuvathi and others, OSDI 2008), whose bound on
// preemptions keeps larger tests short.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tutti::test {

constexpr size_t most_threads = 4;
using Clocks = std::array<uint32_t, most_threads>;

class Explorer;
// The explorer whose threads run now.
inline Explorer* exploring = nullptr;

struct SimulatedWord {
  uint64_t value = 0;
  Clocks released{};  // the clocks of a thread that observes the value
};

class Explorer {
 public:
  struct Settings {
    size_t preemptions = SIZE_MAX;  // at most so many in an interleaving
  };
  struct Result {
    size_t interleavings = 0;
    std::string failure;  // the first interleaving that failed; empty: none did
  };
  // A run of the test: its threads, and what must hold at the end (an empty text, or the failure).
  struct Run {
    std::vector<std::function<void()>> threads;
    std::function<std::string()> verdict;
  };

  static Result explore(const std::function<Run()>& make, const Settings& settings) {
    Result result;
    std::vector<Choice> path;
    do {
      Explorer explorer(path, settings);
      exploring = &explorer;
      {
        Run run = make();
        explorer.execute(run);
        if (explorer.failure_.empty()) explorer.failure_ = run.verdict();
      }
      exploring = nullptr;
      ++result.interleavings;
      if (!explorer.failure_.empty()) {
        result.failure = explorer.failure_ + "\n" + explorer.told();
        return result;
      }
      while (!path.empty() && path.back().taken + 1 == path.back().count) path.pop_back();
      if (!path.empty()) ++path.back().taken;
    } while (!path.empty());
    return result;
  }

  // The threads call these.
  void store(SimulatedWord& word, uint64_t value) {
    pause_before("store", value);
    Thread& thread = *threads_[running_];
    ++thread.clocks[running_];
    thread.buffer.push_back({&word, value, thread.clocks});
  }
  uint64_t load(const SimulatedWord& word) {
    pause_before("load");
    Thread& thread = *threads_[running_];
    for (auto at = thread.buffer.rbegin(); at != thread.buffer.rend(); ++at)
      if (at->word == &word) return at->value;
    learn(word);
    return word.value;
  }
  // Adds, or exchanges if the value is `from`. Returns the value before.
  template <class Change>
  uint64_t change(SimulatedWord& word, const char* what, Change change) {
    pause_before(what);
    while (has_buffered(word)) flush(running_);
    const uint64_t before = word.value;
    learn(word);
    if (const uint64_t after = change(before); after != before) {
      word.value = after;
      ++changes_;
    }
    return before;
  }
  void fence() {
    pause_before("fence");
    flush_all(running_);
  }
  void wait(SimulatedWord& word, uint64_t seen) {
    pause_before("wait");
    flush_all(running_);
    if (word.value != seen) return;
    threads_[running_]->sleeps_on = &word;
    back_to_scheduler();
  }
  void wake(const SimulatedWord& word) {
    pause_before("wake");
    flush_all(running_);
    for (auto& thread : threads_)
      if (thread->sleeps_on == &word) thread->sleeps_on = nullptr;
  }
  // For a thread that polls in vain.
  void pause() {
    Thread& thread = *threads_[running_];
    thread.polls_since = thread.round_began;
    back_to_scheduler();
    thread.round_began = changes_;
  }
  void read(const void* data) {
    if (done_) return;
    Access& access = accesses_[data];
    check_order(access.writer, access.written, "is read, and written");
    access.read[running_] = ++threads_[running_]->clocks[running_];
  }
  void write(const void* data) {
    if (done_) return;
    Access& access = accesses_[data];
    check_order(access.writer, access.written, "is written twice");
    for (size_t reader = 0; reader < threads_.size(); ++reader)
      check_order(reader, access.read[reader], "is written, and read");
    access.writer = running_;
    access.written = ++threads_[running_]->clocks[running_];
  }
  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }

 private:
  static constexpr size_t stack_bytes = size_t{64} * 1024;

  struct Choice {
    size_t taken, count;
  };
  struct Buffered {
    SimulatedWord* word;
    uint64_t value;
    Clocks clocks;
  };
  struct Thread {
    std::function<void()> body;
    ucontext_t context{};
    std::unique_ptr<std::byte[]> stack{new std::byte[stack_bytes]};
    std::deque<Buffered> buffer;
    Clocks clocks{};
    const SimulatedWord* sleeps_on = nullptr;
    uint64_t round_began = 0;           // changes_ when it began to poll, or went on
    uint64_t polls_since = UINT64_MAX;  // it goes on when changes_ differs
    bool ended = false;
  };
  struct Event {
    size_t thread;
    const char* what;
    uint64_t value;
  };
  struct Access {
    size_t writer = 0;
    uint32_t written = 0;
    Clocks read{};
  };

  Explorer(std::vector<Choice>& path, const Settings& settings)
      : path_(path), settings_(settings) {}

  bool can_run(const Thread& thread) const {
    return !thread.ended && thread.sleeps_on == nullptr && thread.polls_since != changes_;
  }

  void execute(Run& run) {
    for (auto& body : run.threads) {
      auto thread = std::make_unique<Thread>();
      thread->body = body;
      getcontext(&thread->context);
      thread->context.uc_stack.ss_sp = thread->stack.get();
      thread->context.uc_stack.ss_size = stack_bytes;
      thread->context.uc_link = &scheduler_;
      makecontext(&thread->context, reinterpret_cast<void (*)()>(&Explorer::begin), 0);
      threads_.push_back(std::move(thread));
    }
    for (running_ = 0; running_ < threads_.size(); ++running_)  // to before its first operation
      swapcontext(&scheduler_, &threads_[running_]->context);
    while (failure_.empty() && take_action()) {
    }
    done_ = true;
    for (size_t i = 0; i < threads_.size() && failure_.empty(); ++i)
      if (!threads_[i]->ended) fail("deadlock: thread " + std::to_string(i) + " waits for ever");
  }

  static void begin() {
    Explorer& self = *exploring;
    const size_t me = self.running_;
    self.threads_[me]->body();
    self.threads_[me]->ended = true;
  }

  // Lets a thread do its next operation, or a store reach the memory. False if nothing can happen.
  // The thread that ran last comes first, so that the first choice is never a preemption.
  bool take_action() {
    std::vector<size_t> actions;  // below most_threads: a thread runs; else a buffer is flushed
    const bool goes_on = running_ < threads_.size() && can_run(*threads_[running_]);
    if (goes_on) actions.push_back(running_);
    for (size_t i = 0; i < threads_.size(); ++i)
      if (i != running_ && can_run(*threads_[i]) && (!goes_on || may_preempt()))
        actions.push_back(i);
    for (size_t i = 0; i < threads_.size(); ++i)
      if (!threads_[i]->buffer.empty() && (actions.empty() || may_preempt()))
        actions.push_back(most_threads + i);
    if (actions.empty()) return false;
    if (step_ == path_.size()) path_.push_back({0, actions.size()});
    const size_t action = actions[path_[step_++].taken];
    if (action != actions[0]) ++preemptions_;
    if (action >= most_threads) {
      trace_.push_back({action - most_threads, "its oldest store arrives", 0});
      flush(action - most_threads);
      return true;
    }
    running_ = action;
    threads_[action]->polls_since = UINT64_MAX;
    swapcontext(&scheduler_, &threads_[action]->context);
    return true;
  }
  bool may_preempt() const { return preemptions_ < settings_.preemptions; }

  void back_to_scheduler() { swapcontext(&threads_[running_]->context, &scheduler_); }
  void pause_before(const char* what, uint64_t value = 0) {
    back_to_scheduler();
    trace_.push_back({running_, what, value});
  }
  std::string told() const {
    std::string text;
    for (const Event& event : trace_)
      text += "  thread " + std::to_string(event.thread) + ": " + event.what +
              (event.value != 0 ? " " + std::to_string(event.value) : "") + "\n";
    return text;
  }

  bool has_buffered(const SimulatedWord& word) const {
    for (const Buffered& store : threads_[running_]->buffer)
      if (store.word == &word) return true;
    return false;
  }
  void flush(size_t thread) {
    const Buffered store = threads_[thread]->buffer.front();
    threads_[thread]->buffer.pop_front();
    store.word->value = store.value;
    store.word->released = store.clocks;
    ++changes_;
  }
  void flush_all(size_t thread) {
    while (!threads_[thread]->buffer.empty()) flush(thread);
  }
  void learn(const SimulatedWord& word) {
    Clocks& mine = threads_[running_]->clocks;
    for (size_t i = 0; i < most_threads; ++i) mine[i] = std::max(mine[i], word.released[i]);
  }
  void check_order(size_t other, uint32_t when, const char* what) {
    if (other != running_ && when > threads_[running_]->clocks[other])
      fail(std::string("a race: plain data ") + what + " by threads " + std::to_string(running_) +
           " and " + std::to_string(other));
  }

  std::vector<Choice>& path_;
  const Settings settings_;
  std::vector<std::unique_ptr<Thread>> threads_;
  ucontext_t scheduler_{};
  size_t running_ = SIZE_MAX;
  size_t step_ = 0, preemptions_ = 0;
  uint64_t changes_ = 0;
  bool done_ = false;
  std::map<const void*, Access> accesses_;
  std::string failure_;
  std::vector<Event> trace_;
};

// The atomic operations of a test (shm/doorbell.h has those of the machine).
struct SimulatedAtomics {
  using Word = SimulatedWord;
  using Count = SimulatedWord;
  static void publish(Word& word, uint64_t value) { exploring->store(word, value); }
  static uint64_t observe(const Word& word) { return exploring->load(word); }
  static bool take(Word& word, uint64_t from, uint64_t to) {
    return exploring->change(word, "take", [&](uint64_t is) { return is == from ? to : is; }) ==
           from;
  }
  static void fence_before_looking() { exploring->fence(); }
  static void enter(Count& count) {
    exploring->change(count, "enter", [](uint64_t is) { return is + 1; });
  }
  static void leave(Count& count) {
    exploring->change(count, "leave", [](uint64_t is) { return is - 1; });
  }
  static uint32_t look(const Count& count) { return static_cast<uint32_t>(exploring->load(count)); }
  static void ring(Count& count) {
    exploring->change(count, "ring", [](uint64_t is) { return is + 1; });
  }
  static void wait(Count& count, uint32_t seen, std::chrono::nanoseconds) {
    exploring->wait(count, seen);
  }
  static void wake(Count& count) { exploring->wake(count); }
};

// Plain data whose accesses are checked.
class SimulatedData {
 public:
  SimulatedData() = default;
  explicit SimulatedData(int value) : value_(value) {}
  SimulatedData(const SimulatedData& other) : value_(other.get()) {}
  SimulatedData& operator=(const SimulatedData& other) {
    set(other.get());
    return *this;
  }
  int get() const {
    if (exploring != nullptr) exploring->read(this);
    return value_;
  }
  void set(int value) {
    exploring->write(this);
    value_ = value;
  }

 private:
  int value_ = 0;
};

}  // namespace tutti::test
