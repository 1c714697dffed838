"""`tutti bench array`: the program measures every member, and a table shows them."""

import os

import pytest
from tutti.bench import threads
from tutti.bench.driver import execute
from tutti.places import program

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]


def test_command(document_of):
    document, said = document_of("bench array --repetitions 2")
    assert "131,072 doubles" in said and "tutti_reduce of vectors" in said
    assert document["format"] == "tutti-array 1"
    assert len(document["repetitions"]) == 2
    times = threads.times_by_length(document)
    assert set(times) == {2048, 131072}
    for of_length in times.values():
        assert all(0 < time < 1e9 for name in of_length for time in of_length[name])


def test_mistakes(tutti):
    for other in ("--halo", "--one-sided"):
        result = tutti("bench", "array", other)
        assert result.returncode == 2
        assert other in result.stderr and "bench array" in result.stderr
    for words in (
        [],
        ["--cores", "x", "--repetitions", "1"],
        ["--cores", "0", "--repetitions", "0"],
    ):
        code, _, err = execute(
            [str(program("tutti-threads")), "array", *words], dict(os.environ), 30
        )
        assert code == 2 and err.startswith("tutti-threads: ") and err.count("\n") == 1
