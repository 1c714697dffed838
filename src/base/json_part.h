// A part of a JSON document that people may have written, with its place for errors.
//
// A part refers to the document and to the file's name, which outlive it; one thread at a time. All
// functions throw Error(invalid_argument) with one line, "FILE: PLACE: what is wrong", as in
// "m.json: levels[1].hand_over: must be a number".
#pragma once

#include <utility>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tutti {

class JsonPart {
 public:
  JsonPart(const Json& json, std::string place, std::string_view file)
      : json_(json), place_(std::move(place)), file_(file) {}

  [[noreturn]] void refuse(const std::string& what) const;
  // Every member is one of these.
  void must_be_object(const std::vector<std::string_view>& members) const;
  // The number of its entries, at least one.
  size_t must_be_list() const;
  bool has(std::string_view member) const { return json_.contains(member); }
  JsonPart at(std::string_view member) const;
  JsonPart at(size_t index) const;
  std::string text(std::string_view member) const;
  // A number between 0 and `most`. `whole`: an integer.
  double number(std::string_view member, double most, bool whole = false) const;
  // The same of this part itself.
  double number(double most, bool whole = false) const;
  const Json& json() const { return json_; }

 private:
  const Json& json_;
  std::string place_;
  std::string_view file_;
};

}  // namespace tutti
