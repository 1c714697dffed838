// The functions and variables that hwloc's archive needs of other libraries, so that it can be
// linked into a shared library and asks for no other one (CMakeLists.txt renames the variables).
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#define HIDDEN __attribute__((visibility("hidden")))

// An archive that is compiled for programs reaches variables of libc directly, which a shared
// library cannot.
HIDDEN FILE* tutti_hwloc_stdout;
HIDDEN FILE* tutti_hwloc_stderr;
HIDDEN char* tutti_hwloc_program;

__attribute__((constructor)) static void take_variables(void) {
  tutti_hwloc_program = program_invocation_name;
  tutti_hwloc_stdout = stdout;
  tutti_hwloc_stderr = stderr;
}

// libudev names disks, which no tree of ours has. Without it hwloc reads their files itself.
HIDDEN void* udev_new(void) { return NULL; }
HIDDEN void* udev_unref(void* udev) { return udev; }
HIDDEN void* udev_device_new_from_subsystem_sysname(void* udev, const char* subsystem,
                                                    const char* name) {
  (void)udev, (void)subsystem, (void)name;
  return NULL;
}
HIDDEN void* udev_device_unref(void* device) { return device; }
HIDDEN const char* udev_device_get_property_value(void* device, const char* key) {
  (void)device, (void)key;
  return NULL;
}
