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

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

bool is_high(int descriptor) { return descriptor >= first_high; }

// The table keeps its size when the descriptor is closed.
void make_room_for_high_descriptors() { const Descriptor some(open("/", O_PATH | O_CLOEXEC)); }

}  // namespace tutti
