"""The page that shows a plan step by step: the data for its scripts (pages/), and its limits."""

import html
from typing import Any

from tutti.drawing.figure import caption
from tutti.drawing.flow import BUFFERS, Cell, Content, Event, at_end, at_start
from tutti.drawing.graph import LEVEL_TEXT, LEVELS, Graph
from tutti.drawing.layout import lay_out
from tutti.drawing.paint import phase_texts
from tutti.drawing.single_file import single_file
from tutti.errors import UserError

# Limits for browsers: entries of the list, regions that can be marked, and cells of the drawing.
MOST_TRANSFERS = 20_000
MOST_REGIONS = 400_000
MOST_CELLS = 1_000_000
SCRIPTS = ("contents.js", "drawing.js", "player.js")
# The longest text of a transfer, in characters; longer ones are cut.
MOST_TEXT = 240


def ranges(ranks: int) -> str:
    """The ranks of a set as text, such as `0-3, 7`; bit r of `ranks` stands for rank r."""
    words = []
    rank = 0
    while ranks >> rank:
        if not ranks >> rank & 1:
            rank += 1
            continue
        last = rank
        while ranks >> (last + 1) & 1:
            last += 1
        words.append(str(rank) if last == rank else f"{rank}-{last}")
        rank = last + 1
    return ", ".join(words)


