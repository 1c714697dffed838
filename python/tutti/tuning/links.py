"""HMPI's equation (1) with this machine's numbers: how many ranks of a group a binary tree bears without congestion.

b is the time for a byte over one core's link: a core copies what its neighbour has just written, and nobody else works.
B is the time for a byte over what all share: all pairs of the group copy at once, and their bytes count together. Both are
measured by threads of this process, each bound to a core; the copies themselves run without the interpreter. They are long
against the time that it takes to let all threads go at once.
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
# Nanoseconds a byte of the slowest copy, with all of these pairs at work.
Measure = Callable[[Sequence[Pair]], float]


@dataclass(frozen=True)
class Links:
    """Of the first group of a level (`all`: of all cores, where the machine tells of no groups)."""

    level: str
    cores: int
    alone: float  # b, nanoseconds a byte
    shared: float  # B
    leaves: int

    @property
    def text(self) -> str:
        return (
            f"{WHERE[self.level]} {self.cores} cores: b = {self.alone:.3f} ns a byte (one pair), "
            f"B = {self.shared:.3f} (all pairs at once); a binary tree bears {self.leaves} leaves"
        )


def _worker(pair: Pair, barrier: threading.Barrier, spent: list[float]) -> None:
    import numpy as np  # slow to load, and no other command needs it

    writer, reader = pair
    source, target = np.empty(BYTES, dtype=np.uint8), np.zeros(BYTES, dtype=np.uint8)
    for repetition in range(REPETITIONS + 1):
        # One thread plays both parts, because where it runs decides whose cache holds what it wrote.
        os.sched_setaffinity(0, {writer})
        source.fill(repetition)
        os.sched_setaffinity(0, {reader})
        barrier.wait()
        begin = time.perf_counter()
        np.copyto(target, source)
        if repetition > 0:  # the first touches its pages
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
    """By level the processing units of its first group, a core each, of those that this process may run on."""
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
    """None of fewer than two cores: there is no link."""
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
    """For each level that divides this machine, the outermost first."""
    found = (links_of(level, units, measured) for level, units in _groups())
    return [one for one in found if one is not None]
