"""Communicators of one node that use the host MPI's messages (TUTTI_REACH=net), as between nodes.

tests/hosts has the tests with several nodes.
"""

import json
import re

import pytest
from support import expect_ok, job

pytestmark = pytest.mark.mpi
NET = {"TUTTI_REACH": "net"}


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_random_calls(host, compiled, tmp_path, ranks):
    """Tutti serves every call on communicators of two or more ranks; all data goes in messages."""
    report = tmp_path / "report.json"
    expect_ok(
        job(
            host,
            ranks,
            compiled(host, "soak"),
            60,
            ranks,
            options=[f"--report={report}"],
            variables=NET,
        )
    )
    found = json.loads(report.read_text())
    assert found["messages"]["within_nodes"] > 0 and found["messages"]["between_nodes"] == 0
    allowed = (
        "first calls of a communicator",
        "communicator of one rank",
        "arguments for the host MPI",
        "elements too large",
    )
    assert all(row["reason"].startswith(allowed) for row in found["host_reasons"]), found[
        "host_reasons"
    ]


BY_HOST = {
    f"TUTTI_ALGORITHM_{name}": "hierarchical+host"
    for name in ("BARRIER", "BCAST", "REDUCE", "ALLREDUCE")
}


@pytest.mark.parametrize(("name", "arguments"), [("soak", (60, 11)), ("threads", (100,))])
def test_if_each_rank_is_a_leader(host, compiled, tmp_path, name, arguments):
    """The host serves the four collectives, on Tutti's communicators, because every rank is a
    leader.
    """
    report = tmp_path / "report.json"
    options = [f"--report={report}", "--check"]
    expect_ok(
        job(
            host,
            3,
            compiled(host, name),
            *arguments,
            options=options,
            variables=NET | BY_HOST,
        )
    )
    found = json.loads(report.read_text())
    assert found["among_leaders"]["hosts_calls"] > 0
    served = {
        row["collective"]: row["algorithm"] for row in found["collectives"] if row["calls"] > 0
    }
    assert "hierarchical+host" in served["barrier"].split(",")


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("name", ["derived", "reductions"])
def test_results(host, compiled, name, ranks):
    expect_ok(job(host, ranks, compiled(host, name), options=["--check"], variables=NET))


@pytest.mark.slow
def test_parts(host, compiled, tmp_path):
    report = tmp_path / "report.json"
    result = expect_ok(
        job(
            host,
            3,
            compiled(host, "parts"),
            options=[f"--report={report}"],
            variables=NET,
        )
    )
    served = int(re.search(r"served (\d+)", result.stdout)[1])
    parts = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter", "scan", "exscan")
    rows = [
        row for row in json.loads(report.read_text())["collectives"] if row["collective"] in parts
    ]
    assert sum(row["calls"] for row in rows) == 3 * served
