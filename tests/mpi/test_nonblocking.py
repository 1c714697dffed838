"""Non-blocking collectives: results compared with the host's, many under way, arrays of requests,
and orders that must not deadlock.
"""

import json
import re
import subprocess

import pytest
import support
from expected_hangs import read_until, started
from support import (
    KEEPS_PAGES,
    expect_case,
    expect_ok,
    fortran_program,
    job,
    job_of_careless_parents,
    preloaded,
    wrapping_tool,
)

pytestmark = pytest.mark.mpi
# Communicators set up when they are made, so that Tutti serves the first calls, too.
AT_ONCE = {"TUTTI_SETUP_AFTER": "0"}


def served_by_records(report):
    """How many calls Tutti served by records, how many the host served, and the reasons for the
    latter, then the kinds of Tutti's.
    """
    document = json.loads(report.read_text())
    rows = [row for row in document["collectives"] if "records" in row["algorithm"]]
    return (
        sum(row["calls"] for row in rows),
        sum(row["host_calls"] for row in document["collectives"]),
        {row["reason"] for row in document["host_reasons"]},
        {row["collective"] for row in rows},
    )


# (MPI, ranks, slice). MPICH and Open MPI try all slices.
MATRIX = [
    ("mpich", 2, 0),
    ("openmpi", 2, 1),
    ("mpich", 3, 1),
    ("openmpi", 3, 2),
    ("mpiabi", 3, 3),
    pytest.param("mpich", 4, 2, marks=pytest.mark.slow),
    pytest.param("openmpi", 4, 3, marks=pytest.mark.slow),
    pytest.param("mpich", 7, 3, marks=pytest.mark.slow),
    pytest.param("openmpi", 7, 0, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "ranks", "turn"), MATRIX)
def test_matrix(host_named, compiled, tmp_path, name, ranks, turn):
    """All functions with all types, operations and kinds of communicators, also persistent; Tutti
    serves those that it should.
    """
    host, report = host_named(name), tmp_path / "report.json"
    result = expect_ok(
        job(
            host,
            ranks,
            compiled(host, "matrix"),
            turn,
            options=[f"--report={report}"],
            variables=AT_ONCE,
        )
    )
    expected = {}
    for function, calls in re.findall(r"served (\w+) (\d+)", result.stdout):
        collective = re.sub("(?<=gather|catter)v$|(?<=alltoall)[vw]$|_block$", "", function)
        expected[collective] = expected.get(collective, 0) + int(calls)
    expected["barrier"] += ranks  # the blocking one at the end shares a row
    document = json.loads(report.read_text())
    served = dict.fromkeys(expected, 0)
    for row in document["collectives"]:
        if "records" in row["algorithm"]:
            served[row["collective"]] += row["calls"]
    assert len(expected) == 11 and served == expected
    reasons = {row["reason"]: row["calls"] for row in document["host_reasons"]}
    assert reasons.pop("intercommunicator") > 1000
    # The first one on the intercommunicator is counted under another reason.
    assert sum(reasons.values()) <= ranks, reasons


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", ["derived", "layouts"])
def test_results(host, compiled, name, ranks):
    """Programs of blocking collectives, with each call made non-blocking."""
    program = compiled(host, name, nonblocking=True)
    expect_ok(job(host, ranks, program, variables=AT_ONCE))


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 5, 8])
@pytest.mark.parametrize("program", ["parts", "v_collectives"])
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_results_of_many_ranks(host_named, compiled, name, program, ranks):
    """test_matrix has 4 and 7 ranks, and test_tutti_serves_them has 2 and 3."""
    host = host_named(name)
    program = compiled(host, program, nonblocking=True)
    expect_ok(job(host, ranks, program, variables=AT_ONCE | KEEPS_PAGES))


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_calls_made_again(host, compiled, tmp_path, ranks):
    """Tutti does not describe a call like an earlier one again, but sees every change."""
    report = tmp_path / "report.json"
    options = [f"--report={report}"]
    expect_ok(job(host, ranks, compiled(host, "again"), options=options, variables=AT_ONCE))
    _, by_host, reasons, kinds = served_by_records(report)
    assert by_host == 0, reasons
    assert {"alltoall", "allreduce", "gather", "bcast"} <= kinds


