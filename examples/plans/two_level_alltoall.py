"""An alltoall over two levels: parts for another NUMA region go together, by way of one rank in each region.

When: many ranks and short parts, where a message between regions costs more than one within. Between two regions goes
one message for each direction, of as many parts as there are pairs of their ranks. A leader collects the parts of its
region for the other one, the other leader takes them as a whole, and its ranks take their own.

    tutti plan compile examples/plans/two_level_alltoall.py --ranks 8 --shape 'numa:2 core:4' -o my.plan
"""

from itertools import product

import tutti.plan as tp


@tp.collective("alltoall")
def two_level_alltoall(c: tp.Context) -> None:
    used = dict.fromkeys(c.ranks, 0)

    def room(lead: int, parts: int) -> tp.Region:
        """The next so many blocks of a leader's scratch."""
        used[lead] += parts
        return c.tmp[lead][used[lead] - parts : used[lead]]

    collected = []
    for here, there in product(c.tree.numa, repeat=2):
        pairs = list(product(here.ranks, there.ranks))
        parts = room(here.lead, len(pairs))
        for at, (source, target) in enumerate(pairs):
            parts[at] = c.inp[source][target]
        collected.append((there.lead, pairs, parts))
    for lead, pairs, parts in collected:
        landed = parts
        if lead != parts.rank:
            landed = room(lead, len(pairs))
            c.copy(landed, parts)
        for at, (source, target) in enumerate(pairs):
            c.out[target][source] = landed[at]
