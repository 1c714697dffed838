// Tutti's version, as the file VERSION has it. Any thread.
#pragma once

namespace tutti {

const char* tutti_version();

}  // namespace tutti