def test_results_with_other_waits(host_named, compiled):
    host = host_named("mpich")
    program = compiled(host, "parts", nonblocking=True)
    variables = AT_ONCE | KEEPS_PAGES | {"TUTTI_WAIT": "yield"}
    expect_ok(job(host, 3, program, variables=variables))


def test_without_memfds_the_host_serves_them(host_named, compiled, tmp_path):
    """A segment in /dev/shm cannot grow."""
    host, report = host_named("mpich"), tmp_path / "report.json"
    program = compiled(host, "derived", nonblocking=True)
    options, variables = [f"--report={report}"], AT_ONCE | {"TUTTI_SHM": "posix"}
    expect_ok(job(host, 3, program, options=options, variables=variables))
    calls, _, reasons, _ = served_by_records(report)
    assert calls == 0
    assert any("memfds" in reason for reason in reasons), reasons


@pytest.mark.parametrize("ranks", [2, 3])
def test_tutti_serves_them(host, compiled, tmp_path, ranks):
    report = tmp_path / "report.json"
    for name in ("parts", "v_collectives"):
        program = compiled(host, name, nonblocking=True)
        options = [f"--report={report}"]
        expect_ok(job(host, ranks, program, options=options, variables=AT_ONCE))
        calls, host_calls, reasons, kinds = served_by_records(report)
        assert calls > 500 * ranks
        # On intercommunicators, and on communicators of one rank.
        assert host_calls <= 8 * ranks, reasons
        assert {"gather", "scatter", "allgather", "alltoall", "reduce_scatter"} <= kinds


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_report_tells_what_was_under_way(host, compiled, tmp_path, ranks):
    """No rank completes an operation before all have started 1000 short and 16 long ones."""
    report = tmp_path / "report.json"
    program, options = compiled(host, "outstanding"), [f"--report={report}"]
    expect_ok(job(host, ranks, program, "many", options=options, variables=AT_ONCE))
    told = json.loads(report.read_text())["outliving"]
    assert told["started"] == told["completed"] == 2 * 1016 * ranks
    assert told["most_under_way"] == 1016
    assert told["most_bytes_held"] >= 16 << 20


UNDER_WAY = ["many", "orders", "mixed", "freed", "ahead"]


@pytest.mark.parametrize("what", ["threads", *UNDER_WAY])
@pytest.mark.parametrize("ranks", [2, 3])
def test_under_way(host, compiled, what, ranks):
    cases = UNDER_WAY if what in UNDER_WAY else [what]  # with threads MPI begins in another way
    expect_case(what, cases, host, ranks, compiled(host, "outstanding"), AT_ONCE)


ALL_HOSTS = ["mpich", "openmpi", "debian-mpich", "debian-openmpi", "mpiabi"]
# The header of Debian's MPICH gives warnings for MPI_STATUSES_IGNORE.
MOST_HOSTS = [name for name in ALL_HOSTS if name != "debian-mpich"]


SEEN_BY_TOOLS = ["orders", "mixed", "freed"]


@pytest.mark.parametrize("what", SEEN_BY_TOOLS)
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("name", MOST_HOSTS)
def test_tools_that_wrap_requests(host_named, compiled, name, linked, what):
    """Issue 33: a tool calls PMPI_Wait and its like, which know Tutti's requests, too."""
    host = host_named(name)
    variables = AT_ONCE | ({} if linked else preloaded(wrapping_tool(host)))
    program = compiled(host, "outstanding", tool=linked)
    result = expect_case(what, SEEN_BY_TOOLS, host, 3, program, variables)
    assert [
        int(calls) for calls in re.findall("the tool has seen ([1-9][0-9]+) calls", result.stderr)
    ]
    assert "inactive" not in result.stderr, result.stderr


