#include "plan/text.h"

#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "plan/fault.h"
#include "plan/text_line.h"

namespace tutti::plan {
namespace {

constexpr std::string_view first_line = "tutti-plan 1";
constexpr size_t settings = 8;  // the number of settings, which come first in `words`
constexpr std::array<std::string_view, settings + 4> words = {
    "collective", "algorithm", "ranks", "root",   "commutative", "blocks",
    "shape",      "last",      "copy",  "reduce", "push",        "token"};
constexpr int32_t most_last_bytes = 1 << 30;

std::string nearest_word(std::string_view word) {
  for (std::string_view known : words) {
    if (word.size() <= 2 * known.size() && edit_distance(word, known) <= 2) {
      return "; is it '" + std::string(known) + "'?";
    }
  }
  return "; a line is a setting (collective, algorithm, ranks, root, commutative, blocks, shape, "
         "last) or a transfer (copy, reduce, push, token)";
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view name)
      : lines_(text, name.empty() ? "plan" : name) {
    if (!name.empty()) plan_.files.emplace_back(name);
  }

  Plan run() {
    while (lines_.next()) {
      Line line = lines_.line();
      if (line.at_end()) continue;
      if (!std::exchange(has_version_, true)) {
        expect_version(line, "plan");
      } else {
        statement(line);
      }
    }
    end_header();
    validate(plan_, lines_.name());
    return std::move(plan_);
  }

 private:
  void statement(Line& line) {
    const std::string_view whole = line.rest();
    const std::string_view word = line.word();
    if (word == "copy" || word == "reduce" || word == "push" || word == "token") {
      if (!in_transfers_) end_header();
      transfer(line, word);
      return;
    }
    std::optional<std::string>* setting = setting_named(word);
    if (setting == nullptr)
      line.refuse("unknown word " + quoted(word.empty() ? whole : word) + nearest_word(word));
    if (in_transfers_) {
      line.refuse("'" + std::string(word) +
                  "' after the first transfer; move it before the transfers");
    }
    if (setting->has_value()) {
      line.refuse("'" + std::string(word) + "' a second time; the first is at " + **setting +
                  ", keep one");
    }
    if (line.at_end()) line.refuse("'" + std::string(word) + "' without a value; write it behind");
    *setting = lines_.place();
    set(line, word);
  }

  std::optional<std::string>* setting_named(std::string_view word) {
    for (size_t i = 0; i < set_at_.size(); ++i) {
      if (words[i] == word) return &set_at_[i];
    }
    return nullptr;
  }

  void set(Line& line, std::string_view word) {
    if (word == "algorithm") {
      const std::string fault = label_fault(line.rest());
      if (!fault.empty()) line.refuse(fault);
      plan_.algorithm = std::string(line.rest());
      return;
    }
    if (word == "shape") {
      const std::string fault = shape_fault(line.rest());
      if (!fault.empty()) line.refuse(fault);
      plan_.shape = std::string(line.rest());
      return;
    }
    if (word == "collective") plan_.collective = collective(line);
    if (word == "commutative") plan_.commutative = yes_or_no(line);
    if (word == "ranks") plan_.ranks = bounded(line, "the number of ranks", max_ranks);
    if (word == "blocks") plan_.blocks = bounded(line, "the number of blocks", max_blocks);
    if (word == "root") plan_.root = line.number("the root");
    if (word == "last")
      plan_.last_segment = bounded(line, "the bytes of the last segment", most_last_bytes);
    line.expect_end();
  }

  static Collective collective(Line& line) {
    const std::string_view whole = line.rest();
    const std::string_view word = line.word();
    for (int i = 0; i < collective_count; ++i) {
      if (name(static_cast<Collective>(i)) == word) return static_cast<Collective>(i);
    }
    line.refuse("there is no collective " + quoted(whole) + "; it is one of " + collective_names());
  }

  static bool yes_or_no(Line& line) {
    if (line.take("yes")) return true;
    if (line.take("no")) return false;
    line.refuse("commutative is yes or no, not " + quoted(line.rest()));
  }

  static int32_t bounded(Line& line, std::string_view what, int32_t most) {
    const int32_t value = line.number(what);
    if (value < 1 || value > most) {
      line.refuse(std::string(what) + " is " + std::to_string(value) + "; it is 1 to " +
                  std::to_string(most));
    }
    return value;
  }

  // Refuses what only the whole header shows to be wrong, with the line of the setting at fault.
  void end_header() {
    in_transfers_ = true;
    if (!has_version_)
      refuse(lines_.place(),
             "the text is empty; a plan begins with '" + std::string(first_line) + "'");
    for (std::string_view word : {"collective", "ranks"}) {
      if (!setting_named(word)->has_value()) {
        refuse(lines_.place(), "the plan does not say its '" + std::string(word) +
                                   "'; set it before the transfers");
      }
    }
    if (parted(plan_.collective) && !setting_named("blocks")->has_value())
      plan_.blocks = plan_.ranks;
    if (parted(plan_.collective) && plan_.blocks != plan_.ranks) {
      refuse(**setting_named("blocks"),
             std::string(name(plan_.collective)) + " has a block for each rank; remove the line");
    }
    const std::optional<std::string>& root = *setting_named("root");
    if (root && !rooted(plan_.collective)) {
      refuse(*root,
             "a root, which " + std::string(name(plan_.collective)) + " has not; remove the line");
    }
    if (root && plan_.root >= plan_.ranks) {
      refuse(*root, "there is no rank " + std::to_string(plan_.root) +
                        " to be the root; ranks are 0 to " + std::to_string(plan_.ranks - 1));
    }
    if (!has_data(plan_.collective) && plan_.blocks != 1) {
      refuse(**setting_named("blocks"), "a barrier has 1 block, of no bytes; remove the line");
    }
  }

