"""Measurements of whole algorithms among bound threads of this machine, by tutti-threads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tutti.bench.driver import execute_own
from tutti.errors import UserError
from tutti.model.measure import Unit, steps_of
from tutti.places import core
from tutti.rows import PrintedRow, job_of, microseconds, rows_of

SECONDS = 3000
REACHES = ("threads", "mapped", "slots")


@dataclass(frozen=True)
class MeasuredCall:
    """A collective by an algorithm. `segment`: bytes that a rule would ask for, 0: none does.

    `sizes`: of its own; empty: those of all calls. `reach`: the word that a rule would say; "": none
    does.
    """

    collective: str
    algorithm: str
    segment: int = 0
    sizes: tuple[int, ...] = ()
    root: int = 0
    reach: str = ""

    @property
    def word(self) -> str:
        root = f":{self.root}" if self.root else ""
        segment = f"@{self.segment}" if self.segment else ""
        reach = f"^{self.reach}" if self.reach else ""
        sizes = "/" + ",".join(map(str, self.sizes)) if self.sizes else ""
        return f"{self.collective}{root}={self.algorithm}{segment}{reach}{sizes}"


@dataclass(frozen=True)
class Late:
    """A rank that makes each call so many microseconds after the others."""

    rank: int
    microseconds: float


def checked_reach(text: str) -> str:
    if text not in REACHES:
        raise UserError(f"--reach: '{text}' is none of {', '.join(REACHES)}")
    return text


def processing_units(ranks: int) -> list[int]:
    """One for each rank, the usable ones in turn."""
    usable = [one["processing_units"][0] for one in core().load_tree().cores if one["usable"]]
    return [usable[rank % len(usable)] for rank in range(ranks)]


def _cells_of(rows: Sequence[PrintedRow]) -> list[dict[str, Any]]:
    """The cells, each with microseconds by repetition."""
    cells: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        names = ("call", "root", "algorithm", "segment", "wanted_reach", "served")
        place = (*(row[name] for name in names), row.get("bytes", 0))
        cell = dict(zip((*names, "bytes"), place, strict=True))
        cell["collective"] = cell.pop("call")
        cells.setdefault(place, cell | {"us": []})["us"].append(microseconds(row["ns"]))
    return list(cells.values())


def run_algorithms(
    calls: Sequence[MeasuredCall],
    ranks: int,
    sizes: Sequence[int],
    repetitions: int,
    reach: str,
    units: Sequence[Unit] = (),
    shuffled: bool = False,
    late: Late | None = None,
) -> dict[str, Any]:
    """Measures by tutti-threads; the costs of steps on `units` in each repetition.

    Raises RunError.
    """
    options = {
        "cores": processing_units(ranks),
        "bytes": sizes,
        "repetitions": repetitions,
        "reach": reach,
    }
    words = [
        *(word for unit in units for word in ("--steps", ",".join(map(str, unit.units)))),
        *(("--shuffled",) if shuffled else ()),
        *(("--late", f"{late.rank}={late.microseconds:g}") if late else ()),
        *(call.word for call in calls),
    ]
    rows = execute_own("algorithms", options, SECONDS, words)
    states = rows_of(rows, "state")
    found = job_of(rows) | {
        "states": [[row["hand_over_ns"], row["rewriting_ns"]] for row in states],
        "steady": [row["steady"] for row in states],
        "cells": _cells_of(rows_of(rows, "algorithm")),
    }
    if units:
        steps = rows_of(rows, "step")
        found["steps"] = [
            [
                steps_of([row for row in steps if (row["repetition"], row["unit"]) == (one, unit)])
                for unit in range(len(units))
            ]
            for one in range(repetitions + 1)
        ]
    return found
