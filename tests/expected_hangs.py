"""The mistakes of mpi/programs/hangs.c, .F90 and .py, and what the roll call must say of each."""

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "mpi" / "programs"


@dataclass
class Expected:
    """The row of the ranks that are at fault, and the line with the difference."""

    row: str
    difference: str
    at: bool = True  # the row has the source line that is marked by the name of the case
    rank: int | None = None  # the last one


WORLD = "on MPI_COMM_WORLD, its collective"
SUM = "integers of 4 bytes, MPI_SUM"
ROWS = "communicator 1 of MPI_COMM_WORLD"
COLUMNS = '"columns" (communicator 2 of MPI_COMM_WORLD)'
THE_BARRIER = "{others} the collective MPI_Barrier"
BUGS = {
    "skipped_barrier": Expected(
        f"MPI_Allreduce of 8 bytes, {SUM} {WORLD} 10",
        "rank {last} makes MPI_Allreduce, {others} MPI_Barrier",
    ),
    "extra_bcast": Expected(
        f"MPI_Bcast of 16 bytes, root 0 {WORLD} 10",
        "rank {last} makes MPI_Bcast, {others} MPI_Barrier",
    ),
    "bcast_against_allreduce": Expected(
        f"MPI_Bcast of 16 bytes, root 0 {WORLD} 10",
        "rank {last} makes MPI_Bcast, {others} MPI_Allreduce",
    ),
    "order_of_communicators": Expected(
        f"MPI_Barrier on {COLUMNS}, its collective 10",
        f"rank {{last}} makes MPI_Barrier on {COLUMNS}, {{others}} on {ROWS}: the order",
    ),
    "other_root": Expected(
        f"MPI_Bcast of 16777216 bytes, root {{last}} {WORLD} 10",
        "rank {last} makes MPI_Bcast of 16777216 bytes, root {last}, ",
    ),
    "other_count": Expected(
        f"MPI_Allreduce of 32 bytes, {SUM} {WORLD} 10",
        f"rank {{last}} makes MPI_Allreduce of 32 bytes, {SUM}, {{others}} of 16 bytes, {SUM}",
    ),
    "other_type": Expected(
        f"MPI_Allreduce of 32 bytes, real numbers of 8 bytes, MPI_SUM {WORLD} 10",
        "rank {last} makes MPI_Allreduce of 32 bytes, real numbers of 8 bytes, MPI_SUM, {others} "
        f"of 16 bytes, {SUM}",
    ),
    # The last rank has nothing to wait for in the reduce.
    "allreduce_against_reduce": Expected(
        f"MPI_Barrier {WORLD} 11",
        "rank {last} makes MPI_Barrier as collective 11, {others} MPI_Allreduce as collective 10",
    ),
    "blocking_against_nonblocking": Expected(
        "MPI_Wait", "rank {last} makes MPI_Wait, {others} the collective MPI_Barrier"
    ),
    "missing_wait": Expected(
        "MPI_Recv from rank 0 with tag 7 on MPI_COMM_WORLD",
        f"rank {{last}} makes MPI_Recv from rank 0 with tag 7, {THE_BARRIER}",
    ),
    "receive_without_sender": Expected(
        "MPI_Wait", "rank {last} makes MPI_Wait, {others} the collective MPI_Barrier"
    ),
    "wrong_tag": Expected(
        "MPI_Recv from rank 0 with tag 2 on MPI_COMM_WORLD",
        f"rank {{last}} makes MPI_Recv from rank 0 with tag 2, {THE_BARRIER}",
    ),
    "wrong_peer": Expected(
        "MPI_Recv from rank 1 with tag 1 on MPI_COMM_WORLD",
        f"rank {{last}} makes MPI_Recv from rank 1 with tag 1, {THE_BARRIER}",
    ),
    "broken_ring": Expected(
        "MPI_Recv from rank {before_last} with tag 9 on MPI_COMM_WORLD",
        "rank {last} makes MPI_Recv from rank {before_last} with tag 9, ",
    ),
    "killed": Expected(
        "has ended", "rank {last} has ended, and {others} are in MPI_Barrier", at=False
    ),
    "exits": Expected(
        "calls exit without MPI_Finalize", "rank {last} has ended, and {others} are in MPI_Barrier"
    ),
    "aborts": Expected(
        "has ended", "rank {last} has ended, and {others} are in MPI_Barrier", at=False
    ),
    "stopped": Expected("stopped by a signal", "rank {last} is stopped by a signal", at=False),
    "endless_loop": Expected(
        "computes", "rank {last} is in the program's own code, {others} in MPI_Barrier"
    ),
    "polls": Expected(
        "computes", "rank {last} is in the program's own code, {others} in MPI_Barrier"
    ),
    "reads_fifo": Expected(
        "in the system call read of /tmp/hangs-",
        "rank {last} is in file access, {others} in MPI_Barrier",
    ),
    "sleeps": Expected(
        "in the system call nanosleep", "rank {last} is in a system call, {others} in MPI_Barrier"
    ),
    "early_finalize": Expected(
        "MPI_Finalize", "rank {last} makes MPI_Finalize, {others} MPI_Barrier"
    ),
    "intercommunicator": Expected(
        "MPI_Bcast of 16 bytes, root 0 on the rank's communicator 6, its collective 10",
        "rank {last} makes MPI_Bcast, {others} MPI_Barrier",
    ),
    "session": Expected(
        "MPI_Barrier on the rank's communicator 5, its collective 10",
        "rank {last} makes MPI_Barrier on the rank's communicator 5, {others} on MPI_COMM_WORLD: "
        "the order",
    ),
    "exception": Expected(
        "MPI_Finalize", "rank {last} makes MPI_Finalize, {others} MPI_Barrier", at=False
    ),
    "missing_fence": Expected(
        f"MPI_Allreduce of 16 bytes, {SUM} {WORLD} 10",
        "rank {last} makes MPI_Allreduce, {others} MPI_Win_fence",
    ),
    "in_threads": Expected(
        f"MPI_Barrier on {COLUMNS}, its collective 10",
        "rank {last} makes MPI_Barrier, {others} MPI_Allreduce",
    ),
    "threads_in_one_communicator": Expected(
        f"MPI_Barrier on {ROWS}, its collective 10",
        "rank {last} makes MPI_Barrier, {others} MPI_Allreduce",
    ),
    "neighbour_not_mutual": Expected(
        "MPI_Neighbor_alltoall", "rank {last} makes MPI_Neighbor_alltoall, {others} MPI_Barrier"
    ),
    "other_sum": Expected(
        "MPI_Recv from rank 0 with tag 5 on MPI_COMM_WORLD",
        "rank {last} makes MPI_Recv from rank 0 with tag 5, ",
    ),
    "operation": Expected(
        "MPI_Recv from rank {last} with tag 6 on MPI_COMM_WORLD",
        "rank 0 makes MPI_Recv from rank {last} with tag 6, {others_of_0} the collective MPI_Bar",
        rank=0,
    ),
    "split_at_some": Expected(
        f"MPI_Barrier {WORLD} 10", "rank {last} makes MPI_Barrier, {others} MPI_Comm_split"
    ),
    "free_at_some": Expected(
        f"MPI_Barrier on {ROWS}, its collective 10",
        "rank {last} makes MPI_Barrier",
    ),
    "open_at_some": Expected(
        f"MPI_Barrier {WORLD} 10", "rank {last} makes MPI_Barrier, {others} MPI_File_open"
    ),
}


