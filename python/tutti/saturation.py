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
from tutti.tables import number, table_of, words

KINDS = ("put", "get")
# A saturation map counts a number of cores as enough from this part of the peak on.
ENOUGH = 0.9


def map_of(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """The map of a program's rows (bench/saturation_map.h). Rows of several jobs, with different
    numbers of servers, give one map."""
    head = rows_of(rows, "map")[0]
    cells = rows_of(rows, "saturation")
    map_: dict[str, Any] = {"format": "tutti-saturation 1"}
    map_ |= {name: head[name] for name in ("where", "scope")}
    for axis in ("cores", "messages", "bytes"):
        map_[axis] = list(dict.fromkeys(row[axis] for row in cells))
    map_ |= _bandwidths(cells)
    served = rows_of(rows, "served")
    if numbers := sorted({row["servers"] for row in served}):
        map_["served"] = [
            {"servers": number} | _bandwidths([row for row in served if row["servers"] == number])
            for number in numbers
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


def _bandwidths(cells: Sequence[PrintedRow]) -> dict[str, Any]:
    """GB/s of puts and gets, by cores, then messages, then bytes."""
    times = times_by(cells, "call", "cores", "messages", "bytes")
    return {
        kind + "s": [
            [
                [round(cores * count * size / time, 6) for size, time in by_size.items()]
                for count, by_size in by_messages.items()
            ]
            for cores, by_messages in times[kind].items()
        ]
        for kind in KINDS
    }


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


def peaks_of(map_: dict[str, Any], kind: str) -> dict[int, float]:
    """The largest bandwidth at each size."""
    by_size = zip(*(row for rows in map_[kind + "s"] for row in rows), strict=True)
    return dict(zip(map_["bytes"], map(max, by_size), strict=True))


def show_map(map_: dict[str, Any], console: Console) -> None:
    """The part of the peak at each size that each number of cores reaches."""
    for kind in KINDS:
        peaks = peaks_of(map_, kind)
        parts = {size: fractions(map_, kind, size) for size in peaks}
        columns = [
            words("bytes", size_text),
            *(
                number(str(cores), lambda size, n=cores, of=parts: f"{100 * of[size][n]:.0f}")
                for cores in map_["cores"]
            ),
            number("peak GB/s", lambda size, of=peaks: f"{of[size]:.3g}"),
        ]
        title = f"{kind}s, {where(map_)}: percent of the peak at each size, by cores"
        console.print(table_of(title, columns, peaks, title_justify="center"))


def show_messages(map_: dict[str, Any], console: Console) -> None:
    """The part of the peak at each size that one core reaches, by the messages that it starts."""
    for kind in KINDS:
        peaks = peaks_of(map_, kind)
        columns = [words("bytes", size_text)]
        for count, row in zip(map_["messages"], map_[kind + "s"][0], strict=True):
            parts = dict(zip(peaks, row, strict=True))
            columns.append(
                number(
                    str(count),
                    lambda size, of=parts, peaks=peaks: f"{100 * of[size] / peaks[size]:.0f}",
                )
            )
        title = f"{kind}s by one core, {where(map_)}: percent of the peak at each size, by messages"
        console.print(table_of(title, columns, peaks, title_justify="center"))


def heat(axes: Any, map_: dict[str, Any], kind: str) -> Any:
    """The paper's picture: colours for the part of the peak, cores and messages over sizes."""
    peaks = peaks_of(map_, kind)
    lines = [
        [value / peak for value, peak in zip(row, peaks.values(), strict=True)]
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
