"""Lists the jobs to measure, in shuffled order, and saves the results after every job, so that an
interrupted measurement can continue. Each mpiexec job measures one candidate of every collective.

First the candidates race: repetition k measures the default and every candidate that is still in
the race. The set of these candidates depends only on the repetitions before k, so a resumed
measurement runs the same jobs as one that was never stopped. Then as many repetitions measure only
the default and the picks.
"""

import json
import os
import random
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tutti.bench.measurements import Cell
from tutti.bench.mpis import Mpi
from tutti.choose.candidates import LONG_BYTES, Candidate, candidates_for
from tutti.choose.picking import DEFAULT, Pick, Times, in_the_race
from tutti.errors import UserError, cannot_write


@dataclass(frozen=True)
class TuneSettings:
    """The options of `tutti tune` that say what to measure. Sizes are in bytes."""

    mpi: Mpi | None  # None: predictions, and measurements among threads
    ranks: list[int]
    cores: int
    collectives: list[str]  # the core's names
    sizes: list[int]
    repetitions: int
    budget_ms: int
    margin: float
    seed: int
    leaves: tuple[int, ...] = ()  # numbers of leaves of binary trees, to try beside the others
    # Under `tutti-run --shared-heap`: each rank reaches all memory that the others allocate.
    shared_heap: bool = False
    # Ranks may read each other's private memory by the system's copies (`reach cma`).
    system_copies: bool = False
    # The shape of a machine of which there are only predictions; None: this one.
    shape: str | None = None


@dataclass(frozen=True)
class Job:
    """A run of tutti-bench under a table that names one candidate for each of its collectives."""

    repetition: int
    ranks: int
    # (collective, label): a candidate's label, DEFAULT, or a label that begins with TUNED.
    labels: tuple[tuple[str, str], ...]
    sizes: tuple[int, ...]

    @property
    def text(self) -> str:
        words = list(dict.fromkeys(label for _, label in self.labels))
        shown = ", ".join(words[:3]) + (", ..." if len(words) > 3 else "")
        return f"{self.ranks} ranks, {shown}"


def racing(settings: TuneSettings, ranks: int, collective: str, before: Times) -> list[Candidate]:
    return [
        candidate
        for candidate in candidates_for(
            ranks, collective, settings.sizes, settings.leaves, settings.system_copies
        )
        if in_the_race(before, ranks, collective, candidate.label, settings.margin)
    ]


def _packed(
    repetition: int, ranks: int, by_collective: dict[str, list[Candidate]], sizes: list[int]
) -> list[Job]:
    """The k-th job measures the k-th candidate of every collective with at least k candidates."""
    longest = max((len(candidates) for candidates in by_collective.values()), default=0)
    return [
        Job(
            repetition,
            ranks,
            tuple(
                (name, list_[k].label) for name, list_ in by_collective.items() if k < len(list_)
            ),
            tuple(sizes),
        )
        for k in range(longest)
    ]


def jobs_of(settings: TuneSettings, repetition: int, ranks: int, before: Times) -> list[Job]:
    """The jobs of one repetition; none if every candidate has left the race.

    `before`: the times of the repetitions before this one.
    """
    candidates = {name: racing(settings, ranks, name, before) for name in settings.collectives}
    alive = [name for name in settings.collectives if candidates[name]]
    if not alive:
        return []
    whole = {name: [one for one in candidates[name] if not one.is_for_long] for name in alive}
    for_long = {name: [one for one in candidates[name] if one.is_for_long] for name in alive}
    jobs = [Job(repetition, ranks, tuple((name, DEFAULT) for name in alive), tuple(settings.sizes))]
    jobs += _packed(repetition, ranks, whole, settings.sizes)
    jobs += _packed(
        repetition, ranks, for_long, [size for size in settings.sizes if size > LONG_BYTES]
    )
    random.Random(f"{settings.seed} {repetition} {ranks}").shuffle(jobs)
    return jobs


def confirming_jobs(
    settings: TuneSettings, repetition: int, ranks: int, picks: list[Pick], label: str
) -> list[Job]:
    """Jobs that measure the default and the picks, for the collectives with a pick."""
    picked = {
        one.cell.collective for one in picks if one.cell.ranks == ranks and one.label is not None
    }
    names = [name for name in settings.collectives if name in picked]
    if not names:
        return []
    jobs = [
        Job(repetition, ranks, tuple((name, which) for name in names), tuple(settings.sizes))
        for which in (DEFAULT, label)
    ]
    random.Random(f"{settings.seed} {repetition} {ranks}").shuffle(jobs)
    return jobs


