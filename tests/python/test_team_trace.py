"""Traces of teams of threads, by a program of the C API."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tutti.tracing import read
from tutti.tracing.flows import flows

BUILD = Path(os.environ.get("TEST_TUTTI_BUILD", Path(__file__).resolve().parents[2] / "build"))
THREADS = BUILD / "examples" / "threads"
API_TEST = BUILD / "src" / "api" / "api_test"


def run(*words, **variables):
    return subprocess.run(
        [str(word) for word in words],
        env=os.environ | {name: str(value) for name, value in variables.items()},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("ranks", [1, 3])
def test_every_rank_records_every_call(tmp_path, ranks):
    file = tmp_path / "run.trace"
    result = run(THREADS, ranks, TUTTI_TRACE=file)
    assert result.returncode == 0, result.stderr
    assert list(tmp_path.iterdir()) == [file]
    trace = read(file)
    assert trace.mpi == "threads" and trace.program == "threads"
    assert [rank.rank for rank in trace.ranks] == list(range(ranks))
    assert trace.communicators == [list(range(ranks))]
    assert [len(meeting) for meeting in trace.meetings] == [ranks] * 3
    called = [trace.collectives[n] for n in trace.operations["collective"]]
    assert sorted(called) == sorted(["bcast", "allreduce", "gather"] * ranks)
    assert trace.operations["whole"].all() and not trace.in_lane.any()
    told, waited = flows(trace)
    waits = (trace.group_of[trace.steps["kind"]] == 0) & (trace.step_peer >= 0)
    assert len(told) == waits.sum() and (ranks == 1) == (len(told) == 0)
    assert (trace.steps["begin"][told] <= trace.steps["end"][waited]).all()


def test_a_filter_leaves_calls_and_ranks_out(tmp_path):
    file = tmp_path / "run.trace"
    result = run(
        THREADS, 3, TUTTI_TRACE=file, TUTTI_TRACE_FILTER="collectives=bcast,gather ranks=1..2"
    )
    assert result.returncode == 0, result.stderr
    trace = read(file)
    assert sorted(np.unique(trace.operations["rank"])) == [1, 2]
    assert {trace.collectives[n] for n in trace.operations["collective"]} == {"bcast", "gather"}
    assert trace.filter == "collectives=bcast,gather ranks=1..2"


def test_each_further_team_has_a_file(tmp_path):
    file = tmp_path / "run.trace"
    result = run(
        API_TEST, "--gtest_filter=Ranks/Api.Barrier*/2", "--gtest_repeat=3", TUTTI_TRACE=file
    )
    assert result.returncode == 0, result.stdout
    names = ["run.trace", "run.trace.2", "run.trace.3"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    sums = [len(read(tmp_path / name).meetings) for name in names]
    assert sums[0] > 0 and len(set(sums)) == 1


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"TUTTI_TRACE": "{}/missing/run.trace"}, "missing/run.trace"),
        ({"TUTTI_TRACE": "{}/run.trace", "TUTTI_TRACE_FILTER": "sizes=8"}, "TUTTI_TRACE_FILTER"),
    ],
)
def test_a_team_that_cannot_be_traced_is_not_made(tmp_path, variables, said):
    result = run(THREADS, 2, **{name: text.format(tmp_path) for name, text in variables.items()})
    assert result.returncode == 1 and result.stderr.count("\n") == 1
    assert result.stderr.startswith("threads: ") and said in result.stderr
    assert list(tmp_path.iterdir()) == []
