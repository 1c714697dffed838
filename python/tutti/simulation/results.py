"""Ratios of times to Tutti's time for each cell, and their geometric means. Pure functions."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from tutti import __version__
from tutti.simulation.jobs import Cell, Run, Settings
from tutti.simulation.variants import SELECTORS, TUTTI, Variant

BEST = "best"  # the fastest of the MPIs' choices in each cell


@dataclass(frozen=True)
class Results:
    settings: Settings
    runs: dict[str, Run]  # indexed by variant

    @property
    def tutti(self) -> bool:
        return TUTTI in self.runs

    @property
    def others(self) -> list[str]:
        return [key for key in self.runs if key != TUTTI]

    @property
    def selectors(self) -> list[str]:
        return [key for key in self.runs if key in SELECTORS]

    @property
    def compared(self) -> list[str]:
        """The variants that Tutti is compared with, and the best MPI if there are several."""
        return self.others + ([BEST] if len(self.selectors) > 1 else [])

    def time(self, key: str, cell: Cell) -> float | None:
        """Microseconds; None if the cell could not be simulated."""
        best = self.best(cell) if key == BEST else key
        return self.runs[best].microseconds.get(cell) if best is not None else None

    def best(self, cell: Cell) -> str | None:
        """The MPI that is fastest in this cell; None if no MPI could be simulated."""
        times = {key: self.runs[key].microseconds.get(cell) for key in self.selectors}
        known = {key: time for key, time in times.items() if time is not None}
        return min(known, key=lambda key: known[key]) if known else None

    def ratio(self, key: str, cell: Cell) -> float | None:
        """How many times faster Tutti is in this cell; None if one of the two is not known."""
        own, other = self.time(TUTTI, cell), self.time(key, cell)
        return None if own is None or other is None else other / own

    def mean(self, key: str, cells: Iterable[Cell]) -> float | None:
        """The geometric mean of the known ratios; None if there are none."""
        ratios = [self.ratio(key, cell) for cell in cells]
        logs = [math.log(ratio) for ratio in ratios if ratio is not None]
        return math.exp(sum(logs) / len(logs)) if logs else None

    def verified(self, cell: Cell) -> bool:
        return all(cell in run.verified or cell in run.failed for run in self.runs.values())


def notes(results: Results) -> list[str]:
    """Remarks that explain the numbers."""
    said = []
    for key, run in results.runs.items():
        if run.report is None:
            continue
        label = "Tutti" if key == TUTTI else f"Tutti ({key})"
        if run.report["off"] is not None:
            said.append(f"{label} is off: {run.report['off']}")
        for row in run.report["collectives"]:
            if row["host_calls"] > 0:
                left = f"{row['host_calls']} calls of {row['collective']} ({row['size']})"
                said.append(
                    f"{label} left {left} to SMPI: "
                    f"{'; '.join(why['reason'] for why in run.report['host_reasons'])}"
                )
    for key, run in results.runs.items():
        for cell, why in run.failed.items():
            said.append(
                f"{Variant(key).label}, {cell.collective} of {cell.bytes} bytes: SMPI failed: {why}"
            )
    unverified = [cell for cell in results.settings.cells if not results.verified(cell)]
    if unverified:
        names = dict.fromkeys(f"{cell.collective} of {cell.bytes} bytes" for cell in unverified)
        said.append(
            "results not verified, because the check would need too much memory: "
            f"{', '.join(names)}"
        )
    return said


def _cell_json(results: Results, cell: Cell) -> dict[str, Any]:
    entry: dict[str, Any] = asdict(cell) | {
        "us": {key: results.time(key, cell) for key in results.runs},
        "verified": results.verified(cell),
    }
    if results.selectors:
        entry["best"] = results.best(cell)
    if results.tutti:
        entry["ratios"] = {key: results.ratio(key, cell) for key in results.compared}
    return entry


def as_json(results: Results) -> dict[str, Any]:
    settings = results.settings
    cells = settings.cells
    document: dict[str, Any] = {
        "format": "tutti-sim 1",
        "tutti": __version__,
        "machine": asdict(settings.machine),
        "ranks": settings.ranks,
        "deal": settings.deal,
        "warm": settings.warm,
        "operations": settings.operations,
        "variants": {variant.key: variant.label for variant in settings.variants},
        "cells": [_cell_json(results, cell) for cell in cells],
        "notes": notes(results),
        "reports": {key: run.report for key, run in results.runs.items() if run.report is not None},
    }
    if results.tutti:
        document["geometric_means"] = {key: results.mean(key, cells) for key in results.compared}
    return document
