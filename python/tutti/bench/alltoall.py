"""`tutti bench --one-sided --alltoall`: an all-to-all of gets between thread ranks, executed by the
ranks themselves and handed to servers ("Exploiting Communication Concurrency", section 5.2).
"""

from typing import Any

from rich.console import Console

from tutti.bench.cores import require_two
from tutti.bench.driver import execute_own
from tutti.bench.statistics import centre, compare
from tutti.bench.texts import interval_text, ratio_text, size_text, time_text
from tutti.rows import job_of, microseconds, rows_of, times_by
from tutti.tables import Table

SECONDS = 1800
RANKS = 16
SIZES = [8 << i for i in range(0, 14, 2)]  # to 32 KiB
# Ways of an all-to-all, in words; all are compared with the first.
WAYS = {
    "own": "by the ranks",
    "served": "by servers",
    "selective": "what gains by servers",
    "collective": "tutti_alltoall",
}


def measure(ranks: int, sizes: list[int], repetitions: int) -> dict[str, Any]:
    """A quarter of the cores, at least one, is the servers'."""
    cores = require_two("--alltoall")
    options = {
        "cores": cores,
        "ranks": ranks,
        "servers": max(1, len(cores) // 4),
        "bytes": sizes,
        "repetitions": repetitions,
    }
    rows = execute_own("alltoall", options, SECONDS)
    document: dict[str, Any] = {"format": "tutti-alltoall 1"} | job_of(rows)
    document["saturation_map"] = document["saturation_map"] or None
    times = times_by(rows_of(rows, "alltoall"), "bytes", "call", "repetition")
    document["cells"] = [
        {"bytes": size} | {way: [microseconds(one) for one in by_way[way].values()] for way in WAYS}
        for size, by_way in times.items()
    ]
    for cell in document["cells"]:
        cell["ratios"] = {
            way: vars(compare(cell["own"], cell[way])) for way in WAYS if way != "own"
        }
    return document


def show(document: dict[str, Any], console: Console) -> None:
    of_ranks = len(set(document["cores_of_ranks"]))
    table = Table(
        title=f"an all-to-all of gets, {document['ranks']} ranks on {of_ranks} core(s), "
        f"{document['servers']} server(s), at most 128 gets of a rank outstanding"
    )
    table.add_column("bytes")
    for way, words in WAYS.items():
        table.add_column(f"{words}, us", justify="right")
        if way != "own":
            table.add_column("faster", justify="right")
            table.add_column("95%", justify="right")
    for cell in document["cells"]:
        row = [size_text(cell["bytes"])]
        for way in WAYS:
            row.append(time_text(centre(cell[way])))
            if way != "own":
                ratio = compare(cell["own"], cell[way])
                row += [ratio_text(ratio), interval_text(ratio)]
        table.add_row(*row)
    console.print(table)
    rules = document["saturation_map"] or "their length alone (TUTTI_SATURATION names no map)"
    console.print(f"What gains is decided by {rules}.", highlight=False)
