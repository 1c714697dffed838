"""Sessions, and communicators with spawned processes: both have teams of their own."""

import json

import pytest
import support
from support import expect_ok, job

pytestmark = pytest.mark.mpi


def pairwise(ways):
    """(way, MPI, ranks): each two of these meet, but not all three, with up to 4 ranks.

    The standard ABI is tried once.
    """
    hosts = ("mpich", "openmpi")
    cases = [
        (way, hosts[(number + ranks) % 2], ranks)
        for number, way in enumerate(ways)
        for ranks in (1, 2, 3, 4)
    ]
    return pytest.mark.parametrize(("way", "name", "ranks"), [*cases, (ways[-1], "mpiabi", 3)])


def totals(report):
    """The numbers of calls served by Tutti and by the host, and the host's by reason."""
    document = json.loads(report.read_text())
    rows = document["collectives"]
    reasons = {row["reason"]: row["calls"] for row in document["host_reasons"]}
    return sum(row["calls"] for row in rows), sum(row["host_calls"] for row in rows), reasons


@pairwise(["alone", "again"])
def test_sessions_alone(host_named, compiled, tmp_path, way, name, ranks):
    if (way, name) == ("again", "openmpi"):
        pytest.skip("Open MPI 5.0 cannot open a session after its last one was closed")
    host = host_named(name)
    expect_ok(job(host, ranks, compiled(host, "sessions"), way, 20, tmp_path))


def test_another_thread_uses_two_sessions(host_named, compiled, tmp_path):
    """Issue 33: it keeps no requests of the first one."""
    program = compiled(host_named("mpich"), "sessions")
    expect_ok(job(host_named("mpich"), 2, program, "thread", 1, tmp_path))


# MPI_Init before or after the session begins, and MPI_Finalize before or after it ends.
@pairwise(["beside", "early", "beside-late", "early-late"])
def test_session_beside_the_world(host_named, compiled, tmp_path, way, name, ranks):
    """Tutti serves every call on communicators of more than one rank, except the first of each."""
    host, report = host_named(name), tmp_path / "report.json"
    options = [f"--report={report}"]
    expect_ok(job(host, ranks, compiled(host, "sessions"), way, 20, options=options))
    if ranks > 1:
        served, _, reasons = totals(report)
        allowed = ("first calls of a communicator", "communicator of one rank")
        assert served > 500 * ranks and all(reason.startswith(allowed) for reason in reasons), (
            reasons
        )


@pytest.mark.parametrize(("name", "ranks"), [("mpich", 2), ("openmpi", 2), ("mpiabi", 3)])
def test_sessions_close_between_collectives(host_named, compiled, name, ranks):
    """Collectives of MPI_COMM_WORLD outlive sessions that closed beside it (issue 33)."""
    host = host_named(name)
    expect_ok(job(host, ranks, compiled(host, "sessions"), "between", 5))


def test_sessions_alone_are_served(host, compiled):
    """The table names the call by what the group knows, which only a served communicator has."""
    result = job(
        host,
        2,
        compiled(host, "sessions"),
        "stall",
        variables={"TUTTI_STALL_SECONDS": "2", "TUTTI_STALL": "abort"},
    )
    assert result.returncode != 0
    call = "MPI_Allreduce of 4 bytes, integers of 4 bytes, MPI_SUM on the rank's communicator"
    assert call in " ".join(result.stderr.split()), result.stderr


def test_report_of_sessions_alone(host, compiled, tmp_path):
    """One page for all processes of the node, by the one that closes its last session last."""
    report, program = tmp_path / "report.json", compiled(host, "sessions")
    said = expect_ok(job(host, 3, program, "alone", 5, options=["--report"])).stderr
    assert said.count("report of 3 ranks") == 1 and "of ranks" not in said, said
    expect_ok(job(host, 3, program, "alone", 5, options=[f"--report={report}"]))
    document = json.loads(report.read_text())
    assert (document["ranks"], document["missing_ranks"], document["of_ranks"]) == (3, [], None)
    rows = [row for row in document["collectives"] if row["collective"] == "barrier"]
    # Three times: 5 rounds on all ranks, 3 on each of 20 copies, and 5, 5 and 5 on two ranks.
    assert sum(row["calls"] + row["host_calls"] for row in rows) == 3 * (3 * 5 + 3 * 60 + 2 * 15)


