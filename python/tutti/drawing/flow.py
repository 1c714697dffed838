"""Follows the data through a plan: what each block holds after each transfer, and what had to happen before.

A block's content is a set of ranks (whose data has been combined in it) and the number of the item that they gave: a
block of the vector, or a part (src/plan/collective.h numbers them). Nothing is proved here: that a plan computes its
collective is the check's word (tutti._core.check), and a plan that it refuses can be followed all the same. A block that
nobody wrote holds the data of no rank.
"""

from dataclasses import dataclass
from typing import Any

from tutti.errors import UserError

BUFFERS = ("in", "out", "tmp")
# The work and the memory grow with the blocks that transfers touch; this many take some seconds.
MOST_BLOCKS = 1_000_000

# What follows the phase that combines.
SECOND_PHASES = {"barrier": "bcast", "allreduce": "bcast", "reduce_scatter": "scatter"}

Cell = tuple[int, str, int]


@dataclass(frozen=True)
class Content:
    """What a block holds: a bit for each rank whose data is in it, and which item of theirs it is."""

    ranks: int = 0
    item: int = 0


@dataclass
class Event:
    """One transfer: the blocks that it writes, and its place among the others.

    A step is the earliest time at which the transfer can run: one more than the latest of those that wrote what it
    reads, touched what it writes, or are waited for by a token of its rank. `hops` counts the hand-overs from rank to rank on the longest chain that leads
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


def at_start(collective: str, definition: Any, cell: Cell) -> Content:
    """What a block holds before the first transfer."""
    rank, buffer, block = cell
    # The root of a bcast passes one buffer, which is its `in` and its `out`.
    given = buffer == "in" or (buffer == "out" and collective == "bcast")
    if given and definition.has_in(rank):
        return Content(1 << rank, definition.item_in(rank, block))
    return Content()


def at_end(definition: Any, rank: int, block: int) -> Content:
    """What a block of a rank's out must hold in the end, where it has one."""
    low, high = definition.sources(rank, block)
    return Content((1 << high) - (1 << low), definition.item_out(rank, block))


def refuse_too_large(plan: Any) -> None:
    """Asked before the transfers are: a plan that no drawing shows may have more of them than fit into memory."""
    if plan.moves > MOST_BLOCKS:
        raise UserError(
            f"the plan's transfers touch {plan.moves} blocks, and {MOST_BLOCKS} are the most that can be drawn; "
            "take fewer ranks"
        )


class _Follower:
    def __init__(self, plan: Any) -> None:
        self.collective: str = plan.collective
        self.definition = plan.definition
        self.two_phases: str | None = SECOND_PHASES.get(self.collective)
        self.full = (1 << plan.ranks) - 1
        self.states: dict[Cell, _State] = {}
        self.latest: dict[int, int] = {}  # by rank: the latest step that it executes so far
        self.tokens: dict[int, int] = {}  # by rank: the step that its last token waits for

    def state(self, cell: Cell) -> _State:
        found = self.states.get(cell)
        if found is None:
            found = self.states[cell] = _State(at_start(self.collective, self.definition, cell))
        return found

    def phase(self, sources: list[list[_State]]) -> str:
        """Of collectives whose results go to many: reduce while they are being combined, then what hands them on; of
        others their own name."""
        if self.two_phases is None:
            return self.collective
        complete = all(state.content.ranks == self.full for region in sources for state in region)
        return self.two_phases if complete else "reduce"

    def take(self, token: dict[str, Any]) -> None:
        rank = token["dst"]["rank"]
        awaited = max(self.latest.get(source["rank"], 0) for source in token["src"])
        self.tokens[rank] = self.latest[rank] = max(
            self.latest.get(rank, 0), self.tokens.get(rank, 0), awaited
        )

    def follow(self, number: int, transfer: dict[str, Any]) -> Event:
        dst = transfer["dst"]
        sources = [[self.state(cell) for cell in cells(region)] for region in transfer["src"]]
        targets = [(cell, self.state(cell)) for cell in cells(dst)]
        phase = self.phase(sources)
        step, hops, phase_hops = self.tokens.get(transfer["executor"], 0), 0, 0
        for region, states in zip(transfer["src"], sources, strict=True):
            crossed = int(region["rank"] != dst["rank"])
            for state in states:
                step = max(step, state.written)
                hops = max(hops, state.hops + crossed)
                phase_hops = max(
                    phase_hops, crossed + (state.phase_hops if state.phase == phase else 0)
                )
        for _, state in targets:
            step = max(step, state.written, state.read)
        step += 1
        self.latest[transfer["executor"]] = max(self.latest.get(transfer["executor"], 0), step)
        contents = []
        for i in range(dst["count"]):
            ranks = 0
            for states in sources:
                ranks |= states[i].content.ranks
            contents.append(Content(ranks, sources[0][i].content.item))
        for states in sources:
            for state in states:
                state.read = max(state.read, step)
        for (cell, _), content in zip(targets, contents, strict=True):
            self.states[cell] = _State(content, step, 0, hops, phase, phase_hops)
        written = [(cell, content) for (cell, _), content in zip(targets, contents, strict=True)]
        ranks_read = sorted({region["rank"] for region in transfer["src"]})
        return Event(
            number,
            ranks_read,
            transfer["executor"],
            dst["rank"],
            step,
            hops,
            phase,
            phase_hops,
            dst["count"],
            written,
        )


def follow(plan: Any, transfers: list[dict[str, Any]]) -> list[Event]:
    """The plan's transfers, in plan order, each with what it writes and when it can run; tokens, which move nothing, only
    hold back the others."""
    follower = _Follower(plan)
    events = []
    for number, transfer in enumerate(transfers):
        if transfer["kind"] == "token":
            follower.take(transfer)
        else:
            events.append(follower.follow(number, transfer))
    return events
