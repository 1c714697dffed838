"""The benchmark of short-lived communicators (bench/programs/lives.py) runs and reports its measurements."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "bench" / "programs" / "lives.py"
pytestmark = pytest.mark.mpi


def lives(*arguments):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("TUTTI_")
    }
    return subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=ROOT,
        env=environment,
        check=False,
    )


@pytest.mark.slow
def test_every_cell_is_measured(tmp_path):
    result, plot = tmp_path / "lives.json", tmp_path / "lives"
    done = lives(
        "--calls",
        "0,4",
        "--rounds",
        20,
        "--repetitions",
        2,
        "--mpi",
        "mpich,openmpi",
        "--json",
        result,
        "--plot",
        plot,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(result.read_text())
    assert document["format"] == "tutti-lives 1"
    assert [(row["mpi"].split()[0], row["calls"]) for row in document["rows"]] == [
        ("MPICH", 0),
        ("MPICH", 4),
        ("Open", 0),
        ("Open", 4),
    ]
    for row in document["rows"]:
        assert len(row["host"]) == len(row["tutti"]) == 2
        assert row["low"] <= row["ratio"] <= row["high"]
    assert len(done.stdout.splitlines()) == 2 + 4
    assert plot.with_suffix(".png").stat().st_size > 1000


def test_bad_options_are_named():
    assert "--mpi: there is no 'none'; found are " in lives("--mpi", "none").stderr
    assert "--json: there is no directory" in lives("--json", "/nowhere/lives.json").stderr
    assert lives("--calls", "x").returncode == 2
    assert lives("--rounds", "0").returncode == 2
