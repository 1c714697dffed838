"""Figure 1 of "Hierarchical collectives in MPICH2": what a flat binomial tree costs by its root."""

import pytest
from tutti.plan import Context, Machine, Tree, lam

PLACED = Machine.parse("node:4 core:4").place(16)


def delays(tree):
    """The most messages between nodes on a path from the root."""
    found = {tree.root: 0}
    for parent, child in tree.edges:
        crosses = PLACED.group_of(parent, "node").index != PLACED.group_of(child, "node").index
        found[child] = found[parent] + crosses
    return max(found.values())


@pytest.mark.parametrize("root", range(16))
def test_the_binomial_trees_of_figure_1(root):
    """MPICH's tree counts ranks from the root: two messages follow each other from the first rank
    of a node, and three from the others. Ours goes over intervals of ranks: two from each root."""
    counted = lam.log_reduce_tree(Context("bcast", PLACED, root))
    assert delays(counted) == (2 if root % 4 == 0 else 3)
    assert delays(Tree.binomial(range(16), root)) == 2
