#include "json.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/json.h"

using tutti::Json;

// The innermost one that is open comes last. Only that one changes, so the others stay where they
// are.
struct BenchJson {
  Json document = Json::object();
  std::vector<Json*> open{&document};
};

namespace {

Json* add(BenchJson* json, const char* name, Json value) {
  Json& innermost = *json->open.back();
  if (name != nullptr) return &(innermost[name] = std::move(value));
  innermost.push_back(std::move(value));
  return &innermost.back();
}

void write(BenchJson* json, FILE* file, int indent) noexcept {
  const std::unique_ptr<BenchJson> owned(json);
  std::fprintf(file, "%s\n", tutti::json_text(json->document, indent).c_str());
}

}  // namespace

BenchJson* bench_json_open() { return new BenchJson; }

void bench_json_begin_object(BenchJson* json, const char* name) {
  json->open.push_back(add(json, name, Json::object()));
}

void bench_json_begin_list(BenchJson* json, const char* name) {
  json->open.push_back(add(json, name, Json::array()));
}

void bench_json_end(BenchJson* json) { json->open.pop_back(); }

void bench_json_text(BenchJson* json, const char* name, const char* text) { add(json, name, text); }

void bench_json_flag(BenchJson* json, const char* name, bool value) { add(json, name, value); }

void bench_json_integer(BenchJson* json, const char* name, int64_t value) {
  add(json, name, value);
}

void bench_json_number(BenchJson* json, const char* name, double value, int places) {
  add(json, name, tutti::rounded(value, places));
}

void bench_json_null(BenchJson* json, const char* name) { add(json, name, nullptr); }

void bench_json_write_line(BenchJson* json, FILE* file) { write(json, file, -1); }

void bench_json_write_indented(BenchJson* json, FILE* file) { write(json, file, 1); }
