"""Trees of ranks, as data.

A `Tree` is a root and edges (parent, child) from the root downwards, in the order in which a parent
serves its children. It is a value; the functions in `algo` turn it into transfers. The built-in
shapes come from the C++ generators, so that a name always means the same tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from tutti.errors import UserError
from tutti.places import core


class Tree:
    """A tree over some ranks, in any order and number."""

    def __init__(self, root: int, edges: Sequence[tuple[int, int]]) -> None:
        self.root = root
        self.edges: tuple[tuple[int, int], ...] = tuple(edges)
        placed = {root}
        for parent, child in self.edges:
            if parent not in placed:
                raise UserError(
                    f"rank {parent} has a child, {child}, before it has a parent itself; list "
                    "edges from the root downwards"
                )
            if child in placed:
                raise UserError(f"rank {child} is in the tree twice; give it one parent")
            placed.add(child)

    @classmethod
    def flat(cls, ranks: Sequence[int], root: int | None = None) -> Tree:
        """The root is the parent of every other rank."""
        top = _root(ranks, root)
        return cls(top, [(top, rank) for rank in ranks if rank != top])

    @classmethod
    def binomial(cls, ranks: Sequence[int], root: int | None = None) -> Tree:
        """The built-in binomial tree over these ranks."""
        return cls.builtin("binomial", ranks, root)

    @classmethod
    def nary(cls, ranks: Sequence[int], degree: int, root: int | None = None) -> Tree:
        """The built-in tree of this degree over these ranks (HMPI 2.2)."""
        return cls.builtin(f"nary:{degree}", ranks, root)

    @classmethod
    def builtin(cls, algorithm: str, ranks: Sequence[int], root: int | None = None) -> Tree:
        """The tree of a built-in algorithm's broadcast."""
        top = _root(ranks, root)
        at = list(ranks).index(top)
        try:
            plan = core().generate("bcast", algorithm, len(ranks), at)
        except core().Error as error:
            raise UserError(str(error)) from error
        return cls(top, [(ranks[source], ranks[target]) for source, target, _ in plan.edges])

    @classmethod
    def chain(cls, ranks: Sequence[int]) -> Tree:
        """The parent of each rank is the one before it in the list."""
        _root(ranks, None)
        return cls(ranks[0], list(pairwise(ranks)))

    @classmethod
    def from_parents(cls, parent_of: Mapping[int, int], root: int | None = None) -> Tree:
        """A tree from each rank's parent; children are in ascending order.

        The root is the rank without a parent. Raises UserError if there is not exactly one.
        """
        children: dict[int, list[int]] = {}
        for child, parent in parent_of.items():
            children.setdefault(parent, []).append(child)
        tops = [rank for rank in children if rank not in parent_of] or (
            [] if root is None else [root]
        )
        if len(tops) != 1 or root not in (None, tops[0]):
            raise UserError(f"a tree has one root; ranks without a parent are {sorted(tops)}")
        return cls.from_children(tops[0], {rank: sorted(below) for rank, below in children.items()})

    @classmethod
    def from_children(cls, root: int, children: Mapping[int, Sequence[int]]) -> Tree:
        """A tree from each rank's children, in the order of serving them. Raises UserError."""
        edges: list[tuple[int, int]] = []
        waiting = [root]
        while waiting:
            parent = waiting.pop()
            below = list(children.get(parent, ()))
            edges += [(parent, child) for child in below]
            waiting += reversed(below)
            if len(edges) > sum(map(len, children.values())):
                break  # there is a cycle; the constructor names the rank that occurs twice
        tree = cls(root, edges)
        lost = [rank for rank, below in children.items() if below and rank not in tree.ranks]
        if lost:
            raise UserError(
                f"rank {lost[0]} has children, but is not below root {root}; give it a parent"
            )
        return tree

    @classmethod
    def joined(cls, trees: Iterable[Tree]) -> Tree:
        """Joins trees into one. The root of each but the first must be in an earlier one."""
        parts = list(trees)
        if not parts:
            raise UserError("no trees to join; give at least one")
        return cls(parts[0].root, [edge for part in parts for edge in part.edges])

    @cached_property
    def ranks(self) -> frozenset[int]:
        return frozenset((self.root, *(child for _, child in self.edges)))

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The children of each rank that has some, in order."""
        below: dict[int, list[int]] = {}
        for parent, child in self.edges:
            below.setdefault(parent, []).append(child)
        return below

    @cached_property
    def parents(self) -> dict[int, int]:
        return {child: parent for parent, child in self.edges}

    @cached_property
    def depth(self) -> int:
        """The length of the longest path from the root, in edges."""
        below = {self.root: 0}
        for parent, child in self.edges:
            below[child] = below[parent] + 1
        return max(below.values())

    @property
    def most_children(self) -> int:
        return max(map(len, self.children.values()), default=0)

    @cached_property
    def lowest(self) -> dict[int, int]:
        """The lowest rank at or below each rank; it sorts subtrees into rank order."""
        low = {rank: rank for rank in self.ranks}
        for parent, child in reversed(self.edges):
            low[parent] = min(low[parent], low[child])
        return low

    def __len__(self) -> int:
        return len(self.edges) + 1

    def __repr__(self) -> str:
        return (
            f"Tree(root {self.root}, {len(self)} ranks, depth {self.depth}, most children "
            f"{self.most_children})"
        )


def _root(ranks: Sequence[int], root: int | None) -> int:
    if not ranks:
        raise UserError("a tree without ranks; give at least one")
    if root is None:
        return ranks[0]
    if root not in ranks:
        raise UserError(
            f"root {root} is not among the ranks of the tree; ranks are "
            f"{', '.join(map(str, list(ranks)[:8]))}"
        )
    return root
