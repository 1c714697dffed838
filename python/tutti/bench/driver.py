"""Runs the jobs of a benchmark: each repetition runs every variant once, in shuffled order.

The driver sleeps while a job runs, so that it uses no time of the measured cores.
"""

import itertools
import json
import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from tutti.bench.hosts import Hosts
from tutti.bench.load import watched
from tutti.bench.variants import Variant, binding_for, command, environment, variants_for
from tutti.bench.mpis import Mpi
from tutti.errors import RunError
from tutti.places import program
from tutti.processes import started

JOB_SECONDS = 600  # time limit of a job with the default collectives
# Open MPI's launcher (PMIx 5) sometimes fails with this message on a busy machine, before it has
# started a process.
LAUNCHER_FAILED = "PMIx server's listener thread failed to start"
NO_HEAP = "tutti-run: no shared heap"
COLLECTIVES = (
    "allreduce",
    "bcast",
    "reduce",
    "barrier",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
    "scan",
    "exscan",
    "gatherv",
    "scatterv",
    "allgatherv",
    "alltoallv",
    "reduce_scatter",
)
DEFAULT_COLLECTIVES = COLLECTIVES[:4]
CONDITIONS = ("plain", "mixed", "cold", "mixed+cold")
ROOTED = ("bcast", "reduce", "gather", "scatter", "gatherv", "scatterv")


@dataclass(frozen=True)
class Settings:
    """The options of `tutti bench` that say what to measure. Sizes are in bytes."""

    mpis: list[Mpi]
    ranks: list[int]
    cores: int
    collectives: list[str]
    sizes: list[int]
    repetitions: int
    dirty: bool = True
    tutti: bool = True
    heap: bool = False
    peer_settings: str = "auto"
    bind: str = "auto"
    budget_ms: int = 40
    seed: int | None = None
    every_root: bool = False
    kinds: str = (
        ""  # kinds of calls, as tutti-bench takes them; empty: each collective in each size
    )
    mixed: bool = False  # also measure the kinds in a shuffled order
    cold: int = 0  # also measure after each rank streamed over so many bytes; 0: do not
    order_seed: int = 1  # seed of the shuffled order of calls in one repetition

    @property
    def conditions(self) -> list[str]:
        """The conditions under which each kind of call is measured."""
        return [
            name
            for name in CONDITIONS
            if (self.mixed or "mixed" not in name) and (self.cold or "cold" not in name)
        ]

    def oversubscribed(self, ranks: int) -> bool:
        return ranks > self.cores

    def variants(self, ranks: int) -> list[Variant]:
        return variants_for(
            self.mpis, self.peer_settings, self.oversubscribed(ranks), self.tutti, self.heap
        )

    @property
    def jobs(self) -> int:
        return self.repetitions * sum(len(self.variants(ranks)) for ranks in self.ranks)

    def roots(self, collective: str, ranks: int) -> int:
        """How many roots are measured."""
        return ranks if self.every_root and collective in ROOTED else 1

    def job_seconds(self, ranks: int) -> float:
        """The time limit of a job, in seconds."""
        times = sum(self.roots(collective, ranks) for collective in self.collectives) * len(
            self.conditions
        )
        return JOB_SECONDS * max(1.0, times / len(DEFAULT_COLLECTIVES))


@dataclass(frozen=True, order=True)
class Cell:
    """A kind of call under a condition.

    `bytes` is the size of one rank's part, or of the whole vector if all ranks have it; 0 for a
    barrier.
    """

    ranks: int
    collective: str
    bytes: int
    element: str = "double"
    root: int | None = None  # only with --kinds, for collectives with a root
    communicator: str = "world"
    condition: str = "plain"

    @property
    def words(self) -> dict[str, Any]:
        """The cell for JSON, without fields that do not apply."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def size_words(self) -> dict[str, Any]:
        """The cell for JSON: only rank count, collective and size."""
        return {"ranks": self.ranks, "collective": self.collective, "bytes": self.bytes}

    def under(self, condition: str) -> "Cell":
        return replace(self, condition=condition)


@dataclass
class Samples:
    """Times of one cell and variant in microseconds, one for each repetition.

    With several roots, `median` is the median of the roots' medians, `mean` the mean of their
    means, `least` the smallest of their minima and `percentile_95` the largest of their
    percentiles.
    """

    median: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    percentile_95: list[float] = field(default_factory=list)
    # If every root was measured: for each root its medians, by repetition.
    by_root: list[list[float]] = field(default_factory=list)

    def add(self, entries: list[dict[str, Any]], every_root: bool) -> None:
        """Adds one repetition: tutti-bench's entries for all roots, in the order of the roots."""
        medians = [entry["median_us"] for entry in entries]
        self.median.append(median(medians))
        self.mean.append(fmean(entry["mean_us"] for entry in entries))
        self.least.append(min(entry["min_us"] for entry in entries))
        self.percentile_95.append(max(entry["p95_us"] for entry in entries))
        if every_root:
            self.by_root = self.by_root or [[] for _ in medians]
            for times, time in zip(self.by_root, medians, strict=True):
                times.append(time)


