"""Non-blocking collectives over several nodes that servers drive (TUTTI_SERVERS)."""

import json

import pytest
from several_nodes import on
from test_nodes import BLOCK, CYCLIC, MPIS, THREE, expect_ok, reasons

NODES = 4
pytestmark = [pytest.mark.mpi, pytest.mark.usefixtures("nodes")]
SERVERS = {"TUTTI_SERVERS": "1"}


def served(report):
    """The collectives that Tutti has started, by name, and how many calls of each it served."""
    rows = json.loads(report.read_text())["collectives"]
    return {row["collective"]: row["calls"] for row in rows if row["calls"] > 0}


@pytest.mark.parametrize("mpi", MPIS)
def test_matrix(compiled, tmp_path, mpi):
    """All non-blocking collectives with types, operations and kinds of communicators."""
    report = tmp_path / "report.json"
    settings = {"TUTTI_SETUP_AFTER": "0"} | SERVERS
    command = (compiled(mpi, "matrix"), 2, "few")
    expect_ok(mpi, 5, *command, placement=THREE, report=report, **settings)
    assert {"barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "scan"} <= set(
        served(report)
    )
    assert "non-blocking collectives between nodes, without servers" not in reasons(report)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_server_drives_while_the_program_computes(compiled, tmp_path, mpi):
    """Each of the rounds of messages needs somebody to go on after the one before."""
    report = tmp_path / "report.json"
    expect_ok(mpi, 4, compiled(mpi, "served"), "alone", TUTTI_ALGORITHM_ALLREDUCE="doubling",
              report=report, **SERVERS)  # fmt: skip
    driving = json.loads(report.read_text())["driving"]
    assert driving["servers"] == 4 and driving["looks"] > 0 and driving["busy_s"] > 0


@pytest.mark.parametrize(("ranks", "placement"), [(2, BLOCK), (6, CYCLIC)])
@pytest.mark.parametrize("mpi", MPIS)
def test_handles_are_freed_early(compiled, mpi, ranks, placement):
    expect_ok(mpi, ranks, compiled(mpi, "served"), "freed", placement=placement, **SERVERS)


@pytest.mark.parametrize("mpi", MPIS)
def test_the_program_learns_the_thread_level_that_it_asked_for(compiled, mpi):
    for level in (0, 2):  # MPI_THREAD_SINGLE and MPI_THREAD_SERIALIZED in both MPIs
        result = expect_ok(mpi, 2, compiled(mpi, "served"), "level", level, **SERVERS)
        assert f"provided {level} of {level}" in result.stdout
