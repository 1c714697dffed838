"""The roll call: each mistake of programs/hangs.c is named with its ranks, its call and its line."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import support

pytestmark = pytest.mark.mpi

SOURCE = (support.PROGRAMS / "hangs.c").read_text(encoding="utf-8").splitlines()
LIMIT = 1


@dataclass
class Expected:
    """The row of the ranks that are at fault, and the line with the difference."""

    row: str
    difference: str
    at: bool = True  # the row has the source line that is marked by the name of the case
    rank: int = 2


WORLD = "on MPI_COMM_WORLD, its collective"
BUGS = {
    "skipped_barrier": Expected(
        f"MPI_Allreduce of 8 bytes {WORLD} 10", "rank 2 makes MPI_Allreduce, ranks 0, 1 MPI_Barrier"
    ),
    "extra_bcast": Expected(
        f"MPI_Bcast of 16 bytes, root 0 {WORLD} 10",
        "rank 2 makes MPI_Bcast, ranks 0, 1 MPI_Barrier",
    ),
    "bcast_against_allreduce": Expected(
        f"MPI_Bcast of 16 bytes, root 0 {WORLD} 10",
        "rank 2 makes MPI_Bcast, ranks 0, 1 MPI_Allreduce",
    ),
    "order_of_communicators": Expected(
        "MPI_Barrier on communicator 3, its collective 10",
        "rank 2 makes MPI_Barrier on communicator 3, ranks 0, 1 on communicator 2: the order",
    ),
    "other_root": Expected(
        f"MPI_Bcast of 4194304 bytes, root 2 {WORLD} 10",
        "rank 2 makes MPI_Bcast of 4194304 bytes, root 2, ",
    ),
    "other_count": Expected(
        f"MPI_Allreduce of 32 bytes {WORLD} 10",
        "rank 2 makes MPI_Allreduce of 32 bytes, ranks 0, 1 of 16 bytes",
    ),
    "other_type": Expected(
        f"MPI_Allreduce of 32 bytes {WORLD} 10",
        "rank 2 makes MPI_Allreduce of 32 bytes, ranks 0, 1 of 16 bytes",
    ),
    # The last rank has nothing to wait for in the reduce.
    "allreduce_against_reduce": Expected(
        f"MPI_Barrier {WORLD} 11",
        "rank 2 makes MPI_Barrier as collective 11, ranks 0, 1 MPI_Allreduce as collective 10",
    ),
    "blocking_against_nonblocking": Expected(
        "MPI_Wait", "rank 2 makes MPI_Wait, ranks 0, 1 the collective MPI_Barrier"
    ),
    "missing_wait": Expected(
        "MPI_Recv", "rank 2 makes MPI_Recv, ranks 0, 1 the collective MPI_Barrier"
    ),
    "receive_without_sender": Expected(
        "MPI_Wait", "rank 2 makes MPI_Wait, ranks 0, 1 the collective MPI_Barrier"
    ),
    "wrong_tag": Expected(
        "MPI_Recv", "rank 2 makes MPI_Recv, ranks 0, 1 the collective MPI_Barrier"
    ),
    "wrong_peer": Expected(
        "MPI_Recv", "rank 2 makes MPI_Recv, ranks 0, 1 the collective MPI_Barrier"
    ),
    "broken_ring": Expected("MPI_Recv", "rank 2 makes MPI_Recv, "),
    "killed": Expected(
        "has ended", "rank 2 has ended, and ranks 0, 1 are in MPI_Barrier", at=False
    ),
    "exits": Expected(
        "calls exit without MPI_Finalize", "rank 2 has ended, and ranks 0, 1 are in MPI_Barrier"
    ),
    "aborts": Expected(
        "has ended", "rank 2 has ended, and ranks 0, 1 are in MPI_Barrier", at=False
    ),
    "stopped": Expected("stopped by a signal", "rank 2 is stopped by a signal", at=False),
    "endless_loop": Expected(
        "computes", "rank 2 is in the program's own code, ranks 0, 1 in MPI_Barrier"
    ),
    "polls": Expected("computes", "rank 2 is in the program's own code, ranks 0, 1 in MPI_Barrier"),
    "reads_fifo": Expected(
        "in the system call read of /tmp/hangs-",
        "rank 2 is in file access, ranks 0, 1 in MPI_Barrier",
    ),
    "sleeps": Expected(
        "in the system call nanosleep", "rank 2 is in a system call, ranks 0, 1 in MPI_Barrier"
    ),
    "early_finalize": Expected("MPI_Finalize", "rank 2 makes MPI_Finalize, ranks 0, 1 MPI_Barrier"),
    "missing_fence": Expected(
        f"MPI_Allreduce of 16 bytes {WORLD} 10",
        "rank 2 makes MPI_Allreduce, ranks 0, 1 MPI_Win_fence",
    ),
    "in_threads": Expected(
        "MPI_Barrier on communicator 3, its collective 10",
        "rank 2 makes MPI_Barrier, ranks 0, 1 MPI_Allreduce",
    ),
    "other_sum": Expected(
        "MPI_Recv", "rank 2 makes MPI_Recv, ranks 0, 1 the collective MPI_Barrier"
    ),
    "operation": Expected(
        "MPI_Recv", "rank 0 makes MPI_Recv, ranks 1, 2 the collective MPI_Barrier", rank=0
    ),
    "split_at_some": Expected(
        f"MPI_Barrier {WORLD} 10", "rank 2 makes MPI_Barrier, ranks 0, 1 MPI_Comm_split"
    ),
    "free_at_some": Expected(
        "MPI_Barrier on communicator 2, its collective 10",
        "rank 2 makes MPI_Barrier",
    ),
    "open_at_some": Expected(
        f"MPI_Barrier {WORLD} 10", "rank 2 makes MPI_Barrier, ranks 0, 1 MPI_File_open"
    ),
}


def end_session(process):
    """Launchers pass the first signal on to their ranks."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=5)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