def test_malformed_variable_in_a_session(host, compiled):
    environment = support.clean_environment() | host.environment | {"TUTTI_WAIT": "doze"}
    command = [
        host.launcher,
        "-n",
        2,
        "env",
        f"LD_PRELOAD={host.interposer}",
        compiled(host, "sessions"),
    ]
    result = support.run(command, environment=environment)
    assert result.returncode != 0
    lines = [line for line in result.stderr.splitlines() if "TUTTI_WAIT" in line]
    assert len(lines) == 1 and "auto, spin, yield or sleep" in lines[0], result.stderr


def each_rank(tmp_path, command):
    """A script that runs the program under tutti-run after a shell command, which may use $rank."""
    script = tmp_path / "each_rank"
    script.write_text(f'#!/bin/sh\nrank=${{PMI_RANK:-$PMIX_RANK}}\n{command}\nexec "$@"\n')
    script.chmod(0o755)
    return script


DIFFERENT = {
    "segments": "export TUTTI_SEGMENT_BYTES=$((4096 * (rank + 1)))",
    "disabled": "[ $rank = 1 ] && export TUTTI_DISABLE=1",
}


@pytest.mark.parametrize("command", DIFFERENT.values(), ids=DIFFERENT.keys())
@pytest.mark.parametrize("what", ["alone", "early", "beside-late"])
def test_sessions_with_different_variables(host, compiled, tmp_path, command, what):
    """All ranks stay on the host MPI."""
    line = [
        host.launcher,
        "-n",
        3,
        each_rank(tmp_path, command),
        support.TUTTI_RUN,
        compiled(host, "sessions"),
        what,
        5,
    ]
    expect_ok(support.run(line, environment=support.clean_environment() | host.environment))


@pairwise([1, 2])
def test_spawn_under_the_launcher(host_named, compiled, tmp_path, way, name, ranks):
    """Tutti serves the parents' calls on merged communicators, their parts and copies."""
    host, report = host_named(name), tmp_path / "report.json"
    program, children = compiled(host, "spawn"), way
    words = [program, support.TUTTI_RUN, program, children]
    expect_ok(job(host, ranks, *words, options=[f"--report={report}"]))
    served, _, reasons = totals(report)
    allowed = ("first calls of a communicator", "communicator of one rank")
    assert served >= 2 * 4 * 45 * ranks and all(reason.startswith(allowed) for reason in reasons), (
        reasons
    )


@pytest.mark.parametrize("parents,children", [(True, False), (False, True)])
def test_spawn_across_the_launcher(host, compiled, parents, children):
    """If only one side runs under Tutti, communicators of both sides stay on the host, without
    message or wait.
    """
    program = compiled(host, "spawn")
    launcher = support.TUTTI_RUN if children else "-"
    result = expect_ok(
        job(
            host,
            2,
            program,
            launcher,
            program,
            2,
            tutti=parents,
            variables={"TUTTI_STALL_SECONDS": "5"},
        )
    )
    assert "tutti" not in result.stderr


def test_spawn_with_different_variables(host, compiled, tmp_path):
    script = tmp_path / "different"
    program = compiled(host, "spawn")
    script.write_text(
        f'#!/bin/sh\nTUTTI_SEGMENT_BYTES=8192 exec "{support.TUTTI_RUN}" "{program}" "$@"\n'
    )
    script.chmod(0o755)
    environment = support.clean_environment() | host.environment
    expect_ok(
        support.run(
            [host.launcher, "-n", 2, script, support.TUTTI_RUN, program, 2], environment=environment
        )
    )
