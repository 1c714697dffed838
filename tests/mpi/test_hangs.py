"""The roll call: each mistake of programs/hangs.c is named with its ranks, its call and its line."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support
from expected_hangs import C_BUGS, check_table, last_table, marked_line, read_until, started
from support import fortran_program
from tutti.roll.sockets import ask, own_jobs

pytestmark = pytest.mark.mpi

LIMIT = 1
SECONDS = 100  # for the job to start, and the limit; a loaded machine may need many
RANKS = {"mpich": 3, "openmpi": 4}


def table(host, ranks, program, options=(), variables=None, ends=("  difference: ",), idle="auto"):
    """Runs a program until its stderr has these words, and ends the job. Returns its stderr."""
    environment = support.clean_environment() | host.environment
    environment |= {"TUTTI_STALL_SECONDS": str(LIMIT)} | (variables or {})
    tutti = [support.TUTTI_RUN, "--idle", idle]
    command = [host.launcher, "-n", ranks, *options, *tutti, *program]
    with started(command, environment, stderr=subprocess.PIPE) as process:
        text = read_until(process, process.stderr, ends, SECONDS)
    return text


# Launchers end the other ranks at once when one ends by a signal; only Open MPI's can be told not to.
SIGNALS = ("killed", "aborts")
CASES = [("mpich", case) for case in C_BUGS if case not in SIGNALS]
CASES += [("openmpi", case) for case in C_BUGS]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_seeded_bugs(host_named, compiled, name, case):
    """The ranks of MPICH poll while they wait, and those of Open MPI sleep."""
    host, ranks = host_named(name), RANKS[name]
    options = ["--enable-recovery"] if case in SIGNALS else ()
    idle = "sleep" if name == "openmpi" else "auto"
    text = table(host, ranks, [compiled(host, "hangs"), case], options=options, idle=idle)
    check_table(text, case, ranks)


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize(
    "case",
    ["extra_bcast", "order_of_communicators", "wrong_tag", "neighbour_not_mutual", "sleeps"],
)
def test_collectives_of_the_host(host_named, compiled, name, case):
    host = host_named(name)
    alone = {"TUTTI_SERVE_COLLECTIVES": "0"}
    check_table(table(host, 3, [compiled(host, "hangs"), case], variables=alone), case, 3)


# Users' operations have no kernel, and the host serves all of the last row.
@pytest.mark.parametrize(
    ("name", "case", "call", "served"),
    [
        ("mpich", "types_in_allreduce", "MPI_Allreduce of 16 bytes, TYPE, MPI_SUM", "1"),
        ("openmpi", "types_in_scan", "MPI_Scan of 16 bytes, TYPE, MPI_MAX", "1"),
        (
            "mpich",
            "types_in_own_operation",
            "MPI_Allreduce of 16 bytes, TYPE, an operation of the program's",
            "1",
        ),
        ("mpich", "types_in_allreduce", "MPI_Allreduce of 16 bytes, TYPE, MPI_SUM", "0"),
    ],
)
def test_types_of_one_size(host_named, compiled, name, case, call, served):
    """Ranks wait in one reduction with types of as many bytes; the table tells their classes."""
    host = host_named(name)
    variables = {"TUTTI_SERVE_COLLECTIVES": served, "TUTTI_STALL_SECONDS": "3"}
    rows = last_table(table(host, 4, [compiled(host, "hangs"), case], variables=variables))
    integers, reals = (
        call.replace("TYPE", f"{kind} of 4 bytes") for kind in ("integers", "real numbers")
    )
    [_] = [row for row in rows if row.startswith(f"rank 3: {reals} on MPI_COMM_WORLD")]
    [_] = [row for row in rows if row.startswith(f"ranks 1, 2: {integers} on MPI_COMM_WORLD")]
    [difference] = [row for row in rows if row.startswith("difference: ")]
    assert f"rank 3 makes {reals}, ranks 1, 2 {integers.split(' ', 1)[1]}" in difference, rows


@pytest.mark.parametrize("case", ["skipped_barrier", "other_count", "wrong_tag", "endless_loop"])
def test_fortran(host_named, case):
    host = host_named("debian-mpich")
    program = fortran_program(host, "hangs", "USE_MPI", "-g")
    check_table(table(host, 3, [program, case]), case, 3, "hangs.F90")


@pytest.mark.parametrize("case", ["skipped_barrier", "exception", "wrong_tag", "endless_loop"])
def test_python(host_named, case):
    host = host_named("mpich")
    interpreter = Path(host.launcher).parent / "python"
    if support.run([interpreter, "-c", "import mpi4py"]).returncode != 0:
        pytest.skip(f"{interpreter} has no mpi4py")
    text = table(host, 3, [interpreter, support.PROGRAMS / "hangs.py", case])
    check_table(text, case, 3, "hangs.py")


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_spawned_processes(host_named, compiled, name):
    """They have a table of their own; as many as have spawned them, under the same launcher."""
    host = host_named(name)
    program = [compiled(host, "hangs"), "never_merges", support.TUTTI_RUN]
    lines = [marked_line("hangs.c", name) for name in ("never_merges", "never_merges_spawned")]
    text = table(host, 2, program, ends=lines)
    for head, call, line in (
        ("no progress for 1 s", "MPI_Intercomm_merge", lines[0]),
        ("no progress for 1 s; spawned processes", "MPI_Recv from rank 0 with tag 4", lines[1]),
    ):
        row = f"({head})\n  ranks 0, 1: {call}, for SECONDS s\n      {line}"
        assert re.search(re.escape(row).replace("SECONDS", r"\d+"), text), text


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize("case", ["computes", "ring_goes_on"])
def test_ranks_that_go_on(host_named, compiled, name, case):
    """They compute for four times the limit, or hand a message round. No table is printed."""
    host = host_named(name)
    result = support.job(
        host, 2, compiled(host, "hangs"), case, variables={"TUTTI_STALL_SECONDS": str(LIMIT)}
    )
    assert result.returncode == 0, result.stderr
    assert "where the ranks are" not in result.stderr, result.stderr


@pytest.mark.alone  # others would get no core either
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_a_thread_that_gets_no_core(host_named, compiled, name):
    """The table said that it did not answer, or there was none."""
    variables = {"TUTTI_STALL_SECONDS": "3"}
    text = table(host_named(name), 2, [compiled(host_named(name), "starved")], variables=variables)
    assert re.search(r"rank 0: MPI_Recv from rank 1 with tag 7 on MPI_COMM_WORLD, for \d+ s", text)
    assert "does not answer" not in text


def ancestors(process):
    """The process, its parent and so on; they may have ended meanwhile."""
    found = []
    while process > 1:
        found.append(process)
        try:
            status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
        except OSError:
            break
        process = int(status.rpartition(")")[2].split()[1])
    return found


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_system_calls_go_on(host_named, compiled, name):
    """They neither end early nor fail, though the ranks are asked all the time."""
    host = host_named(name)
    command = [host.launcher, "-n", 2, support.TUTTI_RUN, compiled(host, "interrupted")]
    environment = support.clean_environment() | host.environment | {"TUTTI_STALL_SECONDS": "1"}
    asked, end = 0, time.monotonic() + 200
    while asked <= 20 and time.monotonic() < end:  # a job takes four seconds
        with started(command, environment, stderr=subprocess.PIPE) as process:
            while process.poll() is None and time.monotonic() < end:
                for job, owner in own_jobs():
                    if process.pid in ancestors(owner.process):
                        asked += "where the ranks are" in ask(job, "table asked")
                time.sleep(0.01)
            errors = process.stderr.read()
        assert process.returncode == 0, errors
    assert asked > 20


def asked_by(user, job):
    """Whether a process of this user, which root starts, gets a job's table."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setuid(user)
            code = 0 if "where the ranks are" in ask(job, "table asked") else 2
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 2)
    return code == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone may become another user")
