// Saturation maps as JSON: the format that rma/saturation_file.cpp reads, for the
// programs that make maps. A pure function; any thread.
#pragma once

#include "base/json.h"
#include "rma/saturation.h"

namespace tutti::bench {

Json json_of(const rma::SaturationMap& map);

}  // namespace tutti::bench
