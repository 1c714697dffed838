"""Persistent collectives: results compared with the host's, arrays of requests, and orders that
must not deadlock.
"""

import json
import re

import pytest
from support import expect_case, expect_ok, fortran_program, job, job_of_careless_parents

pytestmark = pytest.mark.mpi
ALL = {
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter",
    "scan",
    "exscan",
}


CASES = ["results", "mixed", "orders", "different_orders", "freed"]


@pytest.mark.parametrize("what", CASES)
@pytest.mark.parametrize("ranks", [2, 3])
def test_persistent(host, compiled, what, ranks):
    expect_case(what, CASES, host, ranks, compiled(host, "persistent"))


def test_large_counts(host_named, compiled):
    """Open MPI 5 does not have these."""
    host = host_named("mpich")
    expect_ok(job(host, 3, compiled(host, "persistent_large"), "results"))


def test_all_are_served(host_named, compiled, tmp_path):
    """All starts are served and counted: each rank starts a request 7 times, for 6 lengths."""
    host, report = host_named("mpich"), tmp_path / "report.json"
    expect_ok(job(host, 2, compiled(host, "persistent"), "results", options=[f"--report={report}"]))
    document = json.loads(report.read_text())
    rows = document["collectives"]
    # Calls in place count too, also an exscan's rank 0, which has no result.
    assert {row["reason"] for row in document["host_reasons"]} == {
        "first calls of a communicator (TUTTI_SETUP_AFTER)"
    }
    served = {}
    for row in rows:
        if "records" in row["algorithm"]:
            served[row["collective"]] = served.get(row["collective"], 0) + row["calls"]
    assert set(served) == ALL
    assert all(calls >= 2 * 6 * 7 for calls in served.values()), served


def test_a_dead_rank_is_found(host_named, compiled, tmp_path):
    """Ranks that wait for it report it and end the job, even if its parent has not waited for it
    yet.
    """
    host = host_named("mpich")
    words, program = "rank 1 ended before it started a persistent barrier", "persistent_killed"
    job_of_careless_parents(host, 2, tmp_path, words, compiled(host, program))


def test_long_waits_sleep(host_named, compiled):
    """Yielding may not give the core to another rank, so a rank yields for 20 us only, and then
    sleeps.

    About 50 yields fit into 20 us, and some hundred thousand into the whole wait.
    """
    host = host_named("mpich")  # Open MPI's own progress yields, too
    result = expect_ok(
        job(host, 2, compiled(host, "persistent_yields"), variables={"TUTTI_WAIT": "yield"})
    )
    yields, sleeps = map(int, re.search(r"yields (\d+) sleeps (\d+)", result.stdout).groups())
    assert yields <= 2000 and sleeps > 0, result.stdout


def test_the_hosts_starts_are_counted(host_named, compiled, tmp_path):
    """Without memory that can grow the host serves them: 7 starts of one request at each of 2
    ranks are in the report, beside those of other requests.
    """
    host, report = host_named("openmpi"), tmp_path / "report.json"
    options, variables = [f"--report={report}"], {"TUTTI_SHM": "posix"}
    program = compiled(host, "persistent")
    expect_ok(job(host, 2, program, "freed", options=options, variables=variables))
    reasons = {
        row["reason"]: row["calls"] for row in json.loads(report.read_text())["host_reasons"]
    }
    counted = [calls for reason, calls in reasons.items() if "without memfds" in reason]
    assert len(counted) == 1 and counted[0] >= 2 * 7, reasons


def test_users_operations_are_served(host_named, compiled, tmp_path):
    host, report = host_named("openmpi"), tmp_path / "report.json"
    expect_ok(job(host, 2, compiled(host, "persistent"), "freed", options=[f"--report={report}"]))
    document = json.loads(report.read_text())
    assert {row["reason"] for row in document["host_reasons"]} == {
        "first calls of a communicator (TUTTI_SETUP_AFTER)"
    }


@pytest.mark.parametrize("face", ["MPIF", "USE_F08"])
def test_fortran(host_named, face, tmp_path):
    host = host_named(
        "debian-mpich"
    )  # the only MPI here with a Fortran library and persistent collectives
    report = tmp_path / "report.json"
    program = fortran_program(host, "persistent", face)
    expect_ok(job(host, 3, program, options=[f"--report={report}"]))
    served = {
        row["collective"]: row["calls"]
        for row in json.loads(report.read_text())["collectives"]
        if "records" in row["algorithm"]
    }
    assert served == {
        "allreduce": 3 * 40,
        "barrier": 3 * (40 + 4),
    }  # the blocking barriers share a row
