"""The PATHS experiment (examples/paths) runs and reports its measurements."""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT

PATHS = ROOT / "examples" / "paths"
SCRIPT = PATHS / "experiment.py"
ARGUMENTS = {
    "trees": ["--ranks", "8", "--shape", "node:2 core:4"],
    "arrival": ["--ranks", "3", "--late", "20", "--counts", "1,100"],
    "same": ["--ranks", "2"],
}
pytestmark = pytest.mark.mpi


def run(script, *arguments):
    """Runs a program of examples/paths."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("TUTTI_")
    }
    command = [sys.executable, PATHS / script, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=240, cwd=ROOT, env=environment, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("what", sorted(ARGUMENTS))
def test_every_case_is_measured(what, tmp_path):
    result = tmp_path / "result.json"
    done = run(
        SCRIPT, what, *ARGUMENTS[what], "--repetitions", 2, "--iterations", 20, "--json", result
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(result.read_text())
    assert document["format"] == "tutti-paths 1"
    rows = document["rows"]
    assert len(done.stdout.splitlines()) == len(rows) + 2
    assert all(len(row["repetitions"]) == 2 and min(row["repetitions"]) > 0 for row in rows)
    if what == "trees":
        notes = {row["name"]: row["note"] for row in rows}
        assert notes["hierarchical"] == "2 messages between nodes"
        assert {"host MPI", "Tutti's choice", "lam", "linear", "two_groups", "three_layers"} <= set(
            notes
        )


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [(["trees", "--ranks", "0"], "--ranks"), (["trees", "--mpi", "none"], "--mpi"), (["nothing"], "nothing"),
     (["trees", "--shape", "node:2 cores:4"], "cores"), (["trees", "--json", "no/such.json"], "--json")],
)  # fmt: skip
def test_bad_input(arguments, culprit):
    done = run(SCRIPT, *arguments)
    assert done.returncode == 2
    assert culprit in done.stderr
    assert "Traceback" not in done.stderr
