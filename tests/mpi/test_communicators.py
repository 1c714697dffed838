"""Communicators made in every way, many at once, short-lived ones; threads; progress of other
messages.
"""

import json
import re

import pytest
from support import expect_ok, job, on_both_hosts

pytestmark = pytest.mark.mpi

# For a program that counts its open files: the watchdog opens connections to other ranks.
WITHOUT_WATCHDOG = {"TUTTI_STALL_SECONDS": "0"}


@pytest.mark.parametrize("ranks", [2, 3])
def test_makings(host, compiled, ranks):
    expect_ok(job(host, ranks, compiled(host, "communicators"), "makings"))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ranks"), on_both_hosts([1, 4, 5, 7, 8]))
def test_makings_of_all_sizes(host_named, compiled, name, ranks):
    host = host_named(name)
    expect_ok(job(host, ranks, compiled(host, "communicators"), "makings"))


def test_short_lived(host, compiled):
    program = compiled(host, "communicators")
    expect_ok(job(host, 2, program, "short", 1000, variables=WITHOUT_WATCHDOG))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ranks"), [("mpich", 2), ("openmpi", 4)])
def test_ten_thousand_short_lived(host_named, compiled, name, ranks):
    host = host_named(name)
    program = compiled(host, "communicators")
    variables = WITHOUT_WATCHDOG
    expect_ok(job(host, ranks, program, "short", 10000, timeout=280, variables=variables))


@pytest.mark.parametrize("setup_after", ["auto", "0", "1", "3", "6"])
def test_handles_that_are_reused(host, compiled, setup_after):
    """Calls of a freed communicator must not count for another one with the same handle."""
    expect_ok(
        job(
            host,
            3,
            compiled(host, "lives"),
            300,
            variables={"TUTTI_SETUP_AFTER": setup_after},
        )
    )


def test_shared_memory_runs_out(host, compiled, tmp_path):
    """Communicators beyond the shared memory stay on the host, and the report and one line, of one
    of the two ranks that find it, say so (#34). The value that the line names suffices.
    """
    report = tmp_path / "report.json"

    def runs_with(size):
        variables = {"TUTTI_SHM_BYTES_PER_RANK": size, "TUTTI_SHM": "posix"}
        program = compiled(host, "communicators")
        options = [f"--report={report}"]
        result = job(host, 3, program, "many", 60, variables=variables, options=options)
        expect_ok(result)
        rows = json.loads(report.read_text())["host_reasons"]
        is_short = any("shared memory exhausted" in row["reason"] for row in rows)
        lines = [line for line in result.stderr.splitlines() if "which is the limit" in line]
        return is_short, lines

    is_short, (line,) = runs_with("32K")
    assert is_short
    taken = "warning: communicators have taken the node's 96 KiB of shared memory"
    assert taken in line and line.endswith("some calls stay on the host MPI"), line
    (named,) = re.findall(r"TUTTI_SHM_BYTES_PER_RANK=(\w+) ", line)
    assert runs_with(named) == (False, [])


@pytest.mark.slow
def test_hundred_communicators_of_many_ranks(host_named, compiled, tmp_path):
    """100 communicators of 16 ranks use at most a quarter of the shared memory that 64 ranks may
    use.
    """
    host = host_named("openmpi")
    report = tmp_path / "report.json"
    expect_ok(
        job(
            host,
            16,
            compiled(host, "communicators"),
            "many",
            100,
            options=[f"--report={report}"],
            timeout=280,
        )
    )
    reasons = {row["reason"] for row in json.loads(report.read_text())["host_reasons"]}
    assert not any("exhausted" in reason for reason in reasons), reasons


@pytest.mark.parametrize("ranks", [2, 3])
def test_threads(host, compiled, ranks):
    expect_ok(job(host, ranks, compiled(host, "threads"), 200))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ranks"), on_both_hosts([1, 2, 4, 8]))
def test_threads_for_long(host_named, compiled, name, ranks):
    host = host_named(name)
    expect_ok(job(host, ranks, compiled(host, "threads"), 3000, timeout=280))


@pytest.mark.parametrize("wait", ["spin", "yield"])
def test_messages_progress_while_others_wait(host, compiled, wait):
    expect_ok(job(host, 2, compiled(host, "progress"), variables={"TUTTI_WAIT": wait}))


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_first_poll_finds_messages_sent_before_a_barrier(host, compiled, ranks):
    expect_ok(job(host, ranks, compiled(host, "polls")))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ranks"), on_both_hosts([3, 5, 8]))
def test_messages_progress_among_many(host_named, compiled, name, ranks):
    host = host_named(name)
    expect_ok(job(host, ranks, compiled(host, "progress")))


@pytest.mark.parametrize("setup_after", ["auto", "0", "1", "3"])
@pytest.mark.parametrize("before", [0, 1])
def test_a_refused_call_does_not_separate_ranks(host, compiled, setup_after, before):
    """A call that the host refuses at one rank does not count, so all ranks set up in the same
    call.
    """
    if setup_after == "0" and before == 0:
        pytest.skip("set-up at the first call waits for the others, also if the call is refused")
    expect_ok(
        job(
            host, 3, compiled(host, "refused"), before, variables={"TUTTI_SETUP_AFTER": setup_after}
        )
    )


@pytest.mark.parametrize("setup_after", ["auto", "1"])
def test_a_refused_call_with_a_handler_does_not_separate_ranks(host, compiled, setup_after):
    """The same with the program's own error handler, after which MPICH returns success."""
    expect_ok(
        job(
            host,
            3,
            compiled(host, "refused"),
            0,
            "handler",
            variables={"TUTTI_SETUP_AFTER": setup_after},
        )
    )


@pytest.mark.parametrize("calls", [0, 1, 6])
def test_a_freed_handle_is_an_error_of_the_call(host_named, compiled, calls):
    """The error names the function that the program called.

    Open MPI itself cannot be compared, because it reads freed memory.
    """
    host = host_named("mpich")
    result = job(host, 2, compiled(host, "freed_handle"), calls)
    assert result.returncode != 0
    assert "Barrier" in result.stderr + result.stdout
    assert "set_attr" not in result.stderr + result.stdout


@pytest.mark.parametrize("setup_after", ["auto", "1"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_parked(host, compiled, ranks, setup_after):
    expect_ok(
        job(host, ranks, compiled(host, "parked"), variables={"TUTTI_SETUP_AFTER": setup_after})
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ranks"), on_both_hosts([1, 4, 5, 7, 8]))
def test_parked_of_all_sizes(host_named, compiled, name, ranks):
    host = host_named(name)
    expect_ok(job(host, ranks, compiled(host, "parked")))


@pytest.mark.parametrize(
    "variables",
    [{}, {"TUTTI_SHM_BYTES_PER_RANK": "32K", "TUTTI_SHM": "posix"}],
    ids=["usual", "little memory"],
)
def test_parked_in_threads(host, compiled, variables):
    expect_ok(job(host, 2, compiled(host, "parked"), "threads", variables=variables))
