"""Draws a plan with Matplotlib: its panels, a legend, and the sums below.

All lengths are in inches. The figure's size depends on its contents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.drawing.graph import LEVEL_TEXT, LEVELS, Graph
from tutti.drawing.paint import (
    BARRIER_PHASE_TEXT,
    COLOURS,
    MARGIN,
    TEXT,
    line_style,
    paint,
    paint_matrix,
)
from tutti.drawing.panels import Panel, panels
from tutti.drawing.strokes import levels_shown
from tutti.errors import UserError
from tutti.figures import write_figure

TOP = 0.34
PANEL_TITLE = 0.22
LINE = 0.155
# Room for the labels of the matrix's axes.
TICKS = 0.55
MOST_TITLE = 110

Box = tuple[float, float, float, float]


def inches(ranks: int) -> float:
    """The width of one cell."""
    if ranks <= 16:
        return 0.6
    return 0.5 if ranks <= 64 else 0.42


@dataclass(frozen=True)
class _Frame:
    """Left, top, width and height of each panel and matrix, in inches from the top left corner."""

    width: float
    height: float
    axes: list[Box]
    matrices: list[Box | None]
    legend: float


def _frame(shown: Sequence[Panel], scale: float, lines: Sequence[str], title: str) -> _Frame:
    sizes = [
        ((panel.layout.width + 2 * MARGIN) * scale, (panel.layout.height + 2 * MARGIN) * scale)
        for panel in shown
    ]
    sides = [
        max(2.2, min(4.0, height)) if panel.shown.matrix else 0.0
        for panel, (_, height) in zip(shown, sizes, strict=True)
    ]
    heads = [0.065 * (len(panel.shown.note) + 30) for panel in shown]
    wide = [
        max(width + (side + TICKS if side else 0), head)
        for (width, _), side, head in zip(sizes, sides, heads, strict=True)
    ]
    tall = [max(height, side + 0.35) for (_, height), side in zip(sizes, sides, strict=True)]
    # Two panels are placed side by side if they are higher than wide.
    beside = len(shown) == 2 and sum(tall) > 1.2 * max(wide)
    left, top = 0.1, TOP
    axes: list[Box] = []
    matrices: list[Box | None] = []
    for (width, height), side, all_width, all_height in zip(sizes, sides, wide, tall, strict=True):
        axes.append((left, top + PANEL_TITLE, width, height))
        matrices.append(
            (left + width + TICKS, top + PANEL_TITLE + 0.05, side, side) if side else None
        )
        if beside:
            left += all_width
        else:
            top += PANEL_TITLE + all_height + 0.1
    bottom = TOP + PANEL_TITLE + max(tall) if beside else top - 0.1
    widest = sum(wide) if beside else max(wide)
    longest = max(0.062 * max(len(line) for line in lines), 0.1 * len(title))
    return _Frame(
        max(widest, longest) + 0.25,
        bottom + 0.38 + LINE * len(lines) + 0.1,
        axes,
        matrices,
        bottom + 0.05,
    )


def _legend(figure: Any, shown: Sequence[Panel], top: float) -> None:
    from matplotlib.lines import Line2D

    present = {level for panel in shown for level in levels_shown(panel.messages)}
    handles = []
    for level in LEVELS:
        if level in present:
            reach = "net" if level in ("cluster", "machine") else "memory"
            label = f"{LEVEL_TEXT[level]} ({reach})"
            handles.append(
                Line2D(
                    [],
                    [],
                    color=COLOURS[level],
                    linewidth=1.6,
                    label=label,
                    linestyle=line_style(level),
                )
            )
    if handles:
        figure.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0.0, top),
            ncols=len(handles),
            fontsize=7.5,
            frameon=False,
            handlelength=2.6,
        )


def caption(graph: Graph) -> list[str]:
    """The three sums (graph.py) for the whole plan and, if it has two phases, for each phase."""
    lines = [f"messages: {graph.sums.text()}"]
    if len(graph.phases) > 1:
        words = BARRIER_PHASE_TEXT if graph.plan.collective == "barrier" else {}
        lines.extend(
            f"{words.get(phase, phase)}: {sums.text()}" for phase, sums in graph.phases.items()
        )
    return lines


def _how_to_read(graph: Graph, shown: Sequence[Panel]) -> list[str]:
    lines = []
    if any(panel.shown.label and panel.shown.strokes for panel in shown):
        lines.append(
            "Numbers on arrows are steps; messages of the same step can run at the same time."
        )
    arrival = sum(bool(transfer.get("any_order")) for transfer in graph.transfers)
    if arrival:
        lines.append(
            f"Number of reduces that take their sources in the order of arrival: {arrival}."
        )
    return lines


def render(graph: Graph, title: str, file: Path, wanted: str = "auto") -> None:
    """Writes an SVG or PNG, by the file's suffix. Raises UserError if it cannot be written."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    title = title if len(title) <= MOST_TITLE else f"{title[:MOST_TITLE]} ..."
    shown = panels(graph, wanted)
    scale = inches(graph.ranks)
    lines = [*caption(graph), *_how_to_read(graph, shown)]
    frame = _frame(shown, scale, lines, title)
    figure = Figure(figsize=(frame.width, frame.height))

    def add(box: Box) -> Any:
        left, top, width, height = box
        share = (
            left / frame.width,
            1 - (top + height) / frame.height,
            width / frame.width,
            height / frame.height,
        )
        return figure.add_axes(share)

    for panel, box, matrix in zip(shown, frame.axes, frame.matrices, strict=True):
        paint(add(box), graph, panel, scale)
        if matrix is not None:
            paint_matrix(add(matrix), graph, panel)
    figure.text(
        0.12 / frame.width,
        1 - 0.1 / frame.height,
        title,
        fontsize=11,
        color=TEXT,
        va="top",
        fontweight="bold",
        parse_math=False,
    )
    _legend(figure, shown, 1 - frame.legend / frame.height)
    below = 1 - (frame.legend + 0.3) / frame.height
    figure.text(
        0.12 / frame.width,
        below,
        "\n".join(lines),
        fontsize=8,
        color=TEXT,
        va="top",
        linespacing=1.35,
    )
    try:
        write_figure(figure, file)
    except OSError as error:
        raise UserError(f"cannot write '{file}': {error.strerror or error}") from error
