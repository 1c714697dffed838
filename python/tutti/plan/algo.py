"""The built-in algorithms as parts of other plans.

Every part works over any sub-list of the ranks and on any regions: `values[r]` is what rank r brings, `into` is where
the result goes, `scratch[r]` is where partial results may stand. Each may be one of the context's buffers or a
dictionary by rank. Transfers that a part writes belong to the line that called it.

Where an algorithm serves several collectives, `collective` says which of them is done among these ranks; unless said
it is the plan's own where the algorithm serves that. Of a collective with parts the blocks of `values[r]` or `into[r]` are
the parts of these ranks, in the order of the list; a list of regions names parts that do not lie side by side:

    groups = c.tree.numa
    for group in groups:                                  # an allgather within each group
        into = {r: [c.out[r][other] for other in group.ranks] for r in group.ranks}
        tp.algo.direct(c, group.ranks, collective="allgather", into=into)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tutti.places import core
from tutti.plan.context import Context
from tutti.plan.fault import fault
from tutti.plan.inclusion import Regions
from tutti.plan.language import builtin
from tutti.plan.ranks import Ranks
from tutti.plan.region import Region, Vectors
from tutti.plan.trees import Tree

if TYPE_CHECKING:
    from tutti._core import Plan

# Whole vectors: of the parts that take no lists.
Whole = Vectors | Mapping[int, Region]


def tree_reduce(
    c: Context,
    tree: Tree,
    *,
    values: Whole | None = None,
    into: Region | None = None,
    scratch: Whole | None = None,
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
            [parent, *below]
            if order == "tree"
            else sorted([parent, *below], key=lambda rank: _place(tree, parent, rank))
        )
        target = into if parent == tree.root and into is not None else scratch[parent]
        mine = held[parent]
        c.reduce(
            target,
            [mine if rank == parent else sources[rank] for rank in in_order],
            any_order=any_order,
        )
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
    c: Context,
    tree: Tree,
    source: Region | None = None,
    *,
    into: Whole | None = None,
    push: bool = False,
) -> None:
    """Hands what the root holds in `source` (its `into` unless said) down a tree, into `into[r]` of every other rank."""
    into = into or c.out
    held = {tree.root: into[tree.root] if source is None else source}
    for parent, child in tree.edges:
        held[child] = into[child]
        c.copy(held[child], held[parent], push=push)


def tree_gather(
    c: Context,
    tree: Tree,
    *,
    values: Whole | None = None,
    into: Region | None = None,
    scratch: Whole | None = None,
) -> None:
    """Collects the parts of a tree's ranks at its root: rank r's `values[r]` becomes block r of `into`.

    `into` is the root's out unless said; an inner rank collects in the same blocks of its scratch, and hands them on
    together where their ranks are evenly spaced.
    """
    values, scratch = values or c.inp, scratch or c.tmp
    target = c.out[tree.root] if into is None else into
    below = _below(tree)
    if len(tree) == 1:
        c.copy(target[tree.root], values[tree.root])
    for parent, children in _upwards(tree, "tree"):
        held = target if parent == tree.root else scratch[parent]
        c.copy(held[parent], values[parent])
        for child in children:
            if child not in tree.children:
                c.copy(held[child], values[child])
                continue
            for run in below[child].slices():
                c.copy(held[run], scratch[child][run])


def tree_scatter(
    c: Context,
    tree: Tree,
    source: Region | None = None,
    *,
    into: Whole | None = None,
    scratch: Whole | None = None,
) -> None:
    """Hands out the parts of a tree's ranks from its root: block r of `source` (the root's in unless said) becomes `into[r]`.

    An inner rank takes the parts of all ranks below it into the same blocks of its scratch.
    """
    into, scratch = into or c.out, scratch or c.tmp
    held = {tree.root: c.inp[tree.root] if source is None else source}
    below = _below(tree)
    for parent, child in tree.edges:
        if child not in tree.children:
            c.copy(into[child], held[parent][child])
            continue
        held[child] = scratch[child]
        for run in below[child].slices():
            c.copy(held[child][run], held[parent][run])
    for rank, region in held.items():
        c.copy(into[rank], region[rank])


def _below(tree: Tree) -> dict[int, Ranks]:
    """Each inner rank with all ranks at or below it."""
    found = {rank: [rank] for rank in tree.ranks}
    for parent, child in reversed(tree.edges):
        found[parent] += found[child]
    return {rank: Ranks(found[rank]) for rank in tree.children}


def all_read_all(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    collective: str | None = None,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """Every rank offers what it has and reads all it wants in one hand-over: for a few ranks and bytes.

    Of barrier, allreduce, allgather, alltoall, reduce_scatter, scan and exscan; an allreduce in plans of others.
    """
    _included(
        c,
        "all_read_all",
        ranks,
        values,
        into,
        scratch,
        collective or _own(c, "all_read_all", "allreduce"),
    )


def levels(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    form: str = "",
    collective: str | None = None,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """Trees in the groups of the machine's tree and above them: barrier, bcast, reduce, allreduce, gather or scatter.

    `form` is what stands behind the algorithm's name: `binomial:flat:push` (docs/algorithms.md).
    """
    _included(
        c,
        _spec("levels", form),
        ranks,
        values,
        into,
        scratch,
        collective or c.collective,
        by_levels=True,
    )


def hierarchical(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    between: str = "",
    within: str = "",
    leaders: int = 1,
    collective: str | None = None,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """One algorithm between the nodes of the machine's tree, among their leaders, and one within each: any collective.

    `between` and `within` are algorithms with what may stand behind their names (docs/algorithms.md); the usual ones unless
    said. `leaders` of each node divide vectors and parts.
    """
    if within and not between:
        raise fault(f"hierarchical: within={within!r} without between; name both")
    form = "".join("+" + part for part in (between, within) if part)
    spec = f"hierarchical:leaders={leaders}{form}"
    _included(c, spec, ranks, values, into, scratch, collective or c.collective, by_levels=True)


def tiled(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    form: str = "",
    collective: str | None = None,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """Every rank combines one tile of the vector for all, then everybody, or the root, collects the tiles: for long vectors.

    An allreduce or a reduce (an allreduce in plans of others). `form` may be `cyclic` or, by the groups of the machine's
    tree, `levels`. The vectors must have a multiple of as many blocks as there are ranks (by levels, as there are in the
    largest numa region); see `c.blocks`.
    """
    whole = collective or _own(c, "tiled", "allreduce")
    _included(
        c, _spec("tiled", form), ranks, values, into, scratch, whole, by_levels=form == "levels"
    )


def doubling(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    collective: str | None = None,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """Pairs at doubling distances exchange all they have: barrier, allreduce, allgather, scan or exscan.

    An allreduce in plans of others.
    """
    whole = collective or _own(c, "doubling", "allreduce")
    _included(c, "doubling", ranks, values, into, scratch, whole)


def halving(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    collective: str | None = None,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """Pairs exchange halves: allreduce or reduce_scatter (an allreduce in plans of others).

    The vectors of an allreduce must have a multiple of as many blocks as the largest power of two that is not above the
    number of ranks; see `c.blocks`.
    """
    _included(
        c, "halving", ranks, values, into, scratch, collective or _own(c, "halving", "allreduce")
    )


def bruck(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    collective: str | None = None,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """Parts travel by powers of two: allgather or alltoall (an allgather in plans of others)."""
    _included(c, "bruck", ranks, values, into, scratch, collective or _own(c, "bruck", "allgather"))


def direct(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    collective: str | None = None,
    window: int | None = None,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """Every rank hands its parts to the ranks that want them: gather, scatter, allgather, alltoall or reduce_scatter.

    `window` is how many parts a rank offers at a time. The root of a gather or scatter is the plan's where it is among
    the ranks, else their first.
    """
    algorithm = "direct" if window is None else f"direct:{window}"
    _included(c, algorithm, ranks, values, into, scratch, collective or c.collective)


def ring(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    collective: str | None = None,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """In p - 1 steps every rank takes from its left neighbour what that took, or combined, before.

    An allgather, reduce_scatter or allreduce (an allgather in plans of others). The vectors of an allreduce must have a
    multiple of as many blocks as there are ranks; see `c.blocks`.
    """
    _included(c, "ring", ranks, values, into, scratch, collective or _own(c, "ring", "allgather"))


def chain(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    collective: str | None = None,
    values: Regions | None = None,
    into: Regions | None = None,
    scratch: Regions | None = None,
) -> None:
    """A scan or exscan (a scan in plans of others): each rank combines its left neighbour's result with its own value."""
    _included(c, "chain", ranks, values, into, scratch, collective or _own(c, "chain", "scan"))


def _own(c: Context, algorithm: str, otherwise: str) -> str:
    """The plan's collective where this algorithm serves it."""
    served = next(
        entry["collectives"] for entry in core().algorithms() if entry["name"] == algorithm
    )
    return c.collective if c.collective in served else otherwise


def _spec(algorithm: str, form: str) -> str:
    return f"{algorithm}:{form}" if form else algorithm


def _included(
    c: Context,
    algorithm: str,
    ranks: Sequence[int] | None,
    values: Regions | None,
    into: Regions | None,
    scratch: Regions | None,
    collective: str,
    by_levels: bool = False,
) -> None:
    members = list(c.ranks if ranks is None else ranks)
    rooted: bool = collective in core().collectives() and core().rooted(collective)
    root = members.index(c.root) if rooted and c.root in members else 0
    shared = c.tree.levels(members) if by_levels else ""
    plan: Plan = builtin(algorithm, collective, len(members), root, shared)
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
