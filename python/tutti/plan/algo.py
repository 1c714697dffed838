"""The built-in algorithms as parts of other plans.

Every part works over any sub-list of the ranks and on any regions: `values[r]` is what rank r brings, `into` is where
the result goes, `scratch[r]` is where partial results may stand. Each may be one of the context's buffers or a
dictionary by rank. Transfers that a part writes belong to the line that called it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tutti.plan.context import Context
from tutti.plan.fault import fault
from tutti.plan.language import builtin
from tutti.plan.region import Region, Vectors
from tutti.plan.trees import Tree

if TYPE_CHECKING:
    from tutti._core import Plan

Regions = Vectors | dict[int, Region]


def tree_reduce(
    c: Context,
    tree: Tree,
    *,
    values: Regions | None = None,
    into: Region | None = None,
    scratch: Regions | None = None,
    order: str = "rank",
    any_order: bool = False,
    push: bool = False,
) -> Region:
    """Combines the values of a tree's ranks up to its root; returns where the result is.

    Every inner rank combines its children's partial results and its own value in one transfer: in rank order
    (`order="rank"`), or its own first and then its children in the tree's order (`"tree"`, as LAM-MPI does). With
    `push` children push their partial results into their parents' scratch, beside the first vector. `into` is the
    root's scratch unless said; of a tree of one rank nothing is moved unless `into` is said.
    """
    if order not in ("rank", "tree"):
        raise fault(f"order '{order}' is unknown; known are rank and tree")
    values, scratch = values or c.inp, scratch or c.tmp
    held = {rank: values[rank] for rank in tree.ranks}
    for parent, below in _upwards(tree, order):
        sources = {child: held[child] for child in below}
        if push:
            sources = _pushed(c, parent, sources)
        in_order = (
            [parent, *below] if order == "tree" else sorted([parent, *below], key=lambda rank: _place(tree, parent, rank))
        )
        target = into if parent == tree.root and into is not None else scratch[parent]
        mine = held[parent]
        c.reduce(target, [mine if rank == parent else sources[rank] for rank in in_order], any_order=any_order)
        held[parent] = target
    if into is not None and held[tree.root] != into:
        c.copy(into, held[tree.root])
        return into
    return held[tree.root]


def _place(tree: Tree, parent: int, rank: int) -> int:
    return parent if rank == parent else tree.lowest[rank]


def _upwards(tree: Tree, order: str) -> list[tuple[int, list[int]]]:
    """Each inner rank with its children, after all below it; without recursion, because a chain may be long."""
    steps: list[tuple[int, list[int]]] = []
    waiting = [tree.root]
    while waiting:
        rank = waiting.pop()
        below = tree.children.get(rank)
        if not below:
            continue
        ordered = sorted(below, key=lambda child: tree.lowest[child]) if order == "rank" else below
        steps.append((rank, ordered))
        waiting += ordered
    return steps[::-1]


def _pushed(c: Context, parent: int, sources: dict[int, Region]) -> dict[int, Region]:
    """The children's partial results, pushed to places of their own beside the parent's partial result."""
    landed = {}
    for which, (child, source) in enumerate(sources.items(), start=1):
        landed[child] = c.tmp[parent, which]
        c.copy(landed[child], source, push=True)
    return landed


def tree_bcast(
    c: Context, tree: Tree, source: Region | None = None, *, into: Regions | None = None, push: bool = False
) -> None:
    """Hands what the root holds in `source` (its `into` unless said) down a tree, into `into[r]` of every other rank."""
    into = into or c.out
    held = {tree.root: into[tree.root] if source is None else source}
    for parent, child in tree.edges:
        held[child] = into[child]
        c.copy(held[child], held[parent], push=push)


def all_read_all(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """Every rank reads and combines the values of all: one hand-over, for a few ranks and bytes."""
    _included(c, "all_read_all", ranks, values, into, scratch)


def tiled(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """Every rank combines one tile of the vector for all, then everybody collects the tiles: for long vectors.

    The vectors must have a multiple of as many blocks as there are ranks; see `c.blocks`.
    """
    _included(c, "tiled", ranks, values, into, scratch)


def _included(
    c: Context,
    algorithm: str,
    ranks: Sequence[int] | None,
    values: Regions | None,
    into: Regions | None,
    scratch: Regions | None,
) -> None:
    members = c.ranks if ranks is None else ranks
    plan: Plan = builtin(algorithm, "allreduce", len(members))
    c.include(plan, members, inp=values, out=into, tmp=scratch)


def dissemination(c: Context, ranks: Sequence[int] | None = None) -> None:
    """A barrier in ceil(log2 p) rounds: in round k everybody hears of the rank 2^k before it."""
    members = list(c.ranks if ranks is None else ranks)
    heard: dict[int, Region] = {rank: c.inp[rank] for rank in members}
    distance, round_number = 1, 0
    while distance < len(members):
        last = 2 * distance >= len(members)
        news = {}
        for at, rank in enumerate(members):
            before = members[at - distance]
            news[rank] = c.out[rank] if last else c.tmp[rank, round_number]
            c.reduce(news[rank], [heard[rank], heard[before]])
        heard = news
        distance, round_number = 2 * distance, round_number + 1
    if distance == 1:
        c.copy(c.out[members[0]], heard[members[0]])
