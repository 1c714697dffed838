"""An allreduce over the machine's tree: cores, then NUMA regions, then nodes; and back the same way.

When: several nodes or NUMA regions, short and middle messages. Every border is crossed once in each direction by each
group, by a binomial tree over the groups' leaders.

    tutti plan compile examples/plans/hierarchical_allreduce.py --ranks 32 --shape 'node:4 numa:2 core:4' -o my.plan
"""

import tutti.plan as tp


@tp.collective("allreduce")
def hierarchical_allreduce(c: tp.Context) -> None:
    trees = []
    members = c.ranks
    for groups in (c.tree.numa, c.tree.nodes, c.tree.clusters):
        trees += [
            tp.Tree.binomial([rank for rank in group.ranks if rank in members]) for group in groups
        ]
        members = tp.Ranks(group.lead for group in groups)
    trees.append(tp.Tree.binomial(members))
    tree = tp.Tree.joined(reversed(trees))
    tp.algo.tree_reduce(c, tree, into=c.out[tree.root])
    tp.algo.tree_bcast(c, tree)
