"""scripts/check_includes.py accepts what the table of rooms grants and names every fault."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "check_includes.py"

TABLE = """
## Rooms

| room | holds | may include |
| --- | --- | --- |
| `include/tutti` | the public C API | |
| `src/base` | errors | |
| `src/topo` | the machine's tree | |
| `src/plan` | plans | topo |
| `src/exec` | the executor | plan |
| `src/api` | the C API over threads | exec, `include/tutti` |
| `src/net` | messages | exec |
| `src/mpi` | the interposer | exec, net, mpi/abi |
| `src/mpi/abi` | handles of each MPI | |
| `src/mpi/entry` | the entry points | mpi, mpi/abi |
| `python/tutti` | the command line | |
"""

ROOMS = ("base", "topo", "plan", "exec", "api", "net", "mpi/abi", "mpi/entry")


def run(source: Path, table: str = TABLE) -> subprocess.CompletedProcess:
    for room in ROOMS:
        (source / room).mkdir(parents=True, exist_ok=True)
    file = source.parent / "architecture.md"
    file.write_text(table, encoding="utf-8")
    return subprocess.run(
        [sys.executable, SCRIPT, source, file],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def write(source: Path, name: str, text: str) -> None:
    path = source / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "src"


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("plan/check.cpp", '"plan/plan.h"'),
        ("plan/plan.cpp", '"topo/tree.h"'),
        ("plan/plan.cpp", '"base/error.h"'),
        ("mpi/allreduce.cpp", '"exec/executor.h"'),
        ("mpi/abi/host.h", "<mpi.h>"),
        ("mpi/abi/host.h", '"base/error.h"'),
        ("mpi/allreduce.cpp", '"mpi/abi/host.h"'),
        ("mpi/entry/entry.cpp", '"mpi/team.h"'),
        ("mpi/entry/persistent/calls.cpp", '"mpi/abi/host.h"'),
        ("mpi/entry/persistent/calls.cpp", '"mpi/entry/entry.h"'),
        ("topo/hwloc.cpp", "<hwloc.h>"),
        ("topo/tree_test.cpp", '"exec/executor.h"'),
        ("topo/test_machines.h", '"exec/executor.h"'),
        ("base/json.h", "<nlohmann/json.hpp>"),
        ("exec/program_text.cpp", '"base/json.h"'),
        ("api/tutti.cpp", '"tutti/tutti.h"'),
    ],
)
def test_granted_includes_pass(source: Path, name: str, header: str) -> None:
    write(source, name, f"#include {header}\n")
    result = run(source)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("base/log.cpp", '"plan/plan.h"'),
        ("topo/tree.cpp", '"plan/plan.h"'),
        ("plan/plan.cpp", '"exec/executor.h"'),
        ("exec/executor.cpp", '"topo/tree.h"'),  # granted to plan, not to who includes plan
        ("exec/executor.cpp", '"mpi/state.h"'),
        ("exec/executor.cpp", '"mpi/abi/host.h"'),
        ("mpi/allreduce.cpp", "<mpi.h>"),
        ("mpi/abi/host.h", '"mpi/team.h"'),
        ("mpi/abi/host.h", '"mpi/entry/entry.h"'),
        ("mpi/team.h", '"mpi/entry/entry.h"'),
        ("mpi/entry/entry.cpp", '"exec/executor.h"'),
        ("exec/executor.cpp", "<mpi.h>"),
        ("exec/executor_test.cpp", "<mpi.h>"),
        ("topo/tree.cpp", "<hwloc.h>"),
        ("exec/program_text.cpp", "<nlohmann/json.hpp>"),
        ("mpi/entry.cpp", '"base/json.h"'),
        ("exec/executor.cpp", '"base/json.h"'),
        ("heap/malloc.cpp", '"base/json.h"'),
        ("exec/executor.cpp", '"tutti/tutti.h"'),
        ("exec/executor.cpp", '"cellar/wine.h"'),
        ("cellar/wine.cpp", "<vector>"),
    ],
)
def test_other_includes_are_named(source: Path, name: str, header: str) -> None:
    write(source, name, f"\n#include {header}\n")
    result = run(source)
    assert result.returncode == 1
    assert name in result.stdout


def test_the_line_is_named(source: Path) -> None:
    write(source, "base/log.cpp", '// one\n\n#include "plan/plan.h"\n')
    assert "log.cpp:3:" in run(source).stdout


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("| `src/cellar` | wine | |", "cellar: is no directory"),
        ("| `src/base` | errors | cellar |", "'cellar', which has no row"),
        ("| `src/topo` | the machine's tree | exec |", "topo -> exec -> plan -> topo"),
    ],
)
def test_faults_of_the_table_are_named(source: Path, row: str, words: str) -> None:
    write(source, "base/log.cpp", "")
    result = run(source, TABLE + row + "\n")
    assert result.returncode == 1
    assert words in result.stdout


def test_a_page_without_the_table_is_refused(source: Path) -> None:
    write(source, "base/log.cpp", "")
    assert "no table of rooms" in run(source, "# Architecture\n").stdout


def test_the_rooms_of_this_repository_keep_to_the_table() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout
