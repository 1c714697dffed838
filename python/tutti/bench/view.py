"""The command `tutti bench view`: tables of what was measured before, from files.

It reads the documents of `tutti bench calls --json`, rows that compare cells with the best MPI
(--csv, docs/data), and rows of medians (scripts/candidate_rows.py).
"""

import csv
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer

from tutti.bench.checks import output_file
from tutti.bench.measurements import Cell
from tutti.bench.statistics import (
    WIDE,
    Ratio,
    centre,
    has_two_modes,
    log_ratios,
    ratio_of_logs,
)
from tutti.bench.texts import (
    cells_text,
    interval_text,
    kind_text,
    ratio_columns,
    ratio_text,
    size_text,
    time_text,
)
from tutti.bench.words import parse_ranks
from tutti.errors import UserError, cannot_write
from tutti.options import option
from tutti.rows import grouped
from tutti.tables import Table, new_console, number, table_of, words

BEST = "best peer"
FORMATS = (
    "give a file of `tutti bench calls --json`, or a CSV file with the columns of docs/data or of "
    "scripts/candidate_rows.py"
)
OF_RULES = ("default", "host")  # the rules of rows that compare whole libraries
Times = dict[str, float]  # indexed by repetition
Place = tuple[int, str, int]  # ranks, collective, bytes
# The columns of --csv. Times are medians in microseconds; `ratio` is the best peer's time over
# Tutti's, and `low` and `high` are its 95% confidence interval.
COLUMNS = (
    "ranks", "variant", "collective", "bytes", "peer", "peer_us", "tutti_us", "ratio", "low",
    "high", "figure",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One cell: a variant with Tutti against an MPI without it."""

    ranks: int
    variant: str
    against: str  # an MPI, or BEST
    collective: str
    bytes: int
    peer: str  # the MPI; with BEST the fastest one in this cell
    peer_us: float
    tutti_us: float
    ratio: Ratio
    # Logarithms of the ratios by repetition; empty: the file does not have them.
    logs: tuple[float, ...]
    figure: str = "medians"  # the times that the ratio compares; "means" if times have two modes


def _row(
    place: Place, variant: str, times: dict[str, Times], against: str, means: dict[str, Times]
) -> Row:
    """`times`: medians of each variant. Only repetitions that have both are compared.

    Where `means` are given, they are compared if the times have two modes.
    """
    ranks, collective, size = place
    hosts = {name: one for name, one in times.items() if "+tutti" not in name}
    peer = against
    if against == BEST:
        peer = min(hosts, key=lambda name: centre([*hosts[name].values()]))
    base, own = hosts[peer], times[variant]
    base_us, own_us = centre([*base.values()]), centre([*own.values()])
    both = [name for name in base if name in own]

    def logs_of(some: dict[str, Times]) -> list[float]:
        return log_ratios(*([some[key][name] for name in both] for key in (peer, variant)))

    logs, figure = logs_of(times), "medians"
    ratio = ratio_of_logs(logs) if logs else Ratio(base_us / own_us, None, None)
    if means and ratio.wider(WIDE) and any(has_two_modes([*one.values()]) for one in (base, own)):
        logs, figure = logs_of(means), "means"
        ratio = ratio_of_logs(logs)
    return Row(
        ranks, variant, against, collective, size, peer, base_us, own_us, ratio, tuple(logs), figure
    )  # fmt: skip


def _compared(
    cells: dict[Place, dict[str, Times]], means: dict[Place, dict[str, Times]] | None = None
) -> list[Row]:
    rows = []
    for place, times in cells.items():
        hosts = [name for name in times if "+tutti" not in name]
        against = [*hosts, BEST] if len(hosts) > 1 else hosts
        variants = [name for name in times if "+tutti" in name]
        rows += [
            _row(place, variant, times, one, (means or {}).get(place, {}))
            for one in against
            for variant in variants
        ]
    return rows


def _of_document(document: dict[str, Any], by_figure: bool) -> list[Row]:
    def times(entry: dict[str, Any], figure: str) -> dict[str, Times]:
        return {
            name: {str(at): value for at, value in enumerate(one[figure])}
            for name, one in entry["variants"].items()
        }

    cells, means = {}, {}
    for entry in document["cells"]:
        cell = Cell(**{name: value for name, value in entry.items() if name != "variants"})
        if cell.plain:
            kind = kind_text(replace(cell, collective=cell.name, bytes=0))
            cells[cell.ranks, kind, cell.bytes] = times(entry, "median_us")
            if by_figure:
                means[cell.ranks, kind, cell.bytes] = times(entry, "mean_us")
    return _compared(cells, means)


def _of_medians(lines: list[dict[str, str]]) -> list[Row]:
    cells: dict[Place, dict[str, Times]] = {}
    for line in lines:
        if line.get("rule", OF_RULES[0]) in OF_RULES:
            place = int(line["ranks"]), line["collective"], int(line["bytes"])
            times = cells.setdefault(place, {}).setdefault(line["variant"], {})
            # Rows over several jobs have no repetition in common.
            repetition = line.get("repetition", line["variant"])
            times[repetition] = float(line["median_us"])
    return _compared(cells)


def _of_comparison(line: dict[str, str]) -> Row:
    peer_us, tutti_us = float(line["peer_us"]), float(line["tutti_us"])
    low, high = (float(line[name]) if line[name] else None for name in ("low", "high"))
    ratio = Ratio(float(line["ratio"] or peer_us / tutti_us), low, high)
    place = int(line["ranks"]), line["variant"], BEST, line["collective"], int(line["bytes"])
    return Row(*place, line["peer"], peer_us, tutti_us, ratio, (), line.get("figure", "medians"))


def rows_of(file: Path, by_figure: bool = False) -> list[Row]:
    """The rows of one file, in its order. `by_figure`: ratios are those of means where the times of
    a document have two modes."""
    try:
        text = file.read_text()
        if text.lstrip().startswith("{"):
            return _of_document(json.loads(text), by_figure)
        lines = list(csv.DictReader(text.splitlines()))
        if lines and "median_us" in lines[0]:
            return _of_medians(lines)
        return [_of_comparison(line) for line in lines]
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; {FORMATS}") from error
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{file}: {type(error).__name__}: {error}; {FORMATS}") from error


def mean_of(rows: Sequence[Row]) -> Ratio:
    """The geometric mean over cells. It has an interval if every cell has the same repetitions."""
    if rows[0].logs and len({len(row.logs) for row in rows}) == 1:
        return ratio_of_logs(
            [fmean(logs) for logs in zip(*(row.logs for row in rows), strict=True)]
        )
    return Ratio(math.exp(fmean(math.log(row.ratio.value) for row in rows)), None, None)


def _groups(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    return grouped(rows, lambda row: tuple(getattr(row, name) for name in names))


def _cell_text(row: Row) -> str:
    size = f" {size_text(row.bytes)}" if row.bytes else ""
    return f"{row.collective}{size} {row.ratio.value:.2f}x"


def means_table(rows: list[Row]) -> Table:
    columns = [
        number("ranks", lambda mine: str(mine[0].ranks)),
        words("with Tutti", lambda mine: mine[0].variant),
        words("against", lambda mine: mine[0].against),
        number("cells", lambda mine: str(len(mine))),
        number("mean", lambda mine: ratio_text(mean_of(mine))),
        number("95%", lambda mine: interval_text(mean_of(mine))),
        number("slower", lambda mine: cells_text(sum(row.ratio.slower for row in mine))),
    ]
    groups = sorted(_groups(rows, "ranks", "variant", "against").items())
    title = "Geometric means (above 1: Tutti is faster)"
    return table_of(title, columns, [mine for _, mine in groups])


def _kind_text(kind: str | int) -> str:
    if isinstance(kind, str):
        return kind
    return size_text(kind) if kind else "-"


def _by_mpi(title: str, kinds: tuple[str, ...], rows: list[Row], cells: bool) -> Table:
    """A row for each kind of call, and columns for each MPI."""

    def ratio(mine: list[Row], mpi: str) -> Ratio | None:
        there = [row for row in mine if row.against == mpi]
        if not there:
            return None
        return there[0].ratio if cells else mean_of(there)

    columns = [
        words(
            "size" if name == "bytes" else name,
            lambda mine, name=name: _kind_text(getattr(mine[0], name)),
        )
        for name in kinds
    ]
    for mpi in dict.fromkeys(row.against for row in rows):
        columns += ratio_columns(lambda mine, mpi=mpi: ratio(mine, mpi), f"over {mpi}")
    if cells:
        columns.append(number("Tutti, us", lambda mine: time_text(mine[0].tutti_us)))
    return table_of(title, columns, _groups(rows, *kinds).values())


def slower_lines(rows: list[Row]) -> list[str]:
    """The cells whose whole interval is below 0.95, the slowest first."""
    lines = []
    slower = sorted((row for row in rows if row.ratio.slower), key=lambda row: row.ratio.value)
    for where, mine in sorted(_groups(slower, "ranks", "variant", "against").items()):
        ranks, variant, against = where
        cells = ", ".join(map(_cell_text, mine))
        lines.append(f"{ranks} ranks, {variant}, against {against}: {cells}")
    return lines


def _show(rows: list[Row], cells: bool) -> None:
    console = new_console(80)
    console.print(means_table(rows))
    kinds = ("collective", "bytes") if cells else ("collective",)
    what = "cells" if cells else "means of each collective"
    for (ranks, variant), mine in sorted(_groups(rows, "ranks", "variant").items()):
        console.print(_by_mpi(f"{ranks} ranks, {variant}: {what}", kinds, mine, cells))
    slower = slower_lines(rows)
    console.print("Clearly slower (the whole interval is below 0.95x):" if slower else
                  "No cell is clearly slower (its whole interval below 0.95x).")  # fmt: skip
    for line in slower:
        console.print(f"  {line}", highlight=False)


def against_best(rows: Sequence[Row]) -> list[Row]:
    """The rows that compare with the best peer. Raises UserError."""
    best = [row for row in rows if row.against == BEST]
    if not best:
        raise UserError(
            "--csv, --markdown: no cell has a best peer, because only one MPI was measured; leave "
            "them out"
        )
    return best


def write_csv(rows: Sequence[Row], file: Path) -> None:
    """Writes a line for each cell and its best peer."""
    try:
        with file.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            for row in against_best(rows):
                ratio = dict(zip(("ratio", "low", "high"), asdict(row.ratio).values(), strict=True))
                rounded = {
                    name: None if value is None else round(value, 3)
                    for name, value in ratio.items()
                }
                times = {"peer_us": round(row.peer_us, 4), "tutti_us": round(row.tutti_us, 4)}
                writer.writerow(asdict(row) | times | rounded)
    except OSError as error:
        raise cannot_write(error, file) from error


def markdown_table(rows: Sequence[Row]) -> str:
    """A line for each rank count and variant: Tutti against the best peer of each cell."""
    lines = [
        "| ranks | Tutti on | cells | over the best peer | slowest cell | below 0.95x with the "
        "whole interval |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for (ranks, variant), mine in _groups(against_best(rows), "ranks", "variant").items():
        mean = mean_of(mine)
        interval = "" if mean.low is None else f" ({mean.low:.2f}-{mean.high:.2f})"
        slowest = _cell_text(min(mine, key=lambda row: row.ratio.value))
        slower = ", ".join(_cell_text(row) for row in mine if row.ratio.slower)
        lines.append(
            f"| {ranks} | {variant} | {len(mine)} | {mean.value:.2f}x{interval} | {slowest} | "
            f"{slower or 'none'} |"
        )
    return "\n".join(lines)


def _as_json(rows: list[Row]) -> dict[str, Any]:
    def means(*names: str) -> list[dict[str, Any]]:
        return [
            dict(zip(names, key, strict=True)) | {"cells": len(mine)} | asdict(mean_of(mine))
            for key, mine in sorted(_groups(rows, *names).items())
        ]

    cells = [
        {
            name: value
            for name, value in asdict(row).items()
            if name not in ("ratio", "logs", "figure")
        }
        | asdict(row.ratio)
        | {"slower": row.ratio.slower}
        for row in rows
    ]
    return {
        "format": "tutti-bench-view 1",
        "means": means("ranks", "variant", "against"),
        "by_collective": means("ranks", "variant", "against", "collective"),
        "cells": cells,
    }


def view(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES", help="Documents of `tutti bench calls --json`, or CSV files."
        ),
    ],
    ranks: Annotated[str | None, option("Only these rank counts, as in 2,4.")] = None,
    cells: Annotated[
        bool, option("Every cell with its interval, not means alone.", "--cells")
    ] = False,
    as_json: Annotated[bool, option("Write JSON.", "--json")] = False,
    markdown: Annotated[
        bool, option("Write one table in Markdown, of ratios to the best peers.", "--markdown")
    ] = False,
    csv_file: Annotated[
        str | None,
        option("Write a line for each cell and its best peer to FILE.", "--csv", metavar="FILE"),
    ] = None,
) -> None:
    """Show earlier measurements as tables.

    They say how many times faster calls are with Tutti.

    Ratios are those of medians; with --markdown and --csv those of means where times have two
    modes. Times of one repetition are compared with each other.
    """
    counts = parse_ranks(ranks) if ranks is not None else None
    written = output_file("--csv", csv_file)
    rows = [
        row
        for file in files
        for row in rows_of(file, by_figure=markdown or written is not None)
        if counts is None or row.ranks in counts
    ]
    if not rows:
        raise UserError(f"{files[0]}: no rows with and without Tutti to compare; {FORMATS}")
    if written is not None:
        write_csv(rows, written)
    if as_json:
        print(json.dumps(_as_json(rows), indent=1))
    elif markdown:
        print(markdown_table(rows))
    else:
        _show(rows, cells)
