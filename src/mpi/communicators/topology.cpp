#include "mpi/communicators/topology.h"

#include <algorithm>
#include <vector>

namespace tutti::mpi {
namespace {

using records::Neighbourhood;

// MPI_PROC_NULL is another negative number in each MPI.
int32_t rank_or_none(int rank) { return rank >= 0 ? rank : -1; }

std::vector<int32_t> ranks_or_none(const std::vector<int>& ranks, int count) {
  std::vector<int32_t> all;
  all.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) all.push_back(rank_or_none(ranks[static_cast<size_t>(i)]));
  return all;
}

// An array for the host, which may refuse a null address even if it writes nothing there.
std::vector<int> array_of(int count) {
  return std::vector<int>(static_cast<size_t>(std::max(count, 1)));
}

std::optional<Neighbourhood> cartesian(Comm communicator) {
  int dimensions = 0;
  if (host().Cartdim_get(communicator, &dimensions) != success) return {};
  Neighbourhood found;
  found.cartesian = true;
  for (int i = 0; i < dimensions; ++i) {
    int below = -1, above = -1;
    if (host().Cart_shift(communicator, i, 1, &below, &above) != success) return {};
    found.destinations.push_back(rank_or_none(below));
    found.destinations.push_back(rank_or_none(above));
  }
  found.sources = found.destinations;
  return found;
}

std::optional<Neighbourhood> graph(Comm communicator) {
  int rank = 0, count = 0;
  if (host().Comm_rank(communicator, &rank) != success ||
      host().Graph_neighbors_count(communicator, rank, &count) != success)
    return {};
  std::vector<int> neighbours = array_of(count);
  if (host().Graph_neighbors(communicator, rank, count, neighbours.data()) != success) return {};
  Neighbourhood found;
  found.destinations = ranks_or_none(neighbours, count);
  found.sources = found.destinations;
  return found;
}

std::optional<Neighbourhood> distributed_graph(Comm communicator) {
  int in = 0, out = 0, weighted = 0;
  if (host().Dist_graph_neighbors_count(communicator, &in, &out, &weighted) != success) return {};
  std::vector<int> sources = array_of(in), source_weights = array_of(in);
  std::vector<int> destinations = array_of(out), destination_weights = array_of(out);
  if (host().Dist_graph_neighbors(communicator, in, sources.data(), source_weights.data(), out,
                                  destinations.data(), destination_weights.data()) != success)
    return {};
  Neighbourhood found;
  found.sources = ranks_or_none(sources, in);
  found.destinations = ranks_or_none(destinations, out);
  return found;
}

}  // namespace

std::optional<Neighbourhood> neighbourhood_of(Comm communicator) {
  int kind = abi.undefined;
  if (host().Topo_test(communicator, &kind) != success) return {};
  if (kind == abi.cart) return cartesian(communicator);
  if (kind == abi.graph) return graph(communicator);
  if (kind == abi.dist_graph) return distributed_graph(communicator);
  return {};
}

}  // namespace tutti::mpi
