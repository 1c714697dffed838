"""Places the machine's boxes and the ranks: clusters contain nodes, sockets, NUMA regions and
ranks.

Lengths are in cells. A rank takes one cell, which is square or, for pages that show more of a rank,
wider. Boxes are placed in rows and columns, in the way whose shape is nearest to the requested
one. A level that distinguishes nothing (one cluster, one NUMA region in each node, sockets that
are NUMA regions) gets no box.

The layout is our own, because libraries for graphs place ranks by the messages between them:
Graphviz (dot, fdp, circo) places equal nodes at different heights and lets boxes overlap, and
networkx has no boxes. Here places depend only on the machine, so that the phases of a plan, and
all plans for one machine, can be compared by eye.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tutti.plan.machine import Group, Placed

PADDING = 0.22
HEADING = 0.34
GAP = 0.35


@dataclass(frozen=True)
class Box:
    level: str
    index: int
    x: float
    y: float
    width: float
    height: float
    ranks: tuple[int, ...]

    @property
    def title(self) -> str:
        return f"{self.level} {self.index}"


@dataclass(frozen=True)
class Layout:
    """Boxes, outer ones first, and the centre of each rank's cell (`at`). y grows downwards."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    at: dict[int, tuple[float, float]]


@dataclass(frozen=True)
class _Way:
    """The number of columns: of ranks in a box, of NUMA regions, sockets, nodes and clusters."""

    ranks: int
    numa: int
    socket: int
    nodes: int
    clusters: int


class _Builder:
    def __init__(self, way: _Way, levels: Sequence[str], cell: tuple[float, float]) -> None:
        self.way = way
        self.levels = levels
        self.cell = cell
        self.boxes: list[Box] = []
        self.at: dict[int, tuple[float, float]] = {}

    def ranks(self, ranks: Sequence[int], x: float, y: float) -> tuple[float, float]:
        columns = min(self.way.ranks, len(ranks))
        width, height = self.cell
        for place, rank in enumerate(sorted(ranks)):
            self.at[rank] = (
                x + (place % columns + 0.5) * width,
                y + (place // columns + 0.5) * height,
            )
        return columns * width, math.ceil(len(ranks) / columns) * height

    def inside(self, group: Group, x: float, y: float) -> tuple[float, float]:
        below = [level for level in self.levels if ORDER[level] > ORDER[group.level]]
        if not below:
            return self.ranks(group.ranks, x, y)
        return self.grid(descendants(group, below[0]), x, y)

    def grid(self, groups: Sequence[Group], x: float, y: float) -> tuple[float, float]:
        columns = getattr(
            self.way, {"cluster": "clusters", "node": "nodes"}.get(groups[0].level, groups[0].level)
        )
        widest, top = 0.0, y
        for start in range(0, len(groups), columns):
            left, lowest = x, top
            for group in groups[start : start + columns]:
                place = len(self.boxes)
                self.boxes.append(
                    Box(group.level, group.index, left, top, 0, 0, tuple(group.ranks))
                )
                width, height = self.inside(group, left + PADDING, top + HEADING)
                width, height = width + 2 * PADDING, height + HEADING + PADDING
                self.boxes[place] = Box(
                    group.level, group.index, left, top, width, height, tuple(group.ranks)
                )
                left += width + GAP
                lowest = max(lowest, top + height)
            widest = max(widest, left - GAP - x)
            top = lowest + GAP
        return widest, top - GAP - y


ORDER = {"cluster": 0, "node": 1, "socket": 2, "numa": 3}
INSIDE_NODES = ("socket", "numa")


def descendants(group: Group, level: str) -> list[Group]:
    """The groups of a level inside a group."""
    if group.level == level:
        return [group]
    return [found for child in group.children for found in descendants(child, level)]


def box_levels(placed: Placed) -> list[str]:
    levels = ["cluster"] if len(placed.clusters) > 1 else []
    levels.append("node")
    # If each socket is one NUMA region, only the NUMA regions get boxes.
    distinct = "numa" not in placed.machine.levels or len(placed.numa) > len(placed.sockets)
    if len(placed.sockets) > len(placed.nodes) and distinct:
        levels.append("socket")
    if len(placed.numa) > len(placed.groups(levels[-1])):
        levels.append("numa")
    return levels


def _columns(count: int, most: int) -> list[int]:
    """Numbers of columns whose last row is at least half full."""
    return [n for n in range(1, min(count, most) + 1) if count % n == 0 or count % n >= n / 2]


def _outer(placed: Placed, levels: Sequence[str], level: str) -> list[Group]:
    """The groups whose boxes contain the boxes of this level."""
    return placed.groups(levels[levels.index(level) - 1])


def _most_inside(placed: Placed, levels: Sequence[str], level: str) -> int:
    if level not in levels:
        return 1
    return max(len(descendants(group, level)) for group in _outer(placed, levels, level))


def _ways(placed: Placed, levels: Sequence[str]) -> list[_Way]:
    most_ranks = max(len(group.ranks) for group in placed.groups(levels[-1]))
    sockets, regions = (_most_inside(placed, levels, level) for level in INSIDE_NODES)
    nodes = max(len(descendants(cluster, "node")) for cluster in placed.clusters)
    return [
        _Way(rank_columns, numa_columns, socket_columns, node_columns, cluster_columns)
        for rank_columns in _columns(most_ranks, 16)
        for numa_columns in _columns(regions, 8)
        for socket_columns in _columns(sockets, 4)
        for node_columns in _columns(nodes, 16)
        for cluster_columns in _columns(len(placed.clusters), 4)
    ]


def lay_out(
    placed: Placed, aspect: float, cell: tuple[float, float] = (1.0, 1.0), row_cost: float = 0.65
) -> Layout:
    """The layout whose width over height is nearest to `aspect`.

    A larger `row_cost` prefers fewer rows of nodes.
    """
    levels = box_levels(placed)
    tops = placed.clusters if levels[0] == "cluster" else placed.nodes
    best: tuple[float, Layout] | None = None
    for way in _ways(placed, levels):
        builder = _Builder(way, levels, cell)
        width, height = builder.grid(tops, 0.0, 0.0)
        rows = math.ceil(len(placed.nodes) / way.nodes)
        uneven = any(len(box.ranks) % way.ranks for box in builder.boxes if box.level == levels[-1])
        for level in INSIDE_NODES:
            if level in levels:
                columns = getattr(way, level)
                uneven = uneven or any(
                    len(descendants(group, level)) % columns
                    for group in _outer(placed, levels, level)
                )
        score = (
            abs(math.log(width / height / aspect))
            + row_cost * math.log(rows)
            + (0.3 if uneven else 0.0)
        )
        if best is None or score < best[0]:
            best = score, Layout(width, height, tuple(builder.boxes), builder.at)
    assert best is not None
    return best[1]
