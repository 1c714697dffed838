"""`tutti bench lives` runs and reports its measurements of short-lived communicators."""

import json

import pytest

pytestmark = pytest.mark.mpi


@pytest.mark.slow
def test_every_cell_is_measured(tutti, tmp_path):
    result, plot = tmp_path / "lives.json", tmp_path / "lives"
    words = ["--calls", "0,4", "--rounds", "20", "--repetitions", "2", "--mpi", "mpich,openmpi"]
    words += ["--json-file", str(result), "--plot", str(plot)]
    done = tutti("bench", "lives", *words)
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
        assert all(
            len(row[who]["median"]) == len(row[who]["mean"]) == 2 for who in ("host", "tutti")
        )
        assert row["low"] <= row["ratio"] <= row["high"]
    assert "MPICH" in done.stdout and "Tutti over host" in done.stdout
    assert plot.with_suffix(".png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--mpi", "none"], "--mpi: there is no 'none'; found are "),
        (["--json-file", "/nowhere/lives.json"], "--json-file: there is no directory"),
        (["--calls", "x"], "--calls: 'x' is not a number of calls"),
        (["--rounds", "0"], "--rounds: '0' is not accepted"),
        (["--ranks", "2,4"], "--ranks: '2,4' is not accepted; one number is"),
    ],
)
def test_bad_options_are_named(tutti, words, says):
    done = tutti("bench", "lives", *words)
    assert done.returncode == 2 and says in done.stderr
