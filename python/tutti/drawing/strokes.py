"""Chooses the arrows of a drawing, and their curves.

A panel shows every message if the arrows can be distinguished. If each rank sends to many, the
panel shows the arrows to one rank as an example, and a matrix (paint.py) shows all pairs. The
panel's note says what is left out.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tutti.drawing.graph import LEVELS, Graph, Message

MOST_ARROWS = 400
# With more arrows per rank a panel shows a matrix instead.
MOST_PER_RANK = 3

Point = tuple[float, float]


@dataclass(frozen=True)
class Stroke:
    """One arrow: a quadratic curve, pulled towards `control` between its ends."""

    start: Point
    control: Point
    end: Point
    level: str
    messages: int
    label: str

    def blossom(self, one: float, other: float) -> Point:
        """The control point of the part of the curve between two places (0 to 1).

        If both are the same, this is the point of the curve there.
        """
        parts = (1 - one) * (1 - other), one * (1 - other) + other * (1 - one), one * other
        points = self.start, self.control, self.end
        return (
            sum(part * point[0] for part, point in zip(parts, points, strict=True)),
            sum(part * point[1] for part, point in zip(parts, points, strict=True)),
        )

    def point(self, place: float) -> Point:
        """The point at a place along the arrow, from 0 at its start to 1 at its end."""
        return self.blossom(place, place)

    def outside(self, radius: float) -> tuple[Point, Point, Point]:
        """The part of the curve that is at least `radius` away from its ends."""
        low, high = self._leaves(self.start, 0.0, radius), self._leaves(self.end, 1.0, radius)
        return self.point(low), self.blossom(low, high), self.point(high)

    def _leaves(self, end: Point, place: float, radius: float) -> float:
        """The place where the curve is `radius` away from one of its ends; at most its middle."""
        near, far = place, 0.5 + (place - 0.5) * 0.1
        for _ in range(20):
            middle = (near + far) / 2
            if math.dist(self.point(middle), end) < radius:
                near = middle
            else:
                far = middle
        return far


def steps_text(steps: Sequence[int]) -> str:
    """Steps as text, such as `1,3-5`."""
    ordered = sorted(set(steps))
    runs: list[list[int]] = []
    for step in ordered:
        if runs and step == runs[-1][-1] + 1:
            runs[-1].append(step)
        else:
            runs.append([step])
    words = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ",".join(words) if len(words) <= 3 else f"{ordered[0]}..{ordered[-1]}"


def arched(start: Point, end: Point, returned: bool) -> Point:
    """The control point of an arrow in the machine's boxes.

    Along a row or a column an arrow bends around the ranks between; other arrows are nearly
    straight. `returned`: there is an arrow back, so the two bend to different sides.
    """
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    in_row, in_column = abs(dy) < 0.2, abs(dx) < 0.2
    if length < 1.6 or not (in_row or in_column):
        off = 0.3 if returned else 0.1
        return middle[0] + off * dy / length, middle[1] - off * dx / length
    # The curve's middle is off the line by half of this, so that it runs between two rows of ranks.
    off = 2 * min(0.68, 0.36 + 0.05 * length)
    if returned and (dx + dy) < 0:
        off = -off
    return (middle[0], middle[1] + off) if in_row else (middle[0] - off, middle[1])


def tree_control(start: Point, end: Point) -> Point:
    """The control point in a tree: the arrow leaves the lower rank upwards and misses its
    neighbours.
    """
    lower, upper = (start, end) if start[1] > end[1] else (end, start)
    return lower[0], lower[1] - 0.65 * (lower[1] - upper[1])


def strokes_of(
    messages: Sequence[Message], at: dict[int, Point], in_tree: bool = False
) -> list[Stroke]:
    """An arrow for each pair of ranks."""
    pairs: dict[tuple[int, int], list[Message]] = {}
    for message in messages:
        pairs.setdefault((message.source, message.target), []).append(message)
    strokes = []
    for (source, target), group in pairs.items():
        start, end = at[source], at[target]
        control = (
            tree_control(start, end) if in_tree else arched(start, end, (target, source) in pairs)
        )
        label = steps_text([message.step for message in group])
        strokes.append(Stroke(start, control, end, group[0].level, len(group), label))
    return strokes


@dataclass(frozen=True)
class Shown:
    """The arrows of one panel.

    `label`: the arrows get the numbers of their steps. `matrix`: a matrix shows all messages, and
    the arrows are an example.
    """

    strokes: list[Stroke]
    note: str = ""
    label: bool = True
    matrix: bool = False


def too_many_arrows(graph: Graph, messages: Sequence[Message]) -> bool:
    pairs = {(message.source, message.target) for message in messages}
    return graph.ranks > 4 and len(pairs) > min(MOST_PER_RANK * graph.ranks, MOST_ARROWS)


def choose(graph: Graph, messages: Sequence[Message], at: dict[int, Point]) -> Shown:
    """Chooses the arrows of one panel whose ranks are in the machine's boxes."""
    steps = {message.step for message in messages}
    once = f"all in step {min(steps)}" if len(steps) == 1 and len(messages) > 1 else ""
    if not too_many_arrows(graph, messages):
        return Shown(strokes_of(messages, at), once, label=not once)
    targets = Counter(message.target for message in messages)
    rank = min(target for target, count in targets.items() if count == max(targets.values()))
    shown = [message for message in messages if message.target == rank]
    note = f"{len(messages):,} messages: the arrows show those to rank {rank}, the matrix all"
    return Shown(
        strokes_of(shown, at), f"{note}; {once}" if once else note, label=not once, matrix=True
    )


def levels_shown(messages: Sequence[Message]) -> list[str]:
    present = {message.level for message in messages}
    return [level for level in LEVELS if level in present]
