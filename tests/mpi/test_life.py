"""Beginning and end: jobs of which only some ranks run under Tutti."""

import json
import subprocess

import pytest
import support
from expected_hangs import read_until, started
from retries import note_retry
from support import expect_ok, job, library_before_host, preloaded

pytestmark = pytest.mark.mpi


def mixed_job(host, program, variables):
    """A job with one rank under tutti-run and one without."""
    environment = support.clean_environment() | host.environment | variables
    command = [host.launcher, "-n", 1, support.TUTTI_RUN, program, ":", "-n", 1, program]
    return support.run(command, environment=environment)


@pytest.mark.parametrize("keep", [[], ["keep"]])
@pytest.mark.parametrize("what", ["neighbours", "persistent"])
def test_ranks_that_open_late(host, compiled, what, keep):
    """Issue 33: late ranks looked for the memory of ranks that had ended, and failed."""
    variables = {"TUTTI_SETUP_AFTER": "0"}
    expect_ok(job(host, 3, compiled(host, "late_openings"), what, *keep, variables=variables))
    expect_ok(job(host, 3, compiled(host, "late_openings"), what, *keep))


def lines_with(result, text):
    return [line for line in result.stderr.splitlines() if text in line]


@pytest.mark.parametrize("what", ["alone", "beside"])
def test_a_handle_that_is_left_fails_the_job(host_named, compiled, what):
    """The ledger, which all jobs of the tests keep, sees a group that nobody frees."""
    host = host_named("mpich")
    result = job(host, 2, compiled(host, "sessions"), what, 5, variables={"TEST_TUTTI_LEDGER": "2"})
    assert result.returncode != 0 and "never frees: 1 groups" in result.stderr, result.stderr


@pytest.mark.parametrize("what", ["descriptor", "high", "mapping", "thread", "nothing"])
def test_a_thing_that_is_left_fails_the_job(host_named, compiled, what):
    """The ledger sees descriptors, mappings and threads, at the rank that has them."""
    host = host_named("mpich")
    result = job(host, 2, compiled(host, "left"), what)
    left = lines_with(result, "Tutti has ended and has left: ")
    if what == "nothing":
        assert not left
        expect_ok(result)
    else:
        kind = what.replace("high", "descriptor")
        assert result.returncode != 0 and len(left) == 1, result.stderr
        assert f"[rank 0] error: Tutti has ended and has left: {kind} " in left[0], result.stderr


def test_ranks_without_the_launcher(host, compiled):
    """The ranks under it print in one line what they wait for, and end the job with
    TUTTI_STALL=abort.
    """
    result = mixed_job(
        host, compiled(host, "derived"), {"TUTTI_STALL_SECONDS": "1", "TUTTI_STALL": "abort"}
    )
    assert result.returncode != 0
    said = lines_with(result, "start all ranks under tutti-run, or none")
    assert len(said) == 1 and "MPI_Init waits for ranks" in said[0], result.stderr


def test_one_line_of_many_waiting_ranks(host, compiled):
    environment = (
        support.clean_environment()
        | host.environment
        | {"TUTTI_STALL_SECONDS": "1", "TUTTI_STALL": "abort"}
    )
    program = compiled(host, "derived")
    command = [host.launcher, "-n", 1, program, ":", "-n", 3, support.TUTTI_RUN, program]
    result = support.run(command, environment=environment)
    assert result.returncode != 0
    assert len(lines_with(result, "start all ranks under tutti-run")) == 1, result.stderr


def test_session_ranks_without_the_launcher(host, compiled):
    environment = (
        support.clean_environment()
        | host.environment
        | {"TUTTI_STALL_SECONDS": "1", "TUTTI_STALL": "abort"}
    )
    program = compiled(host, "sessions")
    command = [
        host.launcher,
        "-n",
        1,
        support.TUTTI_RUN,
        program,
        "alone",
        ":",
        "-n",
        1,
        program,
        "alone",
    ]
    result = support.run(command, environment=environment)
    assert result.returncode != 0
    said = lines_with(result, "start all ranks under tutti-run, or none")
    assert len(said) == 1 and "set-up waits" in said[0], result.stderr


