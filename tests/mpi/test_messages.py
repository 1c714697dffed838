"""Communicators of one node that go by the host MPI's messages (TUTTI_REACH=net), as those of several nodes do; tests/hosts
has the nodes."""

import json
import re

import pytest
from support import expect_ok, job

pytestmark = pytest.mark.mpi
NET = {"TUTTI_REACH": "net"}


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_random_calls(host, compiled, tmp_path, ranks):
    """Every call of communicators of two ranks or more is Tutti's, and everything goes by messages."""
    report = tmp_path / "report.json"
    expect_ok(job(host, ranks, compiled(host, "soak"), 60, ranks, options=[f"--report={report}"], variables=NET))
    found = json.loads(report.read_text())
    assert found["messages"]["within_nodes"] > 0 and found["messages"]["between_nodes"] == 0
    allowed = ("first calls of a communicator", "communicator of one rank", "arguments for the host MPI", "elements too large")
    assert all(row["reason"].startswith(allowed) for row in found["host_reasons"]), found["host_reasons"]


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("name", ["derived", "reductions"])
def test_results(host, compiled, name, ranks):
    expect_ok(job(host, ranks, compiled(host, name), options=["--check"], variables=NET, timeout=200))


@pytest.mark.slow
def test_parts(host, compiled, tmp_path):
    report = tmp_path / "report.json"
    result = expect_ok(job(host, 3, compiled(host, "parts"), options=[f"--report={report}"], variables=NET, timeout=120))
    served = int(re.search(r"served (\d+)", result.stdout)[1])
    parts = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter", "scan", "exscan")
    rows = [row for row in json.loads(report.read_text())["collectives"] if row["collective"] in parts]
    assert sum(row["calls"] for row in rows) == 3 * served
