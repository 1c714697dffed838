"""Fortran programs with all three Fortran interfaces of MPI, on the MPIs that have a Fortran
library.
"""

import json
import shutil
import subprocess

import pytest
from support import PROGRAMS, expect_ok, job

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
    host = host_named(request.param)
    if shutil.which(host.compiler.replace("mpicc", "mpif90")) is None:
        pytest.skip(f"{host.name} has no Fortran compiler")
    return host


@pytest.fixture
def program(fortran_host, face, tmp_path):
    path = tmp_path / f"collectives.{face}"
    compiler = fortran_host.compiler.replace("mpicc", "mpif90")
    subprocess.run(
        [
            compiler,
            "-w",
            "-fallow-argument-mismatch",
            f"-D{face}",
            "-o",
            path,
            PROGRAMS / "collectives.F90",
        ],
        check=True,
        timeout=120,
    )
    return path


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
    compiler = host.compiler.replace("mpicc", "mpif90")
    if shutil.which(compiler) is None:
        pytest.skip(f"{host.name} has no Fortran compiler")
    program, report = tmp_path / "sessions", tmp_path / "report.json"
    subprocess.run(
        [compiler, "-w", f"-D{face}", "-o", program, PROGRAMS / "sessions.F90"],
        check=True,
        timeout=120,
    )
    expect_ok(job(host, 2, program, options=[f"--report={report}"]))
    assert sum(row["calls"] for row in json.loads(report.read_text())["collectives"]) == 2 * 49
