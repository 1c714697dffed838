#include "base/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace tutti {
namespace {

constexpr int first_high = 200;

}  // namespace

int move_high(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, first_high);
  if (high < 0) return descriptor;
  close(descriptor);
  return high;
}

bool is_high(int descriptor) { return descriptor >= first_high; }

// The table keeps its size when the descriptor is closed.
void make_room_for_high_descriptors() {
  const int low = open("/", O_PATH | O_CLOEXEC);
  if (low >= 0) close(move_high(low));
}

}  // namespace tutti
