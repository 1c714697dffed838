"""Checks of options that several commands share. They raise UserError before anything runs."""

import os
from pathlib import Path

from tutti.bench.mpis import Mpi
from tutti.errors import UserError
from tutti.places import find_interposer, find_program


def default_ranks(cores: int) -> list[int]:
    """Two ranks, one rank on each core (at most 16), and two ranks on each core (at most 32)."""
    return sorted({2, max(2, min(cores, 16)), max(2, min(2 * cores, 32))})


def choose_mpis(names: list[str], found: list[Mpi]) -> list[Mpi]:
    """The MPIs with these names; without names the first of each family. Raises UserError."""
    found = [mpi for mpi in found if mpi.library is not None]
    if not found:
        raise UserError(
            "no MPI was found; install one into .mpi/NAME (make does), or put its mpiexec on the "
            "PATH"
        )
    if not names:
        families = {mpi.family: mpi for mpi in reversed(found)}
        return sorted(families.values(), key=found.index)
    chosen = []
    for name in dict.fromkeys(name for text in names for name in text.split(",")):
        matching = [mpi for mpi in found if mpi.name == name]
        if not matching:
            raise UserError(
                f"--mpi: there is no '{name}'; found are {', '.join(mpi.name for mpi in found)}"
            )
        chosen += matching
    return chosen


def startable(mpis: list[Mpi], named: bool) -> list[Mpi]:
    """The MPIs whose jobs tests/hosts/mpiexec can start.

    Raises UserError if one of `mpis` is not among them and the user `named` it, or if none is left.
    """
    can = [mpi for mpi in mpis if mpi.family != "intel"]
    other = next((mpi for mpi in mpis if mpi not in can), None)
    if other is not None and (named or not can):
        raise UserError(
            f"--mpi: '{other.name}' is {other.label}; --hosts can only start jobs of MPICH and "
            "Open MPI; name one of these"
        )
    return can


def output_file(option: str, name: str | None) -> Path | None:
    """The path of an output file. Raises UserError, before anything runs, if it is not writable."""
    if name is None:
        return None
    path = Path(name)
    if path.is_dir() or not path.name:
        raise UserError(f"{option}: '{name}' is a directory; give the name of a file")
    if not path.parent.is_dir():
        raise UserError(f"{option}: there is no directory '{path.parent}'; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UserError(f"{option}: '{name}' cannot be written; give another file")
    return path


def plot_stem(name: str | None) -> Path | None:
    path = output_file("--plot", name)
    return path.with_suffix("") if path and path.suffix in (".png", ".svg") else path


def with_tutti(wanted: bool, mpis: list[Mpi]) -> bool:
    if not wanted:
        return False
    missing = "the launcher tutti-run" if find_program("tutti-run") is None else ""
    for mpi in mpis:
        if not missing and find_interposer(mpi.abi) is None:
            missing = f"the interposer for {mpi.label}"
    if missing:
        raise UserError(
            f"{missing} is missing; install the tutti-mpi wheel, or give --no-tutti to measure the "
            "MPIs without Tutti"
        )
    return True
