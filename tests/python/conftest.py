"""What the tests of the Python package share. They run the installed package, in processes of their own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tutti.bench.mpis import Mpi, find_mpis

ROOT = Path(__file__).resolve().parents[2]
Tutti = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tutti() -> Tutti:
    """Runs `tutti ARGUMENTS` and returns what it said."""

    def run(*arguments: str, environment: dict[str, str] | None = None, stdin: str = "", seconds: float = 120):
        env = {name: value for name, value in os.environ.items() if not name.startswith("TUTTI_")}
        return subprocess.run(
            [sys.executable, "-m", "tutti.cli", *arguments],
            capture_output=True, text=True, input=stdin, timeout=seconds, env=env | (environment or {}), cwd=ROOT, check=False,
        )  # fmt: skip

    return run


def mpis() -> dict[str, Mpi]:
    """The host MPIs that can be used here: the first MPICH and the first Open MPI."""
    found: dict[str, Mpi] = {}
    for mpi in find_mpis(ROOT):
        if mpi.family in ("mpich", "openmpi") and mpi.library is not None:
            found.setdefault(mpi.family, mpi)
    return found


@pytest.fixture(params=["mpich", "openmpi"])
def mpi(request: pytest.FixtureRequest) -> Mpi:
    found = mpis()
    if request.param not in found:
        pytest.skip(f"no {request.param} here")
    return found[request.param]
