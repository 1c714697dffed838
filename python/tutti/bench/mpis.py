"""Finds this machine's MPIs: environments under .mpi/, I_MPI_ROOT, and launchers on the PATH."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LABELS = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}
# Names of the library that programs of each ABI load, the usual name first; Debian's MPICH has
# another.
LIBRARIES = {"mpich": ("libmpi.so.12", "libmpich.so.12"), "openmpi": ("libmpi.so.40",)}


@dataclass(frozen=True)
class Mpi:
    """An MPI whose launcher was asked for its version."""

    name: str  # the name for --mpi; unique
    family: str  # mpich, openmpi or intel
    version: str
    launcher: Path
    library: Path | None  # the MPI library that its C programs load; None: not found

    @property
    def label(self) -> str:
        return f"{LABELS[self.family]} {self.version}"

    @property
    def abi(self) -> str:
        return "openmpi" if self.family == "openmpi" else "mpich"

    @property
    def prefix(self) -> Path:
        return self.launcher.parent.parent

    @property
    def soname(self) -> str:
        return LIBRARIES[self.abi][0]


def _say_version(launcher: Path) -> str:
    try:
        done = subprocess.run(
            [launcher, "--version"],
            capture_output=True,
            text=True,
            timeout=20,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def identify(text: str) -> tuple[str, str] | None:
    """(family, version) from the output of a launcher's --version; None if it is unknown."""
    if match := re.search(r"Intel\(R\) MPI Library.*?Version (\d+\.\d+(?:\.\d+)?)", text):
        return "intel", re.sub(r"^(\d+\.\d+)\.0$", r"\1", match[1])
    if match := re.search(r"\((?:Open MPI|OpenRTE)\) (\d[\w.]*)", text):
        return "openmpi", match[1]
    if "HYDRA build details" in text and (match := re.search(r"Version:\s*(\d[\w.]*)", text)):
        return "mpich", match[1]
    return None


def _find_library(launcher: Path, family: str) -> Path | None:
    prefix = launcher.parent.parent
    multiarch = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"
    directories = [
        prefix / "lib",
        prefix / "lib" / "release",
        prefix / "lib64",
        prefix / "lib" / multiarch,
    ]
    for library in LIBRARIES["openmpi" if family == "openmpi" else "mpich"]:
        for directory in directories:
            if (directory / library).exists():
                return directory / library
    return None


def _launchers(directory: Path, path: str) -> Iterator[tuple[str | None, Path]]:
    """(name or None, launcher) of all launchers; those in the nearest .mpi/ come first, then those
    of the project in whose environment this Python runs.
    """
    for place in (directory, *directory.parents, Path(sys.prefix).parent):
        for environment in sorted((place / ".mpi").glob("*/bin/mpiexec")):
            yield environment.parent.parent.name, environment
    if root := os.environ.get("I_MPI_ROOT"):
        yield None, Path(root) / "bin" / "mpiexec"
    for entry in path.split(os.pathsep):
        for name in ("mpiexec", "mpirun", "mpiexec.hydra", "mpiexec.mpich", "mpiexec.openmpi"):
            if found := shutil.which(name, path=entry or "."):
                yield None, Path(found).absolute()


def find_mpis(directory: Path | None = None, path: str | None = None) -> list[Mpi]:
    """All MPIs, each once; those of the nearest .mpi/ in or above `directory` come first, then
    those beside this Python's environment.

    `directory` is the current directory if None, `path` is $PATH if None.
    """
    found: list[Mpi] = []
    seen: set[Path] = set()
    places = _launchers(
        directory or Path.cwd(), os.environ.get("PATH", "") if path is None else path
    )
    for name, launcher in places:
        real = launcher.resolve()
        if real in seen or not shutil.which(launcher):
            continue
        seen.add(real)
        identity = identify(_say_version(launcher))
        if identity is None:
            continue
        family, version = identity
        library = _find_library(launcher, family)
        if library is not None and any(
            library.samefile(mpi.library) for mpi in found if mpi.library
        ):
            continue
        taken = {mpi.name for mpi in found}
        wanted = [
            name or family,
            f"{family}-{version}",
            *(f"{family}-{version}-{i}" for i in range(2, 100)),
        ]
        unique = next(candidate for candidate in wanted if candidate not in taken)
        found.append(Mpi(unique, family, version, launcher, library))
    return found
