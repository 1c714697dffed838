#include "model/machine.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace tutti::model {
namespace {

const std::string right = R"({
 "format": "tutti-machine 1",
 "name": "two sockets",
 "source": "a test",
 "levels": [
  {"name": "node", "hand_over": 105.2, "byte": 0.3, "shared": 0.1},
  {"name": "numa", "hand_over": 28.5, "byte": 0.1, "shared": 0.02}
 ],
 "own": {"call": 20, "step": 2, "copy": 0.05, "combine": 0.04},
 "network": {"overhead": 250, "latency": 1100, "gap": 400, "byte": 0.3125, "prompt": 16384}
})";

std::string refusal(std::string text) {
  try {
    read_machine(text, "file.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line";
    return error.what();
  }
  return "read";
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = right;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Machine, IsReadAndWritten) {
  const Machine machine = read_machine(right, "file.json");
  EXPECT_EQ(machine.name, "two sockets");
  ASSERT_EQ(machine.levels.size(), 2u);
  EXPECT_EQ(machine.find("numa")->hand_over, 28.5);
  EXPECT_EQ(machine.find("core"), nullptr);
  EXPECT_EQ(machine.own.combine.at(8), 0.04);
  EXPECT_EQ(machine.network->prompt, 16384u);
  const std::string written = write_machine(machine);
  EXPECT_EQ(write_machine(read_machine(written, "again")), written);
}

TEST(Machine, WhatSimulationsAlsoNeed) {
  const Machine machine = read_machine(with("\"network\":",
                                            R"("shape": "node:2 core:4", "what": "two nodes",
              "messages": {"overhead": 100, "latency": 350, "byte": 0.2, "shared": 0.1},
              "network":)"),
                                       "file.json");
  EXPECT_EQ(machine.shape, "node:2 core:4");
  EXPECT_EQ(machine.what, "two nodes");
  EXPECT_EQ(machine.messages->latency, 350);
  const std::string written = write_machine(machine);
  EXPECT_EQ(write_machine(read_machine(written, "again")), written);
}

TEST(Machine, TheHostMpiOfANetwork) {
  const Machine machine = read_machine(with("16384", "16384, \"mpi\": \"openmpi\""), "file.json");
  EXPECT_EQ(machine.network->mpi, "openmpi");
  const std::string written = write_machine(machine);
  EXPECT_EQ(write_machine(read_machine(written, "again")), written);
  EXPECT_EQ(read_machine(right, "file.json").network->mpi, "");
}

TEST(Machine, CostsByLength) {
  const std::string text =
      with("\"byte\": 0.1,", R"("byte": {"4096": 0.2, "1048576": 0.1}, "add": 0.3,)");
  const Machine machine = read_machine(text, "file.json");
  EXPECT_EQ(machine.find("numa")->byte.at(64), 0.2);
  EXPECT_NEAR(machine.find("numa")->byte.at(65536) * 65536,
              819.2 + (65536 - 4096) / (1048576. - 4096) * (104857.6 - 819.2), 1e-9);
  EXPECT_EQ(machine.find("numa")->add.at(64), 0.3);
  EXPECT_EQ(machine.find("node")->add.at(64), 0.3) << "as byte, if it is not given";
  const std::string written = write_machine(machine);
  EXPECT_EQ(write_machine(read_machine(written, "again")), written);
}

TEST(Machine, CostsOfSlotsAndOfLinksByLength) {
  const Machine machine = read_machine(
      with(
          "\"shared\": 0.02",
          R"("shared": {"64": 0.02, "4096": 0.1}, "shared_add": 0.05, "add_same": 0.7, "write": {"8": 1, "64": 2})"),
      "file.json");
  EXPECT_EQ(machine.find("numa")->shared.at(4096), 0.1);
  EXPECT_EQ(machine.find("numa")->shared_add->at(64), 0.05);
  EXPECT_EQ(machine.find("numa")->add_same->at(64), 0.7);
  EXPECT_EQ(machine.find("numa")->write->at(64), 2);
  EXPECT_FALSE(machine.find("node")->write);
  const std::string written = write_machine(machine);
  EXPECT_EQ(write_machine(read_machine(written, "again")), written);
}

TEST(Machine, StoresPastTheCacheSystemCopiesAndYields) {
  std::string text = with("\"shared\": 0.02",
                          R"("shared": 0.02, "write": 0.3, "write_past": {"2048": 0.2, "4096": 0.1},
                             "shared_write": 0.1, "byte_past": 0.25, "write_in_place": 0.4,
                             "exchange": 90,
                             "system": {"1": 400, "4096": 0.3})");
  text.replace(text.find("\"step\": 2"), 9, "\"step\": 2, \"yield\": 350");
  const Machine machine = read_machine(text, "file.json");
  EXPECT_EQ(machine.find("numa")->write_past->at(4096), 0.1);
  EXPECT_EQ(machine.find("numa")->system->at(1), 400);
  EXPECT_EQ(machine.find("numa")->shared_write->at(64), 0.1);
  EXPECT_EQ(machine.find("numa")->byte_past->at(64), 0.25);
  EXPECT_EQ(machine.find("numa")->write_in_place->at(64), 0.4);
  EXPECT_EQ(machine.find("numa")->exchange, 90);
  EXPECT_EQ(machine.own.yield, 350);
  EXPECT_FALSE(machine.find("node")->write_past || machine.find("node")->system);
  const std::string written = write_machine(machine);
  EXPECT_EQ(write_machine(read_machine(written, "again")), written);
}

TEST(Machine, WithoutNetworkAndSource) {
  const Machine machine = read_machine(
      R"({"format": "tutti-machine 1", "name": "n", "levels": [{"name": "node", "hand_over": 1,
          "byte": 0, "shared": 0}], "own": {"call": 0, "step": 0, "copy": 0, "combine": 0}})",
      "f");
  EXPECT_FALSE(machine.network);
  EXPECT_EQ(write_machine(machine).find("network"), std::string::npos);
}

