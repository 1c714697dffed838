#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "plan/collective.h"
#include "plan/step_kinds.h"
#include "trace/file.h"
#include "trace/tracer.h"

namespace tutti::trace {
namespace {

namespace fs = std::filesystem;

Record numbered(uint64_t number) { return {number, number + 1, 0, 0, -1, 0}; }

std::vector<uint64_t> begins(const Ring& ring) {
  std::vector<uint64_t> list;
  for (const auto& part : {ring.contents().first, ring.contents().second})
    for (const Record& record : part) list.push_back(record.begin);
  return list;
}

TEST(Ticks, NeverRunBackwardsAndFollowTheSystemsClock) {
  EXPECT_FALSE(choose_clock().empty());
  const Moment begin = now_by_both();
  uint64_t last = ticks();
  for (int i = 0; i < 10000; ++i) {
    const uint64_t now = ticks();
    ASSERT_GE(now, last);
    last = now;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Moment middle = now_by_both();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Moment end = now_by_both();
  const auto rate = [](const Moment& a, const Moment& b) {
    return static_cast<double>(b.ticks - a.ticks) /
           static_cast<double>(b.nanoseconds - a.nanoseconds);
  };
  // An even clock: the rates of two intervals agree. Loose, because this thread may lose its core
  // between two reads.
  EXPECT_NEAR(rate(begin, middle) / rate(middle, end), 1, 0.01);
}

// PATHS, section 2: wrappers that record stand anywhere in a path.
TEST(Filter, LeavesOutWhatItsClausesDoNotName) {
  const auto step = static_cast<uint32_t>(plan::StepKind::copy);
  const auto wait = static_cast<uint32_t>(plan::StepKind::wait_word);
  const auto recorded = [&](const char* text, int rank) {
    Tracer tracer({least_records, 1 << 20, read_filter(text), rank});
    Recorder recorder(&tracer, ticks(), static_cast<uint32_t>(plan::Collective::allreduce));
    recorder.step(step, 0, 0, -1, 8);
    recorder.step(wait, 1, 0, 1, 0);
    recorder.exit({});
    std::vector<uint32_t> kinds;
    const Ring& ring = *tracer.rings().front();
    for (const auto& part : {ring.contents().first, ring.contents().second})
      for (const Record& record : part) kinds.push_back(record.what & 0xFF);
    return kinds;
  };
  const auto operation = static_cast<uint32_t>(Kind::operation);
  const auto details = static_cast<uint32_t>(Kind::details);
  using Kinds = std::vector<uint32_t>;
  const Kinds all{step, wait, operation, details};
  for (const char* text : {"", "ranks=0..3,8", "collectives=bcast,allreduce", "until=1000 from=0"})
    EXPECT_EQ(recorded(text, 8), all) << text;
  for (const char* text : {"ranks=0..3", "collectives=bcast", "from=1000", "ranks=1 steps=moving"})
    EXPECT_EQ(recorded(text, 8), Kinds{}) << text;
  EXPECT_EQ(recorded("steps=waiting", 0), (Kinds{wait, operation, details}));
  EXPECT_EQ(recorded("steps=copy ranks=0", 0), (Kinds{step, operation, details}));
}

TEST(Filter, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"allreduce", "collectives=", "collectives=reduction", "steps=walking",
                           "ranks=3..1", "ranks=a", "ranks=-1", "from=2 until=1", "from=x",
                           "from=inf", "ranks=1 ranks=2", "colour=red"}) {
    try {
      read_filter(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with("TUTTI_TRACE_FILTER: '")) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos);
    }
  }
}

