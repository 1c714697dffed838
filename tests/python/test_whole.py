"""Timing whole programs with Tutti and without (bench/programs), and the input for Quantum
ESPRESSO.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tutti.places import program

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "bench" / "programs"
sys.path.insert(0, str(PROGRAMS))


@pytest.fixture
def whole(tutti):
    return lambda *arguments: tutti("bench", "whole", *map(str, arguments))


@pytest.mark.mpi
@pytest.mark.slow
def test_both_times_of_every_variant(whole, mpi, tmp_path):
    """The program prints its time, here in nanoseconds."""
    result = tmp_path / "whole.json"
    words = ("--", program(f"tutti-ranks-{mpi.abi}"), "lives", 4, 20)
    options = ("--mpi", mpi.name, "--ranks", 2, "--repetitions", 2, "--json-file", result)
    done = whole(*options, "--time", '"ns": ?([0-9.]+)', *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(result.read_text())
    assert document["format"] == "tutti-whole 1" and document["program"][1:] == ["lives", "4", "20"]
    assert [(row["ranks"], row["time"]) for row in document["rows"]] == [(2, "whole"), (2, "told")]
    for row in document["rows"]:
        assert len(row["host"]) == len(row["tutti"]) == 2 and min(row["host"] + row["tutti"]) > 0
        assert row["low"] <= row["ratio"] <= row["high"]
    host, tutti = document["shares"]
    assert (host["by"], tutti["by"]) == ("host", "tutti")
    assert host["calls"] == tutti["calls"] >= tutti["served"] > host["served"] == 0
    for share in (host, tutti):
        assert 0 < share["collectives_s"] < share["whole_s"]
    for text in ("of the command", "printed by the program", "the host", "with Tutti, s"):
        assert text in done.stdout


@pytest.mark.mpi
def test_programs_that_fail_are_named(whole, mpi):
    done = whole(
        "--mpi", mpi.name, "--repetitions", 1, "--", "sh", "-c", "echo no such input >&2; exit 3"
    )
    assert done.returncode == 1 and "no such input" in done.stderr and mpi.label in done.stderr, (
        done.stderr
    )
    words = ("--", program(f"tutti-ranks-{mpi.abi}"), "lives", 0, 1)
    done = whole("--mpi", mpi.name, "--repetitions", 1, "--time", "took ([0-9]+)", *words)
    assert (
        done.returncode == 2
        and "nothing in the program's output matches 'took ([0-9]+)'" in done.stderr
    ), done.stderr


def test_bad_options_are_named(whole):
    assert "--mpi: there is no 'none'; found are " in whole("--mpi", "none", "--", "true").stderr
    for words, said in (
        (("--time", "x"), "one group"),
        (("--ranks", "0"), "--ranks: '0'"),
        (("--repetitions", "0"), "--repetitions"),
        (("--json-file", "/nowhere/whole.json"), "--json-file: there is no directory"),
    ):
        done = whole("--mpi", "openmpi", *words, "--", "true")
        assert done.returncode == 2 and said in done.stderr, done.stderr
    assert "the program is missing" in whole("--mpi", "openmpi").stderr


def poisson(python, *arguments, environment=None):
    return subprocess.run(
        [python, PROGRAMS / "poisson.py", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment or os.environ,
    )


def test_poisson_names_missing_packages_and_bad_options():
    for arguments, said in (
        ((), "has no petsc4py: apt-get install"),
        (("--points", "0"), "'0' is not a whole number above 0"),
    ):
        done = poisson(sys.executable, *arguments)
        assert done.returncode == 2 and said in done.stderr.splitlines()[-1], done.stderr
    assert poisson(sys.executable, "--help").returncode == 0


def test_poisson_solves_its_system():
    """On one rank the norm of PETSc's solution is that of numpy's solution, up to the tolerance."""
    found = sorted(Path("/usr/lib/petscdir").glob("petsc*/*-real"))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PETSC_DIR": str(found[0]) if found else "",
    }
    done = (
        poisson("/usr/bin/python3", "--points", "8", "--steps", "1", environment=environment)
        if found
        else None
    )
    if done is None or "has no petsc4py" in done.stderr:
        pytest.skip("needs python3-petsc4py")
    neighbours = np.eye(8, k=1) + np.eye(8, k=-1)
    matrix = 4.01 * np.eye(64) - np.kron(neighbours, np.eye(8)) - np.kron(np.eye(8), neighbours)
    norm = np.linalg.norm(np.linalg.solve(matrix, np.ones(64)))
    assert float(done.stdout.split("norm ")[1].split(",")[0]) == pytest.approx(norm, rel=1e-7), (
        done.stdout
    )


def test_the_input_needs_no_other_file(tmp_path):
    """The pseudopotential is a silicon ion's: projectors have norm 1, and the charge is four."""
    import silicon

    written = silicon.write_input(tmp_path, 8, 12.0, 2)
    text = written.read_text()
    assert text.count("\nSi ") == 1 + 8 and "nbnd=32" in text and str(tmp_path) in text
    tree = ElementTree.fromstring((tmp_path / "Si.upf").read_text())

    def values(name):
        return np.array(tree.find(f".//{name}").text.split(), dtype=float)

    radius, step = values("PP_R"), values("PP_RAB")
    for number in (1, 2, 3):
        assert np.sum(values(f"PP_BETA.{number}") ** 2 * step) == pytest.approx(1, rel=1e-3)
    assert np.sum(values("PP_RHOATOM") * step) == pytest.approx(4, rel=1e-2)
    far = radius > 5
    assert values("PP_LOCAL")[far] * radius[far] == pytest.approx(-8)
    assert values("PP_DIJ").reshape(3, 3) == pytest.approx(values("PP_DIJ").reshape(3, 3).T)
