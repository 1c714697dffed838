"""Fixtures for the tests of the Python package, which run the installed package as processes."""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from browser import chromium, cleaned
from commands import CommandServer
from tutti.bench.mpis import Mpi, find_mpis

ROOT = Path(__file__).resolve().parents[2]
# Tests run in parallel, so a process may have to wait for a core.
hypothesis.settings.register_profile("tests", deadline=None)
hypothesis.settings.load_profile("tests")
Tutti = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def commands() -> Iterator[CommandServer]:
    server = CommandServer()
    yield server
    server.close()


@pytest.fixture
def tutti(commands: CommandServer) -> Tutti:
    """Runs `tutti ARGUMENTS` and returns its exit code and output."""

    def run(
        *arguments: str,
        environment: dict[str, str] | None = None,
        stdin: str = "",
        seconds: float = 250,  # a loaded machine may need many
    ):
        env = {name: value for name, value in os.environ.items() if not name.startswith("TUTTI_")}
        env |= environment or {}
        # Other variables may matter to the interpreter or to libraries when they start.
        if all(name.startswith("TUTTI_") for name in environment or {}):
            return commands.run(list(arguments), env, stdin, seconds, ROOT)
        return subprocess.run(
            [sys.executable, "-m", "tutti.cli", *arguments],
            capture_output=True,
            text=True,
            input=stdin,
            timeout=seconds,
            env=env,
            cwd=ROOT,
            check=False,
        )

    return run


@pytest.fixture
def document_of(tutti: Tutti, tmp_path: Path) -> Callable[..., tuple[Any, str]]:
    """Runs `tutti WORDS`, which must succeed; returns the document that it writes, and its output.

    `words` is one text. `after` are words that come after the option of the document's file.
    `is_silent`: it says nothing on stderr, as without a terminal there is no progress to show.
    """

    def run(
        words: str, option: str = "--json-file", after: str = "", is_silent=False, **named: Any
    ):
        file = tmp_path / "out.json"
        done = tutti(*words.split(), option, str(file), *after.split(), **named)
        assert done.returncode == 0, done.stderr
        assert not is_silent or done.stderr == ""
        return json.loads(file.read_text()), done.stdout

    return run


@pytest.fixture
def recorded_machine(tmp_path: Path) -> Path:
    """A file like those of lstopo: two NUMA regions of two cores."""

    def described(
        kind: str, index: int, cores: range, regions: range, inside: str = "", more: str = ""
    ) -> str:
        cpuset, nodeset = (hex(sum(1 << bit for bit in bits)) for bits in (cores, regions))
        sets = f'cpuset="{cpuset}" complete_cpuset="{cpuset}" nodeset="{nodeset}" complete_nodeset="{nodeset}"'
        number = (
            1
            + cores.start
            + 8 * len(cores)
            + 64 * ["Machine", "Package", "NUMANode", "Core", "PU"].index(kind)
        )
        return f'<object type="{kind}" os_index="{index}" {sets} gp_index="{number}" {more}>{inside}</object>'

    def package(index: int) -> str:
        here = range(2 * index, 2 * index + 2), range(index, index + 1)
        cores = [(core, range(core, core + 1), here[1]) for core in here[0]]
        inside = "".join(described("Core", *core, described("PU", *core)) for core in cores)
        return described(
            "Package",
            index,
            *here,
            described("NUMANode", index, *here, more='local_memory="1024"') + inside,
        )

    allowed = 'allowed_cpuset="0xf" allowed_nodeset="0x3"'
    machine = described("Machine", 0, range(4), range(2), package(0) + package(1), allowed)
    file = tmp_path / "machine.xml"
    file.write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<topology version="2.0">{machine}</topology>\n'
    )
    return file


@functools.cache
def mpis() -> dict[str, Mpi]:
    """The host MPIs for tests: the first MPICH and the first Open MPI of this machine.

    Every launcher is asked for its version, which takes as long as a short job, so they are asked
    once and not for each test.
    """
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


@pytest.fixture(scope="session")
def browser_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for all tests, because starting it takes longer than most tests of a page."""
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def driver(browser_of_all: Any) -> Any:
    return cleaned(browser_of_all)