def test_other_users_may_not_ask(host_named, compiled):
    """Found in a job of root's, which told its table to everybody."""
    host = host_named("mpich")
    command = [host.launcher, "-n", "2", support.TUTTI_RUN, compiled(host, "hangs"), "sleeps"]
    with started(command, support.clean_environment() | host.environment) as process:
        end, own = time.monotonic() + SECONDS, []
        while time.monotonic() < end and not (own and own[0].here == [0, 1]):
            own = [job for job, owner in own_jobs() if process.pid in ancestors(owner.process)]
        assert asked_by(0, own[0])
        assert not asked_by(65534, own[0])


@pytest.mark.parametrize(("name", "ranks", "limit"), [("mpich", 64, 60), ("openmpi", 4, 1)])
def test_ps(host_named, compiled, name, ranks, limit):
    """A job of many ranks that spin is asked from outside, before the limit is reached. After it,
    the job says how late its own table came.
    """
    host = host_named(name)
    command = [
        host.launcher,
        "-n",
        str(ranks),
        support.TUTTI_RUN,
        compiled(host, "hangs"),
        "endless_loop",
    ]
    environment = support.clean_environment() | host.environment
    environment |= {"TUTTI_STALL_SECONDS": str(limit)}

    def ps(*arguments):
        words = [sys.executable, "-m", "tutti.cli", "ps", *arguments]
        return subprocess.run(words, capture_output=True, text=True, timeout=100, check=True).stdout

    with started(command, environment) as process:
        end, own = time.monotonic() + 100, []
        while time.monotonic() < end and [len(job["here"]) for job in own] != [ranks]:
            own = [
                job for job in json.loads(ps("--json")) if process.pid in ancestors(job["process"])
            ]
        [job] = own
        assert (job["ranks"], job["here"]) == (ranks, list(range(ranks)))
        assert job["name"] in ps()
        text = ps(job["name"])
        table_as_json = json.loads(ps(job["name"], "--json"))
        while limit == 1 and table_as_json["printed_after_limit"] is None:
            table_as_json = json.loads(ps(job["name"], "--json"))
    assert "hangs.c:" in text and "(endless_loop)" in text, text
    assert sorted({thread["rank"] for thread in table_as_json["threads"]}) == list(range(ranks))
    assert limit > 1 or table_as_json["printed_after_limit"] >= 0
    assert {"cause", "difference", "groups"} <= set(table_as_json)
