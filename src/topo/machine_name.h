// The names of this machine: for readers, and for files that belong to machines of its kind. The
// functions read the kernel's files; no state, any thread.
#pragma once

#include <string>

namespace tutti::topo {

// Such as "AMD EPYC 7763 64-Core Processor"; "aarch64" if the kernel reports only the kind of
// processor.
std::string processor_name();

// The name in the form of a file's name: characters other than letters, digits, '.' and '_' become
// single hyphens, and there are none at the ends.
std::string as_file_name(const std::string& name);

// The processor, the number of sockets and the cores of each:
// "AMD-EPYC-7763-64-Core-Processor.2x64". Machines of one kind have the same name, and the calling
// thread's binding does not change it. Where the kernel lists no processing units, the processor
// alone.
std::string machine_name(const std::string& processor = processor_name(),
                         const std::string& system = "/sys/devices/system");

}  // namespace tutti::topo
