"""Jobs end when the process that started them ends, even if that process is killed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from tutti.places import find_library
from tutti.processes import started

MARK = "TEST_OF_PROCESSES"
# A process in a process group of its own, as launchers start ranks.
OWN_GROUP = (
    f"""{sys.executable} -c 'import os; os.setpgid(0, 0); os.execlp("sleep", "sleep", "600.25")'"""
)


def marked(mark: str) -> dict[int, str]:
    """Command lines, by process id, of the running processes whose environment has the mark."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                found[int(place.name)] = (
                    (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
        except OSError:
            continue  # it has ended, or belongs to another user
    return found


def left_of(mark: str) -> dict[int, str]:
    """The processes that still run after a while, because killed processes end after a moment."""
    limit = time.monotonic() + 100
    while (left := marked(mark)) and time.monotonic() < limit:
        time.sleep(0.02)
    return left


def kill_and_look(words: list[str], running: str, count: int) -> None:
    """Kills a command once `count` processes match `running`; then all its processes must end."""
    mark = uuid.uuid4().hex
    with subprocess.Popen(
        words,
        env=dict(os.environ) | {MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as command:
        try:
            limit = time.monotonic() + 60
            while (
                sum(re.match(running, line) is not None for line in marked(mark).values()) < count
            ):
                assert command.poll() is None, command.stderr.read() if command.stderr else ""
                assert time.monotonic() < limit, marked(mark)
                time.sleep(0.05)
            command.kill()
            command.wait()
            assert left_of(mark) == {}
        finally:
            command.kill()
            for process in marked(mark):
                os.kill(process, signal.SIGKILL)


def test_a_jobs_children_end_with_the_process_that_started_it():
    job = ["sh", "-c", f"sleep 600.25 & {OWN_GROUP} & wait"]
    script = (
        f"import os; from tutti.processes import started\nwith started({job!r}, dict(os.environ), "
        "2) as it: it.wait()"
    )
    kill_and_look([sys.executable, "-c", script], "sleep 600.25 ", 2)


def test_a_job_that_ends_by_itself_leaves_no_watcher():
    mark = uuid.uuid4().hex
    words = ["sh", "-c", 'read word; echo "<$word>"; echo no >&2; exit 3']
    with started(words, dict(os.environ) | {MARK: mark}, subprocess.PIPE) as job:
        assert job.communicate(timeout=100) == ("<>\n", "no\n") and job.returncode == 3
    assert left_of(mark) == {}


def test_an_exception_ends_the_job():
    mark, job = uuid.uuid4().hex, ["sh", "-c", f"{OWN_GROUP} & wait"]
    with pytest.raises(ValueError, match="mine"), started(job, dict(os.environ) | {MARK: mark}, 2):
        limit = time.monotonic() + 100
        while (
            not any(line.startswith("sleep ") for line in marked(mark).values())
            and time.monotonic() < limit
        ):
            time.sleep(0.01)
        raise ValueError("mine")
    assert left_of(mark) == {}


def test_a_missing_program_gives_an_exit_code():
    with started(["/nowhere/mpiexec"], dict(os.environ), subprocess.PIPE) as job:
        _, said = job.communicate(timeout=100)
    assert job.returncode == 127 and "/nowhere/mpiexec: not found" in said


@pytest.mark.skipif(
    shutil.which("smpirun") is None or find_library("tutti-sim.so") is None,
    reason="no SimGrid here",
)
def test_a_simulation_ends_with_tutti_sim():
    words = [
        "-m",
        "tutti.cli",
        "sim",
        "alltoall",
        "--machine",
        "hmpi-xeon",
        "--bytes",
        "64K",
        "--against",
        "none",
    ]
    kill_and_look([sys.executable, *words], r"\S*/smpimain ", 1)


@pytest.mark.mpi
def test_ranks_end_with_tutti_bench(mpi):
    """Ranks may be in process groups of their own; this depends on the launcher."""
    words = [
        "-m",
        "tutti.cli",
        "bench",
        "calls",
        "--mpi",
        mpi.name,
        "--ranks",
        "2",
        "--collectives",
        "bcast",
        "--budget-ms",
        "30000",
    ]
    kill_and_look([sys.executable, *words], r"\S*/tutti-bench-\w+ ", 2)
