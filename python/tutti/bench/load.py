"""How much of the cores other processes use while a job runs: two that poll in the background can triple a ratio.

The system counts for each core how long it was busy with processes; what this process and those that it started and waited
for used is known as well, launchers and ranks included. The rest is others' work.
"""

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

MOST_SHARE = 0.05  # of the cores that the ranks need; beyond it a run is marked
LEAST_SECONDS = 0.04  # the system counts in ticks of 10 ms: less tells nothing
STAT = Path("/proc/stat")
PROCESS_FIELDS = 3  # of a core's line: user, nice, system; the others are idle, interrupts, and what other machines took


@dataclass(frozen=True)
class Sample:
    """At one instant, all in seconds."""

    at: float
    busy: float | None  # of the cores, with processes; None where the system does not tell
    own: float


def busy_seconds(text: str, cores: set[int], hertz: int) -> float | None:
    """From /proc/stat; None where a core is missing or nothing was ever counted, as in some containers."""
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
    """How much of so many cores other processes used between the two."""
    seconds = after.at - before.at
    if before.busy is None or after.busy is None or seconds <= 0:
        return None
    others = (after.busy - before.busy) - (after.own - before.own)
    return others / (seconds * cores) if others > LEAST_SECONDS else 0.0


@dataclass
class Watch:
    """Of one `with watched()` block, known at its end."""

    cores: int
    before: Sample
    after: Sample | None = field(default=None)

    @property
    def share(self) -> float | None:
        return None if self.after is None else share_of_others(self.before, self.after, self.cores)


@contextmanager
def watched(ranks: int) -> Iterator[Watch]:
    """Watches the cores that this process may use while the block runs a job of so many ranks, to its end."""
    cores = os.sched_getaffinity(0)
    watch = Watch(max(1, min(ranks, len(cores))), sample(cores))
    yield watch
    watch.after = sample(cores)
