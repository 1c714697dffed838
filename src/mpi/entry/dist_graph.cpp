#include "mpi/entry/dist_graph.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mpi/abi/inside.h"
#include "mpi/job/thrown.h"

namespace tutti::mpi {
namespace {

// The host's constants for arrays of weights. They are addresses; MPICH has them as data.
struct WeightConstants {
  int* unweighted = nullptr;
  int* empty = nullptr;
};

WeightConstants weight_constants() {
#if defined(TUTTI_ABI_MPICH)
  const auto read = [](const char* name) {
    const auto* const at = static_cast<int* const*>(host_symbol(name));
    return at == nullptr ? nullptr : *at;
  };
  static const WeightConstants found{read("MPI_UNWEIGHTED"), read("MPI_WEIGHTS_EMPTY")};
  return found;
#else
  return {MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
#endif
}

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
    if (edges > INT32_MAX || destinations == nullptr || (weighted && weights == nullptr))
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
  void count(int rank) { ++counts[static_cast<size_t>(rank)]; }
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

int exchange(const Parts& mine, Parts& theirs, MPI_Comm comm) {
  const Host& mpi = host();
  theirs.place();
  return mpi.Alltoallv(mine.edges.data(), mine.counts.data(), mine.starts.data(), mpi.type_uint64,
                       theirs.edges.data(), theirs.counts.data(), theirs.starts.data(),
                       mpi.type_uint64, comm);
}

// The arrays of MPI_Dist_graph_create_adjacent.
struct Ends {
  explicit Ends(const Parts& parts) {
    for (const uint64_t edge : parts.edges) {
      ranks.push_back(rank_of(edge));
      weights.push_back(weight_of(edge));
    }
  }
  int count() const { return static_cast<int>(ranks.size()); }
  std::vector<int> ranks, weights;
};

// What a rank tells all others, in place of the numbers of their edges, if the host will refuse its
// lists.
constexpr uint64_t is_refused = UINT64_MAX;

// Tells all ranks their edges. `in` and `out` are those of this rank. *refused, the same at all
// ranks, is true if some rank's lists are not valid; nothing has been told then.
int tell_edges(const Listed& listed, MPI_Comm comm, Parts& in, Parts& out, bool* refused) {
  const Host& mpi = host();
  const auto ranks = static_cast<int>(in.counts.size());
  const bool is_valid = listed.is_valid(ranks);
  Parts to_destinations(ranks), to_sources(ranks);
  if (is_valid)
    listed.each([&](int source, int destination, int) {
      to_destinations.count(destination);
      to_sources.count(source);
    });
  to_destinations.place();
  to_sources.place();
  std::vector<uint64_t> told, heard(in.counts.size());
  for (size_t rank = 0; rank < in.counts.size(); ++rank)
    told.push_back(is_valid ? packed(to_destinations.counts[rank], to_sources.counts[rank])
                            : is_refused);
  const int code =
      mpi.Alltoall(told.data(), 1, mpi.type_uint64, heard.data(), 1, mpi.type_uint64, comm);
  *refused = std::find(heard.begin(), heard.end(), is_refused) != heard.end();
  if (code != MPI_SUCCESS || *refused) return code;
  std::vector<int> next_in = to_destinations.starts, next_out = to_sources.starts;
  listed.each([&](int source, int destination, int weight) {
    const auto put = [](Parts& parts, std::vector<int>& next, int rank, uint64_t edge) {
      parts.edges[static_cast<size_t>(next[static_cast<size_t>(rank)]++)] = edge;
    };
    put(to_destinations, next_in, destination, packed(source, weight));
    put(to_sources, next_out, source, packed(destination, weight));
  });
  for (size_t rank = 0; rank < in.counts.size(); ++rank) {
    in.counts[rank] = rank_of(heard[rank]);
    out.counts[rank] = weight_of(heard[rank]);
  }
  const int code_in = exchange(to_destinations, in, comm);
  return code_in != MPI_SUCCESS ? code_in : exchange(to_sources, out, comm);
}

}  // namespace

int dist_graph_create(const CommunicatorFunctions& functions, MPI_Comm comm, int n,
                      const int sources[], const int degrees[], const int destinations[],
                      const int weights[], MPI_Info info, int reorder, MPI_Comm* made) {
  const Host& mpi = host();
  // Chosen by all ranks alike: the communicator decides, or the first alltoall has told that some
  // rank's lists are refused.
  const auto by_host = [&] {
    return functions.Dist_graph_create(comm, n, sources, degrees, destinations, weights, info,
                                       reorder, made);
  };
  const WeightConstants constants = weight_constants();
  int between = 0, ranks = 0;
  if (abi == Abi::openmpi || mpi.foreign || constants.unweighted == nullptr ||
      comm == mpi.comm_null || mpi.Comm_test_inter(comm, &between) != MPI_SUCCESS || between != 0 ||
      mpi.Comm_size(comm, &ranks) != MPI_SUCCESS)
    return by_host();
  const bool weighted = weights != constants.unweighted;
  const Listed listed{n, sources, degrees, destinations, weights, weighted};
  bool refused = false;
  const int code = guarded(comm, [&] {
    const Inside inside;
    Parts in(ranks), out(ranks);
    const int told = tell_edges(listed, comm, in, out, &refused);
    if (told != MPI_SUCCESS || refused) return told;
    const Ends from(in), to(out);
    const auto weights_of = [&](const Ends& ends) {
      if (!weighted) return static_cast<const int*>(constants.unweighted);
      return ends.count() == 0 ? static_cast<const int*>(constants.empty) : ends.weights.data();
    };
    return functions.Dist_graph_create_adjacent(comm, from.count(), from.ranks.data(),
                                                weights_of(from), to.count(), to.ranks.data(),
                                                weights_of(to), info, reorder, made);
  });
  return refused ? by_host() : code;
}

}  // namespace tutti::mpi