class _Sets:
    """Numbers the different sets of ranks, because the page names sets by number."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {0: 0}

    def number(self, ranks: int) -> int:
        return self.numbers.setdefault(ranks, len(self.numbers))


def _runs(written: list[tuple[Cell, Content]], stride: int, sets: _Sets) -> list[list[int]]:
    """Runs [first block, blocks, stride, set, item of the first block, step of the items].

    The blocks of a run hold the same set of ranks and evenly spaced items.
    """
    runs: list[list[int]] = []
    for (_, _, block), content in written:
        number = sets.number(content.ranks)
        if runs and runs[-1][3] == number:
            run = runs[-1]
            step = content.item - run[4] if run[1] == 1 else run[5]
            if content.item == run[4] + run[1] * step:
                run[1], run[5] = run[1] + 1, step
                continue
        runs.append([block, 1, stride, number, content.item, 0])
    return runs


def _transfer(
    event: Event,
    transfer: dict[str, Any],
    text: str,
    levels: dict[int, dict[int, int]],
    sets: _Sets,
) -> dict[str, Any]:
    reads = [
        [
            region["rank"],
            BUFFERS.index(region["buffer"]),
            region["first"],
            region["first"] + (region["count"] - 1) * region["stride"],
        ]
        for region in transfer["src"]
    ]
    return {
        "text": text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} ...",
        "step": event.step,
        "phase": event.phase,
        "target": event.target,
        "buffer": BUFFERS.index(transfer["dst"]["buffer"]),
        "writes": _runs(event.written, transfer["dst"]["stride"], sets),
        "reads": reads,
        "messages": [[source, level] for source, level in levels.get(event.number, {}).items()],
    }


def _blocks(graph: Graph) -> list[list[int]]:
    """For each buffer, the number of blocks of each rank.

    These are the blocks of the collective, or more if the plan names more. (A wrong plan may name
    an `out` that does not exist.)
    """
    plan = graph.plan
    definition = plan.definition
    ranks = range(plan.ranks)
    blocks = [
        [definition.in_blocks if definition.has_in(rank) else 0 for rank in ranks],
        [definition.out_blocks if definition.has_out(rank) else 0 for rank in ranks],
        [0] * plan.ranks,
    ]
    for transfer in graph.transfers:
        for region in (transfer["dst"], *transfer["src"]):
            of_buffer = blocks[BUFFERS.index(region["buffer"])]
            last = region["first"] + (region["count"] - 1) * region["stride"]
            of_buffer[region["rank"]] = max(of_buffer[region["rank"]], last + 1)
    return blocks


def _refuse_too_large(graph: Graph, blocks: int) -> None:
    regions = sum(1 + len(transfer["src"]) for transfer in graph.transfers)
    for count, most, what in (
        (len(graph.transfers), MOST_TRANSFERS, "transfers"),
        (regions, MOST_REGIONS, "regions"),
        (blocks, MOST_CELLS, "blocks"),
    ):
        if count > most:
            raise UserError(
                f"the plan has {count} {what}, but a page can play at most {most}; give fewer ranks"
            )


def _start(plan: Any, blocks: list[list[int]], sets: _Sets) -> list[list[int]]:
    """[rank, buffer, set, item of block 0, step of the items] of each buffer with data at the
    start.
    """
    start = []
    definition = plan.definition
    for rank in range(plan.ranks):
        for number, buffer in enumerate(BUFFERS[:2]):
            first = at_start(plan.collective, definition, (rank, buffer, 0))
            if first.ranks:
                last = at_start(
                    plan.collective, definition, (rank, buffer, blocks[number][rank] - 1)
                )
                step = (last.item - first.item) // max(blocks[number][rank] - 1, 1)
                start.append([rank, number, sets.number(first.ranks), first.item, step])
    return start


def _goal(plan: Any, sets: _Sets) -> list[list[int]]:
    """The required contents of each rank's `out`: [set, item, step of the items], or [] without
    one.

    Set -1 means that block b holds only the data of rank b.
    """
    goal: list[list[int]] = []
    definition = plan.definition
    by_block = plan.collective in ("gather", "allgather", "alltoall")
    for rank in range(plan.ranks):
        if not definition.has_out(rank):
            goal.append([])
            continue
        first, last = (at_end(definition, rank, block) for block in (0, definition.out_blocks - 1))
        step = (last.item - first.item) // max(definition.out_blocks - 1, 1)
        goal.append([-1 if by_block else sets.number(first.ranks), first.item, step])
    return goal


def page_data(graph: Graph, title: str, refusal: str) -> dict[str, Any]:
    """The data for the page's scripts."""
    plan = graph.plan
    blocks = _blocks(graph)
    _refuse_too_large(graph, sum(map(sum, blocks)))
    sets = _Sets()
    start, goal = _start(plan, blocks, sets), _goal(plan, sets)
    alone = (
        [sets.number(1 << rank) for rank in range(plan.ranks)]
        if any(entry[:1] == [-1] for entry in goal)
        else []
    )
    levels: dict[int, dict[int, int]] = {}
    for message in graph.messages:
        levels.setdefault(message.transfer, {})[message.source] = LEVELS.index(message.level)
    texts = plan.transfer_texts
    ordered = sorted(graph.events, key=lambda event: (event.step, event.number))
    listed = [
        _transfer(event, graph.transfers[event.number], texts[event.number], levels, sets)
        for event in ordered
    ]
    cell = (1.9 if max(blocks[0] + blocks[1]) == 1 else 2.4, 1.5 if any(blocks[2]) else 1.25)
    layout = lay_out(graph.placed, 1.9, cell, row_cost=0.35)
    shown = [level for level in LEVELS if level in graph.sums.levels]
    return {
        "format": "tutti-play 1",
        "title": title,
        "caption": "\n".join(caption(graph)),
        "refusal": refusal,
        "ranks": plan.ranks,
        "blocks": blocks,
        "goal": goal,
        "alone": alone,
        # True if a part's item tells for which rank it is.
        "addressed": plan.collective in ("scatter", "alltoall", "reduce_scatter"),
        # The number of colours: in an alltoall the parts of one rank share a colour.
        "hues": plan.ranks if plan.collective == "alltoall" else 1,
        "cell": cell,
        "width": layout.width,
        "height": layout.height,
        "boxes": [
            {"title": box.title, "level": box.level, "place": [box.x, box.y, box.width, box.height]}
            for box in layout.boxes
        ],
        "at": [layout.at[rank] for rank in range(plan.ranks)],
        "levels": [
            {"name": level, "text": LEVEL_TEXT[level], "shown": level in shown} for level in LEVELS
        ],
        "phases": phase_texts(plan.collective),
        "start": start,
        "transfers": listed,
        "sets": [ranges(ranks) for ranks in sets.numbers],
        "sizes": [ranks.bit_count() for ranks in sets.numbers],
    }


def page(graph: Graph, title: str, refusal: str = "") -> str:
    """The whole page as HTML text."""
    return single_file(
        "tutti.drawing", SCRIPTS, page_data(graph, title, refusal), {"TITLE": html.escape(title)}
    )
