"""Finds the compiled parts of Tutti: the module, the programs and the libraries.

In an installed package the libraries are in `lib/` and the programs in `bin/` beside this file. The
launcher `tutti-run` is among the scripts of the Python environment.
"""

import shutil
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tutti.errors import UserError

PACKAGE = Path(__file__).resolve().parent
# The ABIs that have an interposer, and the MPIs that have the ABI.
MPIS = {
    "mpich": "MPICH, Intel MPI, MVAPICH",
    "openmpi": "Open MPI",
    "mpiabi": "programs of the MPI standard ABI",
}
INTERPOSERS = {abi: f"libtutti-{abi}.so" for abi in MPIS}


@cache
def core() -> Any:
    """The compiled module tutti._core. Raises UserError if it is missing."""
    try:
        return import_module("tutti._core")
    except ImportError as error:
        raise UserError(
            f"the compiled module tutti._core is missing ({error}); install the tutti-mpi wheel"
        ) from error


def _directories() -> list[Path]:
    # Paths are absolute, but links are not resolved: a virtual environment's interpreter is often a
    # link, and the environment's scripts lie beside the link.
    return [
        Path(__file__).absolute().parent / "bin",
        PACKAGE / "bin",
        Path(sys.executable).absolute().parent,
    ]


def find_program(name: str) -> Path | None:
    """Path of one of Tutti's programs: this package's, else the first on the PATH."""
    for directory in _directories():
        if shutil.which(directory / name):
            return directory / name
    found = shutil.which(name)
    return Path(found) if found else None


def program(name: str) -> Path:
    """Does the same as find_program. Raises UserError if there is none."""
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
