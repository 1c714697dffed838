"""The v-collectives: gatherv, scatterv, allgatherv, alltoallv, alltoallw and reduce_scatter."""

import json

import pytest
from support import HOSTS_AND_RANKS, expect_ok, job

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize(("name", "ranks"), HOSTS_AND_RANKS)
def test_results_and_that_tutti_served_them(host_named, compiled, tmp_path, name, ranks):
    """Tutti serves every call on a communicator of two ranks or more."""
    host, report = host_named(name), tmp_path / "report.json"
    options = [f"--report={report}"] + (["--check"] if ranks < 8 else [])
    expect_ok(job(host, ranks, compiled(host, "v_collectives"), options=options))
    document = json.loads(report.read_text())
    if ranks == 1:
        return
    rows = [
        row
        for row in document["collectives"]
        if row["collective"] in ("gather", "scatter", "allgather", "alltoall", "reduce_scatter")
    ]
    assert sum(row["calls"] for row in rows) > 500 * ranks
    algorithms = {row["algorithm"] for row in rows if row["calls"] > row["host_calls"]}
    algorithms.discard("")  # of calls whose parts are all empty
    assert all("direct" in algorithm for algorithm in algorithms), algorithms
    reasons = {row["reason"] for row in document["host_reasons"]}
    assert all(reason.startswith("first calls of a communicator") for reason in reasons), reasons


# Settings with lines and with slots for the parts of few ranks, and with segments of a line's
# length.
@pytest.mark.parametrize(
    "variables",
    [{"TUTTI_SHM_BYTES_PER_RANK": "32K"}, {"TUTTI_SEGMENT_BYTES": "256"}, {"TUTTI_SHM": "posix"}],
)
def test_results_with_other_settings(host_named, compiled, variables):
    host = host_named("openmpi")
    expect_ok(job(host, 4, compiled(host, "v_collectives"), variables=variables))


@pytest.mark.parametrize("ranks", [2, 3])
def test_no_data(host, compiled, tmp_path, ranks):
    """The host serves no call without data."""
    report = tmp_path / "report.json"
    expect_ok(job(host, ranks, compiled(host, "no_data"), options=[f"--report={report}"]))
    reasons = [row["reason"] for row in json.loads(report.read_text())["host_reasons"]]
    assert reasons == ["first calls of a communicator (TUTTI_SETUP_AFTER)"]
