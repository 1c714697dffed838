"""The machine that a plan is written for, and the placement of ranks on it.

A `Machine` is a number of equal nodes, perhaps in several clusters. It is made from a shape, from
this machine, or from an XML recording of lstopo. `Machine.place` puts ranks on its cores and
returns a `Placed`. Plan functions loop over its groups (`clusters`, `nodes`, `sockets`, `numa`,
`caches`, `cores`). Both are values that never change.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from tutti.errors import UserError
from tutti.plan.node import LEVELS, MOST_CORES, Node, parse_shape, read_node
from tutti.plan.placed import Group, Placed

__all__ = ["DEALS", "LEVELS", "Deal", "Group", "Machine", "Placed", "parse_shape"]

DEALS = ("block", "round_robin")
Deal = str | Sequence[int]


class Machine:
    """Equal nodes, in `cluster_count` clusters of `nodes_per_cluster`."""

    def __init__(self, node: Node, nodes_per_cluster: int = 1, cluster_count: int = 1) -> None:
        self.node = node
        self.nodes_per_cluster = nodes_per_cluster
        self.cluster_count = cluster_count
        # Equal nodes form a cluster, even if the shape does not name one.
        self.levels = node.levels | {"cluster", "node", "core"}

    @classmethod
    def parse(cls, shape: str) -> Machine:
        """A machine from a shape.

        `cluster:2 node:4 numa:2 core:8` is 2 clusters of 4 nodes of 2 NUMA regions of 8 cores.
        """
        counts = parse_shape(shape)
        sockets, regions, caches, cores = (counts.get(level, 1) for level in LEVELS[2:])
        everywhere = range(sockets * regions * caches * cores)
        node = Node(
            tuple(at // (regions * caches * cores) for at in everywhere),
            tuple(at // (caches * cores) for at in everywhere),
            tuple(at // cores for at in everywhere),
            frozenset(counts) | {"node", "core"},
        )
        return cls(node, counts.get("node", 1), counts.get("cluster", 1))

    @classmethod
    def from_xml(cls, path: str | os.PathLike[str]) -> Machine:
        """A machine of one node, recorded by `lstopo FILE.xml`."""
        return cls(read_node(os.path.abspath(os.fspath(path))))

    @classmethod
    def this(cls) -> Machine:
        """The machine that this process runs on, as one node."""
        return cls(read_node(""))

    @property
    def nodes(self) -> int:
        return self.cluster_count * self.nodes_per_cluster

    @property
    def cores(self) -> int:
        return self.nodes * self.node.cores

    def __repr__(self) -> str:
        return (
            f"Machine({self.cluster_count} x {self.nodes_per_cluster} nodes of {self.node.cores} "
            "cores)"
        )

    def place(self, ranks: int | None = None, deal: Deal = "block") -> Placed:
        """Puts ranks on cores.

        `block`: rank r is on core r, node after node, as with most launchers. `round_robin`: rank
        r is on node r modulo the number of nodes, as with LAM-MPI. A list gives each rank's core,
        counted over all nodes. If there are more ranks than cores, consecutive ranks share a core.
        By default there is one rank for each core. Raises UserError.
        """
        if isinstance(deal, str):
            count = self.cores if ranks is None else ranks
            return Placed(self, _dealt(self, count, deal))
        cores = tuple(deal)
        for rank, at in enumerate(cores):
            if not isinstance(at, int) or not 0 <= at < self.cores:
                raise UserError(
                    f"deal: rank {rank} is on core {at}, but cores are 0..{self.cores - 1}"
                )
        if ranks is not None and ranks != len(cores):
            raise UserError(
                f"deal: {len(cores)} cores are listed for {ranks} ranks; list one for each rank"
            )
        return Placed(self, cores)


def _dealt(machine: Machine, ranks: int, deal: str) -> tuple[int, ...]:
    if not 1 <= ranks <= MOST_CORES:
        raise UserError(f"{ranks} ranks cannot be placed; give 1 to {MOST_CORES}")
    if deal == "block":
        if ranks <= machine.cores:
            return tuple(range(ranks))
        return tuple(rank * machine.cores // ranks for rank in range(ranks))
    if deal != "round_robin":
        raise UserError(
            f"deal '{deal}' is unknown; known are {', '.join(DEALS)}, and a list of cores"
        )
    cores = []
    for rank in range(ranks):
        node, place = rank % machine.nodes, rank // machine.nodes
        here = ranks // machine.nodes + (node < ranks % machine.nodes)
        within = place if here <= machine.node.cores else place * machine.node.cores // here
        cores.append(node * machine.node.cores + within)
    return tuple(cores)
