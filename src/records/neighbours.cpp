#include "records/neighbours.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/error.h"

namespace tutti::records {
namespace {

using plan::Collective;
using plan::RecordProgram;

// The edges from one source to this rank, and how many blocks the source's record has.
struct Source {
  struct Edge {
    int32_t block;  // the block's number in the source's `in`
    int32_t place;  // the block's place in the source's record
    int32_t slot;   // as in OutEdge
    bool matched = false;
  };
  std::vector<Edge> edges;
  int32_t blocks = 0;
};

bool gives_one_block(Collective collective) { return !plan::parted_in(collective); }

Source source_of(Collective collective, std::span<const OutEdge> list, int32_t rank) {
  Source source;
  int32_t before = 0;  // edges of the list that lead to a rank
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].to < 0) continue;
    if (list[i].to == rank) {
      const auto block = static_cast<int32_t>(i);
      source.edges.push_back(gives_one_block(collective)
                                 ? Source::Edge{0, 0, list[i].slot}
                                 : Source::Edge{block, before, list[i].slot});
    }
    ++before;
  }
  source.blocks = gives_one_block(collective) ? std::min(before, 1) : before;
  return source;
}

// One sentence about edges from a source to this rank.
[[noreturn]] void refuse(int32_t source, int32_t rank, const std::string& what) {
  throw Error(Code::mismatch,
              "the topology is not the same at both ends of the edges from rank " +
                  std::to_string(source) + " to rank " + std::to_string(rank) + ": " + what +
                  "; make the communicator's graph with each edge at both of its ranks");
}

// The edge along which block `slot` of this rank's `out` comes.
Source::Edge& match(Source& source, int32_t from, int32_t rank, int32_t slot) {
  for (Source::Edge& edge : source.edges) {
    if (edge.matched || (edge.slot >= 0 && edge.slot != slot)) continue;
    edge.matched = true;
    return edge;
  }
  refuse(from, rank,
         "rank " + std::to_string(rank) + " expects block " + std::to_string(slot) +
             " from there, but rank " + std::to_string(from) + " has no edge for it");
}

// Notes which blocks of its `in` this rank gives.
void give(RecordProgram& program, const Neighbourhood& own) {
  const auto give_block = [&](int32_t block, bool to_others) {
    program.gives.push_back(block);
    program.given_to_others.push_back(to_others);
  };
  const auto is_rank = [](int32_t to) { return to >= 0; };
  const auto is_other = [&](int32_t to) { return to >= 0 && to != program.rank; };
  const std::vector<int32_t>& to = own.destinations;
  if (gives_one_block(program.collective)) {
    if (std::any_of(to.begin(), to.end(), is_rank))
      give_block(0, std::any_of(to.begin(), to.end(), is_other));
    return;
  }
  for (size_t i = 0; i < to.size(); ++i)
    if (is_rank(to[i])) give_block(static_cast<int32_t>(i), is_other(to[i]));
}

}  // namespace

std::vector<OutEdge> out_edges(const Neighbourhood& own) {
  std::vector<OutEdge> edges;
  edges.reserve(own.destinations.size());
  for (const int32_t to : own.destinations) {
    const auto block = static_cast<int32_t>(edges.size());
    edges.push_back({to, own.cartesian ? block ^ 1 : -1});
  }
  return edges;
}

RecordProgram neighbours_start(Collective collective, int32_t rank, int32_t ranks,
                               const Neighbourhood& own) {
  RecordProgram program;
  program.collective = collective;
  program.ranks = ranks;
  program.rank = rank;
  program.blocks =
      static_cast<int32_t>(std::max({size_t{1}, own.sources.size(), own.destinations.size()}));
  program.parted = true;
  give(program, own);
  const std::set<int32_t> sources(own.sources.begin(), own.sources.end());
  for (const int32_t from : sources)
    if (from >= 0 && from != rank) program.awaits.push_back(from);
  const std::set<int32_t> destinations(own.destinations.begin(), own.destinations.end());
  for (const int32_t to : destinations) program.read_by += to >= 0 && to != rank ? 1 : 0;
  return program;
}

RecordProgram neighbours_program(Collective collective, int32_t rank, int32_t ranks,
                                 const Neighbourhood& own, const EdgesOf& edges_of) {
  RecordProgram program = neighbours_start(collective, rank, ranks, own);
  const std::vector<OutEdge> own_edges = out_edges(own);
  std::map<int32_t, Source> sources;
  for (size_t i = 0; i < own.sources.size(); ++i) {
    const int32_t from = own.sources[i];
    if (from < 0) continue;
    auto found = sources.find(from);
    if (found == sources.end()) {
      const std::span<const OutEdge> list = from == rank ? own_edges : edges_of(from);
      found = sources.emplace(from, source_of(collective, list, rank)).first;
    }
    const auto slot = static_cast<int32_t>(i);
    const Source::Edge& edge = match(found->second, from, rank, slot);
    program.takes.push_back(
        {.block = slot, .first_source = static_cast<int32_t>(program.sources.size())});
    program.sources.push_back({.rank = from, .block = edge.block, .place = edge.place});
  }
  for (const auto& [from, source] : sources) {
    if (!std::all_of(source.edges.begin(), source.edges.end(),
                     [](const Source::Edge& edge) { return edge.matched; }))
      refuse(from, rank,
             "rank " + std::to_string(from) + " has more edges than rank " + std::to_string(rank) +
                 " expects");
    if (from == rank) continue;
    program.awaited_blocks.push_back(source.blocks);
  }
  program.note_properties();
  return program;
}

}  // namespace tutti::records
