"""Fortran programs with all three Fortran interfaces of MPI, on the MPIs that have a Fortran
library.
"""

import json

import pytest
from support import expect_ok, fortran_program, job

pytestmark = pytest.mark.mpi
FACES = ["MPIF", "USE_MPI", "USE_F08"]
COLLECTIVES = [
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
]


@pytest.fixture(params=["debian-mpich", "debian-openmpi"])
def fortran_host(request, host_named):
    return host_named(request.param)


@pytest.fixture
def program(fortran_host, face):
    return fortran_program(fortran_host, "collectives", face)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("ranks", [2, 3])
def test_fortran(fortran_host, program, ranks):
    expect_ok(job(fortran_host, ranks, program))


@pytest.mark.parametrize("face", FACES)
def test_fortran_calls_arrive(fortran_host, program, tmp_path):
    """Tutti serves every collective of the program, whatever symbol the compiler chose for it."""
    report = tmp_path / "report.json"
    expect_ok(job(fortran_host, 2, program, options=[f"--report={report}"]))
    served = {}
    for row in json.loads(report.read_text())["collectives"]:
        served[row["collective"]] = served.get(row["collective"], 0) + row["calls"]
    assert all(served.get(name, 0) >= 10 for name in COLLECTIVES), served
    # The only algorithm that serves parts of different lengths.
    direct = {
        row["collective"]
        for row in json.loads(report.read_text())["collectives"]
        if "direct" in row["algorithm"]
    }
    assert direct == {"gather", "scatter", "allgather", "alltoall", "reduce_scatter"}


@pytest.mark.parametrize("face", FACES)
def test_fortran_sessions(host_named, face, tmp_path):
    """Tutti sees the session when it begins, and serves calls before MPI_Init."""
    host = host_named("debian-mpich")  # the others have no sessions, or no Fortran library
    report = tmp_path / "report.json"
    program = fortran_program(host, "sessions", face)
    expect_ok(job(host, 2, program, options=[f"--report={report}"]))
    assert sum(row["calls"] for row in json.loads(report.read_text())["collectives"]) == 2 * 49
