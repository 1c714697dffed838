"""Paints one panel with Matplotlib: boxes, ranks, arrows with their steps, and a matrix of
messages.
"""

from typing import Any

from tutti.drawing.graph import PHASE_TEXT, Graph
from tutti.drawing.layout import ORDER, Box
from tutti.drawing.panels import Panel
from tutti.drawing.strokes import Stroke
from tutti.places import core

# These can be distinguished by people with red-green colour blindness, and are dark on white.
COLOURS = {
    "core": "#5f6b76",
    "cache": "#2a9bc7",
    "numa": "#0a62a9",
    "socket": "#4a4fb5",
    "node": "#0b7a5a",
    "cluster": "#d1480a",
    "machine": "#8a1fb0",
}
DASHES = (0, (4, 1.6))
BOX_FACES = {"cluster": "#f2f3f5", "node": "#ffffff", "socket": "#f6f6fc", "numa": "#f4f8fb"}
BOX_EDGES = {"cluster": "#9aa3ad", "node": "#5b6570", "socket": "#8a93a8", "numa": "#b4bec8"}
TEXT = "#20262c"
FAINT = "#4a545e"
BARRIER_PHASE_TEXT = {"reduce": "arrivals", "bcast": "release"}
# Lengths in cells.
RADIUS = 0.3
MARGIN = 0.15


def phase_texts(collective: str) -> dict[str, str]:
    """The text for each phase of a collective's plans."""
    return BARRIER_PHASE_TEXT if collective == "barrier" else PHASE_TEXT


def line_style(level: str) -> Any:
    """Dashed between nodes, where the data goes over the network, else solid."""
    return DASHES if level in ("cluster", "machine") else "solid"


def _box(axes: Any, box: Box) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (box.x, box.y),
            box.width,
            box.height,
            boxstyle="round,pad=0,rounding_size=0.12",
            zorder=ORDER[box.level],
            facecolor=BOX_FACES[box.level],
            edgecolor=BOX_EDGES[box.level],
            linewidth=0.9,
            gid=f"box-{box.level}-{box.index}",
        )
    )
    axes.text(
        box.x + 0.12,
        box.y + 0.06,
        box.title,
        fontsize=6.5,
        color=FAINT,
        ha="left",
        va="top",
        zorder=4.5,
        bbox={
            "boxstyle": "square,pad=0.05",
            "facecolor": BOX_FACES[box.level],
            "edgecolor": "none",
            "alpha": 0.85,
        },
    )


def _rank(axes: Any, rank: int, at: tuple[float, float], marked: bool, size: float) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(
        Circle(
            at,
            RADIUS,
            facecolor="#fff3c4" if marked else "#ffffff",
            edgecolor=TEXT,
            linewidth=1.5 if marked else 0.8,
            zorder=6,
            gid=f"rank-{rank}",
        )
    )
    axes.text(
        *at, str(rank), fontsize=size, color=TEXT, ha="center", va="center_baseline", zorder=7
    )


