"""A plan as a graph: the messages between ranks, their levels in the machine's tree, and sums.

A message is the data that one rank gives another in one transfer. Its level is the lowest one that
contains both ranks: a `numa` message stays within a NUMA region, a `socket` message within a
socket, a `cluster` message goes between nodes, and a `machine` message between clusters. The three
sums are those by which the PATHS paper compares trees: messages per level, depth (hand-overs on
the longest chain) and the largest number of children.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tutti.drawing.flow import Event, follow, refuse_too_large
from tutti.plan.machine import Placed

LEVELS = ("core", "cache", "numa", "socket", "node", "cluster", "machine")
LEVEL_TEXT = {
    "core": "within a core",
    "cache": "within a cache",
    "numa": "within a NUMA region",
    "socket": "within a socket",
    "node": "within a node",
    "cluster": "between nodes",
    "machine": "between clusters",
}
# The levels whose group is given for each rank.
PLACES = ("cluster", "node", "socket", "numa", "core")
# The phases, in the order in which a plan runs them.
PHASE_TEXT = {
    "reduce": "reduce: towards the result",
    "bcast": "bcast: the result to all",
    "gather": "gather: the parts to the root",
    "scatter": "scatter: each part to its rank",
    "allgather": "allgather: every part to all",
    "alltoall": "alltoall: each part to its rank",
    "scan": "scan: to the ranks above",
    "exscan": "exscan: to the ranks above",
}
# Phases in which data goes up to the parent; in the others a rank gets its data from its parent.
UPWARDS = ("reduce", "gather")
# Phases in which any rank may get data from any other, so that there are no parents.
EXCHANGES = ("allgather", "alltoall")


@dataclass(frozen=True, slots=True)
class Message:
    source: int
    target: int
    level: str
    phase: str
    step: int
    transfer: int
    executor: int
    blocks: int

    @property
    def reach(self) -> str:
        """`net` between nodes, else `memory`."""
        return "net" if self.level in ("cluster", "machine") else "memory"


@dataclass(frozen=True)
class Sums:
    """The PATHS paper's three factors: messages per level, depth, and the most children of a rank.

    `exchange`: the phase has no tree, and `children` is the most sources of a rank.
    """

    levels: dict[str, int]
    depth: int
    children: int
    exchange: bool = False

    @property
    def messages(self) -> int:
        return sum(self.levels.values())

    def text(self) -> str:
        counts = [
            f"{count:,} {LEVEL_TEXT[level]}"
            for level, count in sorted(self.levels.items(), key=_outermost)
        ]
        one, many = ("source", "sources") if self.exchange else ("child", "children")
        children = f"1 {one}" if self.children == 1 else f"{self.children} {many}"
        return f"{', '.join(counts) or 'none'}; depth {self.depth}; at most {children}"


def _outermost(item: tuple[str, int]) -> int:
    return -LEVELS.index(item[0])


@dataclass
class Graph:
    plan: Any
    placed: Placed
    transfers: list[dict[str, Any]]
    events: list[Event]
    messages: list[Message]
    phases: dict[str, Sums] = field(default_factory=dict)
    sums: Sums = field(default_factory=lambda: Sums({}, 0, 0))

    @property
    def ranks(self) -> int:
        return len(self.placed.ranks)


def _messages(placed: Placed, events: list[Event]) -> list[Message]:
    known: dict[tuple[int, int], str] = {}
    messages = []
    for event in events:
        for source in event.sources:
            if source == event.target:
                continue
            pair = (source, event.target)
            if pair not in known:
                known[pair] = placed.level(*pair)
            messages.append(
                Message(
                    source,
                    event.target,
                    known[pair],
                    event.phase,
                    event.step,
                    event.number,
                    event.executor,
                    event.blocks,
                )
            )
    return messages


def _children(messages: Iterable[Message], phase: str) -> int:
    """The largest number of children of a rank.

    In a phase such as reduce these are the ranks that give it data, in an exchange too; in a phase
    such as bcast they are the ranks that get data from it.
    """
    pairs = {(message.source, message.target) for message in messages}
    inwards = phase in UPWARDS or phase in EXCHANGES
    heads = Counter(target if inwards else source for source, target in pairs)
    return max(heads.values(), default=0)


def _phase_sums(events: list[Event], messages: list[Message], phase: str) -> Sums:
    levels = Counter(message.level for message in messages)
    depth = max((event.phase_hops for event in events if event.phase == phase), default=0)
    return Sums(dict(levels), depth, _children(messages, phase), phase in EXCHANGES)


def graph_of(plan: Any, placed: Placed) -> Graph:
    refuse_too_large(plan)
    transfers = plan.transfers
    events = follow(plan, transfers)
    graph = Graph(plan, placed, transfers, events, _messages(placed, events))
    for phase in PHASE_TEXT:
        of_phase = [message for message in graph.messages if message.phase == phase]
        if of_phase:
            graph.phases[phase] = _phase_sums(events, of_phase, phase)
    levels = Counter(message.level for message in graph.messages)
    depth = max((event.hops for event in events), default=0)
    children = max((sums.children for sums in graph.phases.values()), default=0)
    graph.sums = Sums(dict(levels), depth, children, plan.collective in EXCHANGES)
    return graph


def parents(graph: Graph, phase: str) -> dict[int, int] | None:
    """The parent of each rank but the root in a phase; None if the messages are not one tree."""
    above: dict[int, int] = {}
    for message in graph.messages:
        if message.phase != phase:
            continue
        child, parent = (
            (message.source, message.target)
            if phase in UPWARDS
            else (message.target, message.source)
        )
        if above.setdefault(child, parent) != parent:
            return None
    if not above or len(above) != graph.ranks - 1:
        return None
    depth: dict[int, int] = {rank: 0 for rank in graph.placed.ranks if rank not in above}
    for rank in above:
        path = []
        while rank not in depth:
            path.append(rank)
            rank = above[rank]
            if len(path) > graph.ranks:
                return None
        for step, below in enumerate(reversed(path), start=1):
            depth[below] = depth[rank] + step
    return above


def _as_json(sums: Sums) -> dict[str, Any]:
    return {
        "messages": {level: sums.levels[level] for level in LEVELS if level in sums.levels},
        "depth": sums.depth,
        "children": sums.children,
    }


def document(graph: Graph, deal: str) -> dict[str, Any]:
    """The graph as data, with everything, also what a drawing has no room for."""
    places = []
    for rank in graph.placed.ranks:
        groups = {level: graph.placed.group_of(rank, level).index for level in PLACES}
        places.append({"rank": rank, **groups})
    edges = [
        {
            "source": message.source,
            "target": message.target,
            "executor": message.executor,
            "level": message.level,
            "reach": message.reach,
            "phase": message.phase,
            "step": message.step,
            "transfer": message.transfer,
            "blocks": message.blocks,
        }
        for message in graph.messages
    ]
    plan = graph.plan
    return {
        "format": "tutti-drawing 1",
        "collective": plan.collective,
        "algorithm": plan.algorithm,
        "ranks": plan.ranks,
        "root": plan.root,
        "shape": graph.placed.shape,
        "deal": deal,
        **_as_json(graph.sums),
        "steps": max((event.step for event in graph.events), default=0),
        "phases": {phase: _as_json(sums) for phase, sums in graph.phases.items()},
        "nodes": places,
        "edges": edges,
    }
