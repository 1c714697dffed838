"""`tutti model check`: predictions beside measurements, and what choosing by prediction costs.

tutti-threads measures a grid of algorithms and sizes among bound threads of this machine, or
tutti-bench over MPI jobs.
"""

import itertools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from statistics import fmean, median
from typing import Any

import numpy as np

from tutti.bench.mpis import Mpi
from tutti.choose.candidates import algorithms_for, levels_here
from tutti.model.algorithms import Grid, Late, MeasuredCall, run_algorithms, run_over_jobs
from tutti.model.measure import Steps, machine_here, units_here
from tutti.places import core
from tutti.predict.machines import model_of
from tutti.predict.prediction import Where, predict, shared_levels
from tutti.rows import grouped, members

OUTLIER = 0.25
STEADY = 1.3  # hand-overs that differ by a smaller factor are of one state of the machine
LEAST_STEADY = 3
RESOLUTION = 1e-3  # microseconds; a call that is quicker than the clock measures 0


def family_of(algorithm: str) -> str:
    """The family of an algorithm, by the word before its first colon or plus."""
    name = algorithm.partition(":")[0].partition("+")[0]
    return next((one["family"] for one in core().algorithms() if one["name"] == name), "other")


@dataclass(frozen=True)
class Compared:
    """A cell of the grid: predictions and measurements in microseconds, by repetition.

    If the machine is measured in each repetition, so is the prediction made.
    """

    collective: str
    algorithm: str
    ranks: int
    size: int
    predictions: list[float]
    measurements: list[float]

    @property
    def family(self) -> str:
        return family_of(self.algorithm)

    @property
    def predicted_us(self) -> float:
        return median(self.predictions)

    @property
    def measured_us(self) -> float:
        return median(self.measurements)

    @property
    def error(self) -> float:
        """The median of the repetitions' errors; above 0: predicted longer than measured."""
        pairs = zip(self.predictions, self.measurements, strict=True)
        return median(one / other for one, other in pairs if other > 0) - 1

    @property
    def spread(self) -> float:
        """Half the distance of the measurements' quartiles, as a share of their median."""
        distance = float(np.subtract(*np.quantile(self.measurements, (0.75, 0.25))))
        return distance / 2 / self.measured_us


@dataclass(frozen=True)
class Regret:
    """The cost of the algorithm that is predicted best over the one that was measured best."""

    collective: str
    ranks: int
    size: int
    chosen: str
    best: str
    lost: float  # 0.1: it takes 10% longer


@dataclass(frozen=True)
class Checked:
    cells: list[Compared]
    machines: list[dict[str, Any]]  # the mean of each grid's repetitions, or the one given
    left_out: int = 0  # repetitions in which the machine changed
    mixed: bool = False  # nothing is left out, as too few repetitions would be left


@dataclass(frozen=True)
class Conditions:
    """How the calls are made. `mpi`: over its jobs; without one among threads of this machine.

    `shuffled`: all kinds in a shuffled order, not each many times. `late`: a rank comes late; times
    then count from its call on. `budget`: seconds for the jobs in all; 0: as long as they take.
    """

    reach: str = "threads"
    shuffled: bool = False
    late: Late | None = None
    mpi: Mpi | None = None
    budget: float = 0


State = tuple[float, float]  # nanoseconds of a hand-over, and of writing to what another has read


@dataclass(frozen=True)
class Measured:
    """Microseconds by (collective, algorithm, bytes) and repetition.

    `steps`: the costs of this machine before the first repetition and after each, if measured.
    `states`: by repetition, the state in which the cores were (bench/steps/core_state.h), or None if
    they did not stay in it; empty if that was not looked at.
    """

    times: dict[tuple[str, str, int], list[float]]
    steps: list[Steps]
    states: list[State | None] = field(default_factory=list)


