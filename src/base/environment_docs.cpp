// Prints docs/environment.md; the build target environment_docs puts it in its place.
#include <cstdio>

#include "base/options.h"

int main() { return std::fputs(tutti::environment_page().c_str(), stdout) < 0 ? 1 : 0; }
