"""`tutti bench --array`: what the reduction of a shared array takes among two threads, beside what
programs do without it (NUMACol, section 4.2.2: doubles, 2,048 and 131,072 of each rank).
"""

from typing import Any

from rich.console import Console

from tutti.bench.cores import two_cores
from tutti.bench.driver import execute_own
from tutti.bench.statistics import centre, compare
from tutti.bench.texts import interval_text, ratio_text
from tutti.rows import job_of, rows_of, times_by
from tutti.tables import Table

SECONDS = 600

# Each row has the way that is measured, the words for it, and the way without the call that it is
# compared with.
ROWS = (
    ("array", "tutti_reduce_array", ""),
    ("plain", "a loop, tutti_reduce of one element", "array"),
    ("vectors", "tutti_reduce of vectors, a loop", "array"),
    ("fold", "alone: tutti_fold of a part", ""),
    ("loop", "alone: a loop over a part", "fold"),
    ("one_element", "alone: tutti_reduce of one element", ""),
)


def measure(repetitions: int) -> dict[str, Any]:
    options = {"cores": two_cores("--array"), "repetitions": repetitions}
    rows = execute_own("array", options, SECONDS)
    times = times_by(rows_of(rows, "array"), "repetition", "elements", "call")
    return (
        {"format": "tutti-array 1"}
        | job_of(rows)
        | {
            "repetitions": [
                [{"elements": elements} | by_call for elements, by_call in one.items()]
                for one in times.values()
            ]
        }
    )


def times_by_length(document: dict[str, Any]) -> dict[int, dict[str, list[float]]]:
    """Nanoseconds by length and by what was measured, one for each repetition."""
    times: dict[int, dict[str, list[float]]] = {}
    for repetition in document["repetitions"]:
        for cell in repetition:
            of_length = times.setdefault(cell["elements"], {})
            for name, *_ in ROWS:
                of_length.setdefault(name, []).append(cell[name])
    return times


def show(document: dict[str, Any], console: Console) -> None:
    cores = " and ".join(map(str, document["cores"]))
    for length, times in times_by_length(document).items():
        table = Table(
            title=f"a sum of {length:,} doubles of each rank, on cores {cores}, "
            f"{len(document['repetitions'])} repetitions"
        )
        table.add_column("what")
        for heading in ("us", "times as long", "95%"):
            table.add_column(heading, justify="right")
        for name, words, base in ROWS:
            row = [words, f"{centre(times[name]) / 1000:.2f}"]
            if base:
                ratio = compare(times[name], times[base])
                row += [ratio_text(ratio), interval_text(ratio)]
            table.add_row(*row)
        console.print(table)
