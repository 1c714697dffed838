"""Predictions of calls: one for each algorithm and size."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.errors import UserError
from tutti.places import core


@dataclass(frozen=True)
class Where:
    """The ranks of a call on a machine, and how they move data."""

    ranks: int
    # Names from the outside in, each with the group of each rank.
    levels: list[tuple[str, list[int]]]
    nodes: list[int]  # the node of each rank; empty: one node
    reach: str  # slots; mapped: they reach each other's buffers; threads; or cma, by the system
    segment: int  # bytes of a segment that a rule would ask for; 0: none
    arrivals: list[float]  # ns, by rank; empty: all come at once


@dataclass(frozen=True)
class Cell:
    algorithm: str
    size: int
    found: dict[str, Any]  # as tutti._core.Model.predict returns it

    @property
    def microseconds(self) -> float:
        return float(self.found["ns"]) / 1000


def predict(
    model: Any,
    plan: Any,
    algorithm: str,
    size: int,
    where: Where,
    events: bool = False,
    trace: Path | None = None,
    goal: bool = False,
) -> Cell:
    """`trace`: the file for the trace of this prediction, if one is wanted; `goal`: the call as a
    GOAL schedule, too.
    """
    try:
        found = model.predict(
            plan,
            size,
            where.levels,
            where.nodes,
            where.reach,
            where.segment,
            where.arrivals,
            events,
            str(trace or ""),
            goal,
        )
    except core().Error as error:
        raise UserError(f"{algorithm}: {error}") from error
    return Cell(algorithm, size, found)


def shared_levels(levels: str) -> list[tuple[str, list[int]]]:
    """The levels of `Placed.levels`, as numbers, without the word `known`."""
    words = [word.partition(":") for word in levels.split() if word != "known"]
    return [(name, [int(group) for group in groups.split(",")]) for name, _, groups in words]


def parse_late(text: str | None, ranks: int) -> list[float]:
    """Reads `3=2.5,7=10`: rank 3 comes 2.5 us after the others, rank 7 comes 10 us after them."""
    if text is None:
        return []
    arrivals = [0.0] * ranks
    for word in text.split(","):
        rank, _, time = word.partition("=")
        try:
            late = float(time)
            index = int(rank)
        except ValueError:
            raise UserError(
                f"--late: '{word}' is not RANK=MICROSECONDS, as in --late 3=2.5,7=10"
            ) from None
        if not 0 <= index < ranks:
            raise UserError(f"--late: rank {index} is out of range; ranks are 0 to {ranks - 1}")
        if not 0 <= late <= 1e7:
            raise UserError(f"--late: {time} is out of range; give 0 to 10000000 microseconds")
        arrivals[index] = late * 1000
    return arrivals
