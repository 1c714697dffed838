"""Saves the results after every job, so that an interrupted measurement can continue."""

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tutti.bench.measurements import Cell
from tutti.errors import UserError, cannot_write
from tutti.tuning.jobs import Job, TuneSettings

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
