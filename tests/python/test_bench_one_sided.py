"""`tutti bench one-sided`, `alltoall` and `saturation`: the programs measure every member, and tables show
them."""

import json
import os
from io import StringIO

import pytest
from rich.console import Console
from tutti.bench import saturation, threads
from tutti.bench.checks import choose_mpis
from tutti.bench.cores import two_cores
from tutti.bench.driver import execute
from tutti.bench.mpis import find_mpis
from tutti.cli import whole_app
from tutti.places import program
from tutti.saturation import KINDS, draw_map, fractions
from typer.testing import CliRunner

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]


def test_command(tmp_path):
    file = tmp_path / "transfers.json"
    words = ["bench", "one-sided", "--repetitions", "2", "--json-file", str(file)]
    result = CliRunner().invoke(whole_app(), words)
    assert result.exit_code == 0, result.output
    assert "put of 8 B by a server" in result.output
    document = json.loads(file.read_text())
    assert document["format"] == "tutti-transfers 1"
    # Whatever else runs may keep a process that is woken from its core.
    jobs = [(threads.THREADS, document, 1e6)]
    jobs += [(threads.PROCESSES, job, 1e10) for job in document["processes"]]
    for rows, job, most in jobs:
        assert len(job["repetitions"]) == 2 and len(set(job["cores"])) == 2
        for times in job["repetitions"]:
            assert {name for way in rows for name in (way.name, way.base)} == set(times)
            assert all(0 < time < most for time in times.values())
        assert [ratio["what"] for ratio in job["ratios"]] == [way.name for way in rows]
        assert all(ratio["low"] <= ratio["value"] <= ratio["high"] for ratio in job["ratios"])
    for mpi in choose_mpis([], find_mpis()) if find_mpis() else []:
        assert f"between processes on cores {cores_of(document, mpi)}, {mpi.label}" in result.output


def cores_of(document, mpi):
    (job,) = [job for job in document["processes"] if job["mpi"] == mpi.name]
    return " and ".join(map(str, job["cores"]))


def test_saturation(tmp_path):
    """The program writes a map that the policy's reader takes, and the tables and the picture show
    it."""
    map_ = saturation.measure(1, (8, 512), 4, two_cores("saturation"))
    assert (map_["cores"], map_["messages"]) == ([1, 2], [1, 2, 4])
    assert map_["bytes"] == [8, 16, 32, 64, 128, 256, 512]
    for kind in KINDS:
        peaks = {max(fractions(map_, kind, size).values()) for size in map_["bytes"]}
        assert peaks == {1.0}
        assert all(rate > 0 for rows in map_[kind + "s"] for row in rows for rate in row)
    assert map_["hand_over"]["client"] > 0 and map_["hand_over"]["latency"] >= 0
    console = Console(width=150, record=True, file=StringIO())
    saturation.show(map_, console)
    text = " ".join(console.export_text().split())
    assert "puts, " + map_["where"] in text and "gets by one core" in text
    assert [path.exists() for path in draw_map(map_, tmp_path / "heat")] == [True, True]


def test_alltoall(document_of):
    """Ranks that share cores check every block; each way is compared with the first."""
    document, said = document_of("bench alltoall --ranks 5 --bytes 8,4K --repetitions 2")
    assert "an all-to-all of gets, 5 ranks" in said
    cells = document["cells"]
    assert [cell["bytes"] for cell in cells] == [8, 4096]
    for cell in cells:
        assert all(len(cell[way]) == 2 and min(cell[way]) > 0 for way in threads.ALLTOALL)
        assert set(cell["ratios"]) == set(threads.ALLTOALL) - {"own"}


def test_mistakes():
    for words, culprit in (
        ("alltoall --mpi mpich", "--mpi"),
        ("one-sided --ranks 2", "--ranks"),
        ("one-sided --bytes 8", "--bytes: it needs --hosts"),
        ("saturation --repetitions 3", "--repetitions"),
        ("saturation --mpi mpich", "--mpi: it needs --hosts"),
        ("array --plot x", "--plot"),
        ("alltoall --ranks 2,4", "--ranks"),
    ):
        result = CliRunner().invoke(whole_app(), ["bench", *words.split()])
        assert result.exit_code != 0
        assert culprit in str(result.exception) + result.output
    threads = str(program("tutti-threads"))
    for kind in ("saturation", "alltoall"):
        code, _, err = execute([threads, kind, "--cores", "0"], dict(os.environ), 30)
        assert code == 2 and "give --cores" in err
    for words in ([], ["--cores", "0"], ["--cores", "0,0", "--repetitions", "1"]):
        code, _, err = execute([threads, "transfers", *words], dict(os.environ), 30)
        assert code == 2 and "--cores" in err
