"""Where the compiled parts of Tutti lie, and how they are reached.

In an installed package the libraries are in `lib/` and the programs in `bin/` beside this file, and the launcher
`tutti-run` is among the scripts of the Python environment.
"""

import shutil
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tutti.errors import UserError

PACKAGE = Path(__file__).resolve().parent
INTERPOSERS = {
    "mpich": "libtutti-mpich.so",
    "openmpi": "libtutti-openmpi.so",
    "mpiabi": "libtutti-mpiabi.so",
}


@cache
def core() -> Any:
    """The compiled module."""
    try:
        return import_module("tutti._core")
    except ImportError as error:
        raise UserError(
            f"the compiled module tutti._core is missing ({error}); install the tutti-mpi wheel"
        ) from error


def _directories() -> list[Path]:
    # Absolute, but not resolved: an environment's scripts are found beside its own interpreter.
    return [
        Path(__file__).absolute().parent / "bin",
        PACKAGE / "bin",
        Path(sys.executable).absolute().parent,
    ]


def find_program(name: str) -> Path | None:
    """A program of Tutti's: the one of this package, else the first on the PATH."""
    for directory in _directories():
        if shutil.which(directory / name):
            return directory / name
    found = shutil.which(name)
    return Path(found) if found else None


def program(name: str) -> Path:
    found = find_program(name)
    if found is None:
        raise UserError(
            f"the program {name} is missing; install the tutti-mpi wheel, or put it on the PATH"
        )
    return found


def find_interposer(abi: str) -> Path | None:
    """The library that is preloaded into programs of this MPI ABI."""
    return find_library(INTERPOSERS[abi])


def find_library(name: str) -> Path | None:
    """A library that tutti-run preloads: beside this package, or beside tutti-run."""
    candidates = [PACKAGE / "lib", Path(__file__).absolute().parent / "lib"]
    launcher = find_program("tutti-run")
    if launcher is not None:
        candidates.append(launcher.resolve().parent.parent / "lib")
    for directory in candidates:
        if (directory / name).is_file():
            return directory / name
    return None
