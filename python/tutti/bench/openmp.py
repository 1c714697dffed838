"""`tutti bench --openmp` compares ranks as threads with OpenMP's array reductions (HMPI, section
3.5).

OpenMP leaves one result that all threads share, so both reduce and allreduce are compared with it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from tutti.bench.driver import execute
from tutti.bench.statistics import centre, compare
from tutti.bench.texts import interval_text, ratio_text, size_text, time_text
from tutti.errors import RunError, UserError
from tutti.places import find_program
from tutti.rows import job_of, microseconds, read_rows, rows_of
from tutti.tables import Table

OPENMP = ("openmp_c", "openmp_fortran")
TUTTI = ("tutti_reduce", "tutti_allreduce")


@dataclass(frozen=True)
class Cell:
    """The medians of every variant in microseconds, one for each repetition."""

    bytes: int
    times: dict[str, list[float]]


def cells_of(document: dict[str, Any]) -> list[Cell]:
    times: dict[int, dict[str, list[float]]] = {}
    for cell in document["cells"]:
        times.setdefault(int(cell["bytes"]), {}).setdefault(cell["variant"], []).append(
            float(cell["median_us"])
        )
    return [Cell(size, by_variant) for size, by_variant in times.items()]


def measure(threads: int, sizes: Sequence[int], repetitions: int, budget_ms: int) -> dict[str, Any]:
    program = find_program("tutti-openmp")
    if program is None:
        raise UserError(
            "the program tutti-openmp is missing; build Tutti with a C compiler that has OpenMP"
        )
    words = [str(program), str(threads), str(repetitions), str(budget_ms), *map(str, sizes)]
    # Each thread's stack holds a private copy of the vector. Waiting threads keep their cores.
    environment = dict(os.environ) | {
        "OMP_STACKSIZE": f"{max(sizes) // 1024 + 8192}K",
        "OMP_DYNAMIC": "false",
    }
    if threads <= len(os.sched_getaffinity(0)):
        environment |= {"OMP_PROC_BIND": "true", "OMP_WAIT_POLICY": "active"}
    limited = ["sh", "-c", 'ulimit -s unlimited 2>/dev/null; exec "$@"', "sh", *words]
    code, out, err = execute(limited, environment)
    if code != 0:
        raise RunError(f"tutti-openmp: exit code {code}: {err.strip()}")
    rows = read_rows(out.splitlines())
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


def show(document: dict[str, Any], console: Console) -> None:
    cells = cells_of(document)
    table = Table(
        title=f"{document['threads']} ranks as threads: microseconds, and how many times faster "
        "than OpenMP"
    )
    names = [name for name in (*OPENMP, *TUTTI) if name in cells[0].times]
    bases = [name for name in OPENMP if name in names]
    table.add_column("bytes", justify="right")
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for base in bases:
        for other in TUTTI:
            table.add_column(
                f"{other.removeprefix('tutti_')} / {base.removeprefix('openmp_')}", justify="right"
            )
    for cell in cells:
        row = [size_text(cell.bytes), *(time_text(centre(cell.times[name])) for name in names)]
        for base in bases:
            for other in TUTTI:
                ratio = compare(cell.times[base], cell.times[other])
                row.append(f"{ratio_text(ratio)} {interval_text(ratio)}")
        table.add_row(*row)
    console.print(table)