@dataclass
class Measurements:
    settings: Settings
    cells: dict[Cell, dict[str, Samples]] = field(default_factory=dict)
    # Cells not measured, because their buffers need more memory than tutti-bench allows.
    left_out: list[Cell] = field(default_factory=list)
    # By variant: the version text of the MPI library.
    libraries: dict[str, str] = field(default_factory=dict)
    # By rank count and variant: the flag exchange on the cores of each job, in microseconds. Empty
    # if ranks share cores.
    flags: dict[tuple[int, str], list[float]] = field(default_factory=dict)
    limits: list[dict[str, Any]] = field(default_factory=list)  # one for each repetition
    # By rank count and variant, and repetition: for each condition, the nanoseconds in which a
    # cache line went from one core to another.
    hand_overs: dict[tuple[int, str], list[dict[str, list[float]]]] = field(default_factory=dict)
    # By rank count and variant, and repetition: the share of the ranks' cores that other processes
    # used. None: not known.
    loads: dict[tuple[int, str], list[float | None]] = field(default_factory=dict)
    seed: int | None = None  # of everything that is shuffled

    def _cell(self, ranks: int, entry: dict[str, Any]) -> Cell:
        root = entry.get("root") if self.settings.kinds else None
        details = {
            name: entry[name] for name in ("element", "communicator", "condition") if name in entry
        }
        return Cell(ranks, entry["collective"], entry["bytes"], root=root, **details)

    def add(self, ranks: int, variant: Variant, job: dict[str, Any]) -> None:
        self.libraries[variant.key] = job["library"]
        if "flag_exchange_us" in job:
            self.flags.setdefault((ranks, variant.key), []).append(job["flag_exchange_us"])
        hand_overs = {entry["condition"]: entry["ns"] for entry in job.get("hand_overs", [])}
        self.hand_overs.setdefault((ranks, variant.key), []).append(hand_overs)
        self.loads.setdefault((ranks, variant.key), []).append(job.get("share_of_others"))
        for entry in job.get("left_out", []):
            cell = self._cell(ranks, entry)
            if cell not in self.left_out:
                self.left_out.append(cell)
        by_cell: dict[Cell, list[dict[str, Any]]] = {}
        for entry in job["cells"]:
            by_cell.setdefault(self._cell(ranks, entry), []).append(entry)
        for cell, entries in by_cell.items():
            samples = self.cells.setdefault(cell, {}).setdefault(variant.key, Samples())
            samples.add(entries, self.settings.every_root and cell.collective in ROOTED)


def _what_failed(text: str) -> str:
    """One line of a job's output that tells what failed.

    This is the first line of one of Tutti's programs, else the last paragraph without the frame
    that launchers draw around it.
    """
    lines = [line.strip() if line.strip(" -=") else "" for line in text.splitlines()]
    ours = [line for line in lines if line.startswith(("tutti", "tutti-bench"))]
    paragraphs = [" ".join(group) for full, group in itertools.groupby(lines, bool) if full]
    return ours[0] if ours else (paragraphs or ["it said nothing"])[-1]


def execute(
    words: list[str], env: dict[str, str], seconds: float = JOB_SECONDS
) -> tuple[int, str, str]:
    """Runs a job to its end and returns (exit code, stdout, stderr). No process of it remains.

    Raises RunError after `seconds`.
    """
    with started(words, env, subprocess.PIPE) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise RunError(f"the job did not end within {seconds:.0f} s") from error
    return process.returncode, out, err


