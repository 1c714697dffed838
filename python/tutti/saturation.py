"""Saturation maps: the bandwidth of a node, or of the network between two nodes, by the cores that
transfer at once, the messages that each starts before it waits, and their bytes. `tutti bench
--saturation` measures a map, and `tutti sim --servers` simulates one (docs/injection.md has the
format).

A map is its JSON document. Bandwidths are GB/s.

    python3 -m tutti.saturation < ROWS > MAP

makes a map of the rows that a program has written.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.texts import size_text
from tutti.figures import new_figure, save
from tutti.rows import PrintedRow, read_rows, rows_of, times_by
from tutti.tables import Table

KINDS = ("put", "get")
# A saturation map counts a number of cores as enough from this part of the peak on.
ENOUGH = 0.9


def map_of(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """The map of a program's rows (bench/saturation_map.h)."""
    (head,) = rows_of(rows, "map")
    cells = rows_of(rows, "saturation")
    times = times_by(cells, "call", "cores", "messages", "bytes")
    map_: dict[str, Any] = {"format": "tutti-saturation 1"}
    map_ |= {name: head[name] for name in ("where", "scope")}
    for axis in ("cores", "messages", "bytes"):
        map_[axis] = list(dict.fromkeys(row[axis] for row in cells))
    for kind in KINDS:
        map_[kind + "s"] = [
            [
                [round(cores * count * size / time, 6) for size, time in by_size.items()]
                for count, by_size in by_messages.items()
            ]
            for cores, by_messages in times[kind].items()
        ]
    if costs := rows_of(rows, "hand_over"):
        of = {row["call"]: row["ns"] for row in costs}
        map_["hand_over"] = {
            "client": of["client"],
            "server": [row["ns"] for row in costs if row["call"] == "server"],
            "latency": of["latency"],
        }
    for row in rows_of(rows, "under_way"):
        map_ |= {"mpi": row["call"], "under_way": row["bytes"]}
    return map_


def where(map_: dict[str, Any]) -> str:
    """Names the measured machine. A map of a network has its name beside that of the machine."""
    return ", ".join([map_["where"], *([map_["network"]] if "network" in map_ else [])])


def fractions(map_: dict[str, Any], kind: str, size: int) -> dict[int, float]:
    """The part of the peak at this size that each number of cores reaches, with the best number of
    messages."""
    place = map_["bytes"].index(size)
    best = [max(row[place] for row in rows) for rows in map_[kind + "s"]]
    return {cores: one / max(best) for cores, one in zip(map_["cores"], best, strict=True)}


def enough_cores(map_: dict[str, Any], kind: str, size: int) -> int:
    """The least number of cores that saturates the node."""
    parts = fractions(map_, kind, size)
    return next(cores for cores, part in parts.items() if part >= ENOUGH)


def new_table(title: str, first: str, columns: list[str]) -> Table:
    table = Table(title=title)
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def show_map(map_: dict[str, Any], console: Console) -> None:
    """The part of the peak at each size that each number of cores reaches."""
    for kind in KINDS:
        table = new_table(
            f"{kind}s, {where(map_)}: percent of the peak at each size, by cores",
            "bytes",
            [*map(str, map_["cores"]), "peak GB/s"],
        )
        for place, size in enumerate(map_["bytes"]):
            parts = fractions(map_, kind, size)
            peak = max(row[place] for rows in map_[kind + "s"] for row in rows)
            table.add_row(
                size_text(size), *(f"{100 * part:.0f}" for part in parts.values()), f"{peak:.3g}"
            )
        console.print(table)


def show_messages(map_: dict[str, Any], console: Console) -> None:
    """The part of the peak at each size that one core reaches, by the messages that it starts."""
    for kind in KINDS:
        table = new_table(
            f"{kind}s by one core, {where(map_)}: percent of the peak at each size, by messages",
            "bytes",
            [*map(str, map_["messages"])],
        )
        for place, size in enumerate(map_["bytes"]):
            peak = max(row[place] for rows in map_[kind + "s"] for row in rows)
            one_core = [row[place] for row in map_[kind + "s"][0]]
            table.add_row(size_text(size), *(f"{100 * one / peak:.0f}" for one in one_core))
        console.print(table)


def heat(axes: Any, map_: dict[str, Any], kind: str) -> Any:
    """The paper's picture: colours for the part of the peak, cores and messages over sizes."""
    peaks = [
        max(row[place] for rows in map_[kind + "s"] for row in rows)
        for place in range(len(map_["bytes"]))
    ]
    lines = [
        [value / peak for value, peak in zip(row, peaks, strict=True)]
        for rows in map_[kind + "s"]
        for row in rows
    ]
    picture = axes.imshow(lines, aspect="auto", origin="lower", vmin=0, vmax=1, cmap="viridis")
    axes.set_title(f"{kind}s", fontsize=10)
    axes.set_xticks(
        range(len(map_["bytes"])),
        [size_text(size) for size in map_["bytes"]],
        rotation=60,
        fontsize=7,
    )
    each = len(map_["messages"])
    axes.set_yticks(
        [each * place for place in range(len(map_["cores"]))],
        [f"{cores} cores" if cores > 1 else "1 core" for cores in map_["cores"]],
        fontsize=7,
    )
    axes.set_ylabel(f"cores, each with {map_['messages'][0]} to {map_['messages'][-1]} messages")
    return picture


def draw_map(map_: dict[str, Any], stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths."""
    figure, axes = new_figure(1, 2, (11, 5), layout="constrained")
    for place, kind in enumerate(KINDS):
        picture = heat(axes[0][place], map_, kind)
    figure.colorbar(picture, ax=axes, label="part of the peak at this size")
    figure.suptitle(f"saturation, {where(map_)}", fontsize=10)
    return save(figure, stem)


if __name__ == "__main__":
    print(json.dumps(map_of(read_rows(sys.stdin))))