def _among_threads(
    names: Sequence[str],
    ranks: int,
    sizes: Sequence[int],
    repetitions: int,
    conditions: Conditions,
    with_steps: bool,
) -> Measured:
    calls = [MeasuredCall(name, one) for name in names for one in algorithms_for(ranks, name)]
    units = units_here() if with_steps else []
    found = run_algorithms(
        calls, ranks, sizes, repetitions, conditions.reach, units, conditions.shuffled,
        conditions.late,
    )  # fmt: skip
    steps: list[Steps] = [
        [(unit.level, one) for unit, one in zip(units, row, strict=True)]
        for row in found.get("steps", [])
    ]
    times = {
        (one["collective"], one["algorithm"], one["bytes"]): one["us"]
        for one in found["cells"]
        if one["served"] == one["algorithm"]
    }
    stayed = [
        one and all(unit["steady"] for _, unit in row)
        for one, row in zip(found["steady"], steps[1:] or [[]] * repetitions, strict=True)
    ]
    states = [
        tuple(one) if same else None for one, same in zip(found["states"], stayed, strict=True)
    ]
    return Measured(times, steps, states)


def compare(
    model: Any,
    names: Sequence[str],
    ranks: int,
    sizes: Sequence[int],
    repetitions: int,
    conditions: Conditions,
    say: Callable[[str], None] = lambda line: None,
) -> Checked:
    """All algorithms that serve the collectives. A cell that another one serves is left out.

    Without a model the machine is measured in each repetition, because the cores of a virtual
    machine may change their places. Among threads all measurements wait for one state of the cores
    (bench/steps/core_state.h); over jobs repetitions are left out in which they changed it.
    """
    if conditions.mpi is not None:
        grid = Grid(
            conditions.mpi, names, ranks, sizes, repetitions, len(os.sched_getaffinity(0)),
            conditions.reach == "mapped", conditions.shuffled, model is None, conditions.budget,
        )  # fmt: skip
        measured = Measured(*run_over_jobs(grid, say))
        repetitions = len(next(iter(measured.times.values())))
    else:
        measured = _among_threads(names, ranks, sizes, repetitions, conditions, model is None)
    if model is None:
        here = _machines_of(measured, repetitions)
    else:
        given = json.loads(model.text)
        here = Machines(range(repetitions), [model] * repetitions, given, mixed=False)
    levels, late = levels_here(ranks), conditions.late
    arrivals = [0.0] * ranks if late else []
    if late:
        arrivals[late.rank] = late.microseconds * 1000
    where = Where(ranks, shared_levels(levels), [], conditions.reach, 0, arrivals)
    cells = []
    for (collective, algorithm, size), taken in measured.times.items():
        plan = core().generate(collective, algorithm, ranks, 0, levels)
        waited = late.microseconds if late else 0
        times = [
            predict(one, plan, algorithm, size, where).microseconds - waited for one in here.models
        ]
        mine = [taken[place] for place in here.kept]
        cells.append(Compared(collective, algorithm, ranks, size, times, mine))
    return Checked(cells, [here.machine], repetitions - len(here.kept), here.mixed)


@dataclass(frozen=True)
class Machines:
    """The repetitions that are compared, the model of each, and the machine of all.

    `mixed`: they are all that there are, in several states, as too few were in one.
    """

    kept: Sequence[int]
    models: list[Any]
    machine: dict[str, Any]
    mixed: bool


def _machines_of(measured: Measured, repetitions: int) -> Machines:
    if measured.states:
        alike = of_one_state(measured.states)
    else:
        alike = steady([row[-1][1]["exchange"] for row in measured.steps])
    mixed = len(alike) < LEAST_STEADY
    kept = range(repetitions) if mixed else alike
    machine = machine_here([measured.steps[place + 1] for place in kept])
    if measured.states and not mixed:  # all in one state know it best
        machines = [machine] * len(kept)
    else:
        machines = [machine_here(measured.steps[place : place + 2]) for place in kept]
    models = [model_of(json.dumps(one), "tutti model measure") for one in machines]
    return Machines(kept, models, machine, mixed)


def steady(hand_overs: Sequence[float]) -> Sequence[int]:
    """The repetitions in which the machine stayed as it was, by a hand-over before and after.

    The host of a virtual machine may move its cores apart or together meanwhile.
    """
    return [
        place
        for place, (before, after) in enumerate(itertools.pairwise(hand_overs))
        if max(before, after) <= STEADY * min(before, after)
    ]


