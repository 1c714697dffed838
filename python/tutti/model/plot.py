"""Draws predictions: time over size, a line for each algorithm."""

from collections.abc import Sequence
from pathlib import Path

from tutti.figures import Line, Panel, draw_panels
from tutti.predict.prediction import Cell


def draw(cells: Sequence[Cell], title: str, stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths."""
    sizes = sorted({cell.size for cell in cells})
    times = {(cell.algorithm, cell.size): cell.microseconds for cell in cells}
    lines = [
        Line(algorithm, [times.get((algorithm, size)) for size in sizes], place)
        for place, algorithm in enumerate(dict.fromkeys(cell.algorithm for cell in cells))
    ]
    return draw_panels([Panel(title, sizes, lines)], "predicted us", stem)
