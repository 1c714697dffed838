#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "functions.h"

#include <dlfcn.h>
#include <string.h>

static void find(void* function, const char* name, void (*stop)(const char*)) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  if (address == NULL) stop("Tutti is not loaded; start the job under tutti-run");
  memcpy(function, &address, sizeof address); /* C has no cast from one to the other */
}

Tutti tutti_functions(void (*stop)(const char* what)) {
  Tutti tutti;
  find(&tutti.group_of_communicator, "tutti_group_of_communicator", stop);
  find(&tutti.group_free, "tutti_group_free", stop);
  find(&tutti.alloc, "tutti_alloc", stop);
  find(&tutti.free, "tutti_free", stop);
  find(&tutti.put, "tutti_put", stop);
  find(&tutti.get, "tutti_get", stop);
  find(&tutti.test, "tutti_test", stop);
  find(&tutti.wait, "tutti_wait", stop);
  find(&tutti.wait_all, "tutti_wait_all", stop);
  find(&tutti.fence, "tutti_fence", stop);
  find(&tutti.node_team, "tutti_node_team", stop);
  find(&tutti.servers_start, "tutti_servers_start", stop);
  find(&tutti.servers_stop, "tutti_servers_stop", stop);
  find(&tutti.servers_wake, "tutti_servers_wake", stop);
  find(&tutti.servers_sleep, "tutti_servers_sleep", stop);
  find(&tutti.error_message, "tutti_error_message", stop);
  return tutti;
}
