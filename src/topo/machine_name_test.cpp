#include "topo/machine_name.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tutti::topo {
namespace {

namespace fs = std::filesystem;

TEST(MachineName, FileNamesHaveNoSpacesNorSlashes) {
  EXPECT_EQ(as_file_name("AMD EPYC 7763 64-Core Processor"), "AMD-EPYC-7763-64-Core-Processor");
  EXPECT_EQ(as_file_name("Intel(R) Xeon(R) CPU @ 2.70GHz "), "Intel-R-Xeon-R-CPU-2.70GHz");
  EXPECT_EQ(as_file_name("../../etc/passwd"), "..-..-etc-passwd");
  EXPECT_EQ(as_file_name(""), "");
}

TEST(MachineName, CountsSocketsAndTheCoresOfEach) {
  const fs::path system = fs::path(testing::TempDir()) / "machine-name";
  const auto write = [&](const std::string& name, const std::string& line) {
    fs::create_directories((system / name).parent_path());
    std::ofstream(system / name) << line << "\n";
  };
  // Two sockets of two cores of two threads.
  write("cpu/online", "0-7");
  for (int unit = 0; unit < 8; ++unit) {
    const std::string topology = "cpu/cpu" + std::to_string(unit) + "/topology/";
    write(topology + "physical_package_id", std::to_string(unit / 2 % 2));
    write(topology + "thread_siblings_list",
          std::to_string(unit % 4) + "," + std::to_string(unit % 4 + 4));
  }
  EXPECT_EQ(machine_name("A CPU", system), "A-CPU.2x2");
  EXPECT_EQ(machine_name("A CPU", system / "nowhere"), "A-CPU");
  fs::remove_all(system);
}

TEST(MachineName, ThisMachineHasAName) {
  EXPECT_FALSE(processor_name().empty());
  EXPECT_EQ(machine_name(), machine_name(processor_name()));
}

}  // namespace
}  // namespace tutti::topo
