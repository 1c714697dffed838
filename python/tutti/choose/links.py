"""HMPI's equation (1) with this machine's numbers: how many leaves a binary tree can have in a
group without congestion.

b is the time per byte over one core's link: one core copies what its neighbour has just written,
and all other cores are idle. B is the time per byte over the shared link: all pairs of the group
copy at the same time, and their bytes are added. Threads of this process, each bound to a core,
measure both. The copies run without the interpreter lock and take much longer than the start of
all threads.
"""

import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tutti.places import core
from tutti.plan.machine import Machine

BYTES = 4 << 20
REPETITIONS = 15
LEVELS = ("socket", "numa", "cache")
WHERE = {
    "all": "all",
    "socket": "a socket's",
    "numa": "a numa region's",
    "cache": "a shared cache's",
}

Pair = tuple[int, int]  # processing units: who writes, who copies
# Nanoseconds per byte of the slowest copy while all of these pairs copy.
Measure = Callable[[Sequence[Pair]], float]


@dataclass(frozen=True)
class Links:
    """Measurements of the first group of a level.

    The level `all` stands for all cores of a machine whose topology has no groups.
    """

    level: str
    cores: int
    alone: float  # b, nanoseconds per byte
    shared: float  # B, nanoseconds per byte
    leaves: int

    @property
    def text(self) -> str:
        return (
            f"{WHERE[self.level]} {self.cores} cores: b = {self.alone:.3f} ns per byte (one "
            f"pair), B = {self.shared:.3f} (all pairs at once); a binary tree can have "
            f"{self.leaves} leaves without congestion"
        )


def _worker(pair: Pair, barrier: threading.Barrier, spent: list[float]) -> None:
    import numpy as np  # slow to load, and no other command needs it

    writer, reader = pair
    source, target = np.empty(BYTES, dtype=np.uint8), np.zeros(BYTES, dtype=np.uint8)
    for repetition in range(REPETITIONS + 1):
        # One thread does both parts: the core that it runs on decides whose cache holds the bytes.
        os.sched_setaffinity(0, {writer})
        source.fill(repetition)
        os.sched_setaffinity(0, {reader})
        barrier.wait()
        begin = time.perf_counter()
        np.copyto(target, source)
        if repetition > 0:  # the first one includes page faults
            spent.append(time.perf_counter() - begin)
        barrier.wait()


def measure(pairs: Sequence[Pair]) -> float:
    barrier = threading.Barrier(len(pairs))
    spent: list[list[float]] = [[] for _ in pairs]
    threads = [
        threading.Thread(target=_worker, args=(pair, barrier, of))
        for pair, of in zip(pairs, spent, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statistics.median(max(of[k] for of in spent) for k in range(REPETITIONS)) / BYTES * 1e9


def _groups() -> list[tuple[str, list[int]]]:
    """For each level, the processing units of its first group, one for each usable core."""
    cores = core().load_tree("").cores
    units = {at: one["processing_units"][0] for at, one in enumerate(cores) if one["usable"]}
    placed = Machine.this().place()
    found = []
    for level in LEVELS:
        groups = placed.groups(level)
        if len(groups) > 1:
            found.append((level, [units[rank] for rank in groups[0].ranks if rank in units]))
    return found or [("all", list(units.values()))]


def links_of(level: str, units: Sequence[int], measured: Measure = measure) -> Links | None:
    """Measures the links between cores; None for fewer than two cores."""
    pairs = [(units[at], units[at + 1]) for at in range(0, len(units) - 1, 2)]
    if not pairs:
        return None
    alone = measured(pairs[:1])
    shared = (measured(pairs) if len(pairs) > 1 else alone) / len(pairs)
    return Links(
        level,
        len(units),
        alone,
        shared,
        core().leaves_without_congestion(len(units), alone, shared),
    )


def links_of_this_machine(measured: Measure = measure) -> list[Links]:
    """The links of each level that divides this machine, the outermost first."""
    found = (links_of(level, units, measured) for level, units in _groups())
    return [one for one in found if one is not None]
