"""Servers of one-sided transfers as processes, and faults of servers and ranks."""

import json
import re
import shutil
import time
from pathlib import Path

import pytest
import support

pytestmark = pytest.mark.mpi
BOTH_KINDS = ["threads", "processes"]


def servers_of(count, kind="processes"):
    return ["--servers", str(count), "--servers-as", kind, "--serve", "all"]


CASES = {
    "one": (2, 1, 2, []),
    "with heap": (3, 2, 1, ["--shared-heap"]),
}


@pytest.mark.parametrize("case", CASES)
def test_transfers(host_named, with_tutti, case):
    host = host_named("mpich")
    ranks, servers, memory, options = CASES[case]
    command = (host, ranks, with_tutti(host, "one_sided"), servers, memory)
    done = support.expect_ok(support.job(*command, options=[*options, *servers_of(servers)]))
    assert "servers are threads" not in done.stderr


@pytest.mark.parametrize("name", ["openmpi", "mpiabi"])
def test_transfers_on_other_hosts(host_named, with_tutti, name):
    host = host_named(name)
    command = (host, 2, with_tutti(host, "one_sided"), 1, 2)
    done = support.expect_ok(support.job(*command, options=servers_of(1)))
    assert "servers are threads" not in done.stderr


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_the_program_sees_nothing(host_named, with_tutti, name):
    """No child, no SIGCHLD, whatever the program does with it; and no server after MPI_Finalize."""
    host = host_named(name)
    support.expect_ok(
        support.job(host, 2, with_tutti(host, "servers"), "unseen", 1, options=servers_of(2))
    )


def test_servers_are_killed(host_named, with_tutti):
    """Within long transfers. Others follow them."""
    host = host_named("mpich")
    support.expect_ok(
        support.job(host, 2, with_tutti(host, "servers"), "killed", 1, options=servers_of(2))
    )


def test_servers_are_stopped(host_named, with_tutti):
    """Ranks end all the same, and nobody waits for pipes that servers hold."""
    host = host_named("mpich")
    done = support.expect_ok(
        support.job(
            host, 2, with_tutti(host, "servers"), "stopped", 1, options=servers_of(2),
            variables={"TUTTI_STALL_SECONDS": "1"},
        )
    )  # fmt: skip
    told = re.search(
        r"has waited 1 s for server \d+ \(process \d+, stopped by a signal\) to complete a put of "
        r"800000 bytes, target rank \d", done.stderr
    )  # fmt: skip
    # Where the transfer was complete before the server was stopped, nobody had to wait.
    assert told is not None or "was killed" not in done.stderr


def runs(process):
    try:
        return "tutti-server" in Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("kind", BOTH_KINDS)
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_a_rank_is_killed(host_named, with_tutti, name, kind):
    """The launcher ends the job as usual, and no server stays."""
    host = host_named(name)
    count = 1 if kind == "processes" else 0
    done = support.job(
        host, 2, with_tutti(host, "servers"), "rank_killed", count, options=servers_of(2, kind)
    )
    assert done.returncode != 0
    servers = re.findall(r"server (\d+)", done.stdout)
    assert len(servers) == 2 * count, done.stdout + done.stderr
    limit = time.monotonic() + 100
    while any(map(runs, servers)) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not any(map(runs, servers))


@pytest.mark.parametrize("kind", BOTH_KINDS)
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_jobs_that_spawn(host_named, with_tutti, name, kind):
    host = host_named(name)
    program = with_tutti(host, "servers_spawn")
    support.expect_ok(
        support.job(host, 2, program, support.TUTTI_RUN, program, kind, options=servers_of(1, kind))
    )


def test_threads_serve_where_processes_cannot(host_named, with_tutti, tmp_path):
    """Here because the program is missing. One rank says so."""
    host = host_named("mpich")
    (tmp_path / "bin").mkdir()
    shutil.copy(support.TUTTI_RUN, tmp_path / "bin")
    (tmp_path / "lib").symlink_to(support.BUILD / "lib")
    launcher = [tmp_path / "bin" / "tutti-run", *servers_of(2)]
    program = with_tutti(host, "one_sided")
    done = support.expect_ok(support.job(host, 2, *launcher, program, 2, 2, tutti=False))
    said = "servers are threads, because processes cannot serve: "
    assert done.stderr.count(said) == 1, done.stderr
    assert f"{said}{tmp_path / 'bin' / 'tutti-server'}: No such file" in done.stderr


@pytest.mark.parametrize("kind", BOTH_KINDS)
def test_the_report_tells_what_servers_are(host_named, with_tutti, tmp_path, kind):
    host = host_named("mpich")
    told = {}
    for file in (tmp_path / "report.json", tmp_path / "report.txt"):
        options = [*servers_of(1, kind), f"--report={file}"]
        command = (host, 2, with_tutti(host, "one_sided"), 1, 1)
        support.expect_ok(support.job(*command, options=options))
        told[file.suffix] = file.read_text()
    servers = json.loads(told[".json"])["servers"]
    assert servers["count"] == 1 and servers["transfers"] > 0
    assert servers["processes"] == (1 if kind == "processes" else 0)
    words = {"threads": "threads of the ranks' processes", "processes": "processes of their own"}
    assert f"servers: 1 ({words[kind]}, {servers['where']})" in told[".txt"]
