"""Runs the jobs of a tuning: tutti-bench under tutti-run, each job with a table of its own."""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tutti.bench import driver
from tutti.bench.variants import Variant
from tutti.choose.candidates import bench_name
from tutti.choose.found import NO_TABLE
from tutti.choose.picking import DEFAULT, TUNED, Pick, confirmed, pick, rules_of
from tutti.errors import RunError
from tutti.places import core
from tutti.tuning.jobs import Job, State, TuneSettings, confirming_jobs, jobs_of
from tutti.tuning.writing import rule_text

# Variables that change the choice of algorithms, or that record or report.
CLEARED = (
    "TUTTI_SEGMENT_BYTES",
    "TUTTI_PLANS",
    "TUTTI_TABLE",
    "TUTTI_REPRODUCIBLE",
    "TUTTI_REPORT",
    "TUTTI_TRACE",
    "TUTTI_CHECK",
    "TUTTI_DISABLE",
    "TUTTI_SHARED_HEAP",
)
RACE_SHARE = 0.75  # the race's share of the time, at most; the rest is for confirming
PICKED_FILE = "picked.map"
# Runs one job, with its files in a directory. Returns median microseconds by (collective, bytes).
Execute = Callable[[TuneSettings, Job, Path], dict[tuple[str, int], float]]


@contextmanager
def chosen_by(table: Path | None) -> Iterator[None]:
    """Sets the environment of this process and its children so that only a table chooses
    algorithms.

    Without a table (None) Tutti's default chooses, even if jobs would find a table. The environment is restored at the end.
    """
    saved = {name: value for name, value in os.environ.items() if name.startswith("TUTTI_")}
    try:
        for name in saved:
            if name in CLEARED or name.startswith("TUTTI_ALGORITHM_"):
                del os.environ[name]
        os.environ["TUTTI_TABLE"] = NO_TABLE if table is None else str(table)
        yield
    finally:
        os.environ.pop("TUTTI_TABLE", None)
        os.environ.update(saved)


def table_of(job: Job) -> str:
    """The table of a job that measures candidates."""
    rules = [f"{name} -> builtin:{label}\n" for name, label in job.labels if label != DEFAULT]
    return "tutti-map 1\n" + "".join(rules)


def picked_table(settings: TuneSettings, picks: list[Pick]) -> str:
    rules = rules_of(picks, settings.cores, core().line_payload, settings.shared_heap)
    return "tutti-map 1\n" + "".join(rule_text(rule) + "\n" for rule in rules)


def run_job(
    settings: TuneSettings, job: Job, directory: Path, condition: str = "plain"
) -> dict[tuple[str, int], float]:
    """Median microseconds by (collective, bytes), under a condition: plain, or mixed, which is in a
    shuffled order of all kinds. Raises RunError.
    """
    assert settings.mpi is not None
    ours = {bench_name(name): name for name, _ in job.labels}
    table = directory / PICKED_FILE
    if not any(label.startswith(TUNED) for _, label in job.labels):
        table = directory / "candidates.map"
        table.write_text(table_of(job))
    with chosen_by(table):
        cells = driver.cells_of_one_job(
            Variant(settings.mpi, "default", True, settings.shared_heap),
            job.ranks,
            settings.cores,
            list(ours),
            job.sizes,
            directory,
            budget_ms=settings.budget_ms,
            mixed=condition == "mixed",
            order_seed=job.repetition + 1,
        )
    return {(ours[one["collective"]], one["bytes"]): one["median_us"] for one in cells}


def _again_if_it_fails(
    execute: Execute, settings: TuneSettings, job: Job, directory: Path
) -> dict[tuple[str, int], float]:
    """Runs a job, and once more if it fails, because launchers sometimes fail on a busy machine."""
    try:
        return execute(settings, job, directory)
    except RunError:
        return execute(settings, job, directory)


def still_racing(settings: TuneSettings, state: State) -> bool:
    """True if another repetition would have jobs, so that some candidate is still in the race."""
    ended = len({job.repetition for job in state.done if job.repetition < settings.repetitions})
    before = state.times(end=ended)
    return any(jobs_of(settings, ended, ranks, before) for ranks in settings.ranks)


class Measuring:
    """One run of `tutti tune`: runs the jobs whose results `state` lacks, and adds the results.

    `before_job` gets a line, the number of finished jobs and the expected number of jobs.
    `after_job` is called after each job, to save the state.
    """

    def __init__(
        self,
        settings: TuneSettings,
        state: State,
        before_job: Callable[[str, int, int], None],
        after_job: Callable[[], None],
        execute: Execute = run_job,
    ) -> None:
        self.settings = settings
        self.state = state
        self.before_job = before_job
        self.after_job = after_job
        self.execute = execute

    def _repetition(
        self, number: int, jobs: list[Job], left: int, seconds: float, directory: Path
    ) -> bool:
        """Runs one repetition. False if the time ran out before its end.

        `left`: how many more repetitions are expected.
        """
        state = self.state
        ended = sum(job.repetition < number for job in state.done)
        for place, job in enumerate(jobs):
            if job in state.done:
                continue
            if state.seconds >= seconds:
                return False
            self.before_job(
                f"repetition {number + 1}, {job.text}",
                ended + place,
                ended + (left + 1) * len(jobs),
            )
            begin = time.monotonic()
            state.done[job] = _again_if_it_fails(self.execute, self.settings, job, directory)
            state.seconds += time.monotonic() - begin
            self.after_job()
        return True

    def _race(self, seconds: float, directory: Path) -> bool:
        repetitions = self.settings.repetitions
        for number in range(repetitions):
            before = self.state.times(end=number)
            jobs = [
                job
                for ranks in self.settings.ranks
                for job in jobs_of(self.settings, number, ranks, before)
            ]
            if not self._repetition(number, jobs, repetitions - number - 1, seconds, directory):
                return False
        return True

    def _confirm(self, picks: list[Pick], seconds: float, directory: Path) -> list[Pick]:
        settings = self.settings
        table = picked_table(settings, picks)
        (directory / PICKED_FILE).write_text(table)
        # The label names the table, because results for another table do not count. A resumed
        # race may pick another table.
        label = f"{TUNED} {hashlib.sha256(table.encode()).hexdigest()[:12]}"
        for number in range(settings.repetitions, 2 * settings.repetitions):
            jobs = [
                job
                for ranks in settings.ranks
                for job in confirming_jobs(settings, number, ranks, picks, label)
            ]
            if not self._repetition(
                number, jobs, 2 * settings.repetitions - number - 1, seconds, directory
            ):
                break
        return confirmed(
            picks, self.state.times(first=settings.repetitions), label, settings.margin
        )

    def run(self, seconds: float) -> tuple[list[Pick], list[Pick]]:
        """The picks of the race and the confirmed picks, within `seconds` of measurement in all."""
        with tempfile.TemporaryDirectory(prefix="tutti-tune-") as name:
            self._race(seconds * RACE_SHARE, Path(name))
            picks = pick(self.state.times(end=self.settings.repetitions), self.settings.margin)
            return picks, self._confirm(picks, seconds, Path(name))
