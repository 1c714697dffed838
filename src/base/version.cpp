#include "base/version.h"

namespace tutti {

const char* tutti_version() { return TUTTI_VERSION; }

}  // namespace tutti
