"""Follows the data through a plan: the contents of each block after each transfer, and its step.

A block's content is a set of ranks, whose data is combined in it, and the number of their item: a
block of the vector, or a part (src/plan/collective.h numbers them). This module proves nothing:
only tutti._core.check decides whether a plan computes its collective. Plans that the check refuses
can be followed too. A block that was never written holds the data of no rank.
"""

from dataclasses import dataclass
from typing import Any

from tutti.errors import UserError

BUFFERS = ("in", "out", "tmp")
# Time and memory grow with the number of blocks that transfers touch; so many take some seconds.
MOST_BLOCKS = 1_000_000

# The phase that follows the phase that combines.
SECOND_PHASES = {"barrier": "bcast", "allreduce": "bcast", "reduce_scatter": "scatter"}

Cell = tuple[int, str, int]


@dataclass(frozen=True)
class Content:
    """The content of a block: a bit for each rank whose data is in it, and the item's number."""

    ranks: int = 0
    item: int = 0


@dataclass
class Event:
    """One transfer: the blocks that it writes, and its step.

    The step is the earliest time at which the transfer can run: one more than the latest step of
    the transfers that wrote its sources, touched its destination, or that a token of its rank
    waits for. `hops` counts the hand-overs between ranks on the longest chain that leads to it,
    `phase_hops` those since the phase began.
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
    """The content of a block before the first transfer."""
    rank, buffer, block = cell
    # The root of a bcast passes one buffer, which is both its `in` and its `out`.
    given = buffer == "in" or (buffer == "out" and collective == "bcast")
    if given and definition.has_in(rank):
        return Content(1 << rank, definition.item_in(rank, block))
    return Content()


def at_end(definition: Any, rank: int, block: int) -> Content:
    """The required content of a block of a rank's `out` at the end; the rank must have an `out`."""
    low, high = definition.sources(rank, block)
    return Content((1 << high) - (1 << low), definition.item_out(rank, block))


def refuse_too_large(plan: Any) -> None:
    """Raises UserError for a plan too large to draw.

    Callers ask this before they read the plan's transfers, which might not fit into memory.
    """
    if plan.moves > MOST_BLOCKS:
        raise UserError(
            f"the plan's transfers touch {plan.moves} blocks, but at most {MOST_BLOCKS} can be "
            "drawn; give fewer ranks"
        )


class _Follower:
    def __init__(self, plan: Any) -> None:
        self.collective: str = plan.collective
        self.definition = plan.definition
        self.two_phases: str | None = SECOND_PHASES.get(self.collective)
        self.full = (1 << plan.ranks) - 1
        self.states: dict[Cell, _State] = {}
        self.latest: dict[int, int] = {}  # for each rank, the latest step that it executes so far
        self.tokens: dict[int, int] = {}  # for each rank, the step that its last token waits for

    def state(self, cell: Cell) -> _State:
        found = self.states.get(cell)
        if found is None:
            found = self.states[cell] = _State(at_start(self.collective, self.definition, cell))
        return found

    def phase(self, sources: list[list[_State]]) -> str:
        """The phase of a transfer.

        A collective whose combined result goes to many ranks has two phases: `reduce` until its
        sources are complete, then the one in SECOND_PHASES. Other collectives have one phase, of
        their name.
        """
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
    """The plan's transfers, in plan order, each with the blocks that it writes and its step.

    Tokens move no data and give no event; they only delay other transfers.
    """
    follower = _Follower(plan)
    events = []
    for number, transfer in enumerate(transfers):
        if transfer["kind"] == "token":
            follower.take(transfer)
        else:
            events.append(follower.follow(number, transfer))
    return events
