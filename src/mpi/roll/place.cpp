#include "mpi/roll/place.h"

#include <array>
#include <string_view>
#include <tuple>

namespace tutti::mpi::roll {
namespace {

constexpr std::array<std::string_view, 7> words = {"mpi",     "computes", "file",  "sleeps",
                                                   "stopped", "ended",    "silent"};

Json json_of(const Message& message) {
  return Json{{"dest", message.dest},
              {"send_tag", message.send_tag},
              {"source", message.source},
              {"receive_tag", message.receive_tag}};
}

}  // namespace

std::string Place::mark() const {
  // A rank that looks for messages again and again does so at changing places.
  const bool is_inside = doing == Doing::mpi;
  return std::string(words[static_cast<size_t>(is_inside ? doing : Doing::computes)]) + "|" +
         (is_inside ? function + "|" + std::to_string(frame) + "|" + site : "") + "|" +
         std::to_string(number) + "|" + std::to_string(calls);
}

bool Place::stays_at(const Place& before) const {
  if (has_answered && before.has_answered) return mark() == before.mark();
  const auto call = [](const Place& place) {
    return std::tie(place.doing, place.function, place.frame, place.calls);
  };
  return doing == Doing::mpi && call(*this) == call(before);
}

Json json_of(const Place& place) {
  Json told{{"rank", place.rank},
            {"process", place.process},
            {"thread", place.thread},
            {"is_first", place.is_first},
            {"doing", words[static_cast<size_t>(place.doing)]},
            {"function", place.function},
            {"site", place.site},
            {"communicator", place.communicator},
            {"arguments", place.arguments},
            {"message", place.message.is_known() ? json_of(place.message) : Json()},
            {"number", place.number},
            {"seconds", rounded(place.seconds, 1)},
            {"note", place.note}};
  if (!place.object.empty()) {
    told["frame"] = place.frame;
    told["object"] = place.object;
  }
  return told;
}

Place place_from(const Json& value) {
  Place place;
  value.at("rank").get_to(place.rank);
  value.at("process").get_to(place.process);
  value.at("thread").get_to(place.thread);
  value.at("is_first").get_to(place.is_first);
  const std::string doing = value.at("doing");
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] == doing) place.doing = static_cast<Doing>(i);
  value.at("function").get_to(place.function);
  value.at("site").get_to(place.site);
  value.at("communicator").get_to(place.communicator);
  value.at("arguments").get_to(place.arguments);
  if (const Json& message = value.at("message"); !message.is_null()) {
    message.at("dest").get_to(place.message.dest);
    message.at("send_tag").get_to(place.message.send_tag);
    message.at("source").get_to(place.message.source);
    message.at("receive_tag").get_to(place.message.receive_tag);
  }
  value.at("number").get_to(place.number);
  value.at("seconds").get_to(place.seconds);
  value.at("note").get_to(place.note);
  if (value.contains("object")) {
    value.at("frame").get_to(place.frame);
    value.at("object").get_to(place.object);
  }
  return place;
}

}  // namespace tutti::mpi::roll
