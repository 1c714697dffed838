// How many servers a user asks for, and on which cores they are to run: the value "N" or "N@CORES"
// of TUTTI_SERVERS and of tutti-run --servers. A plain value; the functions are pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tutti {

inline constexpr int most_servers = 64;  // the most servers that a domain may have

struct ServersAsked {
  int count = 0;             // the number of servers in each domain
  std::set<int> cores = {};  // processing units, as the system numbers them; empty: not given

  bool operator==(const ServersAsked&) const = default;
};

inline constexpr std::string_view servers_asked_form =
    "a number of servers from 0 to 64, and the cores that they get, if you choose them: 2, 2@6,7 "
    "or 4@12-15";

// Nothing if the text has another form.
std::optional<ServersAsked> read_servers_asked(std::string_view text);
// read_servers_asked(print(asked)) == asked.
std::string print(const ServersAsked& asked);

}  // namespace tutti
