"""`tutti model measure --latency`: how long a read of a modified line takes, over the data's size.

Source: HMPI, section 3.4 (figures 19 and 21). tutti-threads measures a pair of cores for each level
that cores of this machine share, or the pairs that the user names.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.bench.driver import execute_own
from tutti.bench.texts import size_text
from tutti.bench.words import whole_numbers
from tutti.errors import UserError
from tutti.figures import Line, Panel, draw_panels
from tutti.model.measure import SECONDS, places_of, steps_of, units_here
from tutti.places import core
from tutti.tables import Table, number, table_of

FIRST, LAST = 1 << 10, 64 << 20  # bytes
TITLE = "latency of reading a modified line, ns"


@dataclass(frozen=True)
class Curve:
    """Reads of lines that a core has modified: the reader's own, one that the user names, or one
    with which it shares a unit of a level and nothing inside it."""

    name: str
    units: list[int]  # the processing units of the reader and of who modified the lines
    ns: dict[int, float]  # the key is the number of bytes of the data


def pairs_of(cores: str | None) -> dict[str, list[int]]:
    """The reader and who modifies the lines, by the names of the curves: of each level from the
    outside in, or of `A,B,...` the first with each other. Raises UserError."""
    if cores is None:
        return {f"same {unit.level}": unit.units[:2] for unit in units_here()}
    usable = places_of(core().load_tree())
    reader, *others = whole_numbers("--cores", cores, 0, 999_999, "a processing unit")
    if not others:
        raise UserError("--cores: give the reader's core and one or more others, as in 0,1")
    for unit in (reader, *others):
        if unit not in usable:
            listed = ", ".join(map(str, sorted(usable)))
            raise UserError(f"--cores: this process may not run on {unit}; it may on {listed}")
    return {f"modified by {other}": [reader, other] for other in others}


def measure_latency(
    pairs: dict[str, list[int]], say: Callable[[str], None] = lambda line: None
) -> list[Curve]:
    """The reader's own core first, then the pairs."""
    curves: list[Curve] = []
    for name, pair in pairs.items():
        say(f"{name}: processing units {pair[0]}, {pair[1]}")
        rows = execute_own("latency", {"cores": pair, "bytes": [FIRST, LAST]}, SECONDS)
        own, other = (
            {int(size): ns for size, ns in steps_of(rows)[kind].items()}
            for kind in ("own", "other")
        )
        if not curves:
            curves.append(Curve("own", [pair[0], pair[0]], own))
        curves.append(Curve(name, pair, other))
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
