"""The machine that a plan is fitted to, and how ranks are dealt over it.

A `Machine` is a number of alike nodes, perhaps in several clusters: from a shape, from this machine, or from an XML
recording of lstopo. `Machine.place` puts ranks on its cores; the groups of the `Placed` that this gives (`clusters`,
`nodes`, `sockets`, `numa`, `caches`, `cores`) are what plan functions loop over. Both are values that never change.
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
    """Alike nodes, in `cluster_count` clusters of `nodes_per_cluster`."""

    def __init__(self, node: Node, nodes_per_cluster: int = 1, cluster_count: int = 1) -> None:
        self.node = node
        self.nodes_per_cluster = nodes_per_cluster
        self.cluster_count = cluster_count
        self.levels = node.levels | {
            "cluster",
            "node",
            "core",
        }  # alike nodes are a cluster, whether called so or not

    @classmethod
    def parse(cls, shape: str) -> Machine:
        """From a shape: `cluster:2 node:4 numa:2 core:8` is 2 clusters of 4 nodes of 2 numa regions of 8 cores."""
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
        """One node, as `lstopo FILE.xml` recorded it."""
        return cls(read_node(os.path.abspath(os.fspath(path))))

    @classmethod
    def this(cls) -> Machine:
        """The machine that this runs on, one node."""
        return cls(read_node(""))

    @property
    def nodes(self) -> int:
        return self.cluster_count * self.nodes_per_cluster

    @property
    def cores(self) -> int:
        return self.nodes * self.node.cores

    def __repr__(self) -> str:
        return f"Machine({self.cluster_count} x {self.nodes_per_cluster} nodes of {self.node.cores} cores)"

    def place(self, ranks: int | None = None, deal: Deal = "block") -> Placed:
        """Puts ranks on cores.

        `block`: rank r on core r, node after node, as most launchers do. `round_robin`: rank r on node r modulo the
        nodes, as LAM-MPI does. A list gives each rank's core, counted over all nodes. Where there are more ranks than
        cores, neighbours share one. `ranks` is one for each core unless said.
        """
        if isinstance(deal, str):
            count = self.cores if ranks is None else ranks
            return Placed(self, _dealt(self, count, deal))
        cores = tuple(deal)
        for rank, at in enumerate(cores):
            if not isinstance(at, int) or not 0 <= at < self.cores:
                raise UserError(
                    f"deal: rank {rank} is put on core {at}; cores are 0..{self.cores - 1}"
                )
        if ranks is not None and ranks != len(cores):
            raise UserError(
                f"deal: {len(cores)} cores are listed for {ranks} ranks; list one for each rank"
            )
        return Placed(self, cores)


def _dealt(machine: Machine, ranks: int, deal: str) -> tuple[int, ...]:
    if not 1 <= ranks <= MOST_CORES:
        raise UserError(f"{ranks} ranks; 1 to {MOST_CORES} can be placed")
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