@pytest.mark.slow
def test_ranks_wait_by_default(host, compiled):
    line = "start all ranks under tutti-run, or none"
    environment = support.clean_environment() | host.environment | {"TUTTI_STALL_SECONDS": "1"}
    program = compiled(host, "derived")
    command = [host.launcher, "-n", 1, support.TUTTI_RUN, program, ":", "-n", 1, program]
    with started(command, environment, stderr=subprocess.PIPE) as process:
        assert read_until(process, process.stderr, [line], 100).count(line) == 1
        # Nothing more is said within the next limit, and the job goes on.
        assert line not in read_until(process, process.stderr, [line], 2)
        assert process.poll() is None


@pytest.mark.parametrize("disabled_rank", [0, 2])
def test_one_rank_is_disabled(host, compiled, tmp_path, disabled_rank):
    """Tutti is off at all ranks, the results are right, and one line says why."""
    script = tmp_path / "disable_one"
    script.write_text(
        f'#!/bin/sh\n[ "${{PMI_RANK:-$PMIX_RANK}}" = {disabled_rank} ] && export TUTTI_DISABLE=1\nexec "$@"\n'
    )
    script.chmod(0o755)
    command = [host.launcher, "-n", 3, script, support.TUTTI_RUN, compiled(host, "reductions")]
    result = expect_ok(
        support.run(command, environment=support.clean_environment() | host.environment)
    )
    assert len(lines_with(result, "different TUTTI_DISABLE;")) == 1, result.stderr


def test_malformed_variable_in_a_disabled_job(host, compiled):
    for _ in range(3):  # Open MPI's launcher may lose what a rank wrote just before it exited
        result = job(host, 2, compiled(host, "derived"), variables={"TUTTI_DISABLE": "perhaps"})
        assert result.returncode != 0
        if lines_with(result, "TUTTI_DISABLE"):
            break
        note_retry("the launcher lost what a rank wrote just before it exited")
    assert len(lines_with(result, "TUTTI_DISABLE")) == 1, result.stderr


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_that_are_moved_to_one_core(host, compiled, ranks):
    """They polled on it for 100 us in each wait, while the rank that they waited for needed it."""
    expect_ok(job(host, ranks, compiled(host, "moved")))


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_set_up_polls(host_named, compiled, name, ranks):
    """The host's blocking collectives poll without rest, so ranks without cores of their own waited
    in them for long.
    """
    host = host_named(name)
    tool = library_before_host(host, "host_of_set_up")
    result = expect_ok(job(host, ranks, compiled(host, "begin"), variables=preloaded(tool)))
    assert lines_with(result, "the host was asked for") == []


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize("refused", [0, 1, 2])
@pytest.mark.parametrize(("shm", "by"), [("auto", "tutti"), ("memfd", "host")])
def test_a_rank_that_cannot_attach(host_named, compiled, tmp_path, name, refused, shm, by):
    """The ranks that have attached hear of it, and all go on alike: with a segment in /dev/shm, or
    with the host MPI. Rank 0 attaches to nothing.
    """
    host, report = host_named(name), tmp_path / "report.json"
    tool = library_before_host(host, "host_of_set_up")
    result = job(
        host, 3, compiled(host, "derived"), options=[f"--report={report}"],
        variables=preloaded(tool) | {"REFUSE_RANK": str(refused), "TUTTI_SHM": shm},
    )  # fmt: skip
    expect_ok(result)
    rows = json.loads(report.read_text())["collectives"]
    served = [row["calls"] > 0 for row in rows if row["collective"] == "barrier"]
    assert served == [refused == 0 or by == "tutti"]


@pytest.mark.parametrize("name", ["mpich", "openmpi", "mpiabi"])
def test_nothing_is_written_behind_a_handle(host_named, compiled, name):
    expect_ok(job(host_named(name), 2, compiled(host_named(name), "guards")))


def test_an_interposer_of_another_abi_writes_nothing_behind_a_handle(host_named, compiled):
    """Interpreters that Hydra starts get both; the first one's handles have twice the bytes."""
    host = host_named("mpich")
    libraries = f"{host_named('mpiabi').interposer}:{host.interposer}"
    environment = support.clean_environment() | host.environment
    command = [host.launcher, "-n", 2, "env", f"LD_PRELOAD={libraries}", compiled(host, "guards")]
    expect_ok(support.run(command, environment=environment))