def _arrow(axes: Any, stroke: Stroke, number: int, width: float) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    curve = Path(stroke.outside(RADIUS + 0.03), [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    axes.add_patch(
        FancyArrowPatch(
            path=curve,
            arrowstyle="-|>",
            mutation_scale=7,
            zorder=4,
            color=COLOURS[stroke.level],
            linewidth=width,
            linestyle=line_style(stroke.level),
            gid=f"edge-{stroke.level}-{number}",
        )
    )


class _Labels:
    """Places the arrows' labels so that they cover no rank and no other label.

    A label without room is left out.
    """

    def __init__(self, panel: Panel, size: float, scale: float) -> None:
        self.height = size / 72 / scale
        self.taken = [(x, y, RADIUS, RADIUS) for x, y in panel.layout.at.values()]

    def place(self, stroke: Stroke) -> tuple[float, float] | None:
        half = (0.3 * len(stroke.label) + 0.12) * self.height, 0.5 * self.height
        for place in (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8):
            x, y = stroke.point(place)
            if all(
                abs(x - a) >= half[0] + w or abs(y - b) >= half[1] + h for a, b, w, h in self.taken
            ):
                self.taken.append((x, y, *half))
                return x, y
        return None


def _write_labels(axes: Any, panel: Panel, scale: float) -> int:
    """Writes the labels and returns the number of those that had no room."""
    strokes = panel.shown.strokes if panel.shown.label else []
    size = 6.5 if len(strokes) <= 70 else 5.5
    labels = _Labels(panel, size, scale)
    missing = 0
    for stroke in strokes:
        at = labels.place(stroke)
        if at is None:
            missing += 1
            continue
        axes.text(
            *at,
            stroke.label,
            fontsize=size,
            color=COLOURS[stroke.level],
            ha="center",
            va="center_baseline",
            zorder=5,
            bbox={
                "boxstyle": "square,pad=0.08",
                "facecolor": "white",
                "edgecolor": "none",
                "alpha": 0.9,
            },
        )
    return missing


def paint(axes: Any, graph: Graph, panel: Panel, scale: float) -> None:
    """Paints boxes, ranks and arrows. `scale`: inches per cell."""
    layout = panel.layout
    axes.set_xlim(-MARGIN, layout.width + MARGIN)
    axes.set_ylim(layout.height + MARGIN, -MARGIN)
    axes.axis("off")
    for box in layout.boxes:
        _box(axes, box)
    width = 0.6 if graph.sums.children > 32 else 1.0
    for number, stroke in enumerate(panel.shown.strokes):
        _arrow(axes, stroke, number, width)
    rooted = core().rooted(graph.plan.collective)
    for rank, at in layout.at.items():
        _rank(axes, rank, at, rooted and rank == graph.plan.root, 7.5 if graph.ranks <= 64 else 6.5)
        if not layout.boxes and len(graph.placed.nodes) > 1:
            home = f"node {graph.placed.group_of(rank, 'node').index}"
            axes.text(
                at[0],
                at[1] + RADIUS + 0.05,
                home,
                fontsize=4.5,
                color=FAINT,
                ha="center",
                va="top",
                zorder=5,
            )
    missing = _write_labels(axes, panel, scale)
    words = phase_texts(graph.plan.collective)
    notes = [words.get(panel.phase, "no messages between ranks"), panel.shown.note]
    if missing:
        notes.append(f"no room for {missing} step number{'s' if missing > 1 else ''}")
    axes.set_title(
        "; ".join(note for note in notes if note), fontsize=8.5, color=TEXT, loc="left", pad=4
    )


def paint_matrix(axes: Any, graph: Graph, panel: Panel) -> None:
    """Paints the matrix: a square for each pair of ranks with a message, in the colour of its
    level.

    The ranks are in the order of the machine's tree.
    """
    import numpy
    from matplotlib.colors import to_rgb

    order = sorted(graph.placed.ranks, key=lambda rank: (graph.placed.core_of[rank], rank))
    place = {rank: index for index, rank in enumerate(order)}
    squares = numpy.ones((graph.ranks, graph.ranks, 3))
    for message in panel.messages:
        squares[place[message.source], place[message.target]] = to_rgb(COLOURS[message.level])
    axes.imshow(squares, interpolation="nearest", aspect="equal")
    spacing = max(1, 1 << (graph.ranks // 12).bit_length())
    shown = range(0, graph.ranks, spacing)
    axes.set_xticks(shown, [str(order[index]) for index in shown], fontsize=6)
    axes.set_yticks(shown, [str(order[index]) for index in shown], fontsize=6)
    axes.tick_params(length=2, width=0.5)
    axes.set_ylabel("from rank", fontsize=7, labelpad=1)
    axes.set_xlabel("to rank", fontsize=7, labelpad=1)
