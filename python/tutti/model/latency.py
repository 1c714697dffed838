"""`tutti model measure --latency`: how long a read of a modified line takes, over the data's size.

Source: HMPI, section 3.4 (figures 19 and 21). tutti-threads measures a pair of cores for each level
that cores of this machine share.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.bench.driver import execute_own
from tutti.bench.texts import size_text
from tutti.figures import Line, Panel, draw_panels
from tutti.model.measure import SECONDS, steps_of, units_here
from tutti.tables import Table, number, table_of

FIRST, LAST = 1 << 10, 64 << 20  # bytes
TITLE = "latency of reading a modified line, ns"


@dataclass(frozen=True)
class Curve:
    """Reads of lines that a core has modified: the reader's own, or one with which it shares a
    unit of a level and nothing inside it."""

    name: str
    units: list[int]  # the processing units of the reader and of who modified the lines
    ns: dict[int, float]  # the key is the number of bytes of the data


def measure_latency(say: Callable[[str], None] = lambda line: None) -> list[Curve]:
    """The reader's own core first, then the levels from the outside in."""
    curves: list[Curve] = []
    for unit in units_here():
        pair = unit.units[:2]
        say(f"{unit.level}: processing units {pair[0]}, {pair[1]}")
        rows = execute_own("latency", {"cores": pair, "bytes": [FIRST, LAST]}, SECONDS)
        own, other = (
            {int(size): ns for size, ns in steps_of(rows)[kind].items()}
            for kind in ("own", "other")
        )
        if not curves:
            curves.append(Curve("own", [pair[0], pair[0]], own))
        curves.append(Curve(f"same {unit.level}", pair, other))
    return curves


def latency_document(curves: Sequence[Curve]) -> dict[str, Any]:
    return {
        "format": "tutti-latency 1",
        "curves": [
            {"name": one.name, "processing_units": one.units, "ns": one.ns} for one in curves
        ],
    }


def latency_table(curves: Sequence[Curve]) -> Table:
    columns = [number("size", size_text)]
    for curve in curves:
        columns.append(number(curve.name, lambda size, ns=curve.ns: f"{ns[size]:.1f}"))
    return table_of(TITLE, columns, curves[0].ns)


def draw_latency(curves: Sequence[Curve], stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths."""
    sizes = list(curves[0].ns)
    lines = [Line(one.name, list(one.ns.values()), place) for place, one in enumerate(curves)]
    return draw_panels([Panel(TITLE, sizes, lines)], "ns", stem)
