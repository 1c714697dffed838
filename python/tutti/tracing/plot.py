"""Draws the timeline of a trace: a row for each rank, a bar for each call, half grey where it waits."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tutti.errors import UserError
from tutti.figures import colour_of, legend_below, new_figure, save
from tutti.tracing.trace import ELSEWHERE, WAITING, Array, Trace

WAITS = "#c8c8c8"
HEIGHT = 0.8  # the height of a bar, in rows
EDGE = 0.4  # the edge of a call, in points, so that the shortest one is seen
# The most calls of a rank that are drawn with edges. With more of them edges would cover all that
# is between calls, so there are none, and the bars of the SVG are one picture.
MOST_EDGED = 200


@dataclass(frozen=True)
class Window:
    """The part of a trace that is drawn, in milliseconds from its first call."""

    begin: float = 0
    end: float = float("inf")

    def cut(self, begin: Array, end: Array) -> tuple[Array, Array, Array]:
        """The times that lie inside, and their begins and durations there."""
        inside = (end > self.begin) & (begin < self.end)
        from_, until = np.maximum(begin, self.begin), np.minimum(end, self.end)
        return inside, from_[inside], (until - from_)[inside]


def _bars(
    axes: Any,
    times: tuple[Array, Array, Array],
    rows: tuple[float, float],
    colour: str,
    edge: float,
    rasterized: bool,
) -> None:
    """Bars with edges of so many points."""
    _, begins, durations = times
    bars = list(zip(begins.tolist(), durations.tolist(), strict=True))
    axes.broken_barh(
        bars, rows, facecolors=colour, edgecolors=colour, linewidth=edge, rasterized=rasterized
    )


def draw(trace: Trace, window: Window, stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths.

    The time between the start and the completion of a call that outlives it stays blank. Operations
    in lanes are thin bars below the calls. Raises UserError if no call lies in the window.
    """
    from matplotlib.patches import Rectangle

    operations, steps = trace.operations, trace.steps
    first = float(operations["begin"].min()) if len(operations["begin"]) else 0.0

    def milliseconds(times: Array) -> Array:
        return np.asarray((times - first) / 1e6)

    begin, end = milliseconds(operations["begin"]), milliseconds(operations["end"])
    inside, _, _ = window.cut(begin, end)
    if not inside.any():
        last = float(end.max()) if len(end) else 0.0
        raise UserError(
            f"--from, --until: no call of the trace lies between them; it lasts {last:.3f} ms"
        )
    group = trace.group_of[steps["kind"]]
    step_rank = operations["rank"][steps["operation"]]
    step_begin, step_end = milliseconds(steps["begin"]), milliseconds(steps["end"])
    present = sorted({int(one) for one in operations["collective"][inside]})
    colours = {one: colour_of(place) for place, one in enumerate(present)}

    rows = len(trace.ranks)
    many = int(inside.sum()) > MOST_EDGED * rows
    edge = 0 if many else EDGE
    figure, ((axes,),) = new_figure(1, 1, (9, 1.3 + 0.45 * min(rows, 40)))
    for rank in range(rows):
        whole = (rank - HEIGHT / 2, HEIGHT)
        below = (rank + HEIGHT / 2, (1 - HEIGHT) / 2)
        for collective, colour in colours.items():
            mine = (operations["rank"] == rank) & (operations["collective"] == collective)
            for chosen, place in ((mine & ~trace.in_lane, whole), (mine & trace.in_lane, below)):
                _bars(axes, window.cut(begin[chosen], end[chosen]), place, colour, edge, many)
        waits = (step_rank == rank) & (group == WAITING) & ~trace.step_in_lane
        _bars(
            axes, window.cut(step_begin[waits], step_end[waits]), (rank, HEIGHT / 2), WAITS, 0, many
        )
        outside = (step_rank == rank) & (group == ELSEWHERE)
        _bars(axes, window.cut(step_begin[outside], step_end[outside]), whole, "white", 0, many)
    axes.set_xlim(max(window.begin, float(begin.min())), min(window.end, float(end.max())))
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_yticks(range(rows), [f"rank {rank}" for rank in range(rows)], fontsize=8)
    axes.set_xlabel(
        "ms since the first call" + ("; --from and --until show single calls" if many else "")
    )
    axes.set_title(f"{trace.program} over {trace.mpi}", fontsize=9)
    handles = [Rectangle((0, 0), 1, 1, color=colour) for colour in colours.values()]
    handles.append(Rectangle((0, 0), 1, 1, color=WAITS))
    names = [trace.collectives[one] for one in colours]
    legend_below(figure, handles, [*names, "waiting"], columns=7)
    return save(figure, stem, dpi=110)
