"""Measurements of whole algorithms over MPI jobs, by tutti-bench under tutti-run.

Each job runs under a table that names one algorithm for every collective, as in `tutti tune`.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tutti.bench.mpis import Mpi
from tutti.model.measure import Steps, measure_steps
from tutti.places import core
from tutti.tuning.candidates import algorithms_for
from tutti.tuning.jobs import Job, TuneSettings
from tutti.tuning.measuring import chosen_by, run_job, table_of

BUDGET_MS = 20  # of a cell of a job


def _jobs(names: Sequence[str], ranks: int, sizes: Sequence[int], repetition: int) -> list[Job]:
    """The k-th job has the k-th algorithm of every collective with so many."""
    algorithms = {name: algorithms_for(ranks, name) for name in names}
    return [
        Job(
            repetition,
            ranks,
            tuple((name, specs[k]) for name, specs in algorithms.items() if k < len(specs)),
            tuple(sizes),
        )
        for k in range(max(map(len, algorithms.values())))
    ]


def _served(job: Job, settings: TuneSettings, directory: Path) -> set[tuple[str, str, int]]:
    """The cells in which the algorithm of the job's table runs, and not another in its place."""
    table = directory / "asked.map"
    table.write_text(table_of(job))
    found = set()
    with chosen_by(None):
        for name, label in job.labels:
            for size in job.sizes if name != "barrier" else (0,):
                runs = core().explain(
                    name, size, job.ranks, 0, job.ranks > settings.cores, [], str(table),
                    reached=settings.shared_heap,
                )["runs"]  # fmt: skip
                if runs == label:
                    found.add((name, label, size))
    return found


def run_over_jobs(
    mpi: Mpi,
    names: Sequence[str],
    ranks: int,
    sizes: Sequence[int],
    repetitions: int,
    cores: int,
    mapped: bool,
    shuffled: bool,
    with_steps: bool,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[dict[tuple[str, str, int], list[float]], list[Steps]]:
    """Microseconds by (collective, algorithm, bytes) and repetition; and, before the first
    repetition and after each, the costs of this machine's steps, if asked for.

    `say` takes a line before each repetition. Raises RunError.
    """
    settings = TuneSettings(
        mpi, [ranks], cores, list(names), list(sizes), repetitions, BUDGET_MS, 0, 1,
        shared_heap=mapped,
    )  # fmt: skip
    times: dict[tuple[str, str, int], list[float]] = {}
    steps: list[Steps] = [measure_steps()] if with_steps else []
    with tempfile.TemporaryDirectory(prefix="tutti-check-") as name:
        directory = Path(name)
        served = None
        for repetition in range(repetitions):
            say(f"{ranks} ranks, repetition {repetition + 1} of {repetitions}")
            jobs = _jobs(names, ranks, sizes, repetition)
            if served is None:
                served = set().union(*(_served(job, settings, directory) for job in jobs))
            for job in jobs:
                labels: dict[str, Any] = dict(job.labels)
                for (name_, size), us in run_job(
                    settings, job, directory, "mixed" if shuffled else "plain"
                ).items():
                    key = (name_, labels[name_], size)
                    if key in served:
                        times.setdefault(key, []).append(us)
            if with_steps:
                steps.append(measure_steps())
    return times, steps
