// Tables: rules that name built-in algorithms alone, in the grammar of maps (map.h).
//
// Two tables are compiled in, from default.map and placement.map. A user's table is read from a
// file (TUTTI_TABLE, tutti-run --table). A table is constant once it is read; all groups of the
// process share it, and any thread may read it. The compiled tables live to the end of the process.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "select/map.h"

namespace tutti::select {

struct Table {
  std::string name;  // the beginning of places: a file's path, "default.map" or "placement.map"
  std::array<std::vector<Rule>, plan::collective_count>
      rules;  // indexed by collective, in the order in which they are tried
  uint64_t fingerprint =
      0;  // a hash of the rules: equal at ranks that read the same, whatever the comments
};

// Throws Error(invalid_plan) "NAME:LINE: what is wrong; what would be right", as read_map, also
// where a rule names a file.
Table read_table(std::string_view text, std::string_view name);

// Reads a table from a file. Throws as read_table, and an Error that names the file if it cannot be
// read.
Table load_table(const std::string& path);

// The compiled default: it answers every call.
const Table& default_table();
// For TUTTI_REPRODUCIBLE=placement: it answers every call of a collective that combines data.
const Table& placement_table();

extern const std::string_view default_table_text;
extern const std::string_view placement_table_text;

}  // namespace tutti::select
