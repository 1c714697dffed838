"""Tutti: the collectives of any MPI program, fast on many-core machines.

A collective is a plan: a short list of transfers between buffers, written for the machine's tree.
This package holds the command line (`tutti`) and the tools that show, check and measure plans. The
libraries that `tutti-run` loads into MPI programs are in `lib/` beside this file, programs in
`bin/`.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("tutti-mpi")
except PackageNotFoundError:  # imported from a source tree, not from an installed package
    __version__ = "0+unknown"

__all__ = ["__version__"]