TEST(Ring, HoldsAllUntilItIsFull) {
  Ring ring(least_records);
  EXPECT_EQ(ring.contents().size(), 0u);
  for (uint64_t i = 0; i < least_records - 1; ++i) ring.write(numbered(i));
  EXPECT_EQ(ring.contents().lost, 0u);
  EXPECT_EQ(begins(ring).front(), 0u);
  EXPECT_EQ(ring.contents().size(), least_records - 1);
  ring.write(numbered(least_records - 1));
  EXPECT_EQ(ring.contents().lost, 0u);
  EXPECT_EQ(ring.contents().size(), least_records);
  EXPECT_EQ(begins(ring).front(), 0u);
}

TEST(Ring, LosesTheOldestAndCountsThem) {
  for (const uint64_t total : {least_records + 1, 2 * least_records, 5 * least_records + 17}) {
    Ring ring(least_records);
    for (uint64_t i = 0; i < total; ++i) ring.write(numbered(i));
    const std::vector<uint64_t> held = begins(ring);
    ASSERT_EQ(held.size(), least_records);
    EXPECT_EQ(ring.contents().lost, total - least_records);
    for (size_t i = 0; i < held.size(); ++i) ASSERT_EQ(held[i], total - least_records + i);
  }
}

TEST(Ring, IsNeverSmallerThanTheLeast) {
  Ring ring(1);
  for (uint64_t i = 0; i < least_records; ++i) ring.write(numbered(i));
  EXPECT_EQ(ring.contents().lost, 0u);
}

TEST(Ring, SaysSoWhereThereIsNoMemory) {
  try {
    Ring ring(SIZE_MAX / 64);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("TUTTI_TRACE_BYTES"), std::string::npos)
        << error.what();
  }
}

TEST(Tracer, GivesEveryThreadThatRunsARingOfItsOwn) {
  auto tracer = std::make_unique<Tracer>(Tracer::Settings{});
  constexpr int count = 4;
  for (int round = 0; round < 3; ++round) {
    std::barrier<> all_claimed(count);
    std::vector<std::thread> threads;
    std::vector<Ring*> rings(count);
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        rings[static_cast<size_t>(i)] = &tracer->ring();
        EXPECT_EQ(&tracer->ring(), rings[static_cast<size_t>(i)]);
        all_claimed.arrive_and_wait();
      });
    for (std::thread& thread : threads) thread.join();
    std::sort(rings.begin(), rings.end());
    EXPECT_EQ(std::unique(rings.begin(), rings.end()), rings.end());
    // Threads that ended left theirs to these, and the first belongs to this thread.
    EXPECT_EQ(tracer->rings().size(), size_t{count} + 1);
  }
}

TEST(Tracer, OfWhichAThreadMayUseSeveralInTurn) {
  Tracer one({});
  Tracer other({});
  Ring& first = one.ring();
  EXPECT_NE(&first, &other.ring());
  EXPECT_EQ(&first, &one.ring());
}

TEST(Tracer, KnowsProgramsByContents) {
  Tracer tracer({});
  EXPECT_EQ(tracer.program({"{\"steps\":[0]}", "{}"}), 0u);
  EXPECT_EQ(tracer.program({"{\"steps\":[1]}", "{}"}), 1u);
  EXPECT_EQ(tracer.program({"{\"steps\":[0]}", "{}"}), 0u);
  EXPECT_EQ(tracer.programs(), (std::vector<std::string>{"{\"steps\":[0]}", "{\"steps\":[1]}"}));
}

TEST(Tracer, LeavesStepsOutBeyondItsBudget) {
  Tracer tracer({.description_bytes = 40});
  tracer.program({"{\"steps\":[0]}", "{}"});
  tracer.program({"{\"steps\":[" + std::string(100, '1') + "]}", "{\"steps\":null}"});
  EXPECT_EQ(tracer.programs()[1], "{\"steps\":null}");
}

