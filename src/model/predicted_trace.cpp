#include "model/predicted_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/json.h"
#include "exec/program_text.h"
#include "plan/semantics.h"
#include "trace/file.h"
#include "trace/header.h"
#include "trace/ring.h"

namespace tutti::model {
namespace {

constexpr double ticks_a_nanosecond = 1000;

uint64_t ticks(double nanoseconds) {
  return static_cast<uint64_t>(std::llround(nanoseconds * ticks_a_nanosecond));
}

uint32_t at_most_32_bits(double number) {
  return static_cast<uint32_t>(std::min(number, static_cast<double>(UINT32_MAX)));
}

trace::Record record_of(const Event& event, const plan::Program& program) {
  const plan::Step& step = program.steps[static_cast<size_t>(event.step)];
  return {ticks(event.begin),
          ticks(event.end),
          static_cast<uint32_t>(step.kind) | static_cast<uint32_t>(event.step) << 8,
          static_cast<uint32_t>(event.segment),
          plan::peer_of(program, step),
          at_most_32_bits(event.bytes)};
}

// Returns the records of each rank: its steps, and then the operation.
std::vector<std::vector<trace::Record>> records_of(const Question& question,
                                                   const Prediction& prediction) {
  const plan::Geometry& geometry = question.travel.geometry;
  std::vector<std::vector<trace::Record>> records(question.programs.size());
  for (const Event& event : prediction.events) {
    const auto rank = static_cast<size_t>(event.rank);
    records[rank].push_back(record_of(event, question.programs[rank]));
  }
  double first = 0;
  if (!question.arrivals.empty())
    first = *std::min_element(question.arrivals.begin(), question.arrivals.end());
  for (size_t rank = 0; rank < records.size(); ++rank) {
    const auto steps = static_cast<uint32_t>(records[rank].size());
    const double arrival = question.arrivals.empty() ? 0 : question.arrivals[rank];
    records[rank].push_back({ticks(arrival), ticks(first + prediction.ends[rank]),
                             static_cast<uint32_t>(trace::Kind::operation), steps, 0,
                             at_most_32_bits(static_cast<double>(geometry.segment_bytes))});
    records[rank].push_back({question.bytes, 0,
                             static_cast<uint32_t>(trace::Kind::details) |
                                 static_cast<uint32_t>(geometry.positions) << 8,
                             static_cast<uint32_t>(geometry.segments), question.programs[rank].root,
                             0});
  }
  return records;
}

std::string description_of(const plan::Program& program, int32_t node, size_t records) {
  Json communicator{{"identity", 1}, {"ranks", nullptr}};
  if (program.rank == 0) {
    std::vector<int32_t> members(static_cast<size_t>(program.ranks));
    std::iota(members.begin(), members.end(), 0);
    communicator["ranks"] = members;
  }
  const Json description{{"rank", program.rank},
                         {"host", "node " + std::to_string(node)},
                         {"cores", ""},
                         {"numa", -1},
                         {"clock", "virtual time"},
                         {"communicators", Json::array({communicator})},
                         {"rings", Json::array({{{"records", records}, {"lost", 0}}})}};
  return json_object_with(description, "programs", json_array({exec::program_text(program).whole}));
}

}  // namespace

void write_trace(const Question& question, const Prediction& prediction, const std::string& file) {
  trace::File out(file, "--trace: give");
  const auto records = records_of(question, prediction);
  const std::string mpi = "predicted for " + question.machine.name;
  trace::Job job{mpi, {"none"}, {}, {}, {}};  // no call stays on the host
  std::vector<int32_t> node_of = question.nodes.of().values();
  if (node_of.empty()) node_of.assign(records.size(), 0);
  for (size_t rank = 0; rank < records.size(); ++rank) {
    const int32_t node = node_of[rank];
    while (job.nodes.size() <= static_cast<size_t>(node)) {
      const auto leader = std::find(node_of.begin(), node_of.end(), job.nodes.size());
      constexpr uint64_t second = 1'000'000'000'000;
      job.nodes.push_back({static_cast<int>(leader - node_of.begin()),
                           {{{0, 0, 0}, {second, second / ticks_a_nanosecond, 0}}}});
    }
    job.node_of.push_back(node);
    job.ranks.push_back(description_of(question.programs[rank], node, records[rank].size()));
  }
  const auto count = std::accumulate(
      records.begin(), records.end(), uint64_t{0},
      [](uint64_t sum, const std::vector<trace::Record>& one) { return sum + one.size(); });
  out.begin(trace::describe_job(job), count);
  for (const std::vector<trace::Record>& one : records)
    out.append(one.data(), one.size() * sizeof one.front());
  out.commit();
}

}  // namespace tutti::model