@pytest.mark.parametrize("face", ["MPIF", "USE_F08"])
@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
def test_tools_that_wrap_requests_in_fortran(host_named, name, face):
    host = host_named(name)
    tool = wrapping_tool(host, "-DFORTRAN")
    program = fortran_program(host, "nonblocking", face)
    result = expect_ok(job(host, 3, program, variables=AT_ONCE | preloaded(tool)))
    assert "the tool has seen" in result.stderr and "inactive" not in result.stderr, result.stderr


@pytest.mark.parametrize("options", [(), ("--shared-heap",)])
@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_long_vectors(host, compiled, ranks, options):
    """Ranks read them while their owners copy them, or in the owners' buffers."""
    program = compiled(host, "lent")
    expect_ok(job(host, ranks, program, options=options, variables=AT_ONCE))


def test_what_must_not_be_done_is_refused(host, compiled):
    result = expect_ok(job(host, 2, compiled(host, "outstanding"), "refused", variables=AT_ONCE))
    assert "MPI_Request_free is given a non-blocking collective" in result.stderr
    assert "MPI_Cancel is given a collective" in result.stderr


@pytest.mark.parametrize("name", MOST_HOSTS)
def test_a_complete_operation_may_be_freed(host_named, compiled, name):
    """Issue 33: MPI_Request_free after MPI_Request_get_status."""
    host = host_named(name)
    expect_ok(job(host, 3, compiled(host, "outstanding"), "told", variables=AT_ONCE))


def test_an_error_belongs_to_its_communicator(host_named, compiled):
    """Issue 33: not to one that has got the handle."""
    host = host_named("mpich")
    result = expect_ok(job(host, 2, compiled(host, "outstanding"), "reused", variables=AT_ONCE))
    assert "8 handles were used again" in result.stdout, result.stdout


@pytest.mark.parametrize("name", ALL_HOSTS)
def test_buffers_given_twice_are_judged_as_by_the_host(host_named, compiled, name):
    """Issue 33: at all ranks alike, so that the ranks go on together."""
    host = host_named(name)
    expect_ok(job(host, 2, compiled(host, "aliases"), variables=AT_ONCE))


@pytest.mark.parametrize("file_bytes", [16 << 10, 64 << 10, 1 << 20])
def test_files_are_limited(host, compiled, file_bytes):
    """Issue 33: below 4 MiB no collective started. Long ones find room in the first segment."""
    expect_ok(job(host, 2, compiled(host, "limits"), "file", file_bytes, variables=AT_ONCE))


@pytest.mark.parametrize("ranks", [2, 3])
def test_one_call_may_be_longer_than_the_limit(host, compiled, ranks):
    """Issue 33: it ended a program that the host runs."""
    variables = AT_ONCE | {"TUTTI_OUTSTANDING_BYTES": "1M"}
    expect_ok(job(host, ranks, compiled(host, "limits"), "long", 3 << 20, variables=variables))


@pytest.mark.parametrize("options", [(), ("--shared-heap",)])
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_program_may_have_more_under_way_than_the_limit(host, compiled, ranks, options):
    """Every start above the limit ended a program that the host runs."""
    variables = AT_ONCE | {"TUTTI_OUTSTANDING_BYTES": "1M"}
    program = compiled(host, "above_limit")
    result = expect_ok(job(host, ranks, program, 3 << 19, options=options, variables=variables))
    assert result.stderr.count("more than TUTTI_OUTSTANDING_BYTES (1048576)") == ranks


def test_a_lack_of_memory_is_an_error(host, compiled):
    variables = AT_ONCE | {"TUTTI_SHM_BYTES_PER_RANK": "1M"}
    program = compiled(host, "outstanding")
    result = expect_ok(job(host, 2, program, "exhausted", variables=variables))
    assert "raise it (ulimit -f)" in result.stderr