TEST(Machine, BadFilesAreNamedByPlace) {
  struct Case {
    const char *from, *to, *expected;
  };
  for (const Case& one : {
           Case{"tutti-machine 1", "tutti-machine 9", "this version reads \"tutti-machine 1\""},
           Case{"\"format\": \"tutti-machine 1\",", "", "lacks the member \"format\""},
           Case{"105.2", "-1", "levels[0].hand_over: is -1; it must be a number from 0 to"},
           Case{"28.5", "\"fast\"", "levels[1].hand_over: must be a number"},
           Case{"28.5", "1e300", "levels[1].hand_over: is 1e+300"},
           Case{"\"shared\": 0.02", "\"shared\": 0.2", "levels[1]: \"shared\" is more than"},
           Case{"\"shared\": 0.02", "\"shared\": 0.02, \"shared_add\": 0.2",
                "levels[1]: \"shared_add\" is more than"},
           Case{"\"byte\": 0.1", "\"byte\": {}", "levels[1].byte: must have the cost of one"},
           Case{"\"byte\": 0.1", "\"byte\": {\"8\": 1, \"8\": 2, \"4\": 1}",
                "levels[1].byte: the length \"4\" must be a number of bytes, each larger"},
           Case{"\"byte\": 0.1", "\"byte\": {\"x\": 1}", "the length \"x\" must be a number"},
           Case{"\"numa\"", "\"nuna\"", "there is no level \"nuna\"; levels are node"},
           Case{"\"numa\"", "\"node\"", "must stand before"},
           Case{"\"name\": \"node\"", "\"name\": \"socket\"", "the first level must be \"node\""},
           Case{"\"step\": 2, ", "", "own: lacks the member \"step\""},
           Case{"\"step\": 2", "\"steps\": 2", "own: unknown member \"steps\"; known are call"},
           Case{"16384", "1.5", "network.prompt: is 1.5; it must be an integer"},
           Case{"16384", "16384, \"mpi\": \"lam\"", "network: there is no MPI \"lam\"; known are"},
           Case{"\"network\":",
                R"("messages": {"overhead": 1, "latency": 1, "byte": 0.1, "shared": 0.2},
                   "network":)",
                "messages: \"shared\" is more than \"byte\""},
           Case{"\"shared\": 0.02", "\"shared\": 0.02, \"write_past\": 0.2",
                "levels[1]: has \"write_past\" without \"write\""},
           Case{"\"shared\": 0.02", "\"shared\": 0.02, \"byte_past\": 0.2",
                "levels[1]: has \"byte_past\" without \"write_past\""},
           Case{"\"shared\": 0.02", "\"shared\": 0.02, \"shared_write\": 0.2",
                "levels[1]: has \"shared_write\" without \"write\""},
           Case{"\"shared\": 0.02", "\"shared\": 0.02, \"write\": 0.1, \"shared_write\": 0.2",
                "levels[1]: \"shared_write\" is more than"},
           Case{"\"shared\": 0.02", "\"shared\": 0.02, \"exchange\": 2",
                "levels[1]: \"exchange\" is less than \"hand_over\""},
           Case{"\"shared\": 0.02", "\"shared\": 0.02, \"system\": \"fast\"",
                "levels[1].system: must be a number"},
           Case{"\"step\": 2", "\"step\": 2, \"yield\": -3", "own.yield: is -3; it must be"},
           Case{"\"own\": {", "\"own\": 3, \"was\": {", "unknown member \"was\""},
       })
    EXPECT_NE(refusal(with(one.from, one.to)).find(one.expected), std::string::npos)
        << one.to << ": " << refusal(with(one.from, one.to));
  EXPECT_EQ(refusal("{\n\"format\": \n}"), "file.json:3: not valid JSON");
  EXPECT_EQ(refusal("[]"), "file.json: must be an object, as in {\"step\": 2}");
  EXPECT_NE(refusal(with("\"levels\": [", "\"levels\": [], \"was\": [")), "read");
}

}  // namespace
}  // namespace tutti::model
