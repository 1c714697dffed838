"""The built-in algorithms as parts of other plans.

Every part works on any sub-list of the ranks and on any regions: `values[r]` is the input of rank
r, `into` gets the result, and `scratch[r]` may hold partial results. Each may be one of the
context's buffers or a dictionary by rank. In error messages, the transfers of a part belong to the
line that called it.

If an algorithm serves several collectives, `collective` selects the one to do among these ranks. By
default this is the plan's own collective, if the algorithm serves it. In a collective with parts,
the blocks of `values[r]` or `into[r]` are the parts of these ranks, in the order of the list. A
list of regions names parts that are not adjacent:

    groups = c.tree.numa
    for group in groups:                                  # an allgather within each group
        into = {r: [c.out[r][other] for other in group.ranks] for r in group.ranks}
        tp.algo.direct(c, group.ranks, collective="allgather", into=into)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from tutti.places import core
from tutti.plan.context import Context
from tutti.plan.fault import fault
from tutti.plan.inclusion import Regions
from tutti.plan.language import builtin
from tutti.plan.ranks import Ranks
from tutti.plan.region import Region, Vectors
from tutti.plan.trees import Tree

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tutti._core import Plan

# Whole vectors, for the functions that take no lists of regions.
Whole = Vectors | Mapping[int, Region]


class Part(TypedDict, total=False):
    """The arguments that all parts take (see above)."""

    collective: str | None
    values: Regions | None
    into: Regions | None
    scratch: Regions | None


PART = tuple(Part.__annotations__)


def tree_reduce(
    c: Context,
    tree: Tree,
    *,
    values: Whole | None = None,
    into: Region | None = None,
    scratch: Whole | None = None,
    order: str = "rank",
    any_order: bool = False,
    stepwise: bool = False,
    push: bool = False,
) -> Region:
    """Combines the values of a tree's ranks up to its root and returns the region of the result.

    Every inner rank combines its children's partial results and its own value in one transfer: in
    rank order (`order="rank"`), or its own value first and then its children's in the tree's order
    (`"tree"`, as LAM-MPI does). With `any_order` it combines them as they arrive; with `stepwise` it
    combines one after another, each as soon as it and those before it are there, as LAM-MPI's
    sequence of receives does. With `push`, children push their partial results into further
    scratch vectors of their parents. `into` is by default the root's scratch. For a tree of one
    rank nothing is moved unless `into` is given.
    """
    if order not in ("rank", "tree"):
        raise fault(f"order '{order}' is unknown; known are rank and tree")
    if any_order and stepwise:
        raise fault("any_order and stepwise exclude each other; leave one out")
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
        combined = [mine if rank == parent else sources[rank] for rank in in_order]
        if stepwise:
            for further in combined[1:]:
                c.reduce(target, [combined[0], further])
                combined[0] = target
        else:
            c.reduce(target, combined, any_order=any_order)
        held[parent] = target
    if into is not None and held[tree.root] != into:
        c.copy(into, held[tree.root])
        return into
    return held[tree.root]


def _place(tree: Tree, parent: int, rank: int) -> int:
    return parent if rank == parent else tree.lowest[rank]


def _upwards(tree: Tree, order: str) -> list[tuple[int, list[int]]]:
    """Each inner rank with its children, after all ranks below it.

    There is no recursion, because a chain may be long.
    """
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
    """Pushes the children's partial results into further scratch vectors of the parent."""
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
    """Copies `source` (by default the root's `into`) down a tree into `into[r]` of every other
    rank.
    """
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
    """Collects the parts of a tree's ranks at its root: `values[r]` becomes block r of `into`.

    `into` is by default the root's `out`. An inner rank collects parts in the same blocks of its
    scratch. Evenly spaced blocks are copied in one transfer.
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
    """Distributes the parts of a tree's ranks from its root: block r of `source` becomes `into[r]`.

    `source` is by default the root's `in`. An inner rank copies the parts of all ranks below it
    into the same blocks of its scratch.
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
    """For each inner rank, all ranks at or below it."""
    found = {rank: [rank] for rank in tree.ranks}
    for parent, child in reversed(tree.edges):
        found[parent] += found[child]
    return {rank: Ranks(found[rank]) for rank in tree.children}


def all_read_all(c: Context, ranks: Sequence[int] | None = None, **part: Unpack[Part]) -> None:
    """Every rank publishes its data and reads all that it needs after one hand-over.

    This suits few ranks and few bytes. Collectives: barrier, allreduce, allgather, alltoall,
    reduce_scatter, scan and exscan; an allreduce in plans of other collectives.
    """
    _included(c, "all_read_all", ranks, part, "allreduce")


def levels(
    c: Context, ranks: Sequence[int] | None = None, *, form: str = "", **part: Unpack[Part]
) -> None:
    """Trees within the groups of the machine's levels, and a tree among their leaders.

    Collectives: barrier, bcast, reduce, allreduce, gather and scatter. `form` has the algorithm's
    parameters, such as `binomial:flat:push` (docs/algorithms.md).
    """
    _included(c, _spec("levels", form), ranks, part, by_levels=True)


