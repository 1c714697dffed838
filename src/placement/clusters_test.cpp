#include "placement/clusters.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tutti::placement {
namespace {

TEST(Clusters, HostsAreFoundByTheirFullAndShortNames) {
  const Clusters clusters = Clusters::read(
      "# two sites\ntutti-clusters 1\nwest: a b.example.org\n\neast: c # one\n", "sites");
  EXPECT_EQ(clusters.names(), (std::vector<std::string>{"west", "east"}));
  EXPECT_EQ(clusters.of("a"), 0);
  EXPECT_EQ(clusters.of("a.example.org"), 0);
  EXPECT_EQ(clusters.of("b"), 0);
  EXPECT_EQ(clusters.of("c"), 1);
  EXPECT_EQ(clusters.of("d"), -1);
}

void expect_refused(const std::string& text, const std::string& message) {
  try {
    Clusters::read(text, "f");
    ADD_FAILURE() << text;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(Clusters, WhatIsWrongIsToldWithItsLine) {
  const std::string head = "tutti-clusters 1\n";
  expect_refused("", "f:1: the text is empty; it begins with 'tutti-clusters 1'");
  expect_refused("west: a\n",
                 "f:1: expected 'tutti-clusters 1' on the first line, found \"west: a\"");
  expect_refused(
      head + "west a\n",
      "f:2: expected a cluster's name and a colon, as 'west: node1 node2', found \"west\"");
  expect_refused(head + "west:\n",
                 "f:2: cluster \"west\" has no hosts; name them behind the colon");
  expect_refused(head + "west: a\neast: a\n",
                 "f:3: host \"a\" a second time; a host is in one cluster");
  expect_refused(head + "west: a\nwest: b\n",
                 "f:3: cluster \"west\" a second time; put all of its hosts on one line");
  expect_refused(head + "west: a/b\n", "f:2: \"a/b\" is no host name");
}

}  // namespace
}  // namespace tutti::placement
