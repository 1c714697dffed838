"""`tutti bench --one-sided`: what one-sided transfers and servers take, beside what the machine
takes for the same, among two threads on two cores.
"""

import json
import os
from typing import Any

from rich.console import Console
from rich.table import Table

from tutti.bench.driver import execute
from tutti.bench.statistics import centre, compare
from tutti.bench.texts import interval_text, ratio_text
from tutti.errors import RunError, UserError
from tutti.places import program

SECONDS = 600

# What is measured, what it is compared with, how often that goes into it, and the words for both.
ROWS = (
    ("put", "store", 1, "put of 8 B by the caller", "a store to the line"),
    ("get", "load", 1, "get of 8 B by the caller", "a load of the line"),
    ("served_put", "line", 4, "put of 8 B by a server", "4 ways of a line"),
    ("served_get", "line", 4, "get of 8 B by a server", "4 ways of a line"),
    ("queue", "ring", 1, "a request through a queue", "through a bare ring"),
)


def two_cores() -> tuple[int, int]:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise UserError(
            "--one-sided needs two cores, and this process may run on one; allow it more with "
            "taskset"
        )
    return cores[0], cores[1]


def measure(repetitions: int) -> dict[str, Any]:
    words = [str(program("tutti-transfers")), "--cores", ",".join(map(str, two_cores()))]
    code, out, err = execute([*words, "--repetitions", str(repetitions)], dict(os.environ), SECONDS)
    if code != 0:
        raise RunError(err.strip() or f"tutti-transfers: exit code {code}")
    document: dict[str, Any] = json.loads(out)
    return document


def show(document: dict[str, Any], console: Console) -> None:
    repetitions = document["repetitions"]
    times = {name: [one[name] for one in repetitions] for name in repetitions[0]}
    cores = " and ".join(map(str, document["cores"]))
    table = Table(title=f"one-sided transfers on cores {cores}, {len(repetitions)} repetitions")
    table.add_column("what")
    table.add_column("ns", justify="right")
    table.add_column("beside it")
    table.add_column("ns", justify="right")
    table.add_column("ratio", justify="right")
    table.add_column("95%", justify="right")
    for name, base, count, words, other_words in ROWS:
        other = [count * time for time in times[base]]
        ratio = compare(times[name], other)
        table.add_row(
            words,
            f"{centre(times[name]):.1f}",
            other_words,
            f"{centre(other):.1f}",
            ratio_text(ratio),
            interval_text(ratio),
        )
    console.print(table)
