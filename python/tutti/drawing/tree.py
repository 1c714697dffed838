"""Lays out a tree of ranks: the root on top, children below their parent, no subtrees overlap.

Graphviz's dot and igraph can lay out such trees too. But dot is a program that pip cannot install,
and igraph a library of 15 MB, while either would replace only one function of 20 lines.
"""

from tutti.drawing.layout import Layout

LEAF, NARROW_LEAF = 0.92, 0.74
LEVEL, HIGH_LEVEL = 1.35, 1.8
BROAD = 16


def _children(above: dict[int, int]) -> dict[int, list[int]]:
    below: dict[int, list[int]] = {}
    for child in sorted(above):
        below.setdefault(above[child], []).append(child)
    return below


def root_of(above: dict[int, int]) -> int:
    return next(parent for parent in above.values() if parent not in above)


def widest(above: dict[int, int]) -> int:
    """The number of leaves."""
    return len(above) + 1 - len(set(above.values()))


def deepest(above: dict[int, int]) -> int:
    """The number of edges between the root and the rank farthest from it."""
    depth = {root_of(above): 0}
    below = _children(above)
    order = [root_of(above)]
    for rank in order:
        for child in below.get(rank, []):
            depth[child] = depth[rank] + 1
            order.append(child)
    return max(depth.values())


def tree_layout(above: dict[int, int]) -> Layout:
    """The layout of a tree; `above` has the parent of every rank but the root."""
    below = _children(above)
    root = root_of(above)
    order = [(root, 0)]
    for rank, level in order:
        order.extend((child, level + 1) for child in below.get(rank, []))
    leaves: dict[int, int] = {}
    for rank, _ in reversed(order):
        leaves[rank] = sum(leaves[child] for child in below.get(rank, [])) or 1
    level_height = LEVEL if leaves[root] <= BROAD else HIGH_LEVEL
    leaf_width = LEAF if leaves[root] <= 2 * BROAD else NARROW_LEAF
    at: dict[int, tuple[float, float]] = {}
    left = {root: 0.0}
    for rank, level in order:
        start = left[rank]
        for child in below.get(rank, []):
            left[child] = start
            start += leaves[child] * leaf_width
        at[rank] = (left[rank] + leaves[rank] * leaf_width / 2, 0.5 + level * level_height)
    levels = max(level for _, level in order)
    return Layout(leaves[root] * leaf_width, levels * level_height + 1.0, (), at)
