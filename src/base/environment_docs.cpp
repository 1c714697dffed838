// Prints docs/environment.md. The build target environment_docs writes it to the file.
#include <cstdio>

#include "base/options.h"

int main() { return std::fputs(tutti::environment_page().c_str(), stdout) < 0 ? 1 : 0; }
