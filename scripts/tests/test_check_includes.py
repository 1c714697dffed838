"""scripts/check_includes.py accepts the arrows of the design and names every include that breaks one."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "check_includes.py"


def run(source: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, SCRIPT, source], capture_output=True, text=True, timeout=60, check=False
    )


def write(source: Path, name: str, text: str) -> None:
    path = source / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("algo/ring.cpp", '"plan/plan.h"'),
        ("exec/executor.cpp", '"shm/order.h"'),
        ("mpi/allreduce.cpp", '"group/group.h"'),
        ("mpi/allreduce.cpp", "<mpi.h>"),
        ("topo/hwloc.cpp", "<hwloc.h>"),
        ("plan/check_test.cpp", '"algo/algo.h"'),
        ("native/tutti.cpp", '"tutti/tutti.h"'),
    ],
)
def test_allowed_includes_pass(tmp_path: Path, name: str, header: str) -> None:
    write(tmp_path, name, f"#include {header}\n")
    result = run(tmp_path)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("base/log.cpp", '"plan/plan.h"'),
        ("algo/ring.cpp", '"shm/order.h"'),
        ("plan/plan.cpp", '"algo/algo.h"'),
        ("exec/executor.cpp", '"group/group.h"'),
        ("group/group.cpp", '"mpi/state.h"'),
        ("exec/executor.cpp", "<mpi.h>"),
        ("group/group_test.cpp", "<mpi.h>"),
        ("topo/tree.cpp", "<hwloc.h>"),
        ("exec/executor.cpp", '"tutti/tutti.h"'),
        ("exec/executor.cpp", '"cellar/wine.h"'),
        ("cellar/wine.cpp", "<vector>"),
    ],
)
def test_forbidden_includes_are_named(tmp_path: Path, name: str, header: str) -> None:
    write(tmp_path, name, f"\n#include {header}\n")
    result = run(tmp_path)
    assert result.returncode == 1
    assert name in result.stdout


def test_the_line_is_named(tmp_path: Path) -> None:
    write(tmp_path, "base/log.cpp", '// one\n\n#include "plan/plan.h"\n')
    assert "log.cpp:3:" in run(tmp_path).stdout
