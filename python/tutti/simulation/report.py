"""Simulations: ratios of times to Tutti's time for each cell, and their geometric means; and
tables, JSON and plots of these.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti import __version__
from tutti.bench.statistics import SLOWER_BELOW
from tutti.bench.texts import in_colour, optional_time, size_text
from tutti.figures import Line, Panel, draw_panels
from tutti.simulation.jobs import Cell, Run, Settings
from tutti.simulation.machines import Machine, Memory, Network
from tutti.simulation.variants import SELECTORS, TUTTI, Variant
from tutti.tables import Table, table_of, words

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


def machines_table(machines: list[Machine]) -> Table:
    def link(one: Network | Memory) -> str:
        return f"{one.latency_us + 2 * one.overhead_us:g} us, {one.gigabytes:g} GB/s"

    columns = [
        words("name", lambda one: one.name),
        words("nodes x cores", lambda one: f"{one.nodes} x {one.cores}"),
        words("between nodes", lambda one: link(one.network)),
        words(
            "within a node",
            lambda one: f"{link(one.memory)}, {one.memory.shared_gigabytes:g} shared",
        ),
    ]
    return table_of("Clusters that `tutti sim --machine` knows", columns, machines)


def ratio_text(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return in_colour(ratio, ratio < SLOWER_BELOW, ratio > 1)


def variant_label(key: str | None) -> str:
    if key is None:
        return "-"
    return "best" if key == BEST else Variant(key).label


def _title(results: Results) -> str:
    settings, machine = results.settings, results.settings.machine
    clusters = f" in {machine.clusters.count} clusters" if machine.clusters.count > 1 else ""
    compared = ", and how many times faster Tutti is" if results.tutti and results.others else ""
    where = f"{machine.name}, {machine.nodes} nodes of {machine.cores}{clusters}"
    return f"{settings.ranks} simulated ranks on {where}: microseconds{compared}"


def _row(results: Results, cell: Cell, roots: bool) -> list[str]:
    row = [cell.collective, "-" if cell.collective == "barrier" else size_text(cell.bytes)]
    if roots:
        row.append(str(cell.root))
    if results.tutti:
        row.append(optional_time(results.time(TUTTI, cell)))
    for key in results.compared if results.tutti else results.others:
        row.append(
            variant_label(results.best(cell))
            if key == BEST
            else optional_time(results.time(key, cell))
        )
        if results.tutti:
            row.append(ratio_text(results.ratio(key, cell)))
    return row


def _mean_row(results: Results, collective: str, roots: bool) -> list[str]:
    cells = [cell for cell in results.settings.cells if collective in ("all", cell.collective)]
    row = [f"{collective}, mean", *[""] * (2 if roots else 1), ""]
    for key in results.compared:
        row += ["", ratio_text(results.mean(key, cells))]
    return row


def results_table(results: Results) -> Table:
    cells = results.settings.cells
    roots = any(cell.root != 0 for cell in cells)
    table = Table(title=_title(results), title_justify="left")
    for column in ("collective", "size", *(["root"] if roots else [])):
        table.add_column(column)
    for key in [
        *([TUTTI] if results.tutti else []),
        *(results.compared if results.tutti else results.others),
    ]:
        table.add_column(variant_label(key), justify="right")
        if results.tutti and key != TUTTI:
            table.add_column("", justify="right")
    collectives = list(dict.fromkeys(cell.collective for cell in cells))
    for collective in collectives:
        own = [cell for cell in cells if cell.collective == collective]
        for cell in own:
            table.add_row(*_row(results, cell, roots))
        if results.tutti and results.others and len(own) > 1:
            table.add_row(*_mean_row(results, collective, roots), style="bold")
        table.add_section()
    if results.tutti and results.others and len(collectives) > 1:
        table.add_row(*_mean_row(results, "all", roots), style="bold")
    return table


def show(results: Results, console: Console) -> None:
    console.print(results_table(results))
    for note in notes(results):
        console.print(f"note: {note}", highlight=False, markup=False, soft_wrap=True)


def _panel(results: Results, collective: str, root: int, roots: bool) -> Panel:
    settings = results.settings
    cells = [one for one in settings.cells if (one.collective, one.root) == (collective, root)]
    lines = [
        Line(
            Variant(key).label,
            [results.time(key, cell) for cell in cells],
            place,
            "-" if key == TUTTI else "--",
            "o" if key == TUTTI else "x",
            at=(place + 0.5) / len(results.runs) - 0.5,
        )
        for place, key in enumerate(results.runs)
    ]
    title = f"{collective}, root {root}" if roots else collective
    return Panel(title, [cell.bytes for cell in cells], lines)


def draw(results: Results, stem: Path) -> list[Path]:
    """Draws a panel for each collective and root into STEM.png and STEM.svg."""
    settings = results.settings
    roots = any(cell.root != 0 for cell in settings.cells)
    panels = dict.fromkeys((cell.collective, cell.root) for cell in settings.cells)
    return draw_panels(
        [_panel(results, collective, root, roots) for collective, root in panels],
        "simulated us",
        stem,
        title=f"{settings.ranks} simulated ranks on {settings.machine.name}",
    )
