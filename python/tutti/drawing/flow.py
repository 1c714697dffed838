"""Follows the data through a plan: what each block holds after each transfer, and what had to happen before.

A block's content is a set of ranks (whose data has been combined in it) and the number of the vector's block that
they gave. Nothing is proved here: that a plan computes its collective is the check's word (tutti._core.check), and
a plan that it refuses can be followed all the same. A block that nobody wrote holds the data of no rank.
"""

from dataclasses import dataclass
from typing import Any

from tutti.errors import UserError

BUFFERS = ("in", "out", "tmp")
# The work and the memory grow with the blocks that transfers touch; this many take some seconds.
MOST_BLOCKS = 1_000_000

Cell = tuple[int, str, int]


@dataclass(frozen=True)
class Content:
    """What a block holds: a bit for each rank whose data is in it, and which block of their vectors it is."""

    ranks: int = 0
    block: int = 0


@dataclass
class Event:
    """One transfer: the blocks that it writes, and its place among the others.

    A step is the earliest time at which the transfer can run: one more than the latest of those that wrote what it
    reads, or touched what it writes. `hops` counts the hand-overs from rank to rank on the longest chain that leads
    here, `phase_hops` those since the phase began.
    """

    number: int
    sources: list[int]
    executor: int
    target: int
    step: int
    hops: int
    phase: str
    phase_hops: int
    blocks: int
    written: list[tuple[Cell, Content]]


@dataclass
class _State:
    content: Content
    written: int = 0
    read: int = 0
    hops: int = 0
    phase: str = ""
    phase_hops: int = 0


def cells(region: dict[str, Any]) -> list[Cell]:
    first, count, stride = region["first"], region["count"], region["stride"]
    rank, buffer = region["rank"], region["buffer"]
    return [(rank, buffer, first + i * stride) for i in range(count)]


def everyone(plan: Any) -> int:
    """The ranks whose data a complete result holds."""
    root: int = plan.root
    ranks: int = plan.ranks
    return 1 << root if plan.collective == "bcast" else (1 << ranks) - 1


def at_start(plan: Any, cell: Cell) -> Content:
    """What a block holds before the first transfer."""
    rank, buffer, block = cell
    if plan.collective == "bcast":
        # The root passes one buffer, which is its `in` and its `out`.
        given = rank == plan.root and buffer in ("in", "out")
    else:
        given = buffer == "in"
    return Content(1 << rank if given else 0, block)


def _refuse_too_large(transfers: list[dict[str, Any]]) -> None:
    touched = sum(transfer["dst"]["count"] * (1 + len(transfer["src"])) for transfer in transfers)
    if touched > MOST_BLOCKS:
        raise UserError(
            f"the plan's transfers touch {touched} blocks, and {MOST_BLOCKS} are the most that can be drawn; "
            "take fewer ranks"
        )


class _Follower:
    def __init__(self, plan: Any) -> None:
        self.plan = plan
        self.full = everyone(plan)
        self.states: dict[Cell, _State] = {}

    def state(self, cell: Cell) -> _State:
        found = self.states.get(cell)
        if found is None:
            found = self.states[cell] = _State(at_start(self.plan, cell))
        return found

    def phase(self, sources: list[list[_State]]) -> str:
        """reduce while results are being combined, bcast once they are complete and only handed on."""
        if self.plan.collective in ("reduce", "bcast"):
            return str(self.plan.collective)
        complete = all(state.content.ranks == self.full for region in sources for state in region)
        return "bcast" if complete else "reduce"

    def follow(self, number: int, transfer: dict[str, Any]) -> Event:
        dst = transfer["dst"]
        sources = [[self.state(cell) for cell in cells(region)] for region in transfer["src"]]
        targets = [(cell, self.state(cell)) for cell in cells(dst)]
        phase = self.phase(sources)
        step, hops, phase_hops = 0, 0, 0
        for region, states in zip(transfer["src"], sources, strict=True):
            crossed = int(region["rank"] != dst["rank"])
            for state in states:
                step = max(step, state.written)
                hops = max(hops, state.hops + crossed)
                phase_hops = max(phase_hops, crossed + (state.phase_hops if state.phase == phase else 0))
        for _, state in targets:
            step = max(step, state.written, state.read)
        step += 1
        contents = []
        for i in range(dst["count"]):
            ranks = 0
            for states in sources:
                ranks |= states[i].content.ranks
            contents.append(Content(ranks, sources[0][i].content.block))
        for states in sources:
            for state in states:
                state.read = max(state.read, step)
        for (cell, _), content in zip(targets, contents, strict=True):
            self.states[cell] = _State(content, step, 0, hops, phase, phase_hops)
        written = [(cell, content) for (cell, _), content in zip(targets, contents, strict=True)]
        ranks_read = sorted({region["rank"] for region in transfer["src"]})
        return Event(
            number, ranks_read, transfer["executor"], dst["rank"], step, hops, phase, phase_hops, dst["count"], written
        )


def follow(plan: Any, transfers: list[dict[str, Any]]) -> list[Event]:
    """The plan's transfers, in plan order, each with what it writes and when it can run."""
    _refuse_too_large(transfers)
    follower = _Follower(plan)
    return [follower.follow(number, transfer) for number, transfer in enumerate(transfers)]