def of_one_state(states: Sequence[State | None]) -> Sequence[int]:
    """The repetitions in the state in which most of them were."""
    groups = [
        [place for place, other in enumerate(states) if one and other and _are_alike(one, other)]
        for one in states
    ]
    return max(groups, key=len)


def _are_alike(one: State, other: State) -> bool:
    pairs = zip(one, other, strict=True)
    return all(max(mine, theirs) <= STEADY * min(mine, theirs) for mine, theirs in pairs)


def regrets(cells: Sequence[Compared]) -> list[Regret]:
    """One for each collective, number of ranks and size."""
    result = []
    for key, here in grouped(cells, lambda one: (one.collective, one.ranks, one.size)).items():
        chosen = min(here, key=lambda one: one.predicted_us)
        best = min(here, key=lambda one: one.measured_us)
        pairs = zip(chosen.measurements, best.measurements, strict=True)
        times = median(max(one, RESOLUTION) / max(other, RESOLUTION) for one, other in pairs)
        # Repetition by repetition, the chosen one may be the quicker one.
        result.append(Regret(*key, chosen.algorithm, best.algorithm, max(0.0, times - 1)))
    return result


def judged(cells: Sequence[Compared]) -> list[Compared]:
    """The cells with a core for each rank: with more ranks the scheduler decides, which is not
    modelled.
    """
    cores = len(os.sched_getaffinity(0))
    return [one for one in cells if one.ranks <= cores]


def families(cells: Sequence[Compared]) -> dict[str, dict[str, float]]:
    """For each family: the number of cells, and the median and 90th percentile of errors.

    Cells with more ranks than cores are left out.
    """
    result = {}
    for family, mine in grouped(judged(cells), attrgetter("family")).items():
        errors = [abs(one.error) for one in mine]
        result[family] = {
            "cells": len(errors),
            "median": median(errors),
            "percentile_90": float(np.quantile(errors, 0.9)),
            "spread": median(one.spread for one in mine),
        }
    return result


# Members of Compared and of Regret in the document.
CELL = (
    "collective", "algorithm", "family", "ranks", "predicted_us", "measured_us", "error", "spread",
)  # fmt: skip
REGRET = ("collective", "ranks", "chosen", "best", "lost")


def as_json(checked: Checked) -> dict[str, Any]:
    cells, lost = checked.cells, regrets(checked.cells)
    rated = judged(cells)
    return {
        "format": "tutti-model-check 1",
        "machines": checked.machines,
        "left_out": checked.left_out,
        "mixed": checked.mixed,
        "cells": [
            members(one, *CELL, digits=4) | {"judged": one in rated, "bytes": one.size}
            for one in cells
        ],
        "families": families(cells),
        "regret": {
            "mean": fmean(one.lost for one in lost),
            "worst": max(one.lost for one in lost),
            "cells": [members(one, *REGRET, digits=4) | {"bytes": one.size} for one in lost],
        },
    }


def check(
    model: Any,
    names: Sequence[str],
    ranks: Sequence[int],
    sizes: Sequence[int],
    repetitions: int,
    conditions: Conditions,
    say: Callable[[str], None] = lambda line: None,
) -> Checked:
    """Measures and predicts. `say` takes a line before each step (see `steps_of`)."""
    cells: list[Compared] = []
    machines: list[dict[str, Any]] = []
    left_out, mixed = 0, False
    # Each number of ranks has its share of the time.
    conditions = replace(conditions, budget=conditions.budget / len(ranks))
    for count in ranks:
        if conditions.mpi is None:
            say(f"{', '.join(names)}, {count} ranks")
        one = compare(model, names, count, sizes, repetitions, conditions, say)
        cells += one.cells
        machines += one.machines if model is None or not machines else []
        left_out += one.left_out
        mixed = mixed or one.mixed
    return Checked(cells, machines, left_out, mixed)


def steps_of(ranks: Sequence[int], repetitions: int, conditions: Conditions) -> int:
    """How many lines `check` says."""
    return len(ranks) * (repetitions if conditions.mpi is not None else 1)
