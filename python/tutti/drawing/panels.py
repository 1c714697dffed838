"""A drawing's panels: one for each phase of the plan, each with its layout and its arrows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tutti.drawing import layout as places
from tutti.drawing.graph import Graph, Message, parents
from tutti.drawing.layout import Layout
from tutti.drawing.strokes import Shown, choose, strokes_of, too_many_arrows
from tutti.drawing.tree import deepest, tree_layout, widest

# Width and height of a rank's cell, which has room for a number between two neighbours.
CELL = (1.2, 1.05)
# A tree with more leaves than this is wider than a page.
WIDEST_TREE = 72
# A deeper tree, such as the chain of a scan, is higher than a page.
DEEPEST_TREE = 24
# Width over height of boxes that have a matrix beside them.
SQUARISH = 1.8


@dataclass(frozen=True)
class Panel:
    phase: str
    layout: Layout
    shown: Shown
    messages: Sequence[Message]


def _fits(above: dict[int, int]) -> bool:
    return widest(above) <= WIDEST_TREE and deepest(above) <= DEEPEST_TREE


def as_trees(graph: Graph, wanted: str) -> bool:
    """True if the drawing shows trees of ranks, false if it shows ranks in the machine's boxes."""
    if wanted == "machine":
        return False
    trees = [parents(graph, phase) for phase in graph.phases]
    if not trees or any(tree is None for tree in trees):
        return False
    if wanted == "tree":
        return True
    one_box = len(graph.placed.nodes) == 1 and len(graph.placed.numa) == 1
    return one_box and all(tree is not None and _fits(tree) for tree in trees)


def _drawn_messages(graph: Graph) -> list[Message]:
    """The messages, with their steps numbered as a drawing shows them.

    A step in which ranks only copy their own data has no arrow, so it is not counted.
    """
    steps = sorted({message.step for message in graph.messages})
    numbers = {step: number for number, step in enumerate(steps, start=1)}
    return [replace(message, step=numbers[message.step]) for message in graph.messages]


def _panel(graph: Graph, drawn: Sequence[Message], phase: str, trees: bool, aspect: float) -> Panel:
    messages = [message for message in drawn if message.phase == phase]
    above = parents(graph, phase) if trees else None
    if above is not None:
        layout = tree_layout(above)
        return Panel(phase, layout, Shown(strokes_of(messages, layout.at, in_tree=True)), messages)
    layout = places.lay_out(
        graph.placed, SQUARISH if too_many_arrows(graph, messages) else aspect, CELL
    )
    return Panel(phase, layout, choose(graph, messages, layout.at), messages)


def panels(graph: Graph, wanted: str) -> list[Panel]:
    """A panel for each phase with messages; one without arrows if there are no messages."""
    trees = as_trees(graph, wanted)
    aspect = 2.0 if len(graph.phases) < 2 else 2.6
    drawn = _drawn_messages(graph)
    return [_panel(graph, drawn, phase, trees, aspect) for phase in graph.phases or [""]]
