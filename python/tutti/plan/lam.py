"""LAM-MPI's trees and those that the PATHS paper put in their place, for any ranks, root and placement.

Source: Bjoerndalen, Anshus, Vinter, Larsen, "The Performance of Configurable Collective Communication for LAM-MPI in
Clusters and Multi-Clusters", sections 3 to 6 and figures 2 and 3.

| scheme          | who reports to whom                                                              | paper |
| --------------- | -------------------------------------------------------------------------------- | ----- |
| `lam`           | LAM-MPI's own choice: linear up to 4 ranks, logarithmic from there on             | 3     |
| `logarithmic`   | reduce: to the rank without its lowest bit; bcast: from the one without its highest | 3, 4  |
| `linear`        | all to the root                                                                  | 5.1   |
| `hierarchical`  | a node's ranks to its leader, the leaders to the root ("hierarchal scheme 1")     | 5.1   |
| `two_groups`    | two groups in each node, whose leaders report to the root directly               | 5.2   |
| `three_layers`  | two groups in each node, whose leaders report to the node's leader, and these to the root | 5.2   |

Each is there as an allreduce (a reduce to rank 0 and a broadcast from it, as LAM-MPI makes it), a `_reduce` and a
`_bcast`. With another root than 0, the ranks of the logarithmic trees count from the root, as in LAM-MPI.

A rank combines in sequence: its own data first, then what its children hand it, children in ascending order of rank.
The linear and logarithmic trees keep rank order so when the root is 0; with another root, and where ranks are dealt so
that a node's ranks are not neighbours, the schemes rely on the operation to commute, and their plans say so.
"""

from __future__ import annotations

from collections.abc import Callable

from tutti.plan import algo
from tutti.plan.context import Context
from tutti.plan.language import Collective, collective
from tutti.plan.trees import Tree

MOST_LINEAR_RANKS = 4
Shape = Callable[[Context], Tree]


def linear_tree(c: Context) -> Tree:
    return Tree.flat(c.ranks, c.root)


def _counted_from_the_root(c: Context, parent: Callable[[int], int]) -> Tree:
    """A tree over ranks that count from the root; `parent` of a rank is a lower one."""
    children: dict[int, list[int]] = {}
    for rank in range(1, c.size):
        children.setdefault((parent(rank) + c.root) % c.size, []).append((rank + c.root) % c.size)
    return Tree.from_children(c.root, children)


def log_reduce_tree(c: Context) -> Tree:
    """Every rank reports to the one without its lowest bit: 12 hears from 13 and 14, and reports to 8."""
    return _counted_from_the_root(c, lambda rank: rank & (rank - 1))


def log_bcast_tree(c: Context) -> Tree:
    """Every rank is served by the one without its highest bit: 12 by 4, which serves 20 as well."""
    return _counted_from_the_root(c, lambda rank: rank & ~(1 << (rank.bit_length() - 1)))


def lam_reduce_tree(c: Context) -> Tree:
    return linear_tree(c) if c.size <= MOST_LINEAR_RANKS else log_reduce_tree(c)


def lam_bcast_tree(c: Context) -> Tree:
    return linear_tree(c) if c.size <= MOST_LINEAR_RANKS else log_bcast_tree(c)


def hierarchical_tree(c: Context) -> Tree:
    """The root's node reports to the root; every other node to its first rank, which reports to the root."""
    return _layered(c, groups=1, node_leaders=False)


def two_groups_tree(c: Context) -> Tree:
    """Two groups a node, of 4 ranks each on the paper's 8-way cluster. Twice the messages, and a shallower tree."""
    return _layered(c, groups=2, node_leaders=False)


def three_layers_tree(c: Context) -> Tree:
    return _layered(c, groups=2, node_leaders=True)


def _layered(c: Context, groups: int, node_leaders: bool) -> Tree:
    """Ranks report to their group's leader, these to their node's leader or, without node leaders, to the root."""
    parent_of: dict[int, int] = {}
    for node in c.tree.nodes:
        for group in node.ranks.split(groups):
            lead = group.leader(c.root)
            parent_of |= dict.fromkeys(group.without(lead), lead)
            above = node.leader(c.root) if node_leaders else c.root
            if lead != above:
                parent_of[lead] = above
            elif lead != c.root:
                parent_of[lead] = c.root
    return Tree.from_parents(parent_of, c.root)


def _family(name: str, up: Shape, down: Shape) -> tuple[Collective, Collective, Collective]:
    """A scheme's allreduce, reduce and bcast."""

    def allreduce(c: Context) -> None:
        algo.tree_reduce(c, up(c), into=c.out[c.root], order="tree")
        algo.tree_bcast(c, down(c))

    def reduce(c: Context) -> None:
        algo.tree_reduce(c, up(c), into=c.out[c.root], order="tree")

    def bcast(c: Context) -> None:
        algo.tree_bcast(c, down(c), c.inp[c.root])

    made = []
    for function, suffix in ((allreduce, ""), (reduce, "_reduce"), (bcast, "_bcast")):
        kind = function.__name__
        function.__name__ = name + suffix
        made.append(
            collective(kind, label=f"LAM-MPI {name}" if name == "lam" else f"PATHS {name}")(
                function
            )
        )
    return made[0], made[1], made[2]


lam, lam_reduce, lam_bcast = _family("lam", lam_reduce_tree, lam_bcast_tree)
logarithmic, logarithmic_reduce, logarithmic_bcast = _family(
    "logarithmic", log_reduce_tree, log_bcast_tree
)
linear, linear_reduce, linear_bcast = _family("linear", linear_tree, linear_tree)
hierarchical, hierarchical_reduce, hierarchical_bcast = _family(
    "hierarchical", hierarchical_tree, hierarchical_tree
)
two_groups, two_groups_reduce, two_groups_bcast = _family(
    "two_groups", two_groups_tree, two_groups_tree
)
three_layers, three_layers_reduce, three_layers_bcast = _family(
    "three_layers", three_layers_tree, three_layers_tree
)

SCHEMES = {
    "lam": (lam, lam_reduce, lam_bcast),
    "logarithmic": (logarithmic, logarithmic_reduce, logarithmic_bcast),
    "linear": (linear, linear_reduce, linear_bcast),
    "hierarchical": (hierarchical, hierarchical_reduce, hierarchical_bcast),
    "two_groups": (two_groups, two_groups_reduce, two_groups_bcast),
    "three_layers": (three_layers, three_layers_reduce, three_layers_bcast),
}
