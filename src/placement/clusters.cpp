#include "placement/clusters.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/text.h"

namespace tutti::placement {
namespace {

constexpr std::string_view first_line = "tutti-clusters 1";
constexpr size_t most_hosts = 1 << 20;

bool is_name(std::string_view word) {
  return !word.empty() && word.size() <= 255 &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
         });
}

std::string_view up_to_dot(std::string_view host) { return host.substr(0, host.find('.')); }

// The words of one line. Errors name the line.
class Line {
 public:
  Line(std::string_view text, std::string where) : where_(std::move(where)) {
    std::istringstream stream{std::string(text.substr(0, text.find('#')))};
    for (std::string word; stream >> word;) words_.push_back(word);
  }
  [[noreturn]] void refuse(const std::string& message) const {
    throw Error(Code::invalid_argument, where_ + ": " + message);
  }
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::string where_;
  std::vector<std::string> words_;
};

}  // namespace

Clusters Clusters::read(std::string_view text, std::string_view name) {
  Clusters clusters;
  bool has_version = false;
  int32_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    const Line line(whole, std::string(name) + ":" + std::to_string(++number));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::vector<std::string>& words = line.words();
    if (words.empty()) continue;
    if (!has_version) {
      if (words != std::vector<std::string>{"tutti-clusters", "1"}) {
        line.refuse("expected '" + std::string(first_line) + "' on the first line, found " +
                    in_quotes(whole.substr(0, 60)));
      }
      has_version = true;
      continue;
    }
    const std::string_view cluster = words.front();
    if (!cluster.ends_with(':') || !is_name(cluster.substr(0, cluster.size() - 1))) {
      line.refuse("expected a cluster's name and a colon, as 'west: node1 node2', found " +
                  in_quotes(cluster.substr(0, 60)));
    }
    const std::string named(cluster.substr(0, cluster.size() - 1));
    if (std::find(clusters.names_.begin(), clusters.names_.end(), named) != clusters.names_.end()) {
      line.refuse("cluster " + in_quotes(named) +
                  " a second time; put all of its hosts on one line");
    }
    if (words.size() == 1)
      line.refuse("cluster " + in_quotes(named) + " has no hosts; name them behind the colon");
    clusters.names_.push_back(named);
    for (size_t i = 1; i < words.size(); ++i) {
      if (!is_name(words[i])) line.refuse(in_quotes(words[i].substr(0, 60)) + " is no host name");
      if (!clusters.hosts_.emplace(words[i], static_cast<int32_t>(clusters.names_.size()) - 1)
               .second) {
        line.refuse("host " + in_quotes(words[i]) + " a second time; a host is in one cluster");
      }
      if (clusters.hosts_.size() > most_hosts)
        line.refuse("more than " + std::to_string(most_hosts) + " hosts");
    }
  }
  if (!has_version) {
    throw Error(Code::invalid_argument, std::string(name) +
                                            ":1: the text is empty; it begins with '" +
                                            std::string(first_line) + "'");
  }
  return clusters;
}

int32_t Clusters::of(std::string_view host) const {
  if (const auto found = hosts_.find(host); found != hosts_.end()) return found->second;
  for (const auto& [named, cluster] : hosts_) {
    if (up_to_dot(named) == up_to_dot(host)) return cluster;
  }
  return -1;
}

}  // namespace tutti::placement
