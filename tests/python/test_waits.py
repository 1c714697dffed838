"""`tutti bench waits` runs and reports calls that wait in the host."""

import json

import pytest
from tutti.bench.mpis import find_mpis

pytestmark = [pytest.mark.mpi, pytest.mark.slow]
CALLS = ["Sendrecv in a ring", "halo, Waitall", "pipeline", "task farm", "Barrier", "Comm_split",
         "Fetch_and_op"]  # fmt: skip


@pytest.mark.skipif(not find_mpis(), reason="needs an MPI")
def test_every_call_is_measured_on_every_mpi(tutti, tmp_path):
    file = tmp_path / "waits.json"
    words = ("--ranks", "3", "--rounds", "10", "--work", "20", "--repetitions", "2")
    done = tutti("bench", "waits", *words, "--json-file", str(file))
    assert done.returncode == 0, done.stderr
    assert "3 ranks" in done.stdout and "20 us of work before each" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    document = json.loads(file.read_text())
    assert (document["format"], document["ranks"], document["work_us"]) == ("tutti-waits 1", 3, 20)
    assert len(document["rows"]) >= len(CALLS)
    for mpi in {row["mpi"] for row in document["rows"]}:
        mine = [row for row in document["rows"] if row["mpi"] == mpi]
        assert [row["call"] for row in mine] == CALLS
        for row in mine:
            assert len(row["host"]) == len(row["tutti"]) == 2
            assert row["low"] <= row["gain"] <= row["high"]
            if row["call"] != "task farm":  # one rank hands out tasks only
                assert min(row["host"] + row["tutti"]) >= 20


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--work", "-1"], "--work: '-1' is not accepted"),
        (["--ranks", "1"], "--ranks: '1' is not accepted; 2 or more are"),
        (["--ranks", "2,4"], "--ranks: '2,4' is not accepted; one number is"),
    ],
)
def test_bad_options_are_one_line(tutti, words, line):
    done = tutti("bench", "waits", *words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and line in done.stderr
