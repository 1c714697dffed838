"""Measures how much of the cores other processes use while a job runs, and makes such processes.

Two processes that poll in the background can triple a ratio. The system counts for each core how
long it was busy with processes. It also counts the time of this process and of the processes that
it started and waited for, including launchers and ranks. The difference is the time of other
processes.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

MOST_SHARE = 0.05  # a share of the cores that the ranks need; a run with a larger share is marked
LEAST_SECONDS = 0.04  # the system counts in ticks of 10 ms; a smaller difference means nothing
STAT = Path("/proc/stat")
# The first fields of a core's line: user, nice, system. The others are idle time, interrupts, and
# time that other virtual machines used.
PROCESS_FIELDS = 3
MOST_BUSY = 64  # processes of busy()
# A busy process ends when the process that started it has ended, even by SIGKILL.
BUSY = """import os
parent = int(os.environ["TUTTI_BUSY_PARENT"])
while os.getppid() == parent:
    for _ in range(100000):
        pass
"""


@dataclass(frozen=True)
class Sample:
    """Counters at one instant, all in seconds."""

    at: float
    busy: float | None  # time the cores ran processes; None if the system does not count it
    own: float  # processor time of this process and its finished children


def busy_seconds(text: str, cores: set[int], hertz: int) -> float | None:
    """Seconds that the cores were busy, from the text of /proc/stat.

    None if a core is missing or all counters are 0, as in some containers.
    """
    ticks = {}
    for line in text.splitlines():
        name, *fields = line.split() or [""]
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in cores:
            ticks[name] = sum(map(int, fields[:PROCESS_FIELDS]))
    return sum(ticks.values()) / hertz if len(ticks) == len(cores) and any(ticks.values()) else None


def sample(cores: set[int]) -> Sample:
    try:
        busy = busy_seconds(STAT.read_text(), cores, os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError):
        busy = None
    mine, started = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return Sample(
        time.monotonic(), busy, mine.ru_utime + mine.ru_stime + started.ru_utime + started.ru_stime
    )


def share_of_others(before: Sample, after: Sample, cores: int) -> float | None:
    """The share of so many cores that other processes used between two samples."""
    seconds = after.at - before.at
    if before.busy is None or after.busy is None or seconds <= 0:
        return None
    others = (after.busy - before.busy) - (after.own - before.own)
    return others / (seconds * cores) if others > LEAST_SECONDS else 0.0


def marked(shares: Sequence[float | None]) -> list[int]:
    """The repetitions in which other processes used more than MOST_SHARE of the ranks' cores."""
    return [k for k, share in enumerate(shares) if share is not None and share > MOST_SHARE]


@dataclass
class Watch:
    """The samples of one `with watched()` block; `share` is None until the block ends."""

    cores: int
    before: Sample
    after: Sample | None = field(default=None)

    @property
    def share(self) -> float | None:
        return None if self.after is None else share_of_others(self.before, self.after, self.cores)


@contextmanager
def watched(ranks: int) -> Iterator[Watch]:
    """Samples this process's cores before and after the block, which runs a job to its end."""
    cores = os.sched_getaffinity(0)
    watch = Watch(max(1, min(ranks, len(cores))), sample(cores))
    yield watch
    watch.after = sample(cores)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes compute without pause on this process's cores during the block."""
    environ = dict(os.environ) | {"TUTTI_BUSY_PARENT": str(os.getpid())}
    made: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(processes):
            made.append(subprocess.Popen([sys.executable, "-S", "-c", BUSY], env=environ))
        yield
    finally:
        for one in made:
            one.kill()
        for one in made:
            one.wait()
