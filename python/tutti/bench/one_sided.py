"""`tutti bench --one-sided`: what one-sided transfers and servers take, beside what the machine
takes for the same, among two threads and between two processes of an MPI job, on two cores.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti import rows as rows_
from tutti.bench.cores import two_cores
from tutti.bench.driver import execute_own, execute_rows
from tutti.bench.mpis import Mpi
from tutti.bench.statistics import Ratio, centre, compare
from tutti.bench.texts import interval_text, ratio_text
from tutti.bench.variants import Variant, command, environment
from tutti.places import program
from tutti.tables import Table

SECONDS = 600

# The way that is measured, the way that it is compared with, how often that goes into it, and the
# words for both.
Row = tuple[str, str, int, str, str]
BY_CALLER: tuple[Row, ...] = (
    ("put", "store", 1, "put of 8 B by the caller", "a store to the line"),
    ("get", "load", 1, "get of 8 B by the caller", "a load of the line"),
    ("served_put", "line", 4, "put of 8 B by a server", "4 ways of a line"),
    ("served_get", "line", 4, "get of 8 B by a server", "4 ways of a line"),
)
ROWS: tuple[Row, ...] = (
    *BY_CALLER,
    ("queue", "ring", 1, "a request through a queue", "through a bare ring"),
)
PROCESS_ROWS: tuple[Row, ...] = (
    *BY_CALLER,
    ("asleep_put", "wake", 1, "put of 8 B by a sleeping server", "waking a process"),
    ("asleep_get", "wake", 1, "get of 8 B by a sleeping server", "waking a process"),
    ("asleep_wait", "wake", 1, "the same, by tutti_wait", "waking a process"),
)


@contextmanager
def _only_on(cores: Sequence[int]) -> Iterator[None]:
    """While it lasts, this process and those that it starts run on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _document(rows: Sequence[rows_.Row]) -> dict[str, Any]:
    """The cores, and for each repetition the times of all calls."""
    times = rows_.times_by(rows_.rows_of(rows, "transfer"), "repetition", "call")
    return rows_.job_of(rows) | {"repetitions": list(times.values())}


def measure_threads(repetitions: int) -> dict[str, Any]:
    options = {"cores": two_cores("--one-sided"), "repetitions": repetitions}
    document = {"format": "tutti-transfers 1"} | _document(
        execute_own("transfers", options, SECONDS)
    )
    return document | {"ratios": ratios(ROWS, document["repetitions"])}


def measure_processes(mpi: Mpi, repetitions: int) -> dict[str, Any]:
    """Two ranks of a job of this MPI under tutti-run, bound to two cores, which alone it has."""
    variant = Variant(mpi, "default", tutti=True)
    bench = [str(program(f"tutti-ranks-{mpi.abi}")), "transfers", str(repetitions)]
    words = command(variant, 2, "core", bench, program("tutti-run"))
    with (
        tempfile.TemporaryDirectory(prefix="tutti-bench-") as directory,
        _only_on(two_cores("--one-sided")),
    ):
        rows = execute_rows(
            f"{variant.label}, 2 ranks",
            words,
            environment(variant, "core", Path(directory)),
            SECONDS,
        )
    document = {"mpi": mpi.name, "label": mpi.label} | _document(rows)
    return document | {"ratios": ratios(PROCESS_ROWS, document["repetitions"])}


def measure(
    repetitions: int, mpis: Sequence[Mpi], before_job: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """The document of `tutti bench --one-sided --json`; its times are nanoseconds."""
    before_job("threads")
    document = measure_threads(repetitions)
    document["processes"] = []
    for mpi in mpis:
        before_job(f"processes, {mpi.label}")
        document["processes"].append(measure_processes(mpi, repetitions))
    return document


def _compared(row: Row, repetitions: Sequence[dict[str, float]]) -> tuple[float, float, Ratio]:
    """The time of a row, the time beside it, and how many times as long the first is."""
    name, base, count, *_ = row
    own = [one[name] for one in repetitions]
    other = [count * one[base] for one in repetitions]
    return centre(own), centre(other), compare(own, other)


def ratios(rows: Sequence[Row], repetitions: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    """The ratio of each row: how many times as long it takes as the way beside it."""
    return [
        {"what": row[0], "beside": row[1], "times": row[2]} | asdict(_compared(row, repetitions)[2])
        for row in rows
    ]


def _table(title: str, rows: Sequence[Row], repetitions: Sequence[dict[str, float]]) -> Table:
    table = Table(title=title)
    table.add_column("what")
    table.add_column("ns", justify="right")
    table.add_column("beside it")
    table.add_column("ns", justify="right")
    table.add_column("ratio", justify="right")
    table.add_column("95%", justify="right")
    for row in rows:
        own, other, ratio = _compared(row, repetitions)
        table.add_row(
            row[3], f"{own:.1f}", row[4], f"{other:.1f}", ratio_text(ratio), interval_text(ratio)
        )
    return table


def show(document: dict[str, Any], console: Console) -> None:
    repetitions = document["repetitions"]
    cores = " and ".join(map(str, document["cores"]))
    title = f"one-sided transfers on cores {cores}, {len(repetitions)} repetitions"
    console.print(_table(title, ROWS, repetitions))
    for job in document["processes"]:
        cores = " and ".join(map(str, job["cores"]))
        title = f"between processes on cores {cores}, {job['label']}"
        console.print(_table(title, PROCESS_ROWS, job["repetitions"]))
    if not document["processes"]:
        console.print("No MPI was found, so no transfers between processes were measured.")
