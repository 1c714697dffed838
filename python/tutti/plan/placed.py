"""Ranks placed on a machine, and their groups at each level. The values never change.

Levels nest: cluster, node, socket, numa, cache, core. A level that the machine's description lacks
has one group in each group of the level outside it, so that a loop over `placed.numa` works on
every machine. Groups without ranks are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tutti.errors import UserError
from tutti.plan.node import LEVELS
from tutti.plan.ranks import Ranks

if TYPE_CHECKING:
    from tutti.plan.machine import Machine


@dataclass(eq=False)
class Group:
    """The ranks that share one cluster, node, socket, NUMA region, cache or core.

    `index` is the group's number within its level.
    """

    level: str
    index: int
    ranks: Ranks
    parent: Group | None = field(default=None, repr=False)
    children: list[Group] = field(default_factory=list, repr=False)

    @property
    def lead(self) -> int:
        """The first of its ranks."""
        return self.ranks.lead

    def leader(self, root: int) -> int:
        """The root if it is in this group, else the first rank."""
        return self.ranks.leader(root)


class Placed:
    """Ranks on a machine: `core_of[r]` is the core of rank r."""

    def __init__(self, machine: Machine, core_of: tuple[int, ...]) -> None:
        if not core_of:
            raise UserError("no ranks are placed; place at least 1")
        self.machine = machine
        self.core_of = core_of
        self.ranks = Ranks(range(len(core_of)))

    def place_of(self, rank: int) -> tuple[int, int, int, int, int, int]:
        """(cluster, node, socket, numa, cache, core) of a rank, each numbered over the whole
        machine.
        """
        node, within = divmod(self.core_of[rank], self.machine.node.cores)
        inner = self.machine.node
        cores = inner.cores
        # The numbers of a node's sockets, regions and caches are below 4 times its cores (cores
        # outside any group get further numbers), so the product keeps the numbers of different
        # nodes distinct.
        return (
            node // self.machine.nodes_per_cluster,
            node,
            node * 4 * cores + inner.socket[within],
            node * 4 * cores + inner.numa[within],
            node * 4 * cores + inner.cache[within],
            self.core_of[rank],
        )

    @cached_property
    def _groups(self) -> dict[str, list[Group]]:
        members: dict[tuple[int, ...], list[int]] = {}
        for rank in self.ranks:
            place = self.place_of(rank)
            for depth in range(len(LEVELS)):
                members.setdefault(place[: depth + 1], []).append(rank)
        groups: dict[str, list[Group]] = {level: [] for level in LEVELS}
        made: dict[tuple[int, ...], Group] = {}
        sockets_told = "socket" in self.machine.levels
        for path in sorted(members):
            level = LEVELS[len(path) - 1]
            around = [made[path[:-1]]] if len(path) > 1 else []
            # If the machine's description lacks sockets, the parent of a NUMA region is its node.
            if level == "numa" and not sockets_told:
                around.insert(0, made[path[:-2]])
            group = Group(
                level, len(groups[level]), Ranks(members[path]), around[0] if around else None
            )
            for outer in around:
                if level != "socket" or sockets_told:
                    outer.children.append(group)
            groups[level].append(group)
            made[path] = group
        return groups

    @property
    def clusters(self) -> list[Group]:
        return self._groups["cluster"]

    @property
    def nodes(self) -> list[Group]:
        return self._groups["node"]

    @property
    def sockets(self) -> list[Group]:
        return self._groups["socket"]

    @property
    def numa(self) -> list[Group]:
        return self._groups["numa"]

    @property
    def caches(self) -> list[Group]:
        return self._groups["cache"]

    @property
    def cores(self) -> list[Group]:
        return self._groups["core"]

    def groups(self, level: str) -> list[Group]:
        """The groups of a level by its name."""
        if level not in LEVELS:
            raise UserError(f"there is no level '{level}'; levels are {', '.join(LEVELS)}")
        return self._groups[level]

    @cached_property
    def _group_of(self) -> dict[tuple[str, int], Group]:
        return {
            (level, rank): group
            for level in LEVELS
            for group in self._groups[level]
            for rank in group.ranks
        }

    def levels(self, ranks: Sequence[int] | None = None) -> str:
        """The groups of these ranks (by default all), as words NAME:GROUP,GROUP,... for the
        generators.
        """
        members = self.ranks if ranks is None else ranks
        told = [level for level in LEVELS if level in self.machine.levels]
        groups = {
            level: [str(self.group_of(rank, level).index) for rank in members] for level in told
        }
        return " ".join(f"{level}:{','.join(numbers)}" for level, numbers in groups.items())

    def group_of(self, rank: int, level: str) -> Group:
        """The group of a level that contains a rank."""
        if rank not in self.ranks:
            raise UserError(f"there is no rank {rank}; ranks are 0..{len(self.ranks) - 1}")
        self.groups(level)
        return self._group_of[level, rank]

    def level(self, one: int, other: int) -> str:
        """The lowest level of the machine's description at which both ranks are in one group.

        `cluster` means between nodes, `machine` between clusters.
        """
        places = zip(LEVELS, self.place_of(one), self.place_of(other), strict=True)
        lowest = "machine"
        for name, here, there in places:
            if here != there:
                break
            if name in self.machine.levels:
                lowest = name
        return lowest

    @cached_property
    def shape(self) -> str:
        """The shape of the clusters and nodes that have ranks, such as `node:4 numa:2 core:8`.

        If some cores of these nodes have no rank, cores are left out of the shape. The shape is
        empty if the nodes are not equal, because then no shape describes the machine.
        """
        clusters, inside = len(self.clusters), self.machine.node.shape
        nodes, uneven = divmod(len(self.nodes), clusters)
        if (
            inside is None
            or uneven
            or any(len(cluster.children) != nodes for cluster in self.clusters)
        ):
            return ""
        full = len(self.cores) == len(self.nodes) * self.machine.node.cores
        counts = [("cluster", clusters), ("node", nodes), *inside]
        innermost = "core" if full else "node"
        kept = [(level, count) for level, count in counts if count > 1 or level == innermost]
        return " ".join(f"{level}:{count}" for level, count in kept if full or level != "core")

    def __len__(self) -> int:
        return len(self.ranks)

    def __repr__(self) -> str:
        return f"Placed({len(self.ranks)} ranks on {self.machine!r})"
