"""Draws simulations: time over size, a panel for each collective and root."""

import math
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tutti.bench.texts import size_text
from tutti.figures import COLOURS, MOST_COLUMNS
from tutti.simulation.results import Results
from tutti.simulation.variants import TUTTI, Variant

Panel = tuple[str, int]  # collective and root


def _draw_panel(axes: Any, results: Results, panel: Panel, roots: bool) -> None:
    collective, root = panel
    cells = [cell for cell in results.settings.cells if (cell.collective, cell.root) == panel]
    for place, key in enumerate(results.runs):
        times = [
            time if (time := results.time(key, cell)) is not None else math.nan for cell in cells
        ]
        style = {
            "color": COLOURS[place % len(COLOURS)],
            "marker": "o" if key == TUTTI else "x",
            "markersize": 4,
        }
        at, line = [cell.bytes for cell in cells], "-" if key == TUTTI else "--"
        if collective == "barrier":
            at, line = [place], "none"
        axes.plot(at, times, linestyle=line, label=Variant(key).label, **style)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    axes.set_title(f"{collective}, root {root}" if roots else collective, fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    if collective == "barrier":
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.set_xticks([])
        return
    axes.set_xscale("log", base=2)
    axes.set_xticks(
        [cell.bytes for cell in cells],
        [size_text(cell.bytes) for cell in cells],
        rotation=60,
        fontsize=7,
    )
    axes.minorticks_off()


def draw(results: Results, stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    settings = results.settings
    panels: list[Panel] = list(
        dict.fromkeys((cell.collective, cell.root) for cell in settings.cells)
    )
    roots = any(cell.root != 0 for cell in settings.cells)
    columns = min(MOST_COLUMNS, len(panels))
    rows = (len(panels) + columns - 1) // columns
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(3.4 * columns + 1, 3.0 * rows + 1.4), squeeze=False
    )
    for axes, panel in zip_longest(grid.flat, panels):
        if panel is None:
            axes.set_axis_off()
        else:
            _draw_panel(axes, results, panel, roots)
    for axes in grid[:, 0]:
        axes.set_ylabel("simulated us")
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.suptitle(f"{settings.ranks} simulated ranks on {settings.machine.name}", fontsize=10)
    figure.legend(handles, names, loc="lower center", ncols=min(6, len(names)), fontsize=8)
    figure.tight_layout(rect=(0, 0.35 / figure.get_figheight(), 1, 1))
    written = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    for name in written:
        figure.savefig(name, dpi=150)
    pyplot.close(figure)
    return written
