#include "mpi/entry/dist_graph.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mpi/host/inside.h"
#include "mpi/job/thrown.h"

namespace tutti::mpi {
namespace {

// An edge as one of its ends gets it: the other end and the weight.
uint64_t packed(int rank, int weight) {
  return uint64_t{static_cast<uint32_t>(weight)} << 32 | static_cast<uint32_t>(rank);
}
int rank_of(uint64_t edge) { return static_cast<int>(static_cast<uint32_t>(edge)); }
int weight_of(uint64_t edge) { return static_cast<int>(edge >> 32); }

// The edges that this rank lists. Valid if the host accepts them. Arrays without entries are never
// read and may be null, those of weights too.
struct Listed {
  int n;
  const int *sources, *degrees, *destinations, *weights;
  bool weighted;

  bool is_valid(int ranks) const {
    const auto is_rank = [&](int rank) { return rank >= 0 && rank < ranks; };
    if (n < 0 || (n > 0 && (sources == nullptr || degrees == nullptr))) return false;
    int64_t edges = 0;
    for (int i = 0; i < n; ++i) {
      if (!is_rank(sources[i]) || degrees[i] < 0) return false;
      edges += degrees[i];
    }
    if (edges == 0) return true;
    if (edges > INT32_MAX / 2 || destinations == nullptr || (weighted && weights == nullptr))
      return false;
    return std::all_of(destinations, destinations + edges, is_rank) &&
           (!weighted ||
            std::all_of(weights, weights + edges, [](int weight) { return weight >= 0; }));
  }

  // Calls take(source, destination, weight) for each edge, in the order of the lists.
  template <class Take>
  void each(Take take) const {
    int edge = 0;
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < degrees[i]; ++k, ++edge)
        take(sources[i], destinations[edge], weighted ? weights[edge] : 0);
  }
};

// Edges for all ranks or from all ranks, by rank.
struct Parts {
  explicit Parts(int ranks) : counts(static_cast<size_t>(ranks)), starts(counts.size()) {}
  // Gives each rank its place, once all counts are known.
  void place() {
    int at = 0;
    for (size_t rank = 0; rank < counts.size(); ++rank) {
      starts[rank] = at;
      at += counts[rank];
    }
    edges.resize(static_cast<size_t>(at));
  }
  std::vector<int> counts, starts;
  std::vector<uint64_t> edges;
};

// The arrays of MPI_Dist_graph_create_adjacent for one side.
struct Ends {
  void add(uint64_t edge) {
    ranks.push_back(rank_of(edge));
    weights.push_back(weight_of(edge));
  }
  int count() const { return static_cast<int>(ranks.size()); }
  std::vector<int> ranks, weights;
};

// The word that a rank tells all others, in place of the numbers of their edges, if the host will
// refuse its lists.
constexpr uint64_t is_refused = UINT64_MAX;

// Tells all ranks their edges: those that end at a rank, then those that begin there. `from` and
// `to` are the other ends of this rank's. *refused, the same at all ranks, is true if some rank's
// lists are not valid; nothing has been told then.
int tell_edges(const Listed& listed, Comm comm, int ranks, Ends& from, Ends& to, bool* refused) {
  const Host& mpi = host();
  const bool is_valid = listed.is_valid(ranks);
  const auto all = static_cast<size_t>(ranks);
  std::vector<int> ending(all), beginning(all);
  if (is_valid)
    listed.each([&](int source, int destination, int) {
      ++ending[static_cast<size_t>(destination)];
      ++beginning[static_cast<size_t>(source)];
    });
  std::vector<uint64_t> told(all), heard(all);
  for (size_t rank = 0; rank < all; ++rank)
    told[rank] = is_valid ? packed(ending[rank], beginning[rank]) : is_refused;
  const int code =
      mpi.Alltoall(told.data(), 1, mpi.type_uint64, heard.data(), 1, mpi.type_uint64, comm);
  *refused = std::find(heard.begin(), heard.end(), is_refused) != heard.end();
  if (code != success || *refused) return code;

  Parts mine(ranks), theirs(ranks);
  for (size_t rank = 0; rank < all; ++rank) {
    mine.counts[rank] = ending[rank] + beginning[rank];
    theirs.counts[rank] = rank_of(heard[rank]) + weight_of(heard[rank]);
  }
  mine.place();
  theirs.place();
  // The places of the next edges.
  std::vector<int> end = mine.starts, begin = mine.starts;
  for (size_t rank = 0; rank < all; ++rank) begin[rank] += ending[rank];
  const auto put = [&](std::vector<int>& next, int rank, uint64_t edge) {
    mine.edges[static_cast<size_t>(next[static_cast<size_t>(rank)]++)] = edge;
  };
  listed.each([&](int source, int destination, int weight) {
    put(end, destination, packed(source, weight));
    put(begin, source, packed(destination, weight));
  });
  const int told_all = mpi.Alltoallv(mine.edges.data(), mine.counts.data(), mine.starts.data(),
                                     mpi.type_uint64, theirs.edges.data(), theirs.counts.data(),
                                     theirs.starts.data(), mpi.type_uint64, comm);
  if (told_all != success) return told_all;
  auto edge = theirs.edges.begin();
  for (const uint64_t counts : heard) {
    for (int i = 0; i < rank_of(counts); ++i) from.add(*edge++);
    for (int i = 0; i < weight_of(counts); ++i) to.add(*edge++);
  }
  return success;
}

}  // namespace

int dist_graph_create(const CommunicatorFunctions<HouseTypes>* functions, Comm comm, int n,
                      const int sources[], const int degrees[], const int destinations[],
                      const int weights[], Info info, int reorder, Comm* made) {
  const Host& mpi = host();
  // Chosen by all ranks alike: the communicator decides, or the first alltoall has told that some
  // rank's lists are refused.
  const auto by_host = [&] {
    return functions->Dist_graph_create(comm, n, sources, degrees, destinations, weights, info,
                                        reorder, made);
  };
  int between = 0, ranks = 0;
  if (abi.is_open_mpi || mpi.foreign || mpi.unweighted == nullptr || comm == mpi.comm_null ||
      mpi.Comm_test_inter(comm, &between) != success || between != 0 ||
      mpi.Comm_size(comm, &ranks) != success)
    return by_host();
  const bool weighted = weights != mpi.unweighted;
  const Listed listed{n, sources, degrees, destinations, weights, weighted};
  bool refused = false;
  const int code = guarded(comm, [&] {
    const Inside inside;
    Ends from, to;
    const int told = tell_edges(listed, comm, ranks, from, to, &refused);
    if (told != success || refused) return told;
    const auto weights_of = [&](const Ends& ends) {
      if (!weighted) return mpi.unweighted;
      return ends.count() == 0 ? mpi.weights_empty : ends.weights.data();
    };
    return functions->Dist_graph_create_adjacent(comm, from.count(), from.ranks.data(),
                                                 weights_of(from), to.count(), to.ranks.data(),
                                                 weights_of(to), info, reorder, made);
  });
  return refused ? by_host() : code;
}

}  // namespace tutti::mpi
