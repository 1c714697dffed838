"""Tables that are found without being named: where they are, and which one a job finds."""

from dataclasses import dataclass
from pathlib import Path

from tutti.bench.mpis import Mpi, find_mpis
from tutti.errors import UserError
from tutti.places import core

NO_TABLE = "none"  # the value of TUTTI_TABLE and --table for no search


def directories() -> dict[str, Path]:
    """The directories by their owner: user, if the environment names one, and site."""
    names = zip(("user", "site"), core().table_directories(), strict=True)
    return {whose: Path(name) for whose, name in names if name}


def mpi_word(mpi: Mpi | None) -> str:
    """An MPI as the names of tables have it, such as openmpi-5; empty for all MPIs."""
    return "" if mpi is None else f"{mpi.family}-{mpi.version.split('.')[0]}"


def place_for(whose: str, mpi: Mpi | None) -> Path:
    """The file of the table for this machine, and for one MPI alone if that is not None.

    Makes its directory.
    """
    known = directories()
    if whose not in ("user", "site"):
        raise UserError(f"--install: '{whose}' is not accepted; user and site are")
    if whose not in known:
        raise UserError("--install: the environment has neither HOME nor XDG_CONFIG_HOME; set one")
    try:
        known[whose].mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--install: {known[whose]}: {error.strerror}") from error
    name: str = core().table_names(mpi_word(mpi))[0]
    return known[whose] / name


@dataclass(frozen=True)
class Found:
    file: str  # empty: none
    broken: tuple[str, ...]  # a line for each broken table

    @property
    def whose(self) -> str:
        parent = Path(self.file).parent
        return next((f"the {who}'s" for who, one in directories().items() if one == parent), "")

    @property
    def notes(self) -> list[str]:
        if not self.file:
            return [*self.broken]
        return [*self.broken, f"{self.file} is {self.whose} table; TUTTI_TABLE=none leaves it out"]


def found_table(mpi: Mpi | None) -> Found:
    """The table that a job under this MPI finds if no option names a table."""
    file, broken = core().find_table(mpi_word(mpi))
    return Found(file, tuple(broken))


def found_by_jobs(abi: str | None) -> Found:
    """The tables that jobs find under the first MPI of this ABI, or the first of all if it is None."""
    if not any(one.is_dir() for one in directories().values()):
        return Found("", ())
    return found_table(next((one for one in find_mpis() if abi in (None, one.abi)), None))
