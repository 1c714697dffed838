"""The application array_reduce: its program verifies every sum, and both of its ways agree."""

import pytest
from tutti.bench.applications import built


def test_both_ways(document_of, mpi):
    if mpi.abi not in built("array_reduce"):
        pytest.skip(f"array_reduce was not built for {mpi.label}")
    answers = set()
    for vectors in ("0", "1"):
        words = f"bench apps array_reduce --ranks 2 --repetitions 1 --mpi {mpi.name} --bind none"
        own = f"-- --elements 70 --iterations 20 --vectors {vectors}"
        document, _ = document_of(words, after=own)
        (run,) = document["runs"]
        phases = ["change", "fold", "reduce", "tell"]
        assert [phase["name"] for phase in run["phases"]] == phases
        assert all(answer["same"] and answer["tolerance"] == 0 for answer in run["answers"])
        answers |= {answer["host"] for answer in run["answers"]}
        assert {share["collective"] for share in run["collectives"]} >= {"reduce", "bcast"}
    assert len(answers) == 1


def test_mistakes(tutti, mpi):
    if mpi.abi not in built("array_reduce"):
        pytest.skip(f"array_reduce was not built for {mpi.label}")
    options = ["--ranks", "2", "--repetitions", "1", "--mpi", mpi.name, "--no-tutti"]
    done = tutti("bench", "apps", "array_reduce", *options, "--", "--vectors", "2")
    assert done.returncode == 2
    assert "--vectors: '2' is not accepted; give a whole number from 0 to 1" in done.stderr
