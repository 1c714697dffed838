"""Draws predictions: time over size, a line for each algorithm."""

from collections.abc import Sequence
from pathlib import Path

from tutti.bench.texts import size_text
from tutti.figures import COLOURS
from tutti.model.prediction import Cell


def draw(cells: Sequence[Cell], title: str, stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    sizes = sorted({cell.size for cell in cells})
    figure, axes = pyplot.subplots(figsize=(7, 5))
    for place, algorithm in enumerate(dict.fromkeys(cell.algorithm for cell in cells)):
        mine = sorted(
            (cell for cell in cells if cell.algorithm == algorithm), key=lambda cell: cell.size
        )
        axes.plot(
            [cell.size for cell in mine],
            [cell.microseconds for cell in mine],
            color=COLOURS[place % len(COLOURS)],
            marker="o",
            markersize=4,
            label=algorithm,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, [size_text(size) for size in sizes], rotation=60, fontsize=7)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel("predicted us")
    axes.set_title(title, fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    written = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    for path in written:
        figure.savefig(path, dpi=150)
    pyplot.close(figure)
    return written