FORMAT = "tutti-tune-state 1"
# Settings that must be equal for a run to continue the measurement of another.
COMPARED = (
    "ranks",
    "cores",
    "collectives",
    "sizes",
    "repetitions",
    "budget_ms",
    "margin",
    "seed",
    "shared_heap",
    "system_copies",
)


def settings_json(settings: TuneSettings) -> dict[str, Any]:
    mpi = f"{settings.mpi.name} {settings.mpi.version}" if settings.mpi is not None else None
    return {name: getattr(settings, name) for name in COMPARED} | {"mpi": mpi}


def with_leaves(settings: TuneSettings, state: "State") -> TuneSettings:
    """The settings with the numbers of leaves from the start of the measurement.

    Another measurement of the links could give other numbers.
    """
    return replace(settings, leaves=tuple(state.settings.get("leaves", ())))


@dataclass
class State:
    """The finished jobs, each with microseconds by collective (the core's name) and size."""

    settings: dict[str, Any]
    seconds: float = 0.0
    done: dict[Job, dict[tuple[str, int], float]] = field(default_factory=dict)

    def times(
        self, first: int = 0, end: int | None = None
    ) -> dict[Cell, dict[str, dict[int, float]]]:
        """Times by cell, label and repetition, of the repetitions from `first` to `end` - 1."""
        times: dict[Cell, dict[str, dict[int, float]]] = {}
        for job, cells in self.done.items():
            if job.repetition < first or (end is not None and job.repetition >= end):
                continue
            labels = dict(job.labels)
            for (collective, size), median in cells.items():
                by_label = times.setdefault(Cell(job.ranks, collective, size), {})
                by_label.setdefault(labels[collective], {})[job.repetition] = median
        return times

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "settings": self.settings,
            "seconds": round(self.seconds, 1),
            "jobs": [
                asdict(job)
                | {
                    "cells": [
                        {"collective": name, "bytes": size, "median_us": us}
                        for (name, size), us in cells.items()
                    ]
                }
                for job, cells in self.done.items()
            ],
        }


def save(state: State, path: Path) -> None:
    """Writes the whole file or nothing, because Ctrl-C may come at any time. Raises RunError."""
    try:
        unfinished = path.with_name(path.name + ".new")
        unfinished.write_text(json.dumps(state.as_json()) + "\n")
        os.replace(unfinished, path)
    except OSError as error:
        raise cannot_write(error, path) from error


def load(path: Path, settings: TuneSettings) -> State:
    """Reads a state. Raises UserError if the file is no state or belongs to another measurement."""
    try:
        document = json.loads(path.read_text())
        if document["format"] != FORMAT:
            raise UserError(
                f"{path}: the format is '{document['format']}', not '{FORMAT}'; start again "
                "without --resume"
            )
        state = State(document["settings"], float(document["seconds"]))
        for job in document["jobs"]:
            key = Job(
                int(job["repetition"]),
                int(job["ranks"]),
                tuple((str(collective), str(label)) for collective, label in job["labels"]),
                tuple(map(int, job["sizes"])),
            )
            cells = {
                (str(cell["collective"]), int(cell["bytes"])): float(cell["median_us"])
                for cell in job["cells"]
            }
            if not {name for name, _ in cells} <= {name for name, _ in key.labels}:
                raise ValueError("a cell of a collective that its job did not measure")
            state.done[key] = cells
    except FileNotFoundError as error:
        raise UserError(
            f"--resume: there is no '{path}'; leave --resume out to start from the beginning"
        ) from error
    except OSError as error:
        raise UserError(f"--resume: '{path}': {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"--resume: '{path}' is not a state file of `tutti tune`; remove it and leave "
            "--resume out"
        ) from error
    asked = settings_json(settings)
    for name, value in asked.items():
        if state.settings.get(name) != value:
            was = state.settings.get(name)
            raise UserError(
                f"--resume: '{path}' was measured with {name} {was}, not {value}; give the same "
                "value, or leave --resume out"
            )
    return state
