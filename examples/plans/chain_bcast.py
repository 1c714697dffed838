"""A broadcast down a chain of ranks, each of which hands on what it got while the next segment comes in.

When: long messages. Tutti slices a long message into segments and runs the plan once for each, as a pipeline: every
rank receives one segment and hands on the one before, so the time is that of one copy, not of one for each rank. The
chain follows the machine, so that it enters every node and every NUMA region once.

    tutti plan compile examples/plans/chain_bcast.py --ranks 8 --shape 'node:2 core:4' --all-roots -o my-plans
"""

from itertools import pairwise

import tutti.plan as tp


@tp.collective("bcast")
def chain_bcast(c: tp.Context) -> None:
    by_core = [rank for core in c.tree.cores for rank in core.ranks]
    start = by_core.index(c.root)
    around = by_core[start:] + by_core[:start]
    for before, rank in pairwise(around):
        c.out[rank] = c.out[before]
