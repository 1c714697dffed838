"""Draws times over sizes as panels of lines."""

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tutti.bench.texts import size_text

COLOURS = ("#1f77b4", "#d95f02", "#2ca02c", "#9467bd", "#8c564b", "#e377c2")
MARKERS = ("o", "x", "s", "^", "v", "d", "+")


@dataclass(frozen=True)
class Line:
    """One line of a panel."""

    label: str
    times: list[float | None]  # microseconds, by the panel's sizes; None: not measured
    colour: int
    solid: bool
    marker: int


@dataclass(frozen=True)
class Panel:
    title: str
    sizes: list[int]  # bytes; a single 0 for a call without data
    lines: list[Line]


def _draw(axes: Any, panel: Panel) -> None:
    places = [max(size, 1) for size in panel.sizes]
    for line in panel.lines:
        points = [(place, time) for place, time in zip(places, line.times, strict=True) if time]
        axes.plot(
            [place for place, _ in points],
            [time for _, time in points],
            linestyle="-" if line.solid else "--",
            color=COLOURS[line.colour % len(COLOURS)],
            marker=MARKERS[line.marker % len(MARKERS)],
            markersize=4,
            label=line.label,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    labels = [size_text(size) if size else "" for size in panel.sizes]
    axes.set_xticks(places, labels, rotation=60, fontsize=7)
    axes.minorticks_off()
    axes.set_title(panel.title, fontsize=10)
    axes.grid(True, which="major", alpha=0.3)


def draw_panels(panels: list[Panel], columns: int, unit: str, stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths. The panels share one legend."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = (len(panels) + columns - 1) // columns
    labels: dict[str, Any] = {}
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(3.6 * columns + 1.5, 3.2 * rows + 2), squeeze=False
    )
    for axes, panel in zip_longest(grid.flat, panels):
        if panel is None:
            axes.set_axis_off()
            continue
        _draw(axes, panel)
        handles, names = axes.get_legend_handles_labels()
        labels |= dict(zip(names, handles, strict=True))
    for axes in grid[:, 0]:
        axes.set_ylabel(unit)
    side = max(1, min(3, columns))
    legend_lines = (len(labels) + side - 1) // side
    figure.legend(list(labels.values()), list(labels), loc="lower center", ncols=side, fontsize=8)
    figure.tight_layout(rect=(0, 0.25 * (legend_lines + 0.5) / figure.get_figheight(), 1, 1))
    written = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    for name in written:
        figure.savefig(name, dpi=150)
    pyplot.close(figure)
    return written
