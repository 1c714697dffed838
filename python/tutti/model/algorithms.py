"""Measurements of whole algorithms: among bound threads of this machine by tutti-threads, and over
MPI jobs by tutti-bench under tutti-run.

One job measures all algorithms, one trial after another in a shuffled order: a trial has a table
that names one algorithm for every collective. Each repetition is a job.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.bench import driver
from tutti.bench.driver import execute_own
from tutti.bench.mpis import Mpi
from tutti.bench.variants import Variant
from tutti.choose.candidates import algorithms_for, bench_name
from tutti.errors import UserError
from tutti.model.measure import Steps, Unit, measure_steps, steps_of
from tutti.places import core
from tutti.rows import PrintedRow, job_of, microseconds, rows_of
from tutti.tuning.measuring import chosen_by

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


CELL_MS = 20  # the time of a cell of a job
LEAST_REPETITIONS = 2
Key = tuple[str, str, int]  # collective, algorithm, bytes


@dataclass(frozen=True)
class Grid:
    """The calls to measure over jobs. `budget`: seconds in all; 0: as long as it takes."""

    mpi: Mpi
    names: Sequence[str]
    ranks: int
    sizes: Sequence[int]
    repetitions: int
    cores: int
    mapped: bool  # under tutti-run --shared-heap
    shuffled: bool
    with_steps: bool  # also measure the costs of this machine's steps
    budget: float = 0

    @property
    def trials(self) -> list[dict[str, str]]:
        """An algorithm for each collective: the k-th trial has the k-th one of every collective."""
        algorithms = {name: algorithms_for(self.ranks, name) for name in self.names}
        return [
            {name: specs[k] for name, specs in algorithms.items() if k < len(specs)}
            for k in range(max(map(len, algorithms.values())))
        ]

    @property
    def cell_ms(self) -> int:
        """Milliseconds for a cell, of which each trial has one for each of its calls."""
        if self.budget == 0:
            return CELL_MS
        calls = sum(
            len(self.sizes) if name != "barrier" else 1 for trial in self.trials for name in trial
        )
        conditions = 2 if self.shuffled else 1
        most = self.budget * 1000 / (calls * conditions * self.repetitions)
        return max(1, min(CELL_MS, int(most)))


def table_of(trial: dict[str, str]) -> str:
    rules = [f"{name} -> builtin:{algorithm}\n" for name, algorithm in trial.items()]
    return "tutti-map 1\n" + "".join(rules)


def trials_text(trials: Sequence[dict[str, str]]) -> str:
    """The file of `tutti-bench --trials`."""
    return "".join(f"trial {','.join(map(bench_name, one))}\n{table_of(one)}" for one in trials)


def _served(grid: Grid, trials: Sequence[dict[str, str]], directory: Path) -> set[Key]:
    """The cells in which the algorithm of the trial's table runs, and not another in its place."""
    table = directory / "asked.map"
    found = set()
    for trial in trials:
        table.write_text(table_of(trial))
        with chosen_by(None):
            for name, algorithm in trial.items():
                for size in grid.sizes if name != "barrier" else (0,):
                    runs = core().explain(
                        name, size, grid.ranks, 0, grid.ranks > grid.cores, [], str(table),
                        reached=grid.mapped,
                    )["runs"]  # fmt: skip
                    if runs == algorithm:
                        found.add((name, algorithm, size))
    return found


def _run(grid: Grid, repetition: int, directory: Path) -> dict[Key, float]:
    """Median microseconds, by one job. Raises RunError."""
    trials = grid.trials
    file = directory / "trials"
    file.write_text(trials_text(trials))
    ours = {bench_name(name): name for name in grid.names}
    with chosen_by(None):
        cells = driver.cells_of_one_job(
            Variant(grid.mpi, "default", True, grid.mapped),
            grid.ranks,
            grid.cores,
            list(ours),
            grid.sizes,
            directory,
            budget_ms=grid.cell_ms,
            mixed=grid.shuffled,
            order_seed=repetition + 1,
            trials=(str(file), len(trials)),
        )
    return {
        (name, trials[one["trial"] - 1][name], one["bytes"]): one["median_us"]
        for one in cells
        for name in (ours[one["collective"]],)
    }


def run_over_jobs(
    grid: Grid, say: Callable[[str], None] = lambda line: None
) -> tuple[dict[Key, list[float]], list[Steps]]:
    """Microseconds by (collective, algorithm, bytes) and repetition; and, before the first
    repetition and after each, the costs of this machine's steps, if asked for.

    With a budget there may be fewer repetitions than asked for. `say` takes a line before each
    repetition. Raises RunError.
    """
    times: dict[Key, list[float]] = {}
    begin = time.monotonic()
    steps: list[Steps] = [measure_steps()] if grid.with_steps else []
    with tempfile.TemporaryDirectory(prefix="tutti-check-") as name:
        directory = Path(name)
        served = _served(grid, grid.trials, directory)
        for repetition in range(grid.repetitions):
            say(f"{grid.ranks} ranks, repetition {repetition + 1} of {grid.repetitions}")
            began = time.monotonic()
            for key, us in _run(grid, repetition, directory).items():
                if key in served:
                    times.setdefault(key, []).append(us)
            if grid.with_steps:
                steps.append(measure_steps())
            now = time.monotonic()
            out_of_time = grid.budget and now - begin + (now - began) > grid.budget
            if out_of_time and repetition + 1 >= LEAST_REPETITIONS:
                break
    return times, steps
