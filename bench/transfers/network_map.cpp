#include "network_map.h"

#include "mpi/one_sided/pieces.h"
#include "rma/saturation.h"
#include "saturation_json.h"

namespace {

std::vector<size_t> numbers(const NetworkMapAxis& axis) {
  return {axis.numbers, axis.numbers + axis.count};
}

}  // namespace

void network_map_write(const NetworkMap* map, FILE* file) {
  using namespace tutti;
  rma::SaturationMap result{.cores = numbers(map->cores),
                            .messages = numbers(map->messages),
                            .bytes = numbers(map->bytes),
                            .puts = {},
                            .gets = {},
                            .hand_over = {},
                            .where = rma::this_machine(),
                            .scope = rma::Scope::between_nodes};
  const size_t values = map->cores.count * map->messages.count * map->bytes.count;
  result.puts.assign(map->puts, map->puts + values);
  result.gets.assign(map->gets, map->gets + values);
  Json json = bench::json_of(result);
  json["mpi"] = map->mpi;
  const bool open_mpi = std::string_view(map->mpi).starts_with("Open MPI");
  json["under_way"] = rma::bytes_under_way(result, mpi::most_piece_of(open_mpi));
  std::fprintf(file, "%s\n", json_text(json).c_str());
}
