"""Tutti: the collectives of any MPI program, fast on many-core machines.

A collective is a plan: a short list of transfers between buffers, fitted to the machine's tree. This package
holds the command line (`tutti`), the tools that show, check and measure plans, and, in `lib/` and `bin/`
beside this file, the libraries that `tutti-run` loads into MPI programs.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("tutti-mpi")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
