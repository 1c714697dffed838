"""The structure of a node of the machine, and shapes.

A shape consists of words level:count from the outermost level inwards, such as
`cluster:2 node:4 numa:2 core:8`. Each count is within one group of the level before. A `Node`
gives the groups of every core. It is made from a shape or, by the C++ code (hwloc), from this
machine or an XML recording.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tutti.errors import UserError
from tutti.places import core

LEVELS = ("cluster", "node", "socket", "numa", "cache", "core")
MOST_CORES = 1 << 20


@dataclass(frozen=True)
class Node:
    """A node: for every core, in the tree's order, the numbers of its socket, NUMA region and
    cache.
    """

    socket: tuple[int, ...]
    numa: tuple[int, ...]
    cache: tuple[int, ...]
    levels: frozenset[str]  # the levels that the machine's description has

    @property
    def cores(self) -> int:
        return len(self.numa)

    @cached_property
    def shape(self) -> list[tuple[str, int]] | None:
        """The number of sockets, of NUMA regions in each, of caches in each, and of cores in each.

        None if the groups of a level are not equal.
        """
        counts: list[tuple[str, int]] = []
        groups = [
            tuple(0 for _ in self.numa),
            self.socket,
            self.numa,
            self.cache,
            tuple(range(self.cores)),
        ]
        for level, outer, inner in zip(LEVELS[2:], groups, groups[1:], strict=False):
            inside: dict[int, set[int]] = {}
            for around, group in zip(outer, inner, strict=True):
                inside.setdefault(around, set()).add(group)
            sizes = {len(group) for group in inside.values()}
            if len(sizes) != 1:
                return None
            counts.append((level, sizes.pop()))
        return counts


def read_node(topology: str) -> Node:
    """Reads a node by the C++ code: from an XML file, or this machine if `topology` is empty."""
    try:
        vertices = core().load_tree(topology).vertices
    except core().Error as error:
        raise UserError(str(error)) from error
    count = vertices[0]["core_count"]
    socket, numa = _outer_levels(vertices)
    cache = [-1] * count
    levels = {"node", "core"}
    levels |= {"numa"} if any(group >= 0 for group in numa) else set()
    levels |= {"socket"} if any(group >= 0 for group in socket) else set()
    # Cores outside any region form one region in each socket; cores outside any socket form one
    # socket in each region. A level that the machine does not describe has one group in each node.
    if "socket" in levels:
        socket = [count + numa[at] + 1 if group < 0 else group for at, group in enumerate(socket)]
    else:
        socket = [0] * count
    numa = [count + socket[at] if group < 0 else group for at, group in enumerate(numa)]
    # The outermost of nested caches that is smaller than its region counts: data that crosses its
    # border leaves the shared cache.
    chosen = [
        v for v in vertices if v["level"] == "cache" and not _inside_a_chosen(vertices, v, numa)
    ]
    for index, vertex in enumerate(chosen):
        levels.add("cache")
        for at in range(vertex["first_core"], vertex["first_core"] + vertex["core_count"]):
            cache[at] = index
    # Cores outside any such cache form one group in each region.
    loose = {region: len(chosen) + place for place, region in enumerate(dict.fromkeys(numa))}
    cache = [loose[numa[at]] if group < 0 else group for at, group in enumerate(cache)]
    return Node(tuple(socket), tuple(numa), tuple(cache), frozenset(levels))


def _outer_levels(vertices: list[dict[str, Any]]) -> tuple[list[int], list[int]]:
    """For every core, its socket and its NUMA region; -1 if it has none.

    If regions contain sockets, one of the two levels is dropped: the region if there is only one
    (it is the whole node), else the sockets.
    """
    found: dict[str, list[int]] = {}
    regions = [vertex for vertex in vertices if vertex["level"] == "numa"]
    sockets = [vertex for vertex in vertices if vertex["level"] == "socket"]
    if any(_covers(region, socket) for region in regions for socket in sockets):
        regions, sockets = ([], sockets) if len(regions) == 1 else (regions, [])
    for level, groups in (("socket", sockets), ("numa", regions)):
        found[level] = [-1] * vertices[0]["core_count"]
        for index, vertex in enumerate(groups):
            for at in range(vertex["first_core"], vertex["first_core"] + vertex["core_count"]):
                found[level][at] = index
    return found["socket"], found["numa"]


def _whole_region(vertex: dict[str, Any], numa: list[int]) -> bool:
    first, count = vertex["first_core"], vertex["core_count"]
    return bool(numa.count(numa[first]) == count)


def _inside_a_chosen(
    vertices: list[dict[str, Any]], vertex: dict[str, Any], numa: list[int]
) -> bool:
    """True if another cache is used instead of this one.

    This is a cache around it that is smaller than the region, or, if this one is the whole region,
    one inside it.
    """
    if _whole_region(vertex, numa):
        return any(
            v["level"] == "cache" and v is not vertex and _covers(vertex, v) for v in vertices
        )
    above = vertex["parent"]
    while above >= 0:
        outer = vertices[above]
        if outer["level"] == "cache" and not _whole_region(outer, numa):
            return True
        above = outer["parent"]
    return False


def _covers(outer: dict[str, Any], inner: dict[str, Any]) -> bool:
    before = inner["first_core"] - outer["first_core"]
    return bool(0 <= before <= outer["core_count"] - inner["core_count"])


def parse_shape(shape: str) -> dict[str, int]:
    """The counts of a shape by level, from the outermost level inwards, only for levels that it
    names.

    Raises UserError.
    """
    try:
        counts: dict[str, int] = core().shape_counts(shape)
    except core().Error as error:
        raise UserError(str(error)) from error
    if not counts:
        raise UserError("the shape is empty; write one such as 'node:4 numa:2 core:8'")
    return counts
