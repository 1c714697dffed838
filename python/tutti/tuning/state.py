"""What was measured so far, kept in a file after every job, so that an interrupted measurement goes on."""

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tutti.bench.driver import Cell
from tutti.errors import RunError, UserError
from tutti.tuning.jobs import Job, TuneSettings

FORMAT = "tutti-tune-state 1"
# What two runs must agree in to be one measurement.
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
)


def settings_json(settings: TuneSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in COMPARED} | {
        "mpi": f"{settings.mpi.name} {settings.mpi.version}"
    }


def with_leaves(settings: TuneSettings, state: "State") -> TuneSettings:
    """As the measurement began: leaves come from what was measured then, and would come out otherwise now."""
    return replace(settings, leaves=tuple(state.settings.get("leaves", ())))


@dataclass
class State:
    """The jobs that have ended, with microseconds by collective (the core's name) and size."""

    settings: dict[str, Any]
    seconds: float = 0.0
    done: dict[Job, dict[tuple[str, int], float]] = field(default_factory=dict)

    def times(
        self, first: int = 0, end: int | None = None
    ) -> dict[Cell, dict[str, dict[int, float]]]:
        """By cell, label and repetition; of the repetitions from `first` to before `end` alone."""
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
    """At once or not at all: Ctrl-C may come at any time."""
    try:
        unfinished = path.with_name(path.name + ".new")
        unfinished.write_text(json.dumps(state.as_json()) + "\n")
        os.replace(unfinished, path)
    except OSError as error:
        raise RunError(f"cannot write '{error.filename}': {error.strerror}") from error


def load(path: Path, settings: TuneSettings) -> State:
    """Raises UserError where the file is no state, or of another measurement than the one asked for."""
    try:
        document = json.loads(path.read_text())
        if document["format"] != FORMAT:
            raise UserError(
                f"{path}: '{document['format']}' is another format than '{FORMAT}'; start anew without --resume"
            )
        state = State(document["settings"], float(document["seconds"]))
        for job in document["jobs"]:
            key = Job(
                int(job["repetition"]), int(job["ranks"]),
                tuple((str(collective), str(label)) for collective, label in job["labels"]), tuple(map(int, job["sizes"])),
            )  # fmt: skip
            cells = {
                (str(cell["collective"]), int(cell["bytes"])): float(cell["median_us"])
                for cell in job["cells"]
            }
            if not {name for name, _ in cells} <= {name for name, _ in key.labels}:
                raise ValueError("a cell of a collective that its job did not measure")
            state.done[key] = cells
    except FileNotFoundError as error:
        raise UserError(
            f"--resume: there is no '{path}'; leave --resume out to start anew"
        ) from error
    except OSError as error:
        raise UserError(f"--resume: '{path}': {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"--resume: '{path}' is no state of `tutti tune`; remove it and leave --resume out"
        ) from error
    asked = settings_json(settings)
    for name, value in asked.items():
        if state.settings.get(name) != value:
            was = state.settings.get(name)
            raise UserError(
                f"--resume: '{path}' was measured with {name} {was}, not {value}; ask for the same, or start anew"
            )
    return state