def table(host, ranks, program, case, wanted, seconds=12, options=(), variables=None):
    """Runs a case until its table is complete, and ends the job. Returns its stderr."""
    environment = support.clean_environment() | host.environment
    environment |= {"TUTTI_STALL_SECONDS": str(LIMIT)} | (variables or {})
    command = [host.launcher, "-n", str(ranks), *options, support.TUTTI_RUN, program, case]
    with subprocess.Popen(
        [str(word) for word in command],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        os.set_blocking(process.stderr.fileno(), False)
        text, end = "", time.monotonic() + seconds
        while time.monotonic() < end and wanted not in text:
            text += (process.stderr.read() or b"").decode(errors="replace")
            if process.poll() is not None:
                break
            time.sleep(0.05)
        time.sleep(0.2)
        text += (process.stderr.read() or b"").decode(errors="replace")
        end_session(process)
    return text


def marked_line(case):
    [number] = [i for i, line in enumerate(SOURCE, 1) if line.endswith(f"// mark {case}")]
    return f"at hangs.c:{number} ("


def last_table(text):
    """The lines of the last table, with folded lines in one."""
    lines = text[text.rindex("tutti: where the ranks are") :].splitlines()
    assert all(len(line) <= 80 for line in lines if line.startswith(("  ", "tutti: where"))), text
    rows = re.sub(r"\n {6}(?!at )", " ", "\n".join(lines))
    return [line.strip() for line in rows.splitlines() if line.startswith("  ")]


# Launchers end the other ranks at once when one ends by a signal; only Open MPI's can be told not to.
SIGNALS = ("killed", "aborts")
CASES = [("mpich", case) for case in BUGS if case not in SIGNALS]
CASES += [("openmpi", case) for case in BUGS]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_seeded_bugs(host_named, compiled, name, case):
    host, expected = host_named(name), BUGS[case]
    options = ["--enable-recovery"] if case in SIGNALS else ()
    text = table(host, 3, compiled(host, "hangs"), case, "  difference: ", options=options)
    assert "tutti: where the ranks are" in text, text
    rows = last_table(text)
    own = [i for i, row in enumerate(rows) if row.startswith(f"rank {expected.rank}: ")]
    assert own, text
    row, at = rows[own[0]], rows[own[0] + 1]
    assert row.startswith(f"rank {expected.rank}: {expected.row}"), text
    if expected.at:
        assert at.startswith(marked_line(case)), text
    [difference] = [row for row in rows if row.startswith("difference: ")]
    assert expected.difference in difference, text
    assert len(own) == 1 and not [row for row in rows[: own[0]] if row.startswith("ranks ")], text


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize("case", ["computes", "ring_goes_on"])
def test_ranks_that_go_on(host_named, compiled, name, case):
    """They compute for ten times the limit, or hand a message round. No table is printed."""
    host = host_named(name)
    result = support.job(
        host, 3, compiled(host, "hangs"), case, variables={"TUTTI_STALL_SECONDS": str(LIMIT)}
    )
    assert result.returncode == 0, result.stderr
    assert "where the ranks are" not in result.stderr, result.stderr


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
def test_ps(host_named, compiled, name):
    """A job of 16 ranks that spin is asked from outside, before any limit is reached."""
    host = host_named(name)
    command = [
        host.launcher,
        "-n",
        "16",
        support.TUTTI_RUN,
        compiled(host, "hangs"),
        "endless_loop",
    ]
    environment = support.clean_environment() | host.environment

    def ps(*arguments):
        words = [sys.executable, "-m", "tutti.cli", "ps", *arguments]
        return subprocess.run(words, capture_output=True, text=True, timeout=30, check=True).stdout

    with subprocess.Popen(
        [str(word) for word in command],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            end, own = time.monotonic() + 20, []
            while time.monotonic() < end and [len(job["here"]) for job in own] != [16]:
                own = [
                    job
                    for job in json.loads(ps("--json"))
                    if process.pid in ancestors(job["process"])
                ]
            [job] = own
            assert (job["ranks"], job["here"]) == (16, list(range(16)))
            assert job["name"] in ps()
            text = ps(job["name"])
            table_as_json = json.loads(ps(job["name"], "--json"))
        finally:
            end_session(process)
    assert "hangs.c:" in text and "(endless_loop)" in text, text
    assert sorted({thread["rank"] for thread in table_as_json["threads"]}) == list(range(16))
    assert {"cause", "difference", "groups"} <= set(table_as_json)
