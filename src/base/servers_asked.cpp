#include "base/servers_asked.h"

#include <charconv>

#include "base/text.h"

namespace tutti {

std::optional<ServersAsked> read_servers_asked(std::string_view text) {
  ServersAsked asked;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, asked.count);
  if (error != std::errc() || asked.count < 0 || asked.count > most_servers) return std::nullopt;
  if (rest == end) return asked;
  if (*rest != '@') return std::nullopt;
  asked.cores = numbers_of(std::string_view(rest + 1, end));
  if (asked.cores.empty() || asked.count == 0) return std::nullopt;
  return asked;
}

std::string print(const ServersAsked& asked) {
  const std::string count = std::to_string(asked.count);
  return asked.cores.empty() ? count : count + '@' + list_of(asked.cores);
}

}  // namespace tutti
