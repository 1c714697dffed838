"""Figures: panels of lines, of bars, or of what a function draws, written as PNG and SVG."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tutti.bench.texts import size_text

COLOURS = ("#1f77b4", "#d95f02", "#2ca02c", "#9467bd", "#8c564b", "#e377c2")
MARKERS = ("o", "x", "s", "^", "v", "d", "+")
MOST_COLUMNS = 4


def colour_of(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def new_figure(rows: int, columns: int, size: tuple[float, float], **options: Any) -> Any:
    """A figure of so many inches and the rows of its panels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(rows, columns, figsize=size, squeeze=False, **options)


def legend_of(axes: Iterable[Any]) -> tuple[list[Any], list[str]]:
    """The marks and names of these panels, each name once."""
    marks: dict[str, Any] = {}
    for one in axes:
        handles, names = one.get_legend_handles_labels()
        marks |= dict(zip(names, handles, strict=True))
    return list(marks.values()), list(marks)


def legend_below(
    figure: Any, marks: Sequence[Any], names: Sequence[str], columns: int, more_lines: float = 0.5
) -> None:
    """One legend for all panels, and the panels in the space above it."""
    figure.legend(marks, names, loc="lower center", ncols=min(columns, len(names)), fontsize=8)
    lines = -(-len(names) // columns) + more_lines
    figure.tight_layout(rect=(0, 0.25 * lines / figure.get_figheight(), 1, 1))


def write_figure(figure: Any, file: Path, dpi: int = 150) -> None:
    """Writes a figure as the file's suffix says.

    An SVG keeps text as text. Two drawings of one thing are identical: they contain no date and no
    random names.
    """
    import matplotlib

    metadata = {"Date": None} if file.suffix.lower() == ".svg" else {}
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tutti"}):
        figure.savefig(file, dpi=dpi, metadata=metadata)


def save(figure: Any, stem: Path, dpi: int = 150) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths."""
    from matplotlib import pyplot

    written = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    for name in written:
        write_figure(figure, name, dpi)
    pyplot.close(figure)
    return written


@dataclass(frozen=True)
class Line:
    """One line of a panel. Its values belong to the panel's sizes; None: not measured."""

    label: str
    values: Sequence[float | None]
    colour: int
    style: str = "-"
    marker: str = "o"
    alpha: float = 1.0
    at: float = 0.0  # the place of a call without data, which has one mark
    # Draws something else at the places of the sizes, in the line's colour.
    draw: Callable[[Any, Sequence[int], str], None] | None = None


@dataclass(frozen=True)
class Panel:
    """Values over sizes in bytes. A call without data has a single size, 0."""

    title: str
    sizes: Sequence[int]
    lines: Sequence[Line]
    places: Sequence[str] = ()  # names of the places of a call without data


def draw_lines(axes: Any, panel: Panel) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    without_data = not any(panel.sizes)
    for line in panel.lines:
        colour = colour_of(line.colour)
        if line.draw is not None:
            line.draw(axes, panel.sizes, colour)
            continue
        places = [line.at] * len(panel.sizes) if without_data else panel.sizes
        points = [one for one in zip(places, line.values, strict=True) if one[1] is not None]
        axes.plot(
            [place for place, _ in points],
            [value for _, value in points],
            linestyle="none" if without_data else line.style,
            color=colour,
            marker=line.marker,
            markersize=4,
            alpha=line.alpha,
            label=line.label,
        )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    low, high = axes.get_ylim()
    if high < 10 * low:  # no two powers of ten: few other ticks, which do not overprint each other
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=6))
        if high < 2 * low:
            axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.set_title(panel.title, fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    if without_data:
        axes.set_xticks([-0.4, 0.4] if panel.places else [], list(panel.places), fontsize=7)
        axes.set_xlim(-1, 1)
        return
    axes.set_xscale("log", base=2)
    axes.set_xticks(panel.sizes, list(map(size_text, panel.sizes)), rotation=60, fontsize=7)
    axes.minorticks_off()
    axes.set_xlabel("message size", fontsize=8)


def draw_panels(
    panels: Sequence[Panel | None],
    unit: str,
    stem: Path,
    columns: int = MOST_COLUMNS,
    title: str = "",
) -> list[Path]:
    """Draws the panels, some of which may be empty, and one legend. Returns the files' paths."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = new_figure(rows, columns, (3.6 * columns + 1.5, 3.1 * rows + 1.6))
    for axes, panel in zip_longest(grid.flat, panels):
        if panel is None:
            axes.set_axis_off()
        else:
            draw_lines(axes, panel)
    for axes in grid[:, 0]:
        axes.set_ylabel(unit)
    if title:
        figure.suptitle(title, fontsize=10)
    legend_below(figure, *legend_of(grid.flat), columns=max(2, columns))
    return save(figure, stem)


@dataclass(frozen=True)
class Bars:
    """One set of bars of a panel, by the panel's ticks; None: no bar."""

    label: str
    values: Sequence[float | None]
    colour: int | None = None  # None: the next of matplotlib's
    alpha: float = 1.0
    hatch: str = ""
    marks: Sequence[float | None] = ()  # a black line across each bar
    intervals: Sequence[tuple[float, float]] = ()  # a thin line along each bar, if each has a value


def side_by_side(axes: Any, ticks: Sequence[str], bars: Sequence[Bars], mark: str = "") -> None:
    """Bars beside each other at every tick."""
    width = 0.8 / len(bars)
    for place, one in enumerate(bars):
        at = [index + (place + 0.5) * width - 0.4 for index in range(len(ticks))]
        known = [(x, value) for x, value in zip(at, one.values, strict=True) if value is not None]
        values = [value for _, value in known]
        lines = [
            (value - low, high - value)
            for value, (low, high) in zip(values, one.intervals, strict=False)
        ]
        axes.bar(
            [x for x, _ in known],
            values,
            width,
            yerr=list(zip(*lines, strict=True)) or None,
            error_kw={"elinewidth": 0.7},
            label=one.label,
            color=None if one.colour is None else colour_of(one.colour),
            alpha=one.alpha,
            hatch=one.hatch,
        )
        for x, value in zip(at, one.marks):
            if value is not None:
                ends = [x - width / 2, x + width / 2]
                axes.plot(ends, 2 * [value], color="black", linewidth=1.5, label=mark)


def draw_bars(axes: Any, ticks: Sequence[str], bars: Sequence[Bars], mark: str = "") -> None:
    """Bars beside each other at every tick, and a line at 1."""
    side_by_side(axes, ticks, bars, mark)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(ticks)), list(ticks), rotation=40, ha="right", fontsize=8)
