"""LAM-MPI's trees and the trees of the PATHS paper, for any number of ranks, root and placement.

Source: Bjoerndalen, Anshus, Vinter, Larsen, "The Performance of Configurable Collective
Communication for LAM-MPI in Clusters and Multi-Clusters", sections 3 to 6 and figures 2 and 3.

Each rank's parent, by scheme, with the paper's section:

- `lam` (3): LAM-MPI's own choice, linear up to 4 ranks and logarithmic from there on.
- `logarithmic` (3, 4): in a reduce the rank without its lowest bit, in a bcast the rank without its
  highest bit.
- `linear` (5.1): the root.
- `hierarchical` (5.1): a leader in each node; the leaders' parent is the root ("hierarchal scheme
  1").
- `two_groups` (5.2): a leader in each of two groups of a node; the leaders' parent is the root.
- `three_layers` (5.2): a leader in each of two groups of a node, then the node's leader, then the
  root.

Each scheme exists as an allreduce (a reduce to rank 0 and a broadcast from it, as in LAM-MPI), a
`_reduce` and a `_bcast`. If the root is not 0, the ranks of the logarithmic trees count from the
root, as in LAM-MPI.

A rank combines its own data with its first child's as soon as that is there, then with the next
one's, in ascending order of rank: LAM-MPI's sequence of receives (section 3). So the linear
and logarithmic trees keep rank order if the root is 0. With another root, or if the ranks of a
node are not consecutive, the schemes rely on the operation to commute, and their plans say so.
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
    """A tree over ranks that count from the root; `parent` maps a rank to a lower one."""
    children: dict[int, list[int]] = {}
    for rank in range(1, c.size):
        children.setdefault((parent(rank) + c.root) % c.size, []).append((rank + c.root) % c.size)
    return Tree.from_children(c.root, children)


def log_reduce_tree(c: Context) -> Tree:
    """A rank's parent is the rank without its lowest bit: the children of 12 are 13 and 14."""
    return _counted_from_the_root(c, lambda rank: rank & (rank - 1))


def log_bcast_tree(c: Context) -> Tree:
    """A rank's parent is the rank without its highest bit: 4 is the parent of 12 and of 20."""
    return _counted_from_the_root(c, lambda rank: rank & ~(1 << (rank.bit_length() - 1)))


def lam_reduce_tree(c: Context) -> Tree:
    return linear_tree(c) if c.size <= MOST_LINEAR_RANKS else log_reduce_tree(c)


def lam_bcast_tree(c: Context) -> Tree:
    return linear_tree(c) if c.size <= MOST_LINEAR_RANKS else log_bcast_tree(c)


def hierarchical_tree(c: Context) -> Tree:
    """The ranks of a node have its first rank as parent, which has the root as parent.

    In the root's node the root takes the place of the first rank.
    """
    return _layered(c, groups=1, node_leaders=False)


def two_groups_tree(c: Context) -> Tree:
    """Two groups in each node (of 4 ranks each on the paper's 8-way cluster).

    There are twice as many messages between nodes as in `hierarchical`, but ranks have fewer
    children.
    """
    return _layered(c, groups=2, node_leaders=False)


def three_layers_tree(c: Context) -> Tree:
    return _layered(c, groups=2, node_leaders=True)


def _layered(c: Context, groups: int, node_leaders: bool) -> Tree:
    """A rank's parent is its group's leader; a leader's parent is its node's leader or the root.

    Without `node_leaders` it is the root.
    """
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
        algo.tree_reduce(c, up(c), into=c.out[c.root], order="tree", stepwise=True)
        algo.tree_bcast(c, down(c))

    def reduce(c: Context) -> None:
        algo.tree_reduce(c, up(c), into=c.out[c.root], order="tree", stepwise=True)

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


@collective("allreduce", label="PATHS linear, by arrival")
def linear_by_arrival(c: Context) -> None:
    """The root combines its children's data in the order of their arrival, as PATHS does (5.3)."""
    tree = linear_tree(c)
    algo.tree_bcast(c, tree, algo.tree_reduce(c, tree, into=c.out[c.root], any_order=True))


SCHEMES = {
    "lam": (lam, lam_reduce, lam_bcast),
    "logarithmic": (logarithmic, logarithmic_reduce, logarithmic_bcast),
    "linear": (linear, linear_reduce, linear_bcast),
    "hierarchical": (hierarchical, hierarchical_reduce, hierarchical_bcast),
    "two_groups": (two_groups, two_groups_reduce, two_groups_bcast),
    "three_layers": (three_layers, three_layers_reduce, three_layers_bcast),
}
