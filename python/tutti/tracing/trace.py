"""A trace as plain data: tables of what ran (ranks, programs, communicators) and of what happened (operations, steps).

All times are nanoseconds since the start of the trace by the clock of rank 0's node, as 64-bit floats, which represent them
exactly for days. A `rank` is one of MPI_COMM_WORLD; a `member` is a rank in a program's communicator.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# The kind of a wait inside a reduce_any. The arrivals of its step say which transfer it was for.
WAIT_ARRIVAL = 0xFB
GROUPS = ("waiting", "moving", "reducing", "telling", "elsewhere")
WAITING, TELLING = GROUPS.index("waiting"), GROUPS.index("telling")
# The time between the start and the completion of a persistent collective, which no call spends.
LANES = (2**51, 2**52)  # the epochs of operations in lanes
ELSEWHERE = GROUPS.index("elsewhere")
# The collectives with a part for each rank. Their bytes are those of one part.
PARTED = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter")
SPACES = ("in", "out", "slot", "line")


@dataclass(frozen=True)
class Kind:
    """A kind of step."""

    number: int
    name: str
    group: str  # one of GROUPS
    operands: str
    meaning: str


@dataclass(frozen=True)
class Operand:
    space: str  # one of SPACES
    member: int
    line: int
    block: int


@dataclass(frozen=True)
class Step:
    kind: int
    stage: int
    transfer: int
    transfer_stage: int
    peer: int  # member; -1: none
    line: int
    extent_first: int
    extent_count: int
    # How far back the segment lies that a wait is for: segments, and rounds of the ring.
    back_segments: int
    back_rounds: int
    operands: tuple[Operand, ...]
    arrivals: tuple[tuple[int, int], ...]  # (member, transfer) of each source of a reduce_any


@dataclass(frozen=True)
class Program:
    """The steps of one rank for a plan."""

    collective: str
    algorithm: str
    ranks: int
    member: int
    root: int
    blocks: int
    transfers: int
    stages: int
    carrier: str
    steps: tuple[Step, ...] | None  # None: left out of the file, which has a bound for them

    @cached_property
    def kinds(self) -> Array:
        return np.array([step.kind for step in self.steps or ()], dtype=np.int64)

    @cached_property
    def transfers_and_back(self) -> Array:
        """Indexed by step: its transfer, the segments back, the rounds of the ring back."""
        rows = [(s.transfer, s.back_segments, s.back_rounds) for s in self.steps or ()]
        return np.array(rows, dtype=np.int64).reshape(-1, 3)


@dataclass(frozen=True)
class Anchor:
    """One moment by a node's counter, and by the trace's time, known to within `error`."""

    ticks: int
    nanoseconds: float
    error: float


@dataclass(frozen=True)
class Node:
    leader: int
    anchors: tuple[Anchor, Anchor]

    @property
    def nanoseconds_per_tick(self) -> float:
        first, last = self.anchors
        return (last.nanoseconds - first.nanoseconds) / (last.ticks - first.ticks)

    @property
    def error(self) -> float:
        return max(anchor.error for anchor in self.anchors)

    def nanoseconds(self, ticks: Array) -> Array:
        first = self.anchors[0]
        passed = (ticks - np.uint64(first.ticks)).view(np.int64)  # wraps where it is negative
        return np.asarray(first.nanoseconds + passed * self.nanoseconds_per_tick, dtype=np.float64)


@dataclass(frozen=True)
class Rank:
    rank: int
    node: int
    host: str
    cores: str
    numa: int  # -1: several, or unknown
    clock: str
    lost: int  # records


@dataclass
class Trace:
    program: str
    mpi: str
    filter: str  # the text of TUTTI_TRACE_FILTER; empty: all was recorded
    written: int  # seconds since 1970
    collectives: list[str]
    reasons: list[str]
    kinds: dict[int, Kind]
    nodes: list[Node]
    ranks: list[Rank]
    programs: list[Program]  # the programs of all ranks
    # Indexed by number: the members' ranks, -1 for one of another world.
    communicators: list[list[int]]
    operations: dict[str, Array] = field(default_factory=dict)
    """One entry a call of one rank, in the order of each rank's threads:

    rank, track, host (bool), collective, bytes, root, program (-1: host), communicator (-1: unknown), epoch, reason,
    segments, positions, segment_bytes, begin, end, first_step, step_count, whole (bool: all its steps are there).
    """
    steps: dict[str, Array] = field(default_factory=dict)
    """One entry a step: operation, kind, index (in the program), segment, peer (member), bytes, begin, end."""

    @cached_property
    def group_of(self) -> Array:
        """Indexed by kind: the place of its group in GROUPS."""
        table = np.zeros(256, dtype=np.int64)
        for kind in self.kinds.values():
            table[kind.number] = GROUPS.index(kind.group)
        return table

    @cached_property
    def elsewhere(self) -> Array:
        """Indexed by operation: the nanoseconds between its begin and its end that the rank spent outside of it."""
        steps = self.steps
        spent = np.where(
            self.group_of[steps["kind"]] == ELSEWHERE, steps["end"] - steps["begin"], 0.0
        )
        return np.bincount(
            steps["operation"], weights=spent, minlength=len(self.operations["begin"])
        )

    @cached_property
    def in_lane(self) -> Array:
        """Indexed by operation: whether it ran in a lane, beside what its rank did, so that no rank was in a call for it."""
        epoch = self.operations["epoch"]
        return ~self.operations["host"] & (epoch >= LANES[0]) & (epoch < LANES[1])

    @property
    def step_in_lane(self) -> Array:
        """The same, indexed by step."""
        return np.asarray(self.in_lane[self.steps["operation"]])

    @cached_property
    def _described(self) -> Array:
        """Program.transfers_and_back of each step, zeros where the file does not describe it."""
        lengths = np.array([len(program.steps or ()) for program in self.programs], dtype=np.int64)
        unknown = np.zeros((1, 3), dtype=np.int64)
        table = np.concatenate(
            [*(program.transfers_and_back for program in self.programs), unknown]
        )
        programs = self.operations["program"][self.steps["operation"]]
        index = self.steps["index"]
        told = (self.steps["kind"] < WAIT_ARRIVAL) & (index < lengths[programs])
        places = np.where(told, (np.cumsum(lengths) - lengths)[programs] + index, -1)
        return np.asarray(table[places])

    @property
    def step_transfer(self) -> Array:
        """The transfer that each step serves, or waits for; 0 where the file does not say."""
        return self._described[:, 0]

    @cached_property
    def step_told_segment(self) -> Array:
        """The segment of the publication that ends each step, where the step is a wait; of others, their own."""
        positions = self.operations["positions"][self.steps["operation"]]
        back = self._described[:, 1] + self._described[:, 2] * positions
        return np.asarray(self.steps["segment"] - back)

    @cached_property
    def step_peer(self) -> Array:
        """The rank that each step waits for; -1: none."""
        lengths = np.array([len(members) for members in self.communicators], dtype=np.int64)
        table = np.array(
            [rank for members in self.communicators for rank in members] + [-1], dtype=np.int64
        )
        communicators = self.operations["communicator"][self.steps["operation"]]
        peer = self.steps["peer"]
        return np.asarray(
            table[np.where(peer >= 0, (np.cumsum(lengths) - lengths)[communicators] + peer, -1)]
        )

    @cached_property
    def meetings(self) -> list[Array]:
        """The entries of each operation of a communicator: their indices, one for each rank that has one."""
        operations = self.operations
        known = np.flatnonzero(~operations["host"])
        order = known[
            np.lexsort(
                (
                    operations["rank"][known],
                    operations["epoch"][known],
                    operations["communicator"][known],
                )
            )
        ]
        if len(order) == 0:
            return []
        keys = np.stack([operations["communicator"][order], operations["epoch"][order]])
        borders = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
        found = np.split(order, borders)
        found.sort(key=lambda entries: float(operations["begin"][entries].min()))
        return found

    def label(self, operation: int) -> str:
        """The operation in words: "allreduce of 8 bytes by flat", "alltoall of 8 bytes a part by direct"."""
        get = self.operations
        text = self.collectives[int(get["collective"][operation])]
        if text != "barrier":
            text += f" of {int(get['bytes'][operation])} bytes{' a part' if text in PARTED else ''}"
        if get["host"][operation]:
            return f"{text} by the host MPI"
        lane = " in a lane" if self.in_lane[operation] else ""
        return f"{text} by {self.programs[int(get['program'][operation])].algorithm or 'a plan without a name'}{lane}"
