"""A barrier by dissemination: in round k every rank hears of the rank 2^k before it, which knows of all between.

When: every rank has a core of its own. ceil(log2 p) hand-overs, no rank waits for more than one other at a time, and
nobody is the root. A barrier's regions have no bytes; a reduce says "after these two".

    tutti plan compile examples/plans/dissemination_barrier.py --ranks 8 -o my.plan
"""

import tutti.plan as tp


@tp.collective("barrier")
def dissemination_barrier(c: tp.Context) -> None:
    heard = [
        c.inp[rank] for rank in c.ranks
    ]  # it tells that a rank, and all it has heard of, arrived
    distance, turn = 1, 0
    while distance < c.size:
        news = [c.tmp[rank, turn] for rank in c.ranks]
        for rank in c.ranks:
            news[rank][:] = heard[rank - distance] + heard[rank]
        heard, distance, turn = news, 2 * distance, turn + 1
    for rank in c.ranks:
        c.out[rank] = heard[rank]
