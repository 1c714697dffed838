"""Where the ranks of a call are, and which roots of it differ."""

from dataclasses import dataclass

from tutti.choose.candidates import levels_here
from tutti.places import core
from tutti.plan.command.machines import levels_of, nodes_of
from tutti.predict.prediction import Where, shared_levels


@dataclass(frozen=True)
class Placement:
    """Ranks on a machine. `levels`: those that they share (`Placed.levels`); "": one.

    If they are not `bound`, they lie there all the same, but no plan and no rule knows. `anywhere`:
    what is known of their levels then.

    `nodes`: the node of each rank; empty: they are on one node. `reach`: as `Where.reach`.
    """

    ranks: int
    levels: str = ""
    nodes: tuple[int, ...] = ()
    reach: str = "slots"
    bound: bool = True
    anywhere: str = ""

    @property
    def known_levels(self) -> str:
        return self.levels if self.bound else self.anywhere

    @property
    def node_count(self) -> int:
        return len(set(self.nodes)) or 1

    @property
    def reached(self) -> bool:
        """True if rules with `reached` hold for the ranks."""
        return self.reach != "slots" and not self.nodes

    def where(self) -> Where:
        return Where(self.ranks, shared_levels(self.levels), list(self.nodes), self.reach, 0, [])


def placement_here(ranks: int, reach: str) -> Placement:
    """So many ranks, one on each core of this machine."""
    return Placement(ranks, levels_here(ranks), (), reach)


def placement_on(shape: str, ranks: int, reach: str) -> Placement:
    """So many ranks on the cores of a machine, node after node. Raises UserError.

    If nobody binds them, they may run on just the cores on which they lie.
    """
    nodes = tuple(nodes_of(shape, "block", ranks))
    anywhere = "" if nodes else core().levels_of_unbound(list(range(ranks)), shape)
    return Placement(ranks, levels_of(shape, "block", ranks), nodes, reach, anywhere=anywhere)


def roots_to_try(collective: str, placement: Placement) -> list[int]:
    """Roots that differ in their position, 0 first: one of each kind.

    The kinds: first in its group or not, in the first group or in another one, and how large the
    group is. The groups are those of the outermost level that divides the ranks; without such a
    level all ranks are one group.
    """
    if not core().rooted(collective):
        return [0]
    levels = shared_levels(placement.levels)
    group_of = next(
        (groups for _, groups in levels if 1 < len(set(groups)) < placement.ranks),
        [0] * placement.ranks,
    )
    kinds: dict[tuple[bool, bool, int], list[int]] = {}
    for rank, group in enumerate(group_of):
        kind = (group_of.index(group) == rank, group == group_of[0], group_of.count(group))
        kinds.setdefault(kind, []).append(rank)
    # One rank in the middle stands for those that are not the first of their group.
    return [ranks[0 if first else len(ranks) // 2] for (first, _, _), ranks in kinds.items()]