  void transfer(Line& line, std::string_view word) {
    if (plan_.transfers.size() == max_transfers) {
      line.refuse("more than " + std::to_string(max_transfers) + " transfers; split the plan");
    }
    Transfer transfer;
    transfer.line = lines_.number();
    transfer.push = word == "push";
    transfer.any_order = word == "reduce" && line.take_word("any");
    if (line.take("@")) transfer.stage = line.number("a stage");
    const bool is_token = word == "token";
    const auto operand = [&] { return is_token ? nothing_of(rank(line)) : region(line); };
    transfer.dst = operand();
    line.expect("<-", is_token ? "the rank" : "the destination");
    do {
      transfer.src.push_back(operand());
    } while (line.take(","));
    line.expect_end();
    const bool combines = word == "reduce" || (transfer.push && transfer.src.size() > 1);
    transfer.kind = combines ? TransferKind::reduce : TransferKind::copy;
    if (is_token) transfer.kind = TransferKind::token;
    plan_.transfers.push_back(std::move(transfer));
  }

  // Regions hold no larger numbers than ranks of any plan can have; validate() compares the others.
  int32_t rank(Line& line) const {
    const int32_t number = line.number("a rank");
    if (number >= max_ranks) {
      line.refuse("there is no rank " + std::to_string(number) + "; ranks are 0.." +
                  std::to_string(plan_.ranks - 1));
    }
    return number;
  }

  Region region(Line& line) const {
    const std::string_view whole = line.rest();
    const std::string_view word = line.word();
    Region region;
    if (word == "in") {
      region.buffer = Buffer::in;
    } else if (word == "out") {
      region.buffer = Buffer::out;
    } else if (word == "tmp") {
      region.buffer = Buffer::tmp;
    } else {
      line.refuse("expected a region such as in[0], out[0] or tmp[0], found " +
                  (whole.empty() ? "the end of the line" : quoted(whole)));
    }
    line.expect("[", "the buffer");
    region.rank = rank(line);
    line.expect("]", "the rank");
    if (!line.take(".")) return region;
    region.first = line.number("a block");
    if (line.take("+")) region.count = line.number("a number of blocks");
    if (line.take("/")) region.stride = line.number("a stride");
    return region;
  }

  Lines lines_;
  bool has_version_ = false;
  bool in_transfers_ = false;
  std::array<std::optional<std::string>, settings>
      set_at_;  // the place of each setting, in the order of `words`
  Plan plan_;
};

void append(std::string& text, const Region& region) {
  static constexpr std::string_view buffers[] = {"in", "out", "tmp"};
  text += buffers[static_cast<size_t>(region.buffer)];
  text += '[' + std::to_string(region.rank) + ']';
  if (region.first == 0 && region.count == 1 && region.stride == 1) return;
  text += '.' + std::to_string(region.first);
  if (region.count == 1 && region.stride == 1) return;
  text += '+' + std::to_string(region.count);
  if (region.stride != 1) text += '/' + std::to_string(region.stride);
}

void append(std::string& text, const Transfer& transfer) {
  text += transfer.push ? "push" : name(transfer.kind);
  if (transfer.any_order) text += " any";
  if (transfer.stage != stage_automatic) text += " @" + std::to_string(transfer.stage);
  text += ' ';
  const auto operand = [&](const Region& region) {
    if (transfer.kind == TransferKind::token) {
      text += std::to_string(region.rank);
    } else {
      append(text, region);
    }
  };
  operand(transfer.dst);
  std::string_view separator = " <- ";
  for (const Region& source : transfer.src) {
    text += separator;
    operand(source);
    separator = ", ";
  }
}

}  // namespace

std::string print(const Region& region) {
  std::string text;
  append(text, region);
  return text;
}

std::string print(const Transfer& transfer) {
  std::string text;
  append(text, transfer);
  return text;
}

std::string print(const Plan& plan) {
  std::string text =
      std::string(first_line) + "\ncollective " + std::string(name(plan.collective)) + '\n';
  if (!plan.algorithm.empty()) text += "algorithm " + plan.algorithm + '\n';
  text += "ranks " + std::to_string(plan.ranks) + '\n';
  if (rooted(plan.collective)) text += "root " + std::to_string(plan.root) + '\n';
  if (plan.commutative) text += "commutative yes\n";
  if (!parted(plan.collective)) text += "blocks " + std::to_string(plan.blocks) + '\n';
  if (!plan.shape.empty()) text += "shape " + plan.shape + '\n';
  if (plan.last_segment > 0) text += "last " + std::to_string(plan.last_segment) + '\n';
  for (const Transfer& transfer : plan.transfers) {
    append(text, transfer);
    text += '\n';
  }
  return text;
}

Plan read(std::string_view text, std::string_view name) { return Reader(text, name).run(); }

}  // namespace tutti::plan