def test_an_operation_that_is_never_completed(host, compiled):
    """Erroneous; one line tells so, and nothing hangs."""
    result = expect_ok(job(host, 3, compiled(host, "outstanding"), "unfinished", variables=AT_ONCE))
    assert result.stderr.count("has not completed 1 non-blocking or persistent collectives") == 1


@pytest.mark.parametrize("way", ["wait", "waitall", "waitany", "waitsome", "test"])
def test_a_dead_rank_is_found(host_named, compiled, tmp_path, way):
    """Ranks that wait for it report it and end the job, even if its parent has not waited for it
    yet.
    """
    host = host_named("mpich")
    program = compiled(host, "missing_rank")
    job_of_careless_parents(
        host,
        3,
        tmp_path,
        "rank 2 ended before it started a non-blocking allreduce",
        program,
        "killed",
        way,
        variables=AT_ONCE,
    )


@pytest.mark.parametrize("way", ["wait", "waitall", "waitany", "waitsome", "test"])
def test_a_late_rank_is_named(host, compiled, tmp_path, way):
    """Once by each rank that waits for it; the operation then completes. The late rank comes after
    that. The others sleep while they wait, except on MPICH.
    """
    words = "warning: no progress for 1 s"
    idle = "auto" if host.name == "mpich" else "sleep"
    variables = AT_ONCE | {"TUTTI_STALL_SECONDS": "1"}
    program, file = compiled(host, "missing_rank"), tmp_path / "come"
    command = [host.launcher, "-n", 3, support.TUTTI_RUN, "--idle", idle]
    environment = support.clean_environment() | host.environment | variables
    command += [program, "late", way, file]
    with started(command, environment, stderr=subprocess.PIPE) as process:
        named = [f"[rank {rank}] {words}" for rank in (0, 1)]
        text = read_until(process, process.stderr, named, 100)
        file.touch()
        process.wait(timeout=100)
        text += read_until(process, process.stderr, [words], 100)
    assert process.returncode == 0, text
    lines = [line for line in text.splitlines() if words in line]
    assert len(lines) == 2 and all(
        "non-blocking allreduce" in line and "rank 2 of its communicator has not started it" in line
        for line in lines
    ), text


def test_the_watchdog_ends_a_job(host, compiled):
    variables = AT_ONCE | {"TUTTI_STALL_SECONDS": "2", "TUTTI_STALL": "abort"}
    program = compiled(host, "missing_rank")
    result = job(host, 3, program, "never", "wait", variables=variables)
    assert result.returncode != 0
    assert "rank 2 of its communicator has not started it" in result.stderr, result.stderr
    assert "ended because TUTTI_STALL=abort" in result.stderr, result.stderr


def test_a_stopped_rank_is_named_as_such(host_named, compiled):
    host = host_named("mpich")  # Open MPI's launcher stops the whole job
    variables = AT_ONCE | {"TUTTI_STALL_SECONDS": "2", "TUTTI_STALL": "abort"}
    result = job(host, 3, compiled(host, "missing_rank"), "stopped", "wait", variables=variables)
    assert result.returncode != 0
    assert "rank 2 of its communicator, stopped by a signal, has not started it" in result.stderr, (
        result.stderr
    )


@pytest.mark.parametrize("face", ["MPIF", "USE_MPI", "USE_F08"])
@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
def test_fortran(host_named, name, face, tmp_path):
    host, report = host_named(name), tmp_path / "report.json"
    program = fortran_program(host, "nonblocking", face)
    expect_ok(job(host, 3, program, options=[f"--report={report}"], variables=AT_ONCE))
    calls, _, _, kinds = served_by_records(report)
    assert calls == 3 * (42 * 5 + 1)  # the blocking barrier shares a row
    assert kinds == {"allreduce", "allgather", "bcast", "barrier"}