def execute_job(
    words: list[str], env: dict[str, str], seconds: float = JOB_SECONDS
) -> tuple[int, str, str]:
    """As `execute`, and runs the job once more if the launcher itself failed to start."""
    done = execute(words, env, seconds)
    return (
        execute(words, env, seconds)
        if done[0] != 0 and LAUNCHER_FAILED in done[2] + done[1]
        else done
    )


@dataclass(frozen=True)
class JobNodes:
    """The emulated nodes that a job runs on, and the number of ranks on each."""

    hosts: Hosts
    per_node: int


def run_job(
    settings: Settings,
    ranks: int,
    variant: Variant,
    directory: Path,
    nodes: JobNodes | None = None,
    variables: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Runs one mpiexec job with all cells and returns the JSON that tutti-bench wrote.

    `variables` are added to its environment. Raises RunError if the job fails.
    """
    result, ground = directory / "job.json", directory / "ground"
    for file in (result, ground):
        file.unlink(missing_ok=True)
    bench = [
        str(program(f"tutti-bench-{variant.mpi.abi}")),
        *(("--kinds", settings.kinds) if settings.kinds else ()),
        "--collectives", ",".join(settings.collectives),
        "--sizes", ",".join(map(str, settings.sizes)),
        *(("--mixed", "--seed", str(settings.order_seed)) if settings.mixed else ()),
        *(("--cold", str(settings.cold)) if settings.cold else ()),
        "--budget-ms", str(settings.budget_ms),
        "--dirty" if settings.dirty else "--no-dirty",
        *(("--root", "every") if settings.every_root else ()),
        *(("--ground", str(ground)) if nodes else ()),
        "--json", str(result),
    ]  # fmt: skip
    binding = binding_for(settings.bind, settings.oversubscribed(ranks))
    launcher = program("tutti-run") if variant.tutti else None
    where = f"{variant.label}, {ranks} ranks"
    environ = environment(variant, binding, directory) | dict(variables or {})
    words = command(variant, ranks, binding, bench, launcher)
    if nodes:
        words = nodes.hosts.command(variant, ranks, nodes.per_node, bench, launcher)
        environ |= nodes.hosts.variables
    try:
        with watched(ranks) as watch:
            code, out, err = execute_job(words, environ, settings.job_seconds(ranks))
    except OSError as error:
        raise RunError(f"{where}: {error}") from error
    except RunError as error:
        raise RunError(f"{where}: {error}") from error
    if code != 0 or not result.exists():
        raise RunError(f"{where}: exit code {code}: {_what_failed(err + out)}")
    job: dict[str, Any] = json.loads(result.read_text())
    if variant.heap and NO_HEAP in err:
        raise RunError(f"{where}: {_what_failed(err)}")
    if job["interposed"] != variant.tutti:
        raise RunError(
            f"{where}: Tutti was {'not ' if variant.tutti else ''}loaded; see `tutti doctor`"
        )
    return job | {"share_of_others": watch.share}


def measure_limits() -> dict[str, Any]:
    code, out, err = execute([str(program("tutti-limits"))], dict(os.environ), 120)
    if code != 0:
        raise RunError(f"tutti-limits: exit code {code}: {_what_failed(err)}")
    limits: dict[str, Any] = json.loads(out)
    return limits


def run(settings: Settings, before_job: Callable[[str], None]) -> Measurements:
    """Runs all jobs; `before_job` gets a line before each job."""
    seed = settings.seed if settings.seed is not None else random.randrange(1 << 31)
    shuffle = random.Random(seed)
    measurements = Measurements(settings, seed=seed)
    with tempfile.TemporaryDirectory(prefix="tutti-bench-") as directory:
        for repetition in range(settings.repetitions):
            measurements.limits.append(measure_limits())
            # All variants of a repetition use the same order of calls; each repetition has another.
            one = replace(settings, order_seed=shuffle.randrange(1 << 31))
            for ranks in settings.ranks:
                variants = settings.variants(ranks)
                shuffle.shuffle(variants)
                for variant in variants:
                    before_job(
                        f"{repetition + 1}/{settings.repetitions}, {ranks} ranks, {variant.label}"
                    )
                    measurements.add(ranks, variant, run_job(one, ranks, variant, Path(directory)))
    return measurements
