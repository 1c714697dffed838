"""Turns the output of `tutti bench --json` into a CSV file and a table of geometric means in
Markdown.

    .venv/bin/python bench/table.py RESULT.json [--csv FILE]

A line of FILE, one for each cell, compares a variant with Tutti with the best peer: the host MPI
with the smallest median over the repetitions, whatever MPI Tutti ran on. Times are medians in
microseconds. `ratio` is the peer's time over Tutti's; `low` and `high` are its 95% confidence
interval. If times have two modes, the ratio is that of the means, and `figure` says so.
"""

import argparse
import csv
import json
import sys
from pathlib import Path
from typing import Any

COLUMNS = (
    "ranks",
    "variant",
    "collective",
    "bytes",
    "peer",
    "peer_us",
    "tutti_us",
    "ratio",
    "low",
    "high",
    "figure",
)


def cells_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for best in document["best_peers"]:
        for cell in best["cells"]:
            if cell["condition"] != "plain":
                continue
            figure = "means" if cell["two_modes"] else "medians"
            ratio = cell[f"ratio_of_{figure}"]
            rows.append(
                {
                    "ranks": best["ranks"],
                    "variant": best["variant"],
                    "collective": cell["collective"],
                    "bytes": cell["bytes"],
                    "peer": cell["peer"],
                    "peer_us": round(cell["peer_median_us"], 4),
                    "tutti_us": round(cell["median_us"], 4),
                    **{
                        name: None if value is None else round(value, 3)
                        for name, value in zip(("ratio", "low", "high"), ratio.values())
                    },
                    "figure": figure,
                    "slower": cell["slower"],
                }
            )
    return rows


def size(count: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"


def named(rows: list[dict[str, Any]]) -> str:
    return (
        ", ".join(f"{row['collective']} {size(row['bytes'])} {row['ratio']:.2f}x" for row in rows)
        or "none"
    )


def table(document: dict[str, Any]) -> str:
    cells = cells_of(document)
    lines = [
        "| ranks | Tutti on | cells | over the best peer | slowest cell | below 0.95x with the "
        "whole interval |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for best in document["best_peers"]:
        own = [
            row
            for row in cells
            if (row["ranks"], row["variant"]) == (best["ranks"], best["variant"])
        ]
        every = best["all_cells"]
        interval = "" if every["low"] is None else f" ({every['low']:.2f}-{every['high']:.2f})"
        slowest = min(own, key=lambda row: float(row["ratio"]))
        lines.append(
            f"| {best['ranks']} | {best['variant']} | {len(own)} | "
            f"{every['value']:.2f}x{interval} | {named([slowest])} | "
            f"{named([row for row in own if row['slower']])} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("result", type=Path, help="the file that tutti bench --json wrote")
    parser.add_argument("--csv", type=Path, help="write a line for each cell to this file")
    options = parser.parse_args()
    try:
        document = json.loads(options.result.read_text())
        if not document["best_peers"]:
            raise ValueError("it has no best peers, because only one MPI was measured")
        print(table(document))
        if options.csv:
            with options.csv.open("w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
                writer.writeheader()
                writer.writerows(cells_of(document))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(
            f"table: {options.result}: {type(error).__name__}: {error}; give a file that `tutti "
            "bench --json FILE` wrote",
            file=sys.stderr,
        )
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
