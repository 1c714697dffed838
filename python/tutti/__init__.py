"""Tutti: the collectives of any MPI program, fast on many-core machines.

A collective is a plan: a short list of transfers between buffers, written for the machine's tree.
This package holds the command line (`tutti`) and the tools that show, check and measure plans. The
libraries that `tutti-run` loads into MPI programs are in `lib/` beside this file, programs in
`bin/`.
"""

__version__: str


def __getattr__(name: str) -> str:
    """The version, which is looked up when it is asked for: that takes longer than short commands."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tutti-mpi")
    except PackageNotFoundError:  # imported from a source tree, not from an installed package
        return "0+unknown"


__all__ = ["__version__"]