def hierarchical(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    between: str = "",
    within: str = "",
    leaders: int = 1,
    **part: Unpack[Part],
) -> None:
    """One algorithm among the leaders of the machine's nodes, and one within each node.

    Serves every collective. `between` and `within` are algorithms with their parameters
    (docs/algorithms.md); by default the usual ones. `leaders` is the number of leaders of each
    node, who divide vectors and parts among them.
    """
    if within and not between:
        raise fault(f"hierarchical: within={within!r} without between; name both")
    form = "".join("+" + one for one in (between, within) if one)
    spec = f"hierarchical:leaders={leaders}{form}"
    _included(c, spec, ranks, part, by_levels=True)


def tiled(
    c: Context, ranks: Sequence[int] | None = None, *, form: str = "", **part: Unpack[Part]
) -> None:
    """Every rank combines one tile of the vector, then all ranks, or the root, collect the tiles.

    This suits long vectors. Collectives: allreduce and reduce; an allreduce in plans of others.
    `form` may be `cyclic` or `levels` (tiles within the groups of the machine's tree). The number
    of blocks of the vectors must be a multiple of the number of ranks (with `levels`, of the ranks
    in the largest NUMA region); see `c.blocks`.
    """
    _included(c, _spec("tiled", form), ranks, part, "allreduce", form == "levels")


def doubling(c: Context, ranks: Sequence[int] | None = None, **part: Unpack[Part]) -> None:
    """Pairs of ranks at doubling distances exchange all that they have.

    Collectives: barrier, allreduce, allgather, scan and exscan; an allreduce in plans of others.
    """
    _included(c, "doubling", ranks, part, "allreduce")


def halving(c: Context, ranks: Sequence[int] | None = None, **part: Unpack[Part]) -> None:
    """Pairs of ranks exchange halves.

    Collectives: allreduce, reduce, reduce_scatter and bcast; an allreduce in plans of others. But
    for reduce_scatter the number of blocks of the vectors must be a multiple of the largest power
    of two that is not above the number of ranks; see `c.blocks`.
    """
    _included(c, "halving", ranks, part, "allreduce")


def bruck(c: Context, ranks: Sequence[int] | None = None, **part: Unpack[Part]) -> None:
    """Parts travel distances that are powers of two.

    Collectives: allgather and alltoall; an allgather in plans of others.
    """
    _included(c, "bruck", ranks, part, "allgather")


def direct(
    c: Context,
    ranks: Sequence[int] | None = None,
    *,
    window: int | None = None,
    **part: Unpack[Part],
) -> None:
    """Every part goes directly from its source to its destination.

    Collectives: gather, scatter, allgather, alltoall and reduce_scatter. `window` is the number of
    parts that a rank publishes at a time. The root of a gather or scatter is the plan's root if it
    is among the ranks, else the first of them.
    """
    algorithm = "direct" if window is None else f"direct:{window}"
    _included(c, algorithm, ranks, part)


def ring(c: Context, ranks: Sequence[int] | None = None, **part: Unpack[Part]) -> None:
    """In each of p - 1 steps every rank reads from its left neighbour the result of the step
    before.

    Collectives: allgather, reduce_scatter, allreduce and bcast; an allgather in plans of others. In
    an allreduce or a bcast the number of blocks of the vectors must be a multiple of the number of
    ranks; see `c.blocks`.
    """
    _included(c, "ring", ranks, part, "allgather")


def chain(c: Context, ranks: Sequence[int] | None = None, **part: Unpack[Part]) -> None:
    """Each rank combines its left neighbour's result with its own value.

    Collectives: scan and exscan; a scan in plans of others.
    """
    _included(c, "chain", ranks, part, "scan")


def _own(c: Context, algorithm: str, otherwise: str) -> str:
    """The plan's collective if this algorithm serves it, else `otherwise`."""
    name = algorithm.partition(":")[0]
    served = next(entry["collectives"] for entry in core().algorithms() if entry["name"] == name)
    return c.collective if c.collective in served else otherwise


def _spec(algorithm: str, form: str) -> str:
    return f"{algorithm}:{form}" if form else algorithm


def _included(
    c: Context,
    algorithm: str,
    ranks: Sequence[int] | None,
    part: Part,
    otherwise: str = "",
    by_levels: bool = False,
) -> None:
    """`otherwise`: the collective in plans of those that the algorithm does not serve; empty: such
    plans must name one."""
    if unknown := part.keys() - PART:
        raise fault(f"{algorithm}: there is no '{min(unknown)}'; give some of {', '.join(PART)}")
    usual = _own(c, algorithm, otherwise) if otherwise else c.collective
    collective = part.get("collective") or usual
    members = list(c.ranks if ranks is None else ranks)
    rooted: bool = collective in core().collectives() and core().rooted(collective)
    root = members.index(c.root) if rooted and c.root in members else 0
    shared = c.tree.levels(members) if by_levels else ""
    plan: Plan = builtin(algorithm, collective, len(members), root, shared)
    c.include(plan, members, inp=part.get("values"), out=part.get("into"), tmp=part.get("scratch"))


def dissemination(c: Context, ranks: Sequence[int] | None = None) -> None:
    """A barrier in ceil(log2 p) rounds: in round k each rank waits for the rank 2^k before it."""
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
