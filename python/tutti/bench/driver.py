"""Runs the jobs of a benchmark: each repetition runs every variant once, in shuffled order.

The driver sleeps while a job runs, so that it uses no time of the measured cores.
"""

import itertools
import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tutti.bench.hosts import Hosts
from tutti.bench.load import busy, watched
from tutti.bench.measurements import JOB_SECONDS, LENGTHS, Measurements, Settings
from tutti.bench.variants import Variant, binding_for, command, environment
from tutti.errors import BusyError, RunError
from tutti.places import program
from tutti.processes import started
from tutti.rows import PrintedRow, job_of, microseconds, read_rows, rows_of

# tutti-bench says this if other load has taken every moment at which its ranks were to start.
MISSED = "every start was missed"
# Open MPI's launcher (PMIx 5) sometimes fails with this message on a busy machine, before it has
# started a process.
LAUNCHER_FAILED = "PMIx server's listener thread failed to start"
NO_HEAP = "tutti-run: no shared heap"


def what_failed(text: str) -> str:
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


def execute_own(
    kind: str, options: Mapping[str, object], seconds: float, more: Sequence[str] = ()
) -> list[PrintedRow]:
    """Runs tutti-threads, which measures a kind without any MPI, and returns its rows.

    An option of several values gets them in one word, with commas; `more` are words that follow.
    Raises RunError with the program's own message if it fails.
    """
    words = [str(program("tutti-threads")), kind]
    for option, value in options.items():
        values = value if isinstance(value, list | tuple) else [value]
        words += [f"--{option}", ",".join(map(str, values))]
    code, out, err = execute([*words, *more], dict(os.environ), seconds)
    if code != 0:
        raise RunError(err.strip() or f"tutti-threads {kind}: exit code {code}")
    return read_rows(out.splitlines())


def execute_job(
    words: list[str], env: dict[str, str], seconds: float = JOB_SECONDS
) -> tuple[int, str, str]:
    """Does the same as `execute`, and runs the job once more if the launcher itself failed to start."""
    done = execute(words, env, seconds)
    return (
        execute(words, env, seconds)
        if done[0] != 0 and LAUNCHER_FAILED in done[2] + done[1]
        else done
    )


def execute_rows(
    where: str, words: list[str], env: dict[str, str], seconds: float
) -> list[PrintedRow]:
    """Runs a job of one of Tutti's programs and returns its rows. Raises RunError."""
    try:
        code, out, err = execute_job(words, env, seconds)
    except (OSError, RunError) as error:
        raise RunError(f"{where}: {error}") from error
    rows = read_rows(out.splitlines())
    if code != 0 or not rows:
        raise RunError(f"{where}: exit code {code}: {what_failed(err + out)}")
    return rows


@contextmanager
def scratch() -> Iterator[Path]:
    """A directory for the files of jobs."""
    with tempfile.TemporaryDirectory(prefix="tutti-bench-") as name:
        yield Path(name)


@dataclass(frozen=True)
class JobNodes:
    """The emulated nodes that a job runs on, and the number of ranks on each."""

    hosts: Hosts
    per_node: int


def started_as(
    variant: Variant,
    ranks: int,
    binding: str,
    words: list[str],
    directory: Path,
    nodes: JobNodes | None = None,
) -> tuple[list[str], dict[str, str]]:
    """The command of a job of this program and its environment. A variant with Tutti runs under
    tutti-run."""
    launcher = program("tutti-run") if variant.tutti else None
    environ = environment(variant, binding, directory)
    if nodes is None:
        return command(variant, ranks, binding, words, launcher), environ
    started = nodes.hosts.command(variant, ranks, nodes.per_node, words, launcher)
    return started, environ | nodes.hosts.variables


def _what_to_measure(settings: Settings, ranks: int) -> list[str]:
    """The words for tutti-bench that say which operations a job measures."""
    beside = []
    if settings.overlap:
        beside = ["--overlap", ",".join(f"{time:.4f}" for time in settings.durations[ranks])]
    if settings.faces:
        return ["--halo", ",".join(map(str, settings.faces)), *beside]
    words = ["--kinds", settings.kinds] if settings.kinds else []
    words += ["--collectives", ",".join(settings.collectives)]
    words += ["--bytes", ",".join(map(str, settings.sizes))]
    if settings.lengths != LENGTHS[:1]:
        words += ["--lengths", ",".join(settings.lengths)]
    if settings.forms:
        words += ["--forms", ",".join(("blocking", *settings.forms))]
    return words + beside


def _cell_of(row: PrintedRow) -> dict[str, Any]:
    """A row of a call or of an exchange of ghost cells, in microseconds."""
    is_halo = row["what"] == "halo"
    cell = {"collective": "halo" if is_halo else row["call"], "bytes": row.get("bytes", 0)}
    if is_halo:
        cell["form"] = row["call"]
    for name, value in row.items():
        if name == "ns":
            cell["median_us"] = microseconds(value)
        elif name.endswith("_ns"):
            cell[f"{name.removesuffix('ns')}us"] = microseconds(value)
        elif name not in ("what", "call"):
            cell[name] = value
    return cell