TEST(Recorder, StepsFollowEachOtherInsideTheOperation) {
  Tracer tracer({});
  Recorder recorder(&tracer);
  recorder.step(3, 0, 0, -1, uint64_t{1} << 40);
  recorder.step(0, 1, 7, 2, 0);
  recorder.exit({5, 1, 42, 8, 8, 1, 1, 2});
  const auto records = tracer.ring().contents().first;
  ASSERT_EQ(records.size(), 4u);
  const Record &first = records[0], &second = records[1], &operation = records[2],
               &details = records[3];
  EXPECT_EQ(first.what, 3u);
  EXPECT_EQ(first.bytes, UINT32_MAX);
  EXPECT_EQ(second.what, 1u << 8);
  EXPECT_EQ(second.segment, 7u);
  EXPECT_EQ(second.peer, 2);
  EXPECT_LE(operation.begin, first.begin);
  EXPECT_LE(first.begin, first.end);
  EXPECT_EQ(first.end, second.begin);
  EXPECT_LE(second.end, operation.end);
  EXPECT_EQ(operation.what, 5u << 8 | static_cast<uint32_t>(Kind::operation));
  EXPECT_EQ(operation.segment, 2u);
  EXPECT_EQ(details.what & 0xFF, static_cast<uint32_t>(Kind::details));
  EXPECT_EQ(details.end, 42u);
  EXPECT_EQ(details.begin, 8u);
  EXPECT_EQ(details.peer, 2);
}

TEST(Recorder, TakesTimesThatHavePassed) {
  Tracer tracer({});
  const uint64_t entry = ticks() - 1000;
  Recorder recorder(&tracer, entry, 0);
  recorder.step_until(entry + 300, 3, 0, 8);
  recorder.step(static_cast<uint32_t>(Kind::elsewhere), 1, 0, -1, 0);
  recorder.exit({0, 0, 0, 8, 8, 1, 1, 0});
  const auto records = tracer.ring().contents().first;
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].begin, entry);
  EXPECT_EQ(records[0].end, entry + 300);
  EXPECT_EQ(records[1].begin, entry + 300);
  EXPECT_GE(records[1].end, entry + 1000);
  EXPECT_EQ(records[2].begin, entry);
}

class TraceFile : public testing::Test {
 protected:
  void SetUp() override {
    char made[] = "/tmp/tutti-trace-test.XXXXXX";
    ASSERT_NE(mkdtemp(made), nullptr);
    directory_ = made;
  }
  void TearDown() override { fs::remove_all(directory_); }
  std::string in_directory(const char* name) const { return (directory_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator{}));
  }
  void expect_refused(const std::string& name, const std::string& why) const {
    try {
      require_writable(name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(why), std::string::npos) << message;
      EXPECT_NE(message.find("TUTTI_TRACE"), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
  fs::path directory_;
};

TEST_F(TraceFile, AppearsWhenItIsWhole) {
  const std::string name = in_directory("run.trace");
  const Record record = numbered(17);
  {
    File file(name);
    file.begin("{}", 1);
    file.append(&record, sizeof record);
    EXPECT_FALSE(fs::exists(name));
    file.commit();
  }
  std::ifstream stream(name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  ASSERT_EQ(text.size(), 64u + sizeof record);
  EXPECT_EQ(text.substr(0, 8), "tutti-tr");
  EXPECT_EQ(text.substr(32, 2), "{}");
  EXPECT_EQ(text.substr(34, 30), std::string(30, ' '));
  EXPECT_EQ(std::memcmp(text.data() + 64, &record, sizeof record), 0);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(TraceFile, LeavesNothingWhereItWasNotCommitted) {
  {
    File(in_directory("run.trace")).begin("{}", 0);
  }
  EXPECT_EQ(entries(), 0u);
  require_writable(in_directory("run.trace"));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(TraceFile, IsRefusedWhereItCannotBe) {
  expect_refused(in_directory("no/run.trace"), "No such file");
  expect_refused(directory_.string(), "directory");
  ASSERT_EQ(mkfifo(in_directory("pipe").c_str(), 0600), 0);
  expect_refused(in_directory("pipe"), "no plain file");
}

}  // namespace
}  // namespace tutti::trace
