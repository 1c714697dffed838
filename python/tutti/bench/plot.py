"""Draws time over size: rows of panels for each rank count, one panel for each collective."""

from itertools import zip_longest
from pathlib import Path
from typing import Any

from tutti.bench.lines import COLOURS
from tutti.bench.measurements import ROOTED, Cell, Measurements
from tutti.bench.roots import Spread, spread
from tutti.bench.statistics import centre
from tutti.bench.texts import size_text
from tutti.bench.variants import Variant

MOST_COLUMNS = 4


def _draw_panel(axes: Any, measurements: Measurements, ranks: int, collective: str) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    settings = measurements.settings
    names = [mpi.name for mpi in settings.mpis]
    cells = [c for c in measurements.cells if c.ranks == ranks and c.collective == collective]
    variants = settings.variants(ranks)
    for place, variant in enumerate(variants):
        colour = COLOURS[names.index(variant.mpi.name) % len(COLOURS)]
        spreads = [spread(measurements.cells[cell][variant.key]) for cell in cells]
        if any(spreads):
            # The variants are drawn beside each other, so that no whisker hides another.
            shift = 2 ** (0.7 * ((place + 0.5) / len(variants) - 0.5))
            _draw_roots(
                axes,
                variant,
                [cell.bytes * shift for cell in cells],
                [found for found in spreads if found],
                colour,
            )
        else:
            times = [centre(measurements.cells[cell][variant.key].median) for cell in cells]
            _draw_line(axes, variant, cells, times, colour)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    low, high = axes.get_ylim()
    if high < 10 * low:  # no two powers of ten: few other ticks, which do not overprint each other
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=6))
        if high < 2 * low:
            axes.yaxis.set_major_locator(MaxNLocator(4))
    of_roots = ", every root" if settings.every_root and collective in ROOTED else ""
    axes.set_title(f"{collective}, {ranks} ranks{of_roots}", fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    if collective == "barrier":
        axes.set_xticks([-0.4, 0.4], ["alone", "with Tutti"], fontsize=7)
        axes.set_xlim(-1, 1)
        return
    axes.set_xscale("log", base=2)
    axes.set_xticks(
        [cell.bytes for cell in cells],
        [size_text(cell.bytes) for cell in cells],
        rotation=60,
        fontsize=7,
    )
    axes.minorticks_off()
    axes.set_xlabel("message size", fontsize=8)


def _line_style(variant: Variant) -> str:
    if variant.tutti:
        return "-." if variant.heap else "-"
    return "--" if variant.setting in ("default", "best") else ":"


def _draw_line(
    axes: Any, variant: Variant, cells: list[Cell], times: list[float], colour: str
) -> None:
    style = {
        "color": colour,
        "marker": "o" if variant.tutti else "x",
        "markersize": 4,
        "label": variant.label,
    }
    alpha = 0.55 if variant.setting == "best" else 1.0
    if cells and cells[0].collective == "barrier":
        # A barrier has no size: each variant is one mark, variants with Tutti to the right.
        axes.plot([0.4 if variant.tutti else -0.4], times, linestyle="none", alpha=alpha, **style)
        return
    line = _line_style(variant)
    axes.plot([cell.bytes for cell in cells], times, linestyle=line, alpha=alpha, **style)


def _draw_roots(
    axes: Any, variant: Variant, places: list[float], spreads: list[Spread], colour: str
) -> None:
    """Draws a box for the middle half of the roots, whiskers to the fastest and slowest, and a
    median.
    """
    alpha = 0.55 if variant.setting == "best" else 1.0
    middles = [found.middle for found in spreads]
    whiskers = [
        [found.middle - found.least for found in spreads],
        [found.most - found.middle for found in spreads],
    ]
    axes.errorbar(
        places,
        middles,
        yerr=whiskers,
        linestyle="none",
        ecolor=colour,
        elinewidth=1,
        capsize=2.5,
        alpha=alpha,
    )
    axes.vlines(
        places,
        [found.low for found in spreads],
        [found.high for found in spreads],
        color=colour,
        linewidth=5,
        alpha=0.35 * alpha,
    )
    style = {
        "color": colour,
        "marker": "o" if variant.tutti else "x",
        "markersize": 4,
        "label": variant.label,
    }
    axes.plot(
        places,
        middles,
        linestyle="-" if variant.tutti else ":",
        linewidth=0.7,
        alpha=alpha,
        **style,
    )


def draw(measurements: Measurements, stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    settings = measurements.settings
    columns = min(MOST_COLUMNS, len(settings.collectives))
    rows_each = (len(settings.collectives) + columns - 1) // columns
    rows = rows_each * len(settings.ranks)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(3.4 * columns + 1, 3.0 * rows + 1.2), squeeze=False
    )
    for block, ranks in enumerate(settings.ranks):
        panels = grid[block * rows_each : (block + 1) * rows_each]
        for axes, collective in zip_longest(panels.flat, settings.collectives):
            if collective is None:
                axes.set_axis_off()
            else:
                _draw_panel(axes, measurements, ranks, collective)
        for axes in panels[:, 0]:
            axes.set_ylabel(
                "median and span of the roots, us" if settings.every_root else "median, us"
            )
    labels: dict[str, Any] = {}
    for axes in grid[:, 0]:
        handles, names = axes.get_legend_handles_labels()
        labels |= dict(zip(names, handles, strict=True))
    figure.legend(
        list(labels.values()),
        list(labels),
        loc="lower center",
        ncols=min(4, len(labels)),
        fontsize=8,
    )
    legend_lines = (len(labels) + 3) // 4
    figure.tight_layout(rect=(0, 0.25 * (legend_lines + 0.5) / figure.get_figheight(), 1, 1))
    written = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    for name in written:
        figure.savefig(name, dpi=150)
    pyplot.close(figure)
    return written
