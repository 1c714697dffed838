"""Neighbourhood collectives: what they move, by the standard's rules; halo exchanges; wrong
arguments; and who serves them.
"""

import json
import re

import pytest
from support import expect_ok, fortran_program, job, library_before_host, preloaded
from tutti.tracing import read

pytestmark = pytest.mark.mpi
# Communicators set up when they are made.
AT_ONCE = {"TUTTI_SETUP_AFTER": "0"}


def errors_of(host, ranks):
    """The argument for programs where the host serves the calls and its own functions have errors
    (programs/neighbours.c).
    """
    return ["errs"] if host.abi == "openmpi" and ranks == 1 else []


def served(report):
    """How many calls Tutti served, how many the host served, how many there were on communicators
    of one rank, and the host's reasons.
    """
    document = json.loads(report.read_text())
    rows = [row for row in document["collectives"] if row["collective"].startswith("neighbor_")]
    return (
        sum(row["calls"] for row in rows),
        sum(row["host_calls"] for row in rows),
        document["calls_on_one_rank"],
        {row["reason"] for row in document["host_reasons"]},
    )


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_results(host, compiled, tmp_path, ranks):
    """All functions in all forms. The report has each call, and each start of a persistent one."""
    program, report = compiled(host, "neighbours"), tmp_path / "report.json"
    options = [f"--report={report}"]
    result = expect_ok(
        job(
            host,
            ranks,
            program,
            *errors_of(host, ranks),
            options=options,
            variables=AT_ONCE,
        )
    )
    words = result.stdout.split()
    made = int(words[words.index("calls") + 1])
    calls, host_calls, on_one_rank, reasons = served(report)
    assert made > 500 * ranks
    if ranks == 1:
        assert calls == host_calls == 0 and on_one_rank == made + 1  # with the barrier at the end
    else:
        assert calls == made and host_calls == 0 and reasons == set()


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_halos_and_calls_under_way(host, compiled, ranks):
    program = compiled(host, "halo")
    expect_ok(job(host, ranks, program, *errors_of(host, ranks), variables=AT_ONCE))


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [5, 7, 8])
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_many_ranks(host_named, compiled, name, ranks):
    host = host_named(name)
    for program in ("neighbours", "halo") if ranks == 7 else ("halo",):
        expect_ok(job(host, ranks, compiled(host, program), variables=AT_ONCE))


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_calls_count_as_first_calls(host, compiled, ranks):
    """A communicator sets up inside a neighbourhood collective."""
    program, variables = compiled(host, "halo"), {"TUTTI_SETUP_AFTER": "2"}
    expect_ok(job(host, ranks, program, *errors_of(host, ranks), variables=variables))


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_wrong_arguments(host, compiled, ranks):
    """The host judges them. Calls that it refuses are not among a communicator's first calls."""
    for variables in (AT_ONCE, {"TUTTI_SETUP_AFTER": "2"}):
        expect_ok(job(host, ranks, compiled(host, "neighbours_errors"), variables=variables))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_distributed_graphs(host, compiled, ranks):
    """Tutti makes those whose edges any ranks list, except for Open MPI."""
    program = compiled(host, "dist_graphs")
    expect_ok(job(host, ranks, program))
    told = expect_ok(job(host, ranks, program, "errors"))
    assert told.stdout == expect_ok(job(host, ranks, program, "errors", tutti=False)).stdout


@pytest.mark.parametrize("ranks", [2, 4])
def test_one_rank_lists_a_graph(host, compiled, ranks):
    """Issue 33: ranks without edges gave no array of weights, and made the host's call alone."""
    expect_ok(job(host, ranks, compiled(host, "dist_graphs"), "one"))


@pytest.mark.parametrize("ranks", [2, 4])
def test_how_often_ranks_meet_for_a_graph(host_named, compiled, ranks):
    """Once for the numbers of edges, and once for the edges of both kinds together."""
    host = host_named("mpich")
    tool = library_before_host(host, "counting_host")
    program = compiled(host, "dist_graphs")
    result = expect_ok(job(host, ranks, program, "one", variables=preloaded(tool)))
    made = re.findall(r"the host made (\d+) alltoalls and (\d+) alltoallvs", result.stderr)
    assert [calls for calls in made if calls != ("0", "0")] == [("1", "1")] * ranks


@pytest.mark.parametrize("wrong", [("source", 5), ("source", -3), ("destination", 5)])
def test_graphs_with_wrong_ranks(host, compiled, wrong):
    result = job(host, 2, compiled(host, "dist_graphs"), *wrong)
    assert result.returncode != 0
    assert "dist_graph_create" in result.stderr.lower(), result.stderr


def test_they_are_in_traces(host, compiled, tmp_path):
    trace_file = tmp_path / "run.trace"
    options = ["--trace", trace_file]
    program = compiled(host, "neighbours_errors")
    expect_ok(job(host, 2, program, options=options, variables=AT_ONCE))
    trace = read(trace_file)
    names = [
        trace.programs[number].algorithm for number in trace.operations["program"] if number >= 0
    ]
    # Of each of the four rounds the one right call, at both ranks.
    assert names.count("neighbours") == 2 * 4


@pytest.mark.parametrize("face", ["MPIF", "USE_MPI", "USE_F08"])
@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
def test_fortran(host_named, name, face, tmp_path):
    host, report = host_named(name), tmp_path / "report.json"
    mpich = host.abi == "mpich"
    options = ["-DPERSISTENT"] if mpich else []
    program = fortran_program(host, "neighbours", face, *options)
    expect_ok(job(host, 3, program, options=[f"--report={report}"], variables=AT_ONCE))
    calls, host_calls, _, reasons = served(report)
    # Rounds with calls, and starts of a persistent one.
    assert calls == 3 * (4 * 8 + (4 if mpich else 0))
    assert host_calls == 0 and reasons == set()
