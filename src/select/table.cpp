#include "select/table.h"

#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "select/contents.h"

namespace tutti::select {

Table read_table(std::string_view text, std::string_view name) {
  Table table;
  table.name = name;
  table.fingerprint = hash_of_nothing;
  for (Rule& rule : read_map(text, name).rules) {
    if (!rule.builtin) {
      throw Error(
          Code::invalid_plan,
          table.name + ":" + std::to_string(rule.line) + ": " + in_quotes(rule.target) +
              " is a plan's file, and a table names built-in algorithms alone, as builtin:flat; "
              "put plans into the map of a directory (TUTTI_PLANS)");
    }
    table.fingerprint = hashed(table.fingerprint, print(rule));
    table.rules[static_cast<size_t>(rule.collective)].push_back(std::move(rule));
  }
  return table;
}

Table load_table(const std::string& path) {
  return read_table(
      read_file(path, "give the name of a table, as `tutti tune` writes it, or unset TUTTI_TABLE"),
      path);
}

const Table& default_table() {
  static const Table& table = *new Table(read_table(default_table_text, "default.map"));
  return table;
}

const Table& placement_table() {
  static const Table& table = *new Table(read_table(placement_table_text, "placement.map"));
  return table;
}

}  // namespace tutti::select
