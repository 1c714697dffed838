"""Intel MPI, where `make intel` has installed it: its own ABI, which is MPICH's, and the standard's."""

import json
import os
from dataclasses import replace

import pytest
import support
from support import expect_ok, job

pytestmark = pytest.mark.mpi


def served(report):
    rows = json.loads(report.read_text())["collectives"]
    calls, hosts = (sum(row[key] for row in rows) for key in ("calls", "host_calls"))
    return calls / (calls + hosts)


@pytest.mark.parametrize("name", ["reductions", "derived", "layouts"])
def test_results(host_named, compiled, name):
    host = host_named("intel")
    expect_ok(job(host, 2, compiled(host, name)))


def test_a_served_program(host_named, compiled, tmp_path):
    host, report = host_named("intel"), tmp_path / "report.json"
    program = compiled(host, "under_tools")
    expect_ok(job(host, 3, program, tmp_path / "file", options=[f"--report={report}"]))
    assert served(report) >= 0.99


def under_intels_library(host):
    """The host for programs of the standard ABI, and its variables."""
    # Libraries of LD_LIBRARY_PATH come before the directory that the program names.
    libraries = os.path.join(host.environment["I_MPI_ROOT"], "lib")
    return replace(host, abi="mpiabi"), {"LD_LIBRARY_PATH": libraries}


@pytest.mark.parametrize("name", ["reductions", "derived", "layouts"])
def test_results_in_the_standard_abi(host_named, compiled, name):
    """Intel's library ends the job if it is asked for the size of a type that it lacks."""
    host, variables = under_intels_library(host_named("intel"))
    expect_ok(job(host, 2, compiled(host_named("mpiabi"), name), variables=variables))


@pytest.mark.parametrize("name", ["mpiabi", "intel"])
def test_one_program_of_the_standard_abi(host_named, compiled, tmp_path, name):
    """The program that MPICH's compiler made for the standard ABI also runs under Intel's library."""
    host, variables, report = host_named(name), {}, tmp_path / "report.json"
    program = compiled(host_named("mpiabi"), "under_tools")
    if name == "intel":
        host, variables = under_intels_library(host)
        words = [f"LD_LIBRARY_PATH={variables['LD_LIBRARY_PATH']}", "ldd", program]
        assert "intel/lib/libmpi_abi.so" in support.run(["env", *words]).stdout
    expect_ok(job(host, 3, program, options=[f"--report={report}"], variables=variables))
    assert served(report) >= 0.99
