// Runs any plan on thread ranks over channels of its own, without a group's choices: for tests of
// the executor. If a rank does not return in time, the program ends with a line about every rank.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "exec/executor.h"
#include "plan/check.h"
#include "plan/lower.h"

namespace tutti::exec {

class PlanRanks {
 public:
  PlanRanks(const plan::Plan& plan, plan::Carrier carrier, size_t bytes_per_rank, WaitStyle style,
            const std::vector<uint64_t>& processes = {}, trace::Tracer* tracer = nullptr)
      : layout_(shm::Layout::fit(plan.ranks, bytes_per_rank)),
        memory_(layout_.bytes() + shm::line_size) {
    auto address = reinterpret_cast<uintptr_t>(memory_.data());
    address = (address + shm::line_size - 1) / shm::line_size * shm::line_size;
    plan::validate(plan);
    const bool in_place = plan::check(plan).in_place;
    const plan::Plan staged = plan::stage(plan);
    const plan::Dependences dependences = plan::depend(staged, carrier);
    for (int rank = 0; rank < plan.ranks; ++rank) {
      auto program =
          std::make_shared<plan::Program>(plan::lower(staged, dependences, rank, carrier));
      program->in_place = in_place;
      Channel::Settings settings;
      settings.style = style;
      settings.tracer = tracer;
      if (!processes.empty()) settings.process = processes[static_cast<size_t>(rank)];
      channels_.emplace_back(reinterpret_cast<std::byte*>(address), layout_, rank, settings);
      programs_.push_back(channels_.back().bind(std::move(program)));
    }
  }

  int ranks() const { return layout_.ranks; }
  Channel& channel(int rank) { return channels_[static_cast<size_t>(rank)]; }
  const BoundProgram& program(int rank) const { return *programs_[static_cast<size_t>(rank)]; }

  // One operation of one rank, as a group would run it.
  Code run(int rank, const void* in, void* out, size_t count, const Combine& how,
           size_t wanted_segment, int root) {
    const plan::Program& its = *program(rank).program;
    const size_t bytes = count * how.element;
    Operation operation{
        in, out, bytes, count, &how, bytes, call_signature(its.collective, bytes, root)};
    if (!its.uses_lines)
      operation.segment_bytes =
          plan::segment_bytes(its, channel(rank).resources(), how.element, bytes, wanted_segment);
    return channel(rank).execute(program(rank).start, operation);
  }

  // Runs `body` on a thread for each rank.
  void spawn(const std::function<void(int rank)>& body,
             std::chrono::seconds limit = std::chrono::seconds(60)) {
    std::mutex mutex;
    std::condition_variable ended;
    int running = ranks();
    std::thread watchdog([&] {
      std::unique_lock lock(mutex);
      if (ended.wait_for(lock, limit, [&] { return running == 0; })) return;
      std::fprintf(stderr, "thread ranks did not end within %lld s:\n",
                   static_cast<long long>(limit.count()));
      for (int rank = 0; rank < ranks(); ++rank)
        std::fprintf(stderr, "  %s\n", channel(0).standing(rank).c_str());
      std::abort();
    });
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks(); ++rank) {
      threads.emplace_back([&, rank] {
        body(rank);
        const std::lock_guard lock(mutex);
        if (--running == 0) ended.notify_all();
      });
    }
    for (std::thread& thread : threads) thread.join();
    watchdog.join();
  }

 private:
  shm::Layout layout_;
  std::vector<std::byte> memory_;
  std::vector<Channel> channels_;
  std::vector<std::unique_ptr<const BoundProgram>> programs_;
};

}  // namespace tutti::exec