def bench_job(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """The measurements of a job of tutti-bench, in microseconds."""
    job = job_of(rows) | {
        "cells": [_cell_of(row) for row in rows_of(rows, "call", "halo")],
        "hand_overs": [
            {"condition": row["condition"], "ns": [row["before_ns"], row["after_ns"]]}
            for row in rows_of(rows, "hand_over")
        ],
    }
    for row in rows_of(rows, "flag_exchange"):
        job["flag_exchange_us"] = microseconds(row["ns"])
    for row in rows_of(rows, "left_out"):
        if "form" in row:
            job["form_left_out"] = row["form"]
        else:
            job.setdefault("left_out", []).append(_cell_of(row))
    if first_round := rows_of(rows, "first_round"):
        job["first_round"] = [row["call"] for row in first_round]
    return job


def run_job(
    settings: Settings,
    ranks: int,
    variant: Variant,
    directory: Path,
    nodes: JobNodes | None = None,
    variables: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Runs one mpiexec job with all cells and returns what tutti-bench has measured.

    `variables` are added to its environment. Raises RunError if the job fails.
    """
    ground = directory / "ground"
    ground.unlink(missing_ok=True)
    bench = [
        str(program(f"tutti-bench-{variant.mpi.abi}")),
        *_what_to_measure(settings, ranks),
        *(("--mixed",) if settings.mixed else ()),
        *(("--trials", settings.trials[0]) if settings.trials[0] else ()),
        *(("--seed", str(settings.order_seed)) if settings.mixed or settings.trials[0] else ()),
        *(("--cold", str(settings.cold)) if settings.cold else ()),
        "--budget-ms", str(settings.budget_ms),
        "--dirty" if settings.dirty else "--no-dirty",
        *(("--root", "every") if settings.every_root else ()),
        *(("--ground", str(ground)) if nodes else ()),
    ]  # fmt: skip
    binding = binding_for(settings.bind, settings.oversubscribed(ranks))
    where = f"{variant.label}, {ranks} ranks"
    words, environ = started_as(variant, ranks, binding, bench, directory, nodes)
    environ |= dict(variables or {})
    try:
        with busy(settings.load), watched(ranks) as watch:
            code, out, err = execute_job(words, environ, settings.job_seconds(ranks))
    except (OSError, RunError) as error:
        raise RunError(f"{where}: {error}") from error
    rows = read_rows(out.splitlines())
    if code != 0 or not rows:
        failure = BusyError if MISSED in err else RunError
        raise failure(f"{where}: exit code {code}: {what_failed(err + out)}")
    job = bench_job(rows)
    if variant.heap and NO_HEAP in err:
        raise RunError(f"{where}: {what_failed(err)}")
    if job["interposed"] != variant.tutti:
        raise RunError(
            f"{where}: Tutti was {'not ' if variant.tutti else ''}loaded; see `tutti doctor`"
        )
    # Nobody need be told of a load that was asked for.
    return job | {"share_of_others": None if settings.load else watch.share}


def cells_of_one_job(
    variant: Variant,
    ranks: int,
    cores: int,
    collectives: Sequence[str],
    sizes: Sequence[int],
    directory: Path,
    **more: Any,
) -> list[dict[str, Any]]:
    """The cells of one job of one variant; `more` are fields of Settings. With `mixed` they are
    those of the shuffled order. Raises RunError."""
    settings = Settings(
        mpis=[variant.mpi],
        ranks=[ranks],
        cores=cores,
        collectives=list(collectives),
        sizes=list(sizes),
        repetitions=1,
        peer_settings="default",
        **more,
    )
    condition = "mixed" if settings.mixed else "plain"
    return [
        cell
        for cell in run_job(settings, ranks, variant, directory)["cells"]
        if cell.get("condition", "plain") == condition
    ]


def limits_of(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """The machine's own operations: nanoseconds, or by bytes GB/s of plain copies, else microseconds."""
    limits: dict[str, Any] = {"format": "tutti-limits 1"} | job_of(rows)
    for row in rows_of(rows, "limit"):
        name, size, time = row["call"], row.get("bytes"), row["ns"]
        if size is None:
            limits[f"{name}_ns"] = time
        elif name in ("copy_one_core", "copy_two_cores"):
            rate = None if time is None else round(size / time, 4)
            limits.setdefault(f"{name}_gb_per_s", {})[str(size)] = rate
        else:
            limits.setdefault(f"{name}_us", {})[str(size)] = microseconds(time)
    return limits


def measure_limits() -> dict[str, Any]:
    return limits_of(execute_own("limits", {}, 240))


def run(settings: Settings, before_job: Callable[[str], None]) -> Measurements:
    """Runs all jobs; `before_job` gets a line before each job."""
    seed = settings.seed if settings.seed is not None else random.randrange(1 << 31)
    shuffle = random.Random(seed)
    measurements = Measurements(settings, seed=seed)
    with scratch() as directory:
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
                    measurements.add(ranks, variant, run_job(one, ranks, variant, directory))
    return measurements
