#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "functions.h"

#include <dlfcn.h>
#include <string.h>

#include "ranks.h"

static void find(void* function, const char* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  if (address == NULL) ranks_stop("Tutti is not loaded; start the job under tutti-run");
  memcpy(function, &address, sizeof address); /* C has no cast from one to the other */
}

Tutti tutti_functions(void) {
  Tutti tutti;
  find(&tutti.group_of_communicator, "tutti_group_of_communicator");
  find(&tutti.group_free, "tutti_group_free");
  find(&tutti.alloc, "tutti_alloc");
  find(&tutti.free, "tutti_free");
  find(&tutti.put, "tutti_put");
  find(&tutti.get, "tutti_get");
  find(&tutti.test, "tutti_test");
  find(&tutti.wait, "tutti_wait");
  find(&tutti.wait_all, "tutti_wait_all");
  find(&tutti.fence, "tutti_fence");
  find(&tutti.node_team, "tutti_node_team");
  find(&tutti.servers_start, "tutti_servers_start");
  find(&tutti.servers_stop, "tutti_servers_stop");
  find(&tutti.servers_count, "tutti_servers_count");
  find(&tutti.servers_enable, "tutti_servers_enable");
  find(&tutti.servers_disable, "tutti_servers_disable");
  find(&tutti.servers_wake, "tutti_servers_wake");
  find(&tutti.servers_sleep, "tutti_servers_sleep");
  find(&tutti.error_message, "tutti_error_message");
  return tutti;
}

void require_ok(const Tutti* tutti, tutti_status status) {
  if (status != TUTTI_OK) ranks_stop(tutti->error_message());
}