# The cases of hangs.c that hang under Tutti, too: it raises an error for a neighbour that is not
# mutual.
C_BUGS = [case for case in BUGS if case not in ("exception", "neighbour_not_mutual")]


def list_of(ranks):
    """0, 1 and 0-2, as the table has them."""
    return ", ".join(map(str, ranks)) if len(ranks) < 3 else f"{ranks[0]}-{ranks[-1]}"


def read_until(process, stream, words, seconds):
    """What a process writes, until that has all these words and no more comes, the process ends or
    time is over.
    """
    os.set_blocking(stream.fileno(), False)
    text, end, has_ended = "", time.monotonic() + seconds, False
    while time.monotonic() < end and not has_ended:
        has_ended = process.poll() is not None
        more = (stream.read() or b"").decode(errors="replace")
        text += more
        if not more and text.endswith("\n") and all(word in text for word in words):
            break
        time.sleep(0.1)
    return text


@contextmanager
def started(command, environment, **streams):
    """A job in a session of its own, of which the caller reads what it has made a pipe of
    `streams`. It is ended.
    """
    others = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(
        [str(word) for word in command],
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        **others | streams,
    ) as process:
        try:
            yield process
        finally:
            end_session(process)


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


def marked_line(source, case):
    lines = (PROGRAMS / source).read_text(encoding="utf-8").splitlines()
    [number] = [i for i, line in enumerate(lines, 1) if line.endswith(f" mark {case}")]
    return f"at {source}:{number} ("


def last_table(text):
    """The lines of the last table, with folded lines in one. A collective that fails may end ranks,
    whose end another table tells; then the table of the failure counts.
    """
    table = "tutti: where the ranks are"
    begin = text.find(f"{table} (a collective has failed)")
    head, *rest = text[begin if begin >= 0 else text.rindex(table) :].splitlines()
    lines = list(takewhile(lambda line: line.startswith("  "), rest))
    assert all(len(line) <= 80 for line in [head, *lines]), text
    rows = re.sub(r"\n {6}(?!at )", " ", "\n".join(lines))
    return [line.strip() for line in rows.splitlines()]


def in_language(source, words):
    """The types of a reduction, as the programs in Fortran and Python have them."""
    if source.endswith(".F90"):
        return words.replace("integers", "Fortran integers")
    return (
        words.replace(SUM, "natural numbers of 1 byte, MPI_BOR")
        if source.endswith(".py")
        else words
    )


def check_table(text, case, ranks, source="hangs.c"):
    """The last table of a job's stderr names the ranks at fault first, with their line, and says
    how they differ.
    """
    assert "tutti: where the ranks are" in text, text
    expected, last = BUGS[case], ranks - 1
    words = {
        "last": last,
        "before_last": last - 1,
        "others": f"ranks {list_of(range(last))}",
        "others_of_0": f"ranks {list_of(range(1, ranks))}",
    }
    rank = last if expected.rank is None else expected.rank
    rows = last_table(text)
    own = [i for i, row in enumerate(rows) if row.startswith(f"rank {rank}: ")]
    assert len(own) == 1 and not [row for row in rows[: own[0]] if row.startswith("ranks ")], text
    row, at = rows[own[0]], rows[own[0] + 1]
    assert row.startswith(f"rank {rank}: {in_language(source, expected.row).format(**words)}"), text
    if expected.at:
        assert at.startswith(marked_line(source, case)), text
    [difference] = [row for row in rows if row.startswith("difference: ")]
    assert in_language(source, expected.difference).format(**words) in difference, text
