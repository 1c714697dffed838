"""Reads what the programs of bench/ and examples/apps print. The rows that they write (tutti.rows)
become the documents that `--json-file` keeps, and documents become rows to compare.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tutti.bench.rows import Row
from tutti.bench.variants import Variant
from tutti.errors import RunError
from tutti.rows import PrintedRow, job_of, microseconds, rows_of, times_by

# The words of a call in the documents of tutti-bench.
CALL = ("element", "communicator", "condition", "form", "lengths", "work", "root", "trial")
# The statistics of a cell of tutti-bench, by the names there.
STATISTICS = {
    "median_us": "median",
    "mean_us": "mean",
    "min_us": "least",
    "p95_us": "percentile_95",
    "start_us": "start",
    "others_us": "others",
    "wait_us": "wait",
}


def rows_of_job(
    job: dict[str, Any], ranks: int, variant: Variant, repetition: int = 0
) -> Iterator[Row]:
    """tutti-bench: the cells of a job, each with several statistics; with every root the cells of
    the roots follow each other."""
    conditions = {"share_of_others": job.get("share_of_others")}
    for cell in job["cells"]:
        call = {name: cell[name] for name in CALL if name in cell}
        call |= {name: cell[name] for name in ("work_us", "in_order") if name in cell}
        for name, statistic in STATISTICS.items():
            if name in cell:
                yield Row(
                    what=cell["collective"],
                    variant=variant.key,
                    host=variant.mpi.name,
                    ranks=ranks,
                    nodes=1,
                    bytes=cell["bytes"],
                    call=call,
                    repetition=repetition,
                    nanoseconds=1000 * cell[name],
                    statistic=statistic,
                    conditions=conditions,
                )


def rows_of_between(
    job: dict[str, Any], variant: Variant, delay: str, repetition: int = 0
) -> Iterator[Row]:
    """The kind `between` of tutti-ranks: one-sided transfers between two nodes, each with several statistics."""
    for cell in job["cells"]:
        for statistic in ("start", "whole", "compute", "beside"):
            if cell[f"{statistic}_us"] is not None:
                yield Row(
                    what=cell["kind"],
                    variant=variant.key,
                    host=variant.mpi.name,
                    ranks=2,
                    nodes=2,
                    bytes=cell["bytes"],
                    call={name: cell[name] for name in ("target", "way")}
                    | {"servers": variant.servers},
                    repetition=repetition,
                    nanoseconds=1000 * cell[f"{statistic}_us"],
                    statistic=statistic,
                    conditions={"delay": delay},
                )


def _of_threads(what: str, time: float, repetition: int, size: int = 0, **call: Any) -> Row:
    return Row(what, "", "", call.get("ranks", 2), 1, size, call, repetition, time)


def document_of_transfers(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """The cores, and for each repetition the nanoseconds of all ways."""
    times = times_by(rows_of(rows, "transfer"), "repetition", "call")
    return job_of(rows) | {"repetitions": list(times.values())}


def document_of_array(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """For each repetition and length the nanoseconds of all ways."""
    times = times_by(rows_of(rows, "array"), "repetition", "elements", "call")
    repetitions = [
        [{"elements": elements} | by_call for elements, by_call in one.items()]
        for one in times.values()
    ]
    return {"format": "tutti-array 1"} | job_of(rows) | {"repetitions": repetitions}


def document_of_alltoall(rows: Sequence[PrintedRow], ways: Sequence[str]) -> dict[str, Any]:
    """For each size the microseconds of all ways, by repetition."""
    document: dict[str, Any] = {"format": "tutti-alltoall 1"} | job_of(rows)
    document["saturation_map"] = document["saturation_map"] or None
    times = times_by(rows_of(rows, "alltoall"), "bytes", "call", "repetition")
    document["cells"] = [
        {"bytes": size} | {way: [microseconds(one) for one in by_way[way].values()] for way in ways}
        for size, by_way in times.items()
    ]
    return document


def document_of_openmp(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    cells = [
        {
            "variant": row["call"],
            "bytes": row["bytes"],
            "repetition": row["repetition"],
            "median_us": microseconds(row["ns"]),
        }
        for row in rows_of(rows, "openmp")
    ]
    return {"format": "tutti-openmp-1"} | job_of(rows) | {"cells": cells}


def rows_of_transfers(document: dict[str, Any]) -> Iterator[Row]:
    """The kind `transfers`: nanoseconds of ways to move 8 bytes."""
    for repetition, times in enumerate(document["repetitions"]):
        for way, time in times.items():
            yield _of_threads(way, time, repetition, 8)


def rows_of_array(document: dict[str, Any]) -> Iterator[Row]:
    """The kind `array`: nanoseconds of ways to reduce an array."""
    for repetition, cells in enumerate(document["repetitions"]):
        for cell in cells:
            for way, time in cell.items():
                if way != "elements":
                    elements = cell["elements"]
                    yield _of_threads(way, time, repetition, 8 * elements, elements=elements)


def rows_of_openmp(document: dict[str, Any]) -> Iterator[Row]:
    """tutti-openmp: microseconds of reductions by OpenMP and by Tutti's threads."""
    seen: dict[tuple[str, int], int] = {}
    for cell in document["cells"]:
        key = cell["variant"], int(cell["bytes"])
        seen[key] = seen.get(key, -1) + 1
        time = 1000 * float(cell["median_us"])
        yield _of_threads(key[0], time, seen[key], key[1], ranks=document["threads"])


KINDS = ("communication", "computation", "setup")


@dataclass(frozen=True)
class Answer:
    text: str
    tolerance: float  # relative; 0: the same text is expected


@dataclass(frozen=True)
class Output:
    """The output of an application. Times are in seconds."""

    whole: float
    phases: dict[str, tuple[str, float]]  # name: (kind, seconds), in the order printed
    least: dict[str, float]  # seconds by phase, of the rank that was in it for the shortest time
    answers: dict[str, Answer]
    notes: tuple[str, ...]  # lines that begin with #
    communication: float  # the time of the rank that communicates for the longest time


def parse_output(text: str) -> Output:
    """Reads an application's output. Raises RunError if it is not as examples/apps/phases.h says."""
    whole: float | None = None
    communication: float | None = None
    phases: dict[str, tuple[str, float]] = {}
    least: dict[str, float] = {}
    answers: dict[str, Answer] = {}
    tolerances: dict[str, float] = {}
    notes = []
    for line in text.splitlines():
        match line.split():
            case ["phase", name, kind, seconds] if kind in KINDS:
                phases[name] = (kind, _number(line, seconds))
            case ["least", name, seconds]:
                least[name] = _number(line, seconds)
            case ["answer", name, value]:
                answers[name] = Answer(value, tolerances.get(name, 0.0))
            case ["tolerance", name, value]:
                tolerances[name] = _number(line, value)
            case ["communication", seconds]:
                communication = _number(line, seconds)
            case ["whole", seconds]:
                whole = _number(line, seconds)
            case ["#", *_]:
                notes.append(line.lstrip("# "))
            case []:
                pass
            case _:
                raise RunError(f"the application printed a line that is not understood: '{line}'")
    if whole is None or communication is None:
        missing = "whole" if whole is None else "communication"
        raise RunError(f"the application printed no line '{missing} SECONDS'")
    for name, found in (("phase", phases), ("answer", answers)):
        if not found:
            raise RunError(f"the application printed no line '{name} NAME ...'")
    return Output(whole, phases, least, answers, tuple(notes), communication)


def _number(line: str, word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise RunError(f"the application printed no number in the line '{line}'") from None
