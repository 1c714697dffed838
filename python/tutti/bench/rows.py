"""The rows of measurements: one time in each. Programs print other documents today; reading.py makes
rows of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """One time of one call of one variant in one repetition."""

    what: str  # a collective, a transfer or a way to make one
    variant: str  # the MPI, its setting, and whether Tutti was there; empty without an MPI
    host: str  # the MPI's name; empty without one
    ranks: int
    nodes: int
    bytes: int
    call: dict[str, Any]  # how the call was made: its form, root, type, and whatever else applies
    repetition: int
    nanoseconds: float
    statistic: str = "median"  # over the calls of the repetition
    conditions: dict[str, Any] = field(default_factory=dict)  # those of the machine

    @property
    def microseconds(self) -> float:
        return self.nanoseconds / 1000


def times_of(rows: Iterable[Row], *names: str) -> dict[Any, list[float]]:
    """Nanoseconds by repetition, for each value of these fields of Row (or words of its call)."""
    found: dict[Any, list[float]] = {}
    for row in rows:
        key = tuple(getattr(row, name) if hasattr(row, name) else row.call[name] for name in names)
        found.setdefault(key if len(key) > 1 else key[0], []).append(row.nanoseconds)
    return found
