"""An allreduce in tiles, each combined by its owner in the order in which the ranks arrive.

When: long vectors, and ranks that come late by different times. Rank t owns tile t of the vector: it combines this tile
of all ranks, whoever comes first, and pushes the result to everybody. Combining in the order of arrival needs an
operation that commutes, and gives floating point other last digits from run to run; `--set any_order=False` keeps rank
order.

    tutti plan compile examples/plans/arrival_allreduce.py --ranks 8 -o my.plan
"""

import tutti.plan as tp


@tp.collective("allreduce")
def arrival_allreduce(c: tp.Context, any_order: bool = True) -> None:
    c.blocks(c.size)
    for owner in c.ranks:
        tiles = [c.inp[rank].block(owner) for rank in c.ranks]
        c.reduce(c.tmp[owner].block(owner), tiles, any_order=any_order)
    for owner in c.ranks:
        for rank in c.ranks:
            c.copy(c.out[rank].block(owner), c.tmp[owner].block(owner), push=True)
