"""HMPI's equation (1) with this machine's numbers: how many leaves a binary tree can have in a
group without congestion.

b is the time per byte over one core's link: one core copies what its neighbour has just written,
and all other cores are idle. B is the time per byte over the shared link: all cores of the group
copy at the same time, and their bytes are added. tutti-threads measures both, as costs of steps.
"""

import os
from dataclasses import dataclass
from typing import Any

from tutti.model.measure import by_length, measure_steps, shared_costs
from tutti.places import core
from tutti.plan.machine import Machine

BYTES = str(4 << 20)
WHERE = {
    "node": "all",
    "socket": "a socket's",
    "numa": "a numa region's",
    "cache": "a shared cache's",
}


@dataclass(frozen=True)
class Links:
    """Measurements of the first group of a level."""

    level: str
    cores: int
    alone: float  # b, nanoseconds per byte
    shared: float  # B, nanoseconds per byte

    @property
    def leaves(self) -> int:
        leaves: int = core().leaves_without_congestion(self.cores, self.alone, self.shared)
        return leaves

    @property
    def text(self) -> str:
        return (
            f"{WHERE[self.level]} {self.cores} cores: b = {self.alone:.3f} ns per byte (one core), "
            f"B = {self.shared:.3f} (all at once); a binary tree can have {self.leaves} leaves "
            "without congestion"
        )


def links_of(level: str, cores: int, steps: dict[str, Any]) -> Links:
    """The links of a group of so many cores, from the costs of steps in it."""
    return Links(level, cores, by_length(steps["read"])[BYTES], shared_costs(steps, "read")[BYTES])


def links_of_this_machine() -> list[Links]:
    """The links of each level, the outermost first; none on a single processing unit."""
    if len(os.sched_getaffinity(0)) < 2:
        return []
    here = Machine.this()
    groups = {level: here.place().groups(level) for level in WHERE if level != "node"}
    return [
        links_of(level, len(groups[level][0].ranks) if groups.get(level) else here.cores, steps)
        for level, steps in measure_steps()
        if level in WHERE
    ]
